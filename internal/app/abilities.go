package app

import (
	"context"
	"fmt"
	"time"

	"github.com/go-logr/logr"

	"github.com/tenon-sh/tenon/internal/aws"
	"github.com/tenon-sh/tenon/internal/aws/machine"
	"github.com/tenon-sh/tenon/internal/aws/notice"
	"github.com/tenon-sh/tenon/internal/cloud"
	"github.com/tenon-sh/tenon/internal/controller/interrupt"
	"github.com/tenon-sh/tenon/internal/controller/tag"
)

// What a driver may be able to do beside what every driver does.
type (
	// inspector can say what a class selects.
	inspector interface {
		Inspect(context.Context, cloud.ClassRef) (aws.Inspection, error)
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
		out = append(out, &tag.Reconciler{Client: p.m.GetClient(), Tag: d.Tag, IDOf: machine.IDOf})
	}
	if d, ok := p.Driver.(announcer); ok {
		if queue := d.Notices(); queue != nil {
			heard := &interrupt.Controller{
				Client: p.m.GetClient(), Cluster: p.cluster, Enact: p.enact, Events: p.events, Metrics: p.metrics, Now: p.Now,
				Log: p.Log.WithName("controller.interruption"), Source: noticesOf(queue, d.Interrupted),
			}
			if err := p.m.Add(heard); err != nil {
				return nil, fmt.Errorf("add %T: %w", heard, err)
			}
		}
	}
	if d, ok := p.Driver.(sweeper); ok {
		if err := p.m.Add(&sweep{sweeper: d, log: p.Log.WithName("controller.launchtemplate")}); err != nil {
			return nil, fmt.Errorf("add the sweep: %w", err)
		}
	}
	return out, nil
}

// noticesOf reads a queue of AWS.
func noticesOf(queue *notice.Queue, interrupted func(shape, zone string)) interrupt.Source {
	receive := func(ctx context.Context, handle func(context.Context, interrupt.Notice) error) (int, error) {
		return queue.Drain(ctx, func(ctx context.Context, n notice.Notice) error {
			in := interrupt.Notice{
				Kind: string(n.Kind), Event: n.Kind.Event(), Text: n.Kind.Says(), Going: n.Kind.Going(), Reclaims: n.Kind == notice.SpotInterrupted, At: n.At,
			}
			for _, id := range n.Instances {
				in.Machines = append(in.Machines, cloud.MachineID(id))
			}
			return handle(ctx, in)
		})
	}
	return interrupt.Source{Name: queue.Name(), Receive: receive, IDOf: machine.IDOf, Interrupted: interrupted}
}

// sweepEvery is how often what a driver leaves behind is looked through.
const sweepEvery = 30 * time.Second

// sweep ends what a driver leaves behind, while this process leads.
type sweep struct {
	sweeper

	log logr.Logger
}

// NeedLeaderElection is the manager's.
func (s *sweep) NeedLeaderElection() bool { return true }

// Start sweeps until ctx ends.
func (s *sweep) Start(ctx context.Context) error {
	learnt := false
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		if !learnt {
			err := s.sweeper.Start(ctx)
			learnt = err == nil
			s.say(ctx, err)
		}
		s.say(ctx, s.Sweep(ctx))
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
