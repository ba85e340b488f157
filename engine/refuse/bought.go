package refuse

import (
	"fmt"
	"slices"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/fit"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/market"
	"github.com/tenon-sh/tenon/engine/packing"
	"github.com/tenon-sh/tenon/engine/reason"
)

// blocked are the limits that bar machines, and the least that a machine behind each of them counts: of those that would
// do but for the limit, and of all.
type blocked struct {
	names     []string
	only, all map[string]int64
	besides   []*reason.Why // what else is against the first of the machines
}

// maxMinValuesChecks is how many machines are asked at most whether they would keep minValues, which is slow to work out.
const maxMinValuesChecks = 8

// boughtOut says why none of the machines that would do can be bought for the pod now.
func (k *refuser) boughtOut(p *market.Pool, x *packing.Pod) []*reason.Why {
	s := purchase{refuser: k, pool: p, pod: x}
	for i := range x.Class.Offers.All {
		if p.Offers.Has(i) && !(s.objected && k.within(p, x, i)) { // it is affordable, as the one of which the objections were said
			s.offer(i)
		}
	}
	return s.all()
}

// purchase collects why machines cannot be bought for a pod.
type purchase struct {
	*refuser

	pool       *market.Pool
	pod        *packing.Pod
	causes     []*reason.Why
	limits     blocked
	checks     int  // how many machines were asked whether they would keep minValues
	objected   bool // objections to a machine within the limits were said
	affordable bool // some machine is within the limits
}

// add notes a cause, once.
func (s *purchase) add(w *reason.Why) {
	if w != nil && !slices.ContainsFunc(s.causes, func(c *reason.Why) bool { return c.Code == w.Code && c.Detail == w.Detail }) {
		s.causes = append(s.causes, w)
	}
}

// offer notes what is against a machine of the offer.
func (s *purchase) offer(i int) {
	o, at := &s.Market.Offers[i], s.Market.At(i)
	if short, over := s.pool.Over(o.Type); over {
		objections := s.Ledger.ObjectionsNew(s.pod.Class.PodInfo, at)
		if len(s.limits.names) == 0 {
			s.limits.besides = objections
		}
		s.limits.add(short, len(objections) == 0 && fit.FillsBesideRoom(s.pod.Pod, at))
		return
	}
	s.affordable = true
	if o.Quota >= 0 && s.Market.Quotas[o.Quota].Left <= 0 {
		s.add(&reason.Why{Code: reason.Reservation, Detail: s.Market.Quotas[o.Quota].ID + " is used up"})
		return
	}
	objections := s.Ledger.ObjectionsNew(s.pod.Class.PodInfo, at)
	s.objected = true
	for _, w := range objections {
		w.Subject = ""
		s.add(w)
	}
	if !fit.FillsBesideRoom(s.pod.Pod, at) {
		for _, rule := range fit.Extras() {
			if w := rule.Objection(s.pod.Pod, at); w != nil {
				w.Subject = o.Type.Shape.Name
				s.add(w)
			}
		}
	}
	if len(objections) == 0 || s.checks == 0 {
		s.minValues(i)
	}
}

// minValues notes what minValues a machine of the offer would not keep, of the first that does not.
func (s *purchase) minValues(offer int) {
	if s.checks == maxMinValuesChecks {
		return
	}
	if s.checks++; s.KeepsMinValues(offer, nil, s.pod) {
		return
	}
	s.checks = maxMinValuesChecks
	for _, r := range s.LackingValues(offer, nil, s.pod) {
		s.add(valuesWhy(s.pool, r))
	}
}

// all are the causes, limits among them if they are all that there is against some machine, or bar every one.
func (s *purchase) all() []*reason.Why {
	if !s.affordable {
		for _, w := range s.limits.besides {
			w.Subject = ""
			s.add(w)
		}
	}
	if name, least, only := s.limits.first(); name != "" && (only || !s.affordable) {
		s.add(s.limitWhy(s.pool, name, least))
	}
	if len(s.causes) == 0 { // it would be an empty domain, or bring a daemon, that is in the way of others
		s.add(&reason.Why{Code: reason.NoPlace, Detail: "no new node was found that leaves all other pods of this plan their places; it is tried again once they run"})
	}
	return s.causes
}

