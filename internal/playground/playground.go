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

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"

	"github.com/tenon-sh/tenon/internal/catalog"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/kube"
	"github.com/tenon-sh/tenon/internal/sim/awsapi"
	"github.com/tenon-sh/tenon/internal/sim/kubelet"
	"github.com/tenon-sh/tenon/internal/sim/market"
)

// Options say what a playground is like.
type Options struct {
	Dir    Dir
	Reset  bool          // begin with an empty cluster
	Bare   bool          // without Tenon: neither its kinds nor its controller
	Demo   bool          // begin with a pool and something to look at
	Story  bool          // let the demo of a new cluster play before ready is called
	Region string        // of the machines
	Grace  time.Duration // how long a node may be silent before it is NotReady
	Tenon  string        // program to run as the controller; empty: the one beside this program
	Host   string        // type of the machine that a node for pods of our image is like; empty: no such node
	Charts string        // directory whose charts are served on the loopback interface; empty: none are
	Chart  string        // directory of the chart to install the controller by; empty: the controller is a plain child

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

// Run runs a playground until ctx ends or somebody stops it, and calls ready once. Read from top to bottom it is the
// wiring of the playground; everything stops in the reverse order.
func Run(ctx context.Context, o Options, ready func(Contact)) error {
	dir, err := filepath.Abs(string(o.Dir))
	if err != nil {
		return err
	}
	o.Dir = Dir(dir)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	release, err := o.Dir.own()
	if err != nil {
		return err
	}
	defer release()
	if o.Reset {
		if err := o.Dir.reset(); err != nil {
			return err
		}
	}
	if err := os.Remove(o.Dir.contact()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err // of a playground that was killed
	}
	file, err := o.Dir.openLog("playground")
	if err != nil {
		return err
	}
	defer file.Close()
	log := &life{now: o.Now, out: io.MultiWriter(o.Life, file)}
	klog.LogToStderr(false) // what the client library has to say is not for people
	klog.SetOutput(file)
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
		log.say("%d machines are there from before", n)
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
	if err := errors.Join(
		copyFile(cluster.Kubeconfig, o.Dir.Kubeconfig()),
		writeWhole(o.Dir.awsEnvironment(), exports(aws.environment(o.Region, awsapi.AdminKey))),
	); err != nil {
		return err
	}
	control := &api{fleet: fleet, cloud: aws, catalog: types, region: o.Region, stop: stop}
	if o.Host != "" {
		node, err := startHost(ctx, o, cluster, client, objects, types, aws, log)
		if err != nil {
			return err
		}
		defer func() { stop(); <-node.Done() }()
	}
	if !o.Bare {
		if err := teach(ctx, objects); err != nil {
			return err
		}
		followers.Go(func() { log.followDecisions(ctx, client, objects) })
		control.tenon, err = startTenon(ctx, o, objects, aws, log)
		if ctx.Err() != nil {
			return errors.New("stopped before the controller was ready")
		} else if err != nil {
			return err
		}
		defer func() { stop(); control.tenon.wait() }()
	}
	show, fresh := demo{client: client, market: aws.Market, log: log, now: o.Now}, false
	if o.Demo {
		if fresh, err = show.begin(ctx, objects); err != nil {
			return err
		}
	}
	url, closeAPI, err := control.serve()
	if err != nil {
		return err
	}
	defer closeAPI()
	repository, closeCharts, err := serveCharts(o)
	if err != nil {
		return err
	}
	defer closeCharts()
	contact := Contact{Charts: repository, URL: url, Token: control.token, PID: os.Getpid(), Kubeconfig: o.Dir.Kubeconfig(), APIServer: cluster.URL, AWS: aws.URL}
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
		return fmt.Errorf("the control plane has ended by itself (%w); %s says more", cluster.Err(), o.Dir.Log("controlplane"))
	}
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

// startTenon makes the cluster one that Tenon works for: its controller and, for a demo, a pool.
func startTenon(ctx context.Context, o Options, client dynamic.Interface, aws *cloud, log *life) (*controller, error) {
	pool, err := manifest("default.yaml", o.ClusterName)
	if err != nil {
		return nil, err
	}
	if err := writeWhole(o.Dir.pool(), pool); err != nil {
		return nil, err
	}
	if o.Demo {
		if err := equip(ctx, client, pool); err != nil {
			return nil, err
		}
	}
	if o.Chart != "" {
		return nil, install(ctx, o, log)
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
