package statemetrics

import (
	"sync"
	"time"

	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cluster"
	"github.com/tenon-sh/tenon/internal/metric"
)

// Pods measures how long pods take from one state to the next. It follows those
// that it has seen without a node: how long others took is not known.
type Pods struct {
	// Ran is called with each pod that waited for us and has come to run. It may not wait.
	Ran func(Life)
	// Trace is the id by which more is told of a pod of that uid; nil: nothing is. Both are set before the first pod comes.
	Trace func(uid string) string

	metrics *metric.Set
	now     clock.Now

	mu    sync.Mutex
	known map[world.Key]life
}

// life is what a pod has come through.
type life struct {
	uid     string
	created int64
	seen    time.Time // when it was first seen to wait for us; zero: it did not
	decided time.Time
	bound   time.Time
}

// Life is how a pod came to run. Times of what was not seen are zero.
type Life struct {
	world.Key

	UID, Node                              string
	Created, Seen, Decided, Bound, Running time.Time
}

// NewPods returns Pods that write to metrics.
func NewPods(m *metric.Set, now clock.Now) *Pods {
	return &Pods{metrics: m, now: now, known: map[world.Key]life{}}
}

// Heard follows the change of a pod.
func (p *Pods) Heard(c cluster.Change) {
	if c.Kind != cluster.Pod {
		return
	}
	is := c.Is
	p.mu.Lock()
	defer p.mu.Unlock()
	if is == nil {
		if c.Was != nil {
			delete(p.known, c.Was.Key)
		}
		return
	}
	l, ok := p.known[is.Key]
	if !ok || l.uid != is.UID {
		if is.Node != "" || is.Done {
			delete(p.known, is.Key)
			return
		}
		l = life{uid: is.UID, created: is.Created}
	}
	now := p.now()
	if l.seen.IsZero() && is.Waiting && !is.Gated {
		l.seen = now
	}
	if is.Node != "" && l.bound.IsZero() {
		l.bound = now
		p.took(l, now, metric.PodsBoundDuration, metric.PodsProvisioningBoundDuration)
	}
	switch {
	case is.ReadyToServe:
		if p.Ran != nil && !l.seen.IsZero() {
			p.Ran(Life{Key: is.Key, UID: l.uid, Node: is.Node, Created: time.Unix(l.created, 0), Seen: l.seen, Decided: l.decided, Bound: l.bound, Running: now})
		}
		p.took(l, now, metric.PodsStartupDuration, metric.PodsProvisioningStartupDuration)
		delete(p.known, is.Key)
	case is.Done || is.Terminating:
		delete(p.known, is.Key)
	default:
		p.known[is.Key] = l
	}
}

// took observes how long a pod took since it was made, and since it waited for us.
func (p *Pods) took(l life, now time.Time, sinceMade, sinceSeen string) {
	p.metrics.ObserveOf(p.trace(l), sinceMade, max(now.Sub(time.Unix(l.created, 0)), 0).Seconds())
	if !l.seen.IsZero() {
		p.metrics.ObserveOf(p.trace(l), sinceSeen, now.Sub(l.seen).Seconds())
	}
}

// trace is the id of the pod's trace; empty: there is none.
func (p *Pods) trace(l life) string {
	if p.Trace == nil || l.seen.IsZero() {
		return ""
	}
	return p.Trace(l.uid)
}

// Decided notes that a plan has a verdict on pods.
func (p *Pods) Decided(made plan.Plan) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	verdict := func(k world.Key) {
		l, ok := p.known[k]
		if !ok || !l.decided.IsZero() {
			return
		}
		l.decided = now
		p.known[k] = l
		if !l.seen.IsZero() {
			p.metrics.ObserveOf(p.trace(l), metric.PodsDecisionDuration, now.Sub(l.seen).Seconds())
		}
	}
	for _, a := range made.New {
		for _, k := range a.Pods {
			verdict(k)
		}
	}
	for _, f := range made.Filled {
		for _, k := range f.Pods {
			verdict(k)
		}
	}
	for _, r := range made.Refused {
		verdict(r.Pod)
	}
}

// Samples are how long pods that wait for us have been waiting.
func (p *Pods) Samples() Samples {
	p.mu.Lock()
	defer p.mu.Unlock()
	s, now := Samples{}, p.now()
	for k, l := range p.known {
		if l.seen.IsZero() {
			continue
		}
		age := now.Sub(l.seen).Seconds()
		s.add(metric.PodsProvisioningUnstartedTime, age, k.Name, k.Namespace)
		if l.bound.IsZero() {
			s.add(metric.PodsProvisioningUnboundTime, age, k.Name, k.Namespace)
		}
		if l.decided.IsZero() {
			s.add(metric.PodsProvisioningUndecidedTime, age, k.Name, k.Namespace)
		}
	}
	return s
}

// PodNames are the metrics that Samples gives.
func PodNames() []string {
	return []string{metric.PodsProvisioningUnstartedTime, metric.PodsProvisioningUnboundTime, metric.PodsProvisioningUndecidedTime}
}