// add notes a machine that a limit bars, and whether nothing else is against it.
func (b *blocked) add(s amount.Shortage, only bool) {
	if b.all == nil {
		b.only, b.all = map[string]int64{}, map[string]int64{}
	}
	note := func(least map[string]int64) {
		if v, ok := least[s.Name]; !ok || s.Wants < v {
			least[s.Name] = s.Wants
		}
	}
	if _, ok := b.all[s.Name]; !ok {
		b.names = append(b.names, s.Name)
	}
	note(b.all)
	if only {
		note(b.only)
	}
}

// first is the first limit that is all there is against some machine, or else the first limit.
func (b *blocked) first() (name string, least int64, only bool) {
	for _, name := range b.names {
		if v, ok := b.only[name]; ok {
			return name, v, true
		}
	}
	if len(b.names) == 0 {
		return "", 0, false
	}
	return b.names[0], b.all[b.names[0]], false
}

// within reports whether the offer differs from others of its domain in size only, so that its objections were said; of a
// pool that is like another those of one machine are said here, and of each domain there.
func (k *refuser) within(p *market.Pool, x *packing.Pod, i int) bool {
	return k.Market.OnSale(i) && (p.Like() || !slices.Contains(x.Class.Reach, i)) && x.Class.PodInfo != nil && !k.Market.Offers[i].Type.Pool.HasMinValues &&
		!x.Class.Special
}

// limitWhy names a limit that is in the way, how much of it is used, and the least that a machine behind it counts.
func (k *refuser) limitWhy(p *market.Pool, name string, least int64) *reason.Why {
	limit, left := p.Limits.Value(name), p.Left.Value(name)
	why := &reason.Why{
		Code:   reason.Limit,
		About:  reason.About{Key: name},
		Detail: fmt.Sprintf("%s: limit %s, used %s, a node would need %s", name, amount.Text(name, limit), amount.Text(name, amount.Plus(limit, -left)), amount.Text(name, least)),
		Hint:   fmt.Sprintf("raise limits.%s of %s %s to at least %s", name, p.ID.Kind, p.ID.Name, amount.Text(name, amount.Plus(limit, least-left))),
	}
	if nodes, held := k.heldByLost(p, name); held > 0 && amount.Plus(left, held) >= least {
		why.Hint = fmt.Sprintf("%s that cannot be used any more %s %s of it until gone: wait for that, or %s",
			amount.Count(nodes, "node"), holdVerb(nodes), amount.Text(name, held), why.Hint)
	}
	return why
}

// heldByLost is how much of a limit nodes hold that take no pods any more: those that are being deleted, and those that were
// complete and are not ready.
func (k *refuser) heldByLost(p *market.Pool, name string) (nodes int, held int64) {
	var sum amount.Total
	for _, at := range k.World.Places() {
		lost := at.Node != nil && !at.Node.Ready && at.Claim != nil && at.Claim.Initialized
		if at.Pool() == p.ID && (at.Deleting() || lost) {
			nodes++
			market.Count(&sum, market.Capacity(at))
		}
	}
	return nodes, sum.List().Value(name)
}

func holdVerb(n int) string {
	if n == 1 {
		return "holds"
	}
	return "hold"
}

// valuesWhy says how few values are left of a requirement.
func valuesWhy(p *market.Pool, left label.Requirement) *reason.Why {
	want, _ := p.Requirements.Find(left.Key)
	are := "values are"
	if left.Least == 1 {
		are = "value is"
	}
	return &reason.Why{
		Code: reason.MinValues, Detail: fmt.Sprintf("%s: %d %s left, minValues wants %d", left.Key, left.Least, are, want.Least),
		Hint: "lower minValues, or use the BestEffort policy",
	}
}
