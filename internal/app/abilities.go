package app

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	toolscache "k8s.io/client-go/tools/cache"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/internal/aws/access"
	"github.com/tenon-sh/tenon/internal/aws/inspect"
	"github.com/tenon-sh/tenon/internal/aws/machine"
	"github.com/tenon-sh/tenon/internal/aws/notice"
	"github.com/tenon-sh/tenon/internal/cloud"
	"github.com/tenon-sh/tenon/internal/controller/interrupt"
	"github.com/tenon-sh/tenon/internal/controller/tag"
	"github.com/tenon-sh/tenon/internal/observe"
	"github.com/tenon-sh/tenon/internal/panics"
)

// What a driver may be able to do beside what every driver does.
type (
	// inspector can say what a class selects.
	inspector interface {
		Inspect(context.Context, cloud.ClassRef) (inspect.Inspection, error)
		Retire(context.Context, cloud.ClassRef) error
	}
	// tagger can name a machine.
	tagger interface {
		Tag(ctx context.Context, id cloud.MachineID, claim, node string) error
	}
	// announcer hears of interruptions.
	announcer interface {
		Notices() *notice.Queue
		Interrupted(shape, zone string)
		Checks() *notice.Checks
	}
	// leaser knows when what machines run in ends.
	leaser interface {
		Ending(ctx context.Context, handle notice.Handler, failed func(error)) (int, error)
	}
	// learner takes over what nodes turn out to have.
	learner interface {
		Learn(node, shape string, memory int64)
	}
	// author writes user data, and knows how long it is by class.
	author interface {
		UserData() map[string]int
	}
	// observed records what it sends.
	observed interface {
		Observe(to func(access.Done))
	}
	// sweeper leaves things behind that have to be ended.
	sweeper interface {
		Start(context.Context) error
		Sweep(context.Context) error
	}
)

// abilities adds what only some drivers can do.
func (p *parts) abilities() ([]registrar, error) {
	var out []registrar
	if d, ok := p.Driver.(tagger); ok {
		out = append(out, &tag.Reconciler{Client: p.m.GetClient(), Events: p.events, Now: p.Now, Tag: d.Tag, IDOf: machine.IDOf})
	}
	if d, ok := p.Driver.(announcer); ok {
		sources := []interrupt.Source{polled("instance status", d.Checks().Look, d.Interrupted)}
		if ends, ok := p.Driver.(leaser); ok {
			sources = append(sources, polled("ends of capacity blocks", ends.Ending, d.Interrupted))
		}
		if queue := d.Notices(); queue != nil {
			sources = append(sources, noticesOf(queue, d.Interrupted))
		}
		for _, source := range sources {
			heard := &interrupt.Controller{
				Client: p.m.GetClient(), Cluster: p.cluster, Enact: p.enact, Events: p.events, Metrics: p.metrics, Now: p.Now,
				Log: p.Log.WithName("controller.interruption"), Source: source,
			}
			if err := p.m.Add(heard); err != nil {
				return nil, fmt.Errorf("add %T: %w", heard, err)
			}
		}
	}
	if d, ok := p.Driver.(learner); ok {
		if err := p.learn(d); err != nil {
			return nil, err
		}
	}
	if d, ok := p.Driver.(sweeper); ok {
		if err := p.m.Add(&sweep{sweeper: d, log: p.Log.WithName("controller.launchtemplate"), panics: p.cluster.Panics}); err != nil {
			return nil, fmt.Errorf("add the sweep: %w", err)
		}
	}
	return out, nil
}

// noticesOf reads a queue of AWS.
func noticesOf(queue *notice.Queue, interrupted func(shape, zone string)) interrupt.Source {
	receive := func(ctx context.Context, handle func(context.Context, interrupt.Notice) error, failed func(error)) (int, error) {
		return queue.Drain(ctx, noticed(handle), failed)
	}
	return interrupt.Source{Name: queue.Name(), Receive: receive, IDOf: machine.IDOf, Interrupted: interrupted}
}

// noticed hands notices of AWS on.
func noticed(handle func(context.Context, interrupt.Notice) error) notice.Handler {
	return func(ctx context.Context, n notice.Notice) error {
		in := interrupt.Notice{
			Kind: string(n.Kind), Category: n.Kind.Category(), Event: n.Kind.Event(), Text: n.Kind.Says(), Going: n.Kind.Going(), Forced: n.Kind.Forced(), Reclaims: n.Kind == notice.SpotInterrupted, At: n.At,
		}
		for _, id := range n.Instances {
			in.Machines = append(in.Machines, cloud.MachineID(id))
		}
		return handle(ctx, in)
	}
}

// checkEvery is how often it is asked for what is not announced: the health of machines, and the end of what they run in.
const checkEvery = time.Minute

// polled asks for notices every so often.
func polled(name string, look func(context.Context, notice.Handler, func(error)) (int, error), interrupted func(shape, zone string)) interrupt.Source {
	receive := func(ctx context.Context, handle func(context.Context, interrupt.Notice) error, failed func(error)) (int, error) {
		wait := time.NewTimer(checkEvery)
		defer wait.Stop()
		select {
		case <-ctx.Done():
			return 0, nil
		case <-wait.C:
		}
		return look(ctx, noticed(handle), failed)
	}
	return interrupt.Source{Name: name, Polled: true, Receive: receive, IDOf: machine.IDOf, Interrupted: interrupted}
}

// learn has a driver take over how much memory nodes turn out to have, by which
// it counts on machines of the same shape from then on.
func (p *parts) learn(to learner) error {
	return p.m.Add(onEveryReplica(func(ctx context.Context) error {
		informer, err := p.m.GetCache().GetInformer(ctx, &corev1.Node{})
		if err != nil {
			return fmt.Errorf("watch nodes: %w", err)
		}
		seen := p.cluster.Panics.Handle("learn", func(o any) {
			n, ok := o.(*corev1.Node)
			ready := ok && slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool {
				return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
			})
			if ready && observe.PoolOf(n.Labels).Name != "" {
				to.Learn(n.Name, n.Labels[label.InstanceType], n.Status.Capacity.Memory().Value())
			}
		})
		_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{AddFunc: seen, UpdateFunc: func(_, is any) { seen(is) }})
		if err != nil {
			return fmt.Errorf("watch nodes: %w", err)
		}
		<-ctx.Done()
		return nil
	}))
}

// sweepEvery is how often what a driver leaves behind is looked through.
const sweepEvery = 30 * time.Second

// sweep ends what a driver leaves behind, while this process leads.
type sweep struct {
	sweeper

	log    logr.Logger
	panics panics.Teller
}

// NeedLeaderElection is the manager's.
func (s *sweep) NeedLeaderElection() bool { return true }

// Start sweeps until ctx ends.
func (s *sweep) Start(ctx context.Context) error {
	learnt := false
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		s.panics.Do("sweep", func() {
			if !learnt {
				err := s.sweeper.Start(ctx)
				learnt = err == nil
				s.say(ctx, err)
			}
			s.say(ctx, s.Sweep(ctx))
		})
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

func (s *sweep) say(ctx context.Context, err error) {
	if err != nil && ctx.Err() == nil {
		s.log.Error(err, "end what is left behind")
	}
}
