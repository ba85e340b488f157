package disrupt

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/engine/disrupt"
	"github.com/tenon-sh/tenon/engine/disrupt/consolidate"
	"github.com/tenon-sh/tenon/engine/disrupt/hold"
	"github.com/tenon-sh/tenon/engine/disrupt/replace"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/wording"
)

const (
	blocked      = "DisruptionBlocked"
	poolsEvery   = time.Minute      // how often a pool is told that its budgets let nothing go
	machineEvery = 15 * time.Minute // how often a node is told what keeps it
)

// Blocked names the pools of which budgets let no machine go at all, and the
// empty machines that somebody forbids to give back.
func Blocked(w *world.World) (pools []string, kept []*world.Place) {
	closed := map[world.PoolID]bool{}
	for _, p := range w.Pools() {
		closed[p.ID] = p.ID.Kind == world.NodePool && p.Replicas == nil && hold.Allowed(p.Disruption.Budgets, plan.Empty, 1, w.At()) == 0
	}
	has := map[string]bool{}
	for _, p := range w.Places() {
		if p.Node == nil || p.Claim == nil || !p.Claim.Initialized || p.Deleting() {
			continue
		}
		if closed[p.Pool()] {
			has[p.Pool().Name] = true
		}
		if hold.IsEmpty(p) && forbidden(w, p) {
			kept = append(kept, p)
		}
	}
	for name := range has {
		pools = append(pools, name)
	}
	slices.Sort(pools)
	return pools, kept
}

// forbidden reports whether a node, or a pod that counts for nothing else, says
// that the machine must stay.
func forbidden(w *world.World, p *world.Place) bool {
	return p.Node.DoNotDisrupt || slices.ContainsFunc(p.Pods, func(pod *world.Pod) bool {
		h, held := hold.Keeps(w, pod)
		return held && h.Code == reason.DoNotDisrupt
	})
}

// tell says of pools, machines and pods what keeps them from being given back.
func (c *Controller) tell(ctx context.Context, w *world.World) {
	c.tellPods(w)
	pools, kept := Blocked(w)
	for _, name := range pools {
		o := &v1.NodePool{}
		if c.Client.Get(ctx, client.ObjectKey{Name: name}, o) == nil {
			c.Events.NormalEvery(poolsEvery, o, blocked, "The pool's budgets let no node go for the reason "+plan.Empty+" now")
		}
	}
	for _, p := range kept {
		text := "It is empty and stays: its annotation " + v1.AnnotationDoNotDisrupt + " or that of a pod forbids to give it back"
		node, claim := &corev1.Node{}, &v1.NodeClaim{}
		if c.Client.Get(ctx, client.ObjectKey{Name: p.Node.Name}, node) == nil {
			c.Events.NormalEvery(machineEvery, node, blocked, text)
		}
		if c.Client.Get(ctx, client.ObjectKey{Name: p.Claim.Name}, claim) == nil {
			c.Events.NormalEvery(machineEvery, claim, blocked, text)
		}
	}
}

const (
	keptEvery  = 15 * time.Minute // how often a node is told why its pods are not moved
	keptAtOnce = 100              // how many are told at one look
)

// tellKept says of nodes of pools that have pods moved why theirs are not. What
// changes from look to look is no reason to say it again.
func (c *Controller) tellKept(ctx context.Context, p consolidate.Plan) {
	now := c.Now()
	left := keptAtOnce
	told := map[string]time.Time{}
	for _, k := range p.Kept {
		at, known := c.looking.told[k.Claim]
		if known && now.Sub(at) < keptEvery {
			told[k.Claim] = at
			continue
		}
		if left == 0 || k.Node == "" || !Telling(k.Why.Code) {
			continue
		}
		left--
		told[k.Claim] = now
		c.tellMachine(ctx, k.Node, k.Claim, keptEvery, "Unconsolidatable", k.Why.Said())
	}
	c.looking.told = told
}

// Telling reports whether why a node is kept is worth an event: it is not where that is how things are meant to be, or passes soon.
func Telling(c reason.Code) bool {
	switch c {
	case reason.Policy, reason.Static, reason.Foreign, reason.Starting, reason.Deleting, reason.TooSoon, reason.Empty, reason.Promised:
		return false
	}
	return true
}

// tellStaying says of nodes that are to be replaced what keeps them.
func (c *Controller) tellStaying(ctx context.Context, w *world.World, kept []replace.Kept) {
	for _, k := range kept[:min(len(kept), keptAtOnce)] {
		c.tellMachine(ctx, k.Place.Node.Name, k.Place.Claim.Name, machineEvery, blocked, StayingText(w, k))
	}
}

// StayingText is what a node is told that is too old, or has drifted by what
// differs, of what keeps it. It is told again when it is another text, so it
// holds no figures that change with every machine.
func StayingText(w *world.World, k replace.Kept) string {
	text := "It has drifted"
	if k.Place.Claim.Change != "" {
		text += " (" + k.Place.Claim.Change + ")"
	}
	text += " and stays: "
	if disrupt.TooOld(w, k.Place) {
		text = fmt.Sprintf("It has expired, and cannot be replaced before it is drained, which begins %d minutes after it expired: ", disrupt.Overstay/60)
	}
	var of *world.Pod
	for _, pod := range k.Place.Pods {
		if pod.String() == k.Why.Subject {
			of = pod
		}
	}
	return text + wording.Kept(w, of, k.Why)
}

func (c *Controller) tellMachine(ctx context.Context, node, claim string, every time.Duration, reason, text string) {
	n, o := &corev1.Node{}, &v1.NodeClaim{}
	if c.Client.Get(ctx, client.ObjectKey{Name: node}, n) == nil {
		c.Events.NormalEvery(every, n, reason, text)
	}
	if c.Client.Get(ctx, client.ObjectKey{Name: claim}, o) == nil {
		c.Events.NormalEvery(every, o, reason, text)
	}
}
