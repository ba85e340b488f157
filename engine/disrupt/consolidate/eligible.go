package consolidate

import (
	"fmt"

	"github.com/tenon-sh/tenon/engine/disrupt/hold"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
)

// eligibility says of single machines whether they may go or receive pods at all.
type eligibility struct {
	*search
	book  *hold.Book
	going map[string]string // claims that go anyway, and why
}

// excludes says why a machine is not to be looked at; nil if it is.
func (l eligibility) excludes(p *world.Place) *reason.Why {
	if p.Claim != nil && l.going[p.Claim.Name] != "" {
		return &reason.Why{Code: reason.Deleting, Subject: p.Name(), Detail: "it goes anyway: " + l.going[p.Claim.Name]}
	}
	var causes []*reason.Why
	for _, h := range l.book.Any(p) {
		l.later(h.Until)
		causes = append(causes, l.book.Why(p, h))
	}
	if c := l.world.Currencies(); len(c) > 1 {
		causes = append(causes, &reason.Why{Code: reason.Invalid, Subject: p.Name(), Detail: fmt.Sprintf("prices are in %q, which cannot be compared", c), Hint: "give all catalogues one currency"})
	}
	if p.Claim != nil && !p.Deleting() {
		causes = append(causes, l.policy(p)...)
		causes = append(causes, hold.Unplannable(p)...)
	}
	switch len(causes) {
	case 0:
		return nil
	case 1:
		if causes[0].Subject == p.Name() {
			return causes[0]
		}
	}
	for _, c := range causes {
		if c.Subject == p.Name() {
			c.Subject = "" // the tree is about it
		}
	}
	return &reason.Why{Code: causes[0].Code, Subject: p.Name(), Causes: causes}
}

// policy is what a machine's pool, and what it is sold as, say against moving its pods.
func (l eligibility) policy(p *world.Place) []*reason.Why {
	if why := l.book.Unmoved(p); why != nil {
		return []*reason.Why{why}
	}
	pool := l.world.Pool(p.Pool())
	var out []*reason.Why
	if at := hold.LastPodChange(p.Claim) + *pool.Disruption.MoveAfter; at > l.world.At() && p.Claim.Initialized {
		l.later(at)
		out = append(out, &reason.Why{Code: reason.TooSoon, Subject: p.Name(), Detail: fmt.Sprintf("a pod came or went less than its pool's consolidateAfter ago; %d s are left", at-l.world.At())})
	}
	if o, known := plan.OfferOf(l.world, p); !known {
		out = append(out, &reason.Why{Code: reason.NoOffer, Subject: p.Name(), Detail: "its type is not in the catalogue, so what it costs is not known: " + p.Labels()[label.InstanceType]})
	} else if o.CapacityType == label.Reserved {
		out = append(out, &reason.Why{Code: reason.NotCheaper, Subject: p.Name(), Detail: "its reservation is paid for anyway"})
	}
	if hold.IsEmpty(p) {
		out = append(out, hold.Leaves(p))
	}
	return out
}

// takes reports whether pods may be put onto a machine: it is complete, does
// not go, and has been quiet for as long as its pool waits before it moves any.
func (l eligibility) takes(p *world.Place) bool {
	if p.Node == nil || !p.Node.Ready || p.Deleting() {
		return false
	}
	if p.Claim == nil {
		return p.Whole()
	}
	pool := l.world.Pool(p.Pool())
	if !p.Claim.Initialized || l.going[p.Claim.Name] != "" || pool == nil || hold.IsEmpty(p) {
		return false
	}
	after := pool.Disruption.MoveAfter
	if after == nil {
		after = pool.Disruption.EmptyAfter
	}
	return after == nil || hold.LastPodChange(p.Claim)+*after <= l.world.At()
}
