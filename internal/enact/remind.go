package enact

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/tenon-sh/tenon/engine/nominate"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/internal/parallel"
)

const (
	// remindAfter is how long a pod may be nominated for a node that can take it before kube-scheduler is
	// reminded. It doubles each time, up to what kube-scheduler lets pods lie for by itself.
	remindAfter    = 10 * time.Second
	remindAtLatest = 5 * time.Minute
	// remindBusy is the same while others of the pods are being bound: then it is their turn first.
	remindBusy = time.Minute
	// remindedAtOnce is how many reminders one plan may give: each makes kube-scheduler look at others as well.
	remindedAtOnce = 32
)

// reminder is since when a pod has been nominated for a node that can take it,
// and how often kube-scheduler was reminded of it.
type reminder struct {
	node  string
	since time.Time
	times int
}

// due is when the next reminder is.
func (r reminder) due(busy bool) time.Time {
	wait := min(remindAfter<<min(r.times, 10), remindAtLatest)
	if busy {
		wait = max(wait, remindBusy)
	}
	return r.since.Add(wait)
}

// reminders are those of the pods that waited beside their nodes when the last plan was made, by UID.
type reminders struct {
	mu    sync.Mutex
	pods  map[string]reminder
	moved time.Time // when one of them was last seen to be gone: kube-scheduler is at work
}

// remind has kube-scheduler look again at pods that lie forgotten in its queue
// although their nodes can take them, and returns when it is to be called again;
// zero for no need.
//
// kube-scheduler takes a pod up again when something happens that may let it in.
// When room is kept for a pod that is then bound elsewhere, nothing does; a pod that
// waits for that room waits until all pods are looked at again, five minutes
// later. A nomination that is taken back is such an event. One that stays for
// long shows that kube-scheduler does not look at it: a pod that is looked at is bound or loses it.
func (e *Enactor) remind(ctx context.Context, c *nominate.PodCounts, p plan.Plan) time.Duration {
	now := e.Now()
	due, next := e.reminders.take(lying(c, p), now)
	parallel.Do(parallel.Writes, due, func(_ int, p promise) {
		e.Log.V(1).Info("kube-scheduler has not tried the pod, nominating it again", "Pod", p.pod.String(), "Node", p.node)
		e.teller().Do(where, func() {
			e.promise(ctx, promise{pod: p.pod})
			e.promise(ctx, p)
		}, "Pod", p.pod.String())
	})
	if next.IsZero() {
		return 0
	}
	return max(next.Sub(now), time.Second)
}

// lying are the pods that wait although their nodes can take them now.
func lying(c *nominate.PodCounts, p plan.Plan) []promise {
	w := c.World()
	var out []promise
	for _, f := range p.Filled {
		m := w.Place(f.Node)
		if m == nil || m.Node == nil || m.Deleting() || m.Claim != nil && !m.Claim.Initialized {
			continue
		}
		for _, pod := range promisable(c, f.Pods, f.Node) {
			if pod.Waiting {
				out = append(out, promise{pod, f.Node})
			}
		}
	}
	return out
}

// take carries reminders on to the pods that still lie, and returns those that
// are due, those that have waited longest first, and when the next are; zero for never.
func (r *reminders) take(lying []promise, now time.Time) (due []promise, next time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	is := make(map[string]reminder, len(lying))
	for _, p := range lying {
		is[p.pod.UID] = reminder{}
	}
	for uid := range r.pods {
		if _, still := is[uid]; !still {
			r.moved = now
		}
	}
	busy := now.Sub(r.moved) < remindAfter
	for _, p := range lying {
		m := r.pods[p.pod.UID]
		if m.node != p.node {
			m = reminder{node: p.node, since: now}
		}
		if p.pod.Nominated != p.node { // kube-scheduler has only just looked, or has yet to hear of it
			m.since = now
		}
		is[p.pod.UID] = m
		if !now.Before(m.due(busy)) {
			due = append(due, p)
		}
	}
	slices.SortStableFunc(due, func(a, b promise) int { return is[a.pod.UID].due(busy).Compare(is[b.pod.UID].due(busy)) })
	due = due[:min(len(due), remindedAtOnce)]
	for _, p := range due {
		m := is[p.pod.UID]
		is[p.pod.UID] = reminder{node: m.node, since: now, times: m.times + 1}
	}
	for _, m := range is {
		at := m.due(false)
		if idle := r.moved.Add(remindAfter); at.Before(idle) {
			at = idle // as early as it may turn out not to be busy any more
		}
		if next.IsZero() || at.Before(next) {
			next = at
		}
	}
	r.pods = is
	return due, next
}
