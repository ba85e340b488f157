package app

import (
	"context"
	"fmt"
	"sync"
	"time"

	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/internal/statemetrics"
	"github.com/tenon-sh/tenon/internal/trace"
)

// sightings are when it was seen that claims were made and that conditions of theirs became true: what objects say of
// that are whole seconds, and much of a claim's way takes less.
type sightings struct {
	mu sync.Mutex
	of map[string]map[string]time.Time // by claim and condition; "" is its making
}

// closeBy is how long after what an object says it may have been seen that it is so, for that to be when it was.
const closeBy = 2 * time.Second

// note notes what is so of a claim and was not noted yet.
func (s *sightings) note(c *v1.NodeClaim, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	seen := s.of[c.Name]
	if seen == nil {
		seen = map[string]time.Time{}
		s.of[c.Name] = seen
	}
	for _, kind := range []string{"", v1.ConditionLaunched, v1.ConditionRegistered, v1.ConditionInitialized} {
		if _, noted := seen[kind]; !noted && (kind == "" || c.Conditions().Is(kind)) {
			seen[kind] = now
		}
	}
}

func (s *sightings) forget(claim string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.of, claim)
}

// when is when something became so of which an object says a whole second.
func (s *sightings) when(claim, kind string, said time.Time) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at := s.of[claim][kind]; !said.IsZero() && at.After(said) && at.Sub(said) < closeBy {
		return at
	}
	return said
}

// follow has claims noted as they change.
func (s *sightings) follow(ctx context.Context, p *parts) error {
	informer, err := p.m.GetCache().GetInformer(ctx, &v1.NodeClaim{})
	if err != nil {
		return fmt.Errorf("watch claims for traces: %w", err)
	}
	note := func(o any) {
		if c, ok := o.(*v1.NodeClaim); ok {
			s.note(c, p.Now())
		}
	}
	_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc:    p.cluster.Panics.Handle("traces", note),
		UpdateFunc: p.cluster.Panics.HandleUpdate("traces", func(_, after any) { note(after) }),
		DeleteFunc: p.cluster.Panics.Handle("traces", func(last any) {
			if gone, ok := last.(toolscache.DeletedFinalStateUnknown); ok {
				last = gone.Obj
			}
			if c, ok := last.(*v1.NodeClaim); ok {
				s.forget(c.Name)
			}
		}),
	})
	if err != nil {
		return fmt.Errorf("watch claims for traces: %w", err)
	}
	return nil
}

// traces has spans sent of how pods came to run, if they are to go anywhere.
func (p *parts) traces(ctx context.Context) error {
	if !p.Settings.Trace.On() {
		return nil
	}
	log := p.Log.WithName("trace")
	claims := &sightings{of: map[string]map[string]time.Time{}}
	if err := claims.follow(ctx, p); err != nil {
		return err
	}
	e := trace.NewExporter(p.Settings.Trace, p.metrics)
	e.ClaimOf = func(ctx context.Context, node string) *trace.Claim { return p.claimOf(ctx, node, claims) }
	e.Failed = func(err error) {
		if err != nil {
			log.Info("the collector does not take all spans of pods: it refuses them or does not answer; this is said once", "error", err.Error())
			return
		}
		log.Info("the collector takes the spans of pods again")
	}
	p.pods.Trace = trace.ID
	p.pods.Ran = func(l statemetrics.Life) {
		e.Ran(trace.Pod{Namespace: l.Namespace, Name: l.Name, UID: l.UID, Node: l.Node, Created: l.Created, Seen: l.Seen, Decided: l.Decided, Bound: l.Bound, Running: l.Running})
	}
	return p.m.Add(e)
}

// claimOf is how the machine of a node came about; nil if it has no claim.
func (p *parts) claimOf(ctx context.Context, node string, seen *sightings) *trace.Claim {
	at := p.cluster.Recent(time.Second).Place(node)
	if at == nil || at.Claim == nil {
		return nil
	}
	var c v1.NodeClaim
	if p.m.GetCache().Get(ctx, client.ObjectKey{Name: at.Claim.Name}, &c) != nil { // it has gone
		return nil
	}
	since := func(kind string) time.Time {
		if s := c.Conditions().Get(kind); s != nil && c.Conditions().Is(kind) {
			return seen.when(c.Name, kind, s.LastTransitionTime.Time)
		}
		return time.Time{}
	}
	labels := at.Labels()
	return &trace.Claim{
		Name: c.Name, Pool: at.Claim.Pool.Name, Shape: labels[label.InstanceType], Zone: labels[label.Zone], CapacityType: labels[label.CapacityType],
		Created: seen.when(c.Name, "", c.CreationTimestamp.Time), Launched: since(v1.ConditionLaunched), Registered: since(v1.ConditionRegistered), Initialized: since(v1.ConditionInitialized),
	}
}
