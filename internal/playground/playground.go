package playground

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"

	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/kube"
	"github.com/tenon-sh/tenon/internal/sim/kubelet"
	"github.com/tenon-sh/tenon/internal/sim/market"
)

// Options say what a playground is like.
type Options struct {
	Dir        Dir
	Reset      bool          // begin with an empty cluster
	Bare       bool          // without Tenon: neither its kinds nor its controller
	Controller Way           // how the controller runs, where it is not bare
	Document   string        // number of the one that it is prepared for, if any
	Demo       bool          // begin with a pool and something to look at
	Story      bool          // let the demo of a new cluster play before ready is called
	Region     string        // of the machines
	Grace      time.Duration // how long a node may be silent before it is NotReady
	Tenon      string        // program to run as the controller; empty: the one beside this program
	Host       string        // type of the machine that a node for pods of our image is like, or OnFargate; empty: no such node
	Charts     string        // directory whose charts are served on the loopback interface instead of our own
	Chart      string        // directory of the chart to install the controller by, instead of our own

	ClusterName       string            // in the simulated account
	KubernetesVersion string            // that the simulated EKS says the cluster has; empty: a recent one
	ExtraZones        []string          // zones the region does not have, selling what its first zone sells
	ExtraTypes        map[string]string // types AWS does not have, by name, each with the one that it is like
	ControllerFlags   []string          // further flags of `tenon controller`
	Surroundings      Surroundings

	Delays kubelet.Delays
	Timing market.Timing // of the cloud that sells them; the zero value is as usual
	Life   io.Writer     // what happens, for people
	Now    clock.Now
}

// OnFargate has pods of our image run on the surroundings' nodes of Fargate.
const OnFargate = "fargate"

// A Way is one of having a controller.
type Way string

// The ways.
const (
	AsChild Way = ""      // `tenon controller` as a child of the playground
	ByChart Way = "chart" // helm installs our chart, and a node of the playground runs its pods
	ByHand  Way = "none"  // the user installs the chart: neither kinds nor controller, and all that it takes
)

// prepare takes the directory for this process and opens the log, until done is called.
func prepare(o *Options) (log *life, done func(), err error) {
	dir, err := filepath.Abs(string(o.Dir))
	if err != nil {
		return nil, nil, err
	}
	o.Dir = Dir(dir)
	release, err := o.Dir.own()
	if err != nil {
		return nil, nil, err
	}
	if o.Reset {
		err = o.Dir.reset()
	}
	err = errors.Join(err, o.Dir.roomy())
	if gone := os.Remove(o.Dir.contact()); gone != nil && !errors.Is(gone, os.ErrNotExist) { // of a playground that was killed
		err = errors.Join(err, gone)
	}
	pool, wrong := manifest("default.yaml", o.ClusterName)
	if err = errors.Join(err, wrong); err == nil {
		err = writeWhole(o.Dir.pool(), pool)
	}
	if err != nil {
		release()
		return nil, nil, err
	}
	file, err := o.Dir.openLog("playground")
	if err != nil {
		release()
		return nil, nil, err
	}
	klog.LogToStderr(false) // what the client library has to say is not for people
	klog.SetOutput(file)
	return &life{now: o.Now, out: io.MultiWriter(o.Life, file)}, func() { _ = file.Close(); release() }, nil
}

// Run runs a playground until ctx ends or somebody stops it, and calls ready once. Read from top to bottom it is the
// wiring of the playground; everything stops in the reverse order.
func Run(ctx context.Context, o Options, ready func(Contact)) error {
	log, done, err := prepare(&o)
	if err != nil {
		return err
	}
	defer done()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	g := ground{Options: o, log: log, stop: stop}
	defer g.end()
	for _, step := range []func(context.Context) error{g.kubernetes, g.machines, g.account, g.hosts, g.tenon, g.pages, g.demo, g.open} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	ready(g.contact)
	select {
	case <-ctx.Done():
		log.say("stopping")
		return nil
	case <-g.cluster.Done():
		err := fmt.Errorf("the control plane has ended by itself (%w); %s says more", g.cluster.Err(), o.Dir.Log("controlplane"))
		return errors.Join(err, o.Dir.roomy()) // etcd dies of a full disk
	}
}

// hasPools reports whether the cluster has pools, of either kind. One without the kinds has none.
func hasPools(ctx context.Context, objects dynamic.Interface) bool {
	for _, kind := range []schema.GroupVersionResource{
		{Group: "karpenter.sh", Version: "v1", Resource: "nodepools"}, {Group: "karpenter.sh", Version: "v1alpha5", Resource: "provisioners"},
	} {
		if list, err := objects.Resource(kind).List(ctx, metav1.ListOptions{Limit: 1}); err == nil && len(list.Items) > 0 {
			return true
		}
	}
	return false
}

func startCluster(ctx context.Context, o Options, log *life) (*kube.ControlPlane, error) {
	binary, err := kube.Find()
	if err != nil {
		return nil, err
	}
	out, err := o.Dir.openLog("controlplane")
	if err != nil {
		return nil, err
	}
	defer out.Close()
	log.say("starting Kubernetes in %s", o.Dir)
	return kube.Start(ctx, kube.Options{
		Binary: binary, Dir: o.Dir.cluster(), Log: out, Grace: o.Grace,
		Scheduler: true, Controllers: true, Machines: true,
	})
}

func connect(cluster *kube.ControlPlane) (kubernetes.Interface, dynamic.Interface, error) {
	c, err := clientcmd.BuildConfigFromFlags("", cluster.Kubeconfig)
	if err != nil {
		return nil, nil, err
	}
	c.QPS = -1 // the machines share this client
	plain, err := kubernetes.NewForConfig(c)
	if err != nil {
		return nil, nil, err
	}
	objects, err := dynamic.NewForConfig(c)
	return plain, objects, err
}

func copyFile(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return writeWhole(to, data)
}
