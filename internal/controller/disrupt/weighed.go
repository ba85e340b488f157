package disrupt

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/metric"
)

// weigh counts what consolidation found, and how balanced pools weigh it. What waits for something else than its score
// is counted when it begins.
func (c *Controller) weigh(w *world.World, p plan.Plan) {
	for _, m := range p.Commands {
		if m.Begun || m.Reason != plan.Underutilized {
			continue
		}
		decision := "approved"
		switch {
		case m.Why != nil && m.Why.Code == reason.Unbalanced:
			decision = "rejected"
		case m.Verdict != plan.Begin:
			continue
		}
		for _, pool := range poolsOf(m) {
			c.Metrics.Add(metric.ConsolidationMoves, 1, decision, pool.Name, string(policyOf(w, pool)))
		}
		for _, s := range m.Scores {
			c.Metrics.Observe(metric.ConsolidationScore, whole(s.Value()), decision, s.Pool.Name, string(policyOf(w, s.Pool)))
		}
	}
}

// poolsOf are the pools that the machines of a command are of.
func poolsOf(m plan.Command) (out []world.PoolID) {
	for _, g := range m.Back {
		if !slices.Contains(out, g.Pool) {
			out = append(out, g.Pool)
		}
	}
	return out
}

// policyOf is the policy of a pool of which pods are moved to make the cluster cheaper.
func policyOf(w *world.World, id world.PoolID) v1.ConsolidationPolicy {
	if pool := w.Pool(id); pool != nil && pool.Disruption.Balanced {
		return v1.Balanced
	}
	return v1.WhenEmptyOrUnderutilized
}

// proposed says of a command that begins what it is to do, and what it comes to for balanced pools.
func (c *Controller) proposed(ctx context.Context, m plan.Command) {
	if m.Reason != plan.Underutilized {
		return
	}
	if len(m.New) > 0 {
		for _, g := range m.Back {
			c.onMachine(ctx, g, "ConsolidationCandidate", fmt.Sprintf("Consolidation candidate: %s (savings: $%.2f)", commandText(m, g), m.Saving.Units()))
		}
	}
	for _, s := range m.Scores {
		text := fmt.Sprintf("score %.2f >= threshold %.2f (k: %d, savings %.1f%%, disruption %.1f%%)",
			whole(s.Value()), whole(plan.LeastScore), plan.Whole/plan.LeastScore, 100*whole(s.Saved), 100*whole(s.Moved))
		if len(m.Back) == 1 {
			c.onMachine(ctx, m.Back[0], "ConsolidationApproved", text)
			continue
		}
		pool := &v1.NodePool{}
		if c.Client.Get(ctx, client.ObjectKey{Name: s.Pool.Name}, pool) == nil {
			c.Events.Normal(pool, "ConsolidationApproved", "%s", text)
		}
	}
}

// whole is a number of millionths as events and metrics have it.
func whole(millionths int64) float64 { return float64(millionths) / plan.Whole }

// rejected says of a command that was to make the cluster cheaper why it is taken back. What was bought for it and is
// not launched yet has no price.
func (c *Controller) rejected(ctx context.Context, w *world.World, m plan.Command) {
	if m.Reason != plan.Underutilized || m.Verdict != plan.TakeBack {
		return
	}
	saving := money.Micro(0)
	for _, g := range m.Back {
		saving += g.Price
	}
	for _, name := range m.Bought {
		if p := placeOf(w, name); p != nil {
			saving -= plan.PriceOf(w, p)
		}
	}
	for _, g := range m.Back {
		c.onMachine(ctx, g, "ConsolidationRejected", fmt.Sprintf("Consolidation rejected: %s, reason: %s (savings: $%.2f)", commandText(m, g), rejection(m.Why), saving.Units()))
	}
}

// rejections are what Karpenter calls reasons for which a command is taken back. It has no word for some of them.
func rejections() map[reason.Code]string {
	return map[reason.Code]string{
		reason.Budget: "budget", reason.NoPlace: "scheduling", reason.Starting: "scheduling",
		reason.Policy: "churn", reason.DoNotDisrupt: "churn", reason.Guarded: "churn", reason.Alone: "churn", reason.Promised: "churn",
		reason.Static: "", reason.Foreign: "", reason.Deleting: "", reason.Empty: "", reason.InUse: "", reason.TooSoon: "", reason.Invalid: "", reason.NotReady: "",
	}
}

// rejection is what Karpenter calls such a reason.
func rejection(why *reason.Why) string {
	if why == nil {
		return "unknown"
	}
	return cmp.Or(rejections()[why.Code], "unknown")
}

// commandText is the command as Karpenter writes it for one of its machines.
func commandText(m plan.Command, g plan.Give) string {
	what, n := "delete", len(m.New)+len(m.Bought)
	if n > 0 {
		what = "replace"
	}
	text := fmt.Sprintf("%s: [%s]", what, g.Node)
	switch {
	case len(m.Back) > 1:
		return text + fmt.Sprintf(" (part of %d-node consolidation)", len(m.Back))
	case n > 0:
		return text + " -> [" + amount.Count(n, "replacement") + "]"
	}
	return text
}

// onMachine says something of a machine on its node and on its claim.
func (c *Controller) onMachine(ctx context.Context, g plan.Give, reason, text string) {
	node, claim := &corev1.Node{}, &v1.NodeClaim{}
	if g.Node != "" && c.Client.Get(ctx, client.ObjectKey{Name: g.Node}, node) == nil {
		c.Events.Normal(node, reason, "%s", text)
	}
	if c.Client.Get(ctx, client.ObjectKey{Name: g.Claim}, claim) == nil {
		c.Events.Normal(claim, reason, "%s", text)
	}
}
