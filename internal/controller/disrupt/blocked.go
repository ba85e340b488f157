package disrupt

import (
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/engine/disrupt"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
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
		closed[p.ID] = p.ID.Kind == world.NodePool && p.Replicas == nil && disrupt.Allowed(p.Disruption.Budgets, disrupt.Empty, 1, w.At()) == 0
	}
	has := map[string]bool{}
	for _, p := range w.Places() {
		if p.Node == nil || p.Claim == nil || !p.Claim.Initialized || p.Deleting() {
			continue
		}
		if closed[p.Pool()] {
			has[p.Pool().Name] = true
		}
		if disrupt.IsEmpty(p) && forbidden(w, p) {
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
		h, held := disrupt.Keeps(w, pod)
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
			c.Events.NormalEvery(poolsEvery, o, blocked, "The pool's budgets let no node go for the reason "+disrupt.Empty+" now")
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
