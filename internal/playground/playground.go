package playground

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/internal/catalog"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/kube"
	"github.com/tenon-sh/tenon/internal/sim/awsapi"
	"github.com/tenon-sh/tenon/internal/sim/kubelet"
	"github.com/tenon-sh/tenon/internal/sim/market"
)

// Options say what a playground is like.
type Options struct {
	Dir        Dir
	Reset      bool          // begin with an empty cluster
	Bare       bool          // without Tenon: neither its kinds nor its controller
	Controller Way           // who runs the controller, where it is not bare
	Document   string        // number of the one that it is prepared for, if any
	Demo       bool          // begin with a pool and something to look at
	Story      bool          // let the demo of a new cluster play before ready is called
	Region     string        // of the machines
	Grace      time.Duration // how long a node may be silent before it is NotReady
	Tenon      string        // program to run as the controller; empty: the one beside this program
	Host       string        // type of the machine that a node for pods of our image is like, or OnFargate; empty: no such node
	Charts     string        // directory whose charts are served on the loopback interface instead of our own
	Chart      string        // directory of the chart to install the controller by, instead of our own

	ClusterName       string   // in the simulated account
	KubernetesVersion string   // that the simulated EKS says the cluster has; empty: a recent one
	ExtraZones        []string // zones the region does not have, selling what its first zone sells
	ControllerFlags   []string // further flags of `tenon controller`
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
	ByHand  Way = "none"  // somebody installs the chart: neither kinds nor controller, and all that it takes
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
	types, err := catalog.Load()
	if err != nil {
		return err
	}

	cluster, err := startCluster(ctx, o, log)
	if ctx.Err() != nil {
		return errors.New("stopped before the cluster was ready")
	} else if err != nil {
		return err
	}
	defer cluster.Stop()
	client, objects, err := connect(cluster)
	if err != nil {
		return err
	}
	fleet := kubelet.New(kubelet.Options{
		Nodes: client.CoreV1().Nodes(), Delays: o.Delays, Endpoint: cluster.URL,
		Say: func(machine, what string) { log.say("machine %s %s", machine, what) },
	})
	defer fleet.Close()
	if n, err := fleet.Adopt(ctx); err != nil {
		return err
	} else if n > 0 {
		log.say("there from before: %s", amount.Count(n, "machine"))
	}
	var followers sync.WaitGroup
	followers.Go(func() { log.follow(ctx, client, fleet.NodeGone) })
	defer func() { stop(); followers.Wait() }()
	if err := surround(ctx, o, client, objects, types, fleet); err != nil {
		return err
	}
	if err := store(ctx, o, client, objects, types, log, &followers); err != nil {
		return err
	}
	aws, err := startCloud(ctx, o, cluster, types, fleet, log)
	if err != nil {
		return err
	}
	defer func() { stop(); <-aws.done }()
	if err := manage(ctx, o, client, aws); err != nil {
		return err
	}
	if err := errors.Join(
		copyFile(cluster.Kubeconfig, o.Dir.Kubeconfig()),
		writeWhole(o.Dir.awsEnvironment(), exports(aws.environment(o.Region, awsapi.AdminKey))),
	); err != nil {
		return err
	}
	control := &api{fleet: fleet, cloud: aws, catalog: types, region: o.Region, stop: stop}
	charts, closeCharts, err := serveCharts(o)
	if err != nil {
		return err
	}
	defer closeCharts()
	contact := Contact{Charts: charts, PID: os.Getpid(), Kubeconfig: o.Dir.Kubeconfig(), APIServer: cluster.URL, AWS: aws.URL}
	var on hosts
	if o.Host != "" {
		on, err = startHosts(ctx, o, cluster, client, objects, types, aws, log)
		defer func() { stop(); on.done() }()
		if err != nil {
			return err
		}
		control.tenon = installed{on}
	}
	if !o.Bare {
		if err := teach(ctx, objects, o.Chart); err != nil {
			return err
		}
	}
	if !o.Bare || o.Host != "" {
		followers.Go(func() {
			if established(ctx, objects, "nodeclaims.karpenter.sh") == nil {
				log.followDecisions(ctx, client, objects)
			}
		})
	}
	if !o.Bare {
		child, err := startTenon(ctx, o, client, objects, on, charts, aws, log)
		if ctx.Err() != nil {
			return errors.New("stopped before the controller was ready")
		} else if err != nil {
			return err
		}
		if child != nil {
			control.tenon = child
			defer func() { stop(); <-child.done }()
		}
	}
	if control.tenon != nil {
		pages, closePages, err := servePages(control.tenon)
		if err != nil {
			return err
		}
		defer closePages()
		contact.Pages = pages
	}
	show, fresh := demo{client: client, market: aws.Market, log: log, now: o.Now, currency: aws.currency}, false
	if o.Demo {
		if fresh, err = show.begin(ctx, objects); err != nil {
			return err
		}
	}
	contact.Pools = hasPools(ctx, objects)
	url, closeAPI, err := control.serve()
	if err != nil {
		return err
	}
	defer closeAPI()
	contact.URL, contact.Token = url, control.token
	if err := o.Dir.writeContact(contact); err != nil {
		return err
	}
	defer os.Remove(o.Dir.contact())
	if fresh && o.Story {
		if err := show.tell(ctx); err != nil && ctx.Err() == nil {
			return err
		}
	}
	ready(contact)
	select {
	case <-ctx.Done():
		log.say("stopping")
		return nil
	case <-cluster.Done():
		err := fmt.Errorf("the control plane has ended by itself (%w); %s says more", cluster.Err(), o.Dir.Log("controlplane"))
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

// startTenon makes the cluster one that Tenon works for: its controller and, for a demo, a pool. The controller is
// returned if it is a child.
func startTenon(ctx context.Context, o Options, client kubernetes.Interface, objects dynamic.Interface, on hosts, charts string, aws *cloud, log *life) (*controller, error) {
	if o.Demo {
		if err := equip(ctx, objects, o.ClusterName); err != nil {
			return nil, err
		}
	}
	if o.Controller == ByChart {
		return nil, install(ctx, o, client, on, charts, log)
	}
	return runController(ctx, o, aws, log)
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
