package consolidate

import (
	"fmt"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/disrupt"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
)

// looker says of single machines whether they may go or receive pods at all.
type looker struct {
	*search
	bars  func(*world.Place) []disrupt.Hold
	going map[string]string // claims that go anyway, and why
}

// look says why a machine is not to be looked at; nil if it is.
func (l looker) look(p *world.Place) *reason.Why {
	if p.Claim != nil && l.going[p.Claim.Name] != "" {
		return &reason.Why{Code: reason.Deleting, Subject: p.Name(), Detail: "it goes anyway: " + l.going[p.Claim.Name]}
	}
	var causes []*reason.Why
	for _, h := range l.bars(p) {
		l.later(h.Until)
		causes = append(causes, l.hold(h))
	}
	if c := l.world.Currencies(); len(c) > 1 {
		causes = append(causes, &reason.Why{Code: reason.Invalid, Detail: fmt.Sprintf("prices are in %q, which cannot be compared", c), Hint: "give all catalogues one currency"})
	}
	if p.Claim != nil && !p.Deleting() {
		causes = append(causes, l.policy(p)...)
		for _, pod := range p.Pods {
			if pod.Moves() && (pod.Claims || len(pod.Problems) > 0) {
				causes = append(causes, &reason.Why{Code: reason.Invalid, Subject: pod.String(), Detail: "the pod cannot be planned for, so nobody knows where else it would run"})
			}
		}
	}
	switch len(causes) {
	case 0:
		return nil
	case 1:
		if causes[0].Subject == "" {
			causes[0].Subject = p.Name()
			return causes[0]
		}
	}
	return &reason.Why{Code: causes[0].Code, Subject: p.Name(), Causes: causes}
}

// policy is what a machine's pool says against moving its pods.
func (l looker) policy(p *world.Place) []*reason.Why {
	pool := l.world.Pool(p.Pool())
	switch {
	case pool == nil:
		return []*reason.Why{{Code: reason.Policy, Detail: "its pool is gone, so nothing says when it may be given back"}}
	case pool.Replicas != nil:
		return []*reason.Why{{Code: reason.Static, Detail: fmt.Sprintf("pool %s is static and keeps %s", pool.ID.Name, amount.Count(*pool.Replicas, "node")), Hint: "lower its replicas"}}
	case pool.Disruption.MoveAfter == nil && pool.Disruption.EmptyAfter == nil:
		return []*reason.Why{{Code: reason.Policy, Detail: fmt.Sprintf("pool %s gives nothing back by choice", pool.ID.Name), Hint: disrupt.SomethingHint(pool)}}
	case pool.Disruption.MoveAfter == nil && disrupt.IsEmpty(p):
		return []*reason.Why{goesByItself()}
	case pool.Disruption.MoveAfter == nil:
		return []*reason.Why{{Code: reason.Policy, Detail: fmt.Sprintf("pool %s gives only empty nodes back", pool.ID.Name), Hint: disrupt.MovingHint(pool)}}
	}
	var out []*reason.Why
	if at := disrupt.Quiet(p.Claim) + *pool.Disruption.MoveAfter; at > l.world.At() && p.Claim.Initialized {
		l.later(at)
		out = append(out, &reason.Why{Code: reason.TooSoon, Detail: fmt.Sprintf("a pod came or went less than its pool's consolidateAfter ago; %d s are left", at-l.world.At())})
	}
	if o, known := plan.OfferOf(l.world, p); !known {
		out = append(out, &reason.Why{Code: reason.NoOffer, Detail: "its type is not in the catalogue, so what it costs is not known: " + p.Labels()[label.InstanceType]})
	} else if o.CapacityType == label.Reserved {
		out = append(out, &reason.Why{Code: reason.NotCheaper, Detail: "its reservation is paid for anyway"})
	}
	if disrupt.IsEmpty(p) {
		out = append(out, goesByItself())
	}
	return out
}

func goesByItself() *reason.Why {
	return &reason.Why{Code: reason.Empty, Detail: "it is empty, and goes by itself once that is allowed"}
}

// hold puts what keeps a machine into words.
func (l looker) hold(h disrupt.Hold) *reason.Why {
	why := &reason.Why{Code: h.Code}
	if h.Pod != nil {
		why.Subject = h.Pod.String()
	}
	switch h.Code {
	case reason.Foreign:
		why.Detail = "no pool asked for it"
	case reason.Deleting:
		why.Detail = "it is going already"
	case reason.Starting:
		why.Detail = "it has not joined and become complete yet"
	case reason.DoNotDisrupt:
		why.Detail, why.Hint = "it is annotated karpenter.sh/do-not-disrupt", "take the annotation off"
		if h.Until > 0 {
			why.Detail = fmt.Sprintf("it is annotated karpenter.sh/do-not-disrupt for another %d s", h.Until-l.world.At())
		}
	case reason.Promised:
		why.Detail = "waiting pods are on their way there"
	case reason.Alone:
		why.Detail, why.Hint = disrupt.Alone, disrupt.AloneHint
	case reason.Guarded:
		why.Detail, why.Hint = h.Guarding()
	}
	return why
}

// takes reports whether pods may be put onto a machine: it is complete, does
// not go, and has been quiet for as long as its pool waits before it moves any.
func (l looker) takes(p *world.Place) bool {
	if p.Node == nil || !p.Node.Ready || p.Deleting() {
		return false
	}
	if p.Claim == nil {
		return p.Whole()
	}
	pool := l.world.Pool(p.Pool())
	if !p.Claim.Initialized || l.going[p.Claim.Name] != "" || pool == nil || disrupt.IsEmpty(p) {
		return false
	}
	after := pool.Disruption.MoveAfter
	if after == nil {
		after = pool.Disruption.EmptyAfter
	}
	return after == nil || disrupt.Quiet(p.Claim)+*after <= l.world.At()
}
