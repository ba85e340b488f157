package disrupt

import (
	"cmp"
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/engine/disrupt"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/metric"
	"github.com/tenon-sh/tenon/internal/wording"
)

const (
	blocked      = "DisruptionBlocked"
	poolsEvery   = time.Minute      // how often an event says that a pool's budgets let nothing go
	machineEvery = 15 * time.Minute // how often an event says what keeps a node
)

// publish says in events what keeps pools, machines and pods from being given back.
func (c *Controller) publish(ctx context.Context, w *world.World, p plan.Plan) {
	c.publishPods(w)
	for _, m := range p.Commands {
		c.rejected(ctx, w, m)
		c.tellStaying(ctx, w, m)
	}
	for _, pool := range disrupt.Closed(w) {
		o := &v1.NodePool{}
		if c.Client.Get(ctx, client.ObjectKey{Name: pool.ID.Name}, o) == nil {
			c.Events.NormalEvery(poolsEvery, o, blocked, "The pool's budgets let no node go for the reason "+plan.Empty+" now")
		}
	}
	var unmoved []plan.Kept
	eligible, staying := 0, 0
	for _, k := range p.Kept {
		switch k.Reason {
		case plan.Underutilized:
			unmoved = append(unmoved, k)
		case plan.Empty:
			if k.Why.Code == reason.DoNotDisrupt {
				c.tellMachine(ctx, k, machineEvery, blocked, stayingText(w, k))
			}
		default:
			if staying++; staying <= keptAtOnce {
				c.tellMachine(ctx, k, machineEvery, blocked, stayingText(w, k))
			}
			c.tellPool(ctx, k)
		}
	}
	if len(unmoved) == 0 && p.Price == 0 {
		return // it was not looked which pods could be moved
	}
	for _, m := range p.Commands {
		if m.Reason == plan.Underutilized && !m.Begun {
			eligible += len(m.Back)
		}
	}
	c.Metrics.Put(metric.DisruptionEligibleNodes, float64(eligible), lower(plan.Underutilized))
	c.Metrics.Put(metric.ConsolidationSavings, p.Saving().Units(), "now")
	c.Metrics.Put(metric.ConsolidationSavings, (p.Possible() - p.Saving()).Units(), "held")
	c.Metrics.Put(metric.ConsolidationBound, p.Least.Units())
	c.tellKept(ctx, unmoved)
}

const (
	keptEvery  = 15 * time.Minute // how often an event says why a node's pods are not moved
	keptAtOnce = 100              // of how many nodes one look says so
)

// tellStaying says of nodes that were to be replaced why they stay after all: until that is tried again no plan speaks
// of them.
func (c *Controller) tellStaying(ctx context.Context, w *world.World, m plan.Command) {
	if m.Verdict != plan.TakeBack || m.Why == nil || m.Reason != plan.Drifted && m.Reason != plan.Expired {
		return
	}
	for _, g := range m.Back {
		k := plan.Kept{Node: g.Node, Claim: g.Claim, Reason: m.Reason, Why: m.Why}
		c.tellMachine(ctx, k, machineEvery, blocked, stayingText(w, k))
	}
}

// tellKept says of nodes of pools that have pods moved why theirs are not. What
// changes from look to look is no reason to say it again.
func (c *Controller) tellKept(ctx context.Context, kept []plan.Kept) {
	now := c.Now()
	left := keptAtOnce
	published := map[string]time.Time{}
	for _, k := range kept {
		at, known := c.looking.published[k.Claim]
		if known && now.Sub(at) < keptEvery {
			published[k.Claim] = at
			continue
		}
		if left == 0 || k.Node == "" || !worthAnEvent(k.Why.Code) {
			continue
		}
		left--
		published[k.Claim] = now
		c.tellMachine(ctx, k, keptEvery, "Unconsolidatable", k.Why.Said())
	}
	c.looking.published = published
}

// worthAnEvent reports whether why a node is kept is worth an event: it is not where that is how things are meant to be, or passes soon.
func worthAnEvent(c reason.Code) bool {
	switch c {
	case reason.Policy, reason.Static, reason.Foreign, reason.Starting, reason.Deleting, reason.TooSoon, reason.Empty, reason.Promised:
		return false
	}
	return true
}

// stayingText is the event on a node that is empty, too old or has drifted, and stays: what keeps it, and if it has
// drifted what differs. Another text is another event, so it holds no figures that change with every machine.
func stayingText(w *world.World, k plan.Kept) string {
	place := w.Place(cmp.Or(k.Node, k.Claim))
	text := "It is empty and stays: "
	switch k.Reason {
	case plan.Expired:
		text = fmt.Sprintf("It has expired, and cannot be replaced before it is drained, which begins %d minutes after it expired: ", disrupt.Overstay/60)
	case plan.Drifted:
		text = "It has drifted"
		if place != nil && place.Claim != nil && place.Claim.Change != "" {
			text += " (" + place.Claim.Change + ")"
		}
		text += " and stays: "
	}
	var of *world.Pod
	if place != nil {
		for _, pod := range place.Pods {
			if pod.String() == k.Why.Subject {
				of = pod
			}
		}
	}
	return text + wording.Kept(w, of, k.Why)
}

// tellPool says to a static pool that its own limit keeps nodes that have drifted from being replaced: nothing but
// a change of the pool would end that.
func (c *Controller) tellPool(ctx context.Context, k plan.Kept) {
	if k.Reason != plan.Drifted || k.Why.Code != reason.Limit {
		return
	}
	o := &v1.NodePool{}
	if c.Client.Get(ctx, client.ObjectKey{Name: k.Pool.Name}, o) == nil {
		c.Events.WarningEvery(machineEvery, o, blocked, "Nodes that have drifted are not replaced: "+k.Why.Unnamed().Said())
	}
}

func (c *Controller) tellMachine(ctx context.Context, k plan.Kept, every time.Duration, reason, text string) {
	n, o := &corev1.Node{}, &v1.NodeClaim{}
	if c.Client.Get(ctx, client.ObjectKey{Name: k.Node}, n) == nil {
		c.Events.NormalEvery(every, n, reason, text)
	}
	if c.Client.Get(ctx, client.ObjectKey{Name: k.Claim}, o) == nil {
		c.Events.NormalEvery(every, o, reason, text)
	}
}
