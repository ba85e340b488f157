package playground

import (
	"context"
	"errors"
	"os"
	"slices"
	"sync"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/internal/catalog"
	"github.com/tenon-sh/tenon/internal/kube"
	"github.com/tenon-sh/tenon/internal/sim/awsapi"
	"github.com/tenon-sh/tenon/internal/sim/kubelet"
)

// ground is a playground while it is put together. Each of its steps stands on those before it.
type ground struct {
	Options

	log       *life
	stop      context.CancelFunc
	followers sync.WaitGroup // of what happens
	ends      []func()       // of what runs, in the order in which it was started

	types   *catalog.Catalog
	cluster *kube.ControlPlane
	client  kubernetes.Interface
	objects dynamic.Interface
	fleet   *kubelet.Fleet
	aws     *cloud
	on      hosts
	control *api
	contact Contact
	show    demo
	fresh   bool // the demo has begun in a new cluster
}

// later notes how something that was started ends.
func (g *ground) later(end func()) { g.ends = append(g.ends, end) }

// end ends all that was started, the last first.
func (g *ground) end() {
	for _, end := range slices.Backward(g.ends) {
		end()
	}
}

// kubernetes starts the control plane.
func (g *ground) kubernetes(ctx context.Context) (err error) {
	if g.types, err = catalog.Load(); err != nil {
		return err
	}
	g.cluster, err = startCluster(ctx, g.Options, g.log)
	if ctx.Err() != nil {
		return errors.New("stopped before the cluster was ready")
	} else if err != nil {
		return err
	}
	g.later(g.cluster.Stop)
	g.client, g.objects, err = connect(g.cluster)
	return err
}

// machines plays the machines that are there from before, those that surround the cluster, their devices, and volumes.
func (g *ground) machines(ctx context.Context) error {
	g.fleet = kubelet.New(kubelet.Options{
		Nodes: g.client.CoreV1().Nodes(), Delays: g.Delays, Endpoint: g.cluster.URL,
		Say: func(machine, what string) { g.log.say("machine %s %s", machine, what) },
	})
	g.later(g.fleet.Close)
	if n, err := g.fleet.Adopt(ctx); err != nil {
		return err
	} else if n > 0 {
		g.log.say("there from before: %s", amount.Count(n, "machine"))
	}
	g.followers.Go(func() { g.log.follow(ctx, g.client, g.fleet.NodeGone) })
	g.later(func() { g.stop(); g.followers.Wait() })
	if err := surround(ctx, g.Options, g.client, g.objects, g.types, g.fleet); err != nil {
		return err
	}
	g.devices(ctx)
	return g.volumes(ctx)
}

// account serves the simulated account, and says how to reach it and the cluster.
func (g *ground) account(ctx context.Context) (err error) {
	if g.aws, err = g.startCloud(ctx); err != nil {
		return err
	}
	g.later(func() { g.stop(); <-g.aws.done })
	if err := manage(ctx, g.Options, g.client, g.aws); err != nil {
		return err
	}
	g.control = &api{fleet: g.fleet, cloud: g.aws, catalog: g.types, region: g.Region, stop: g.stop}
	g.contact = Contact{PID: os.Getpid(), Kubeconfig: g.Dir.Kubeconfig(), APIServer: g.cluster.URL, AWS: g.aws.URL}
	return errors.Join(
		copyFile(g.cluster.Kubeconfig, g.Dir.Kubeconfig()),
		writeWhole(g.Dir.awsEnvironment(), exports(g.aws.environment(g.Region, awsapi.AdminKey))),
	)
}

// hosts serves charts, and registers the nodes that run pods of our image.
func (g *ground) hosts(ctx context.Context) error {
	charts, end, err := serveCharts(g.Options)
	if err != nil {
		return err
	}
	g.later(end)
	g.contact.Charts = charts
	if g.Host == "" {
		return nil
	}
	g.on, err = g.startHosts(ctx)
	g.later(func() { g.stop(); g.on.done() })
	if err != nil {
		return err
	}
	g.control.tenon = installed{g.on}
	return nil
}

// tenon makes the cluster one that Tenon works for: its kinds, its controller and, for a demo, a pool.
func (g *ground) tenon(ctx context.Context) error {
	if !g.Bare {
		if err := teach(ctx, g.objects, g.Chart); err != nil {
			return err
		}
	}
	if !g.Bare || g.Host != "" {
		g.followers.Go(func() {
			if established(ctx, g.objects, "nodeclaims.karpenter.sh") == nil {
				g.log.followDecisions(ctx, g.client, g.objects)
			}
		})
	}
	if g.Bare {
		return nil
	}
	child, err := g.startTenon(ctx)
	if ctx.Err() != nil {
		return errors.New("stopped before the controller was ready")
	} else if err != nil {
		return err
	}
	if child != nil {
		g.control.tenon = child
		g.later(func() { g.stop(); <-child.done })
	}
	return nil
}

// startTenon starts the controller, which is returned if it is a child.
func (g *ground) startTenon(ctx context.Context) (*controller, error) {
	if g.Demo {
		if err := equip(ctx, g.objects, g.ClusterName); err != nil {
			return nil, err
		}
	}
	if g.Controller == ByChart {
		return nil, install(ctx, g.Options, g.client, g.on, g.contact.Charts, g.log)
	}
	return runController(ctx, g.Options, g.aws, g.log)
}

// pages serves the controller's pages.
func (g *ground) pages(context.Context) error {
	if g.control.tenon == nil {
		return nil
	}
	pages, end, err := servePages(g.control.tenon)
	if err != nil {
		return err
	}
	g.later(end)
	g.contact.Pages = pages
	return nil
}

// demo gives a new cluster something to look at.
func (g *ground) demo(ctx context.Context) (err error) {
	g.show = demo{client: g.client, market: g.aws.Market, log: g.log, now: g.Now, currency: g.aws.currency}
	if g.Demo {
		g.fresh, err = g.show.begin(ctx, g.objects)
	}
	return err
}

// open serves the playground's own API, says where it is, and lets the demo play.
func (g *ground) open(ctx context.Context) error {
	g.contact.Pools = hasPools(ctx, g.objects)
	url, end, err := g.control.serve()
	if err != nil {
		return err
	}
	g.later(end)
	g.contact.URL, g.contact.Token = url, g.control.token
	if err := g.Dir.writeContact(g.contact); err != nil {
		return err
	}
	g.later(func() { _ = os.Remove(g.Dir.contact()) })
	if g.fresh && g.Story {
		if err := g.show.tell(ctx); err != nil && ctx.Err() == nil {
			return err
		}
	}
	return nil
}
