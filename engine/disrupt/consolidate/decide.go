package consolidate

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/disrupt/hold"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/whatif"
	"github.com/tenon-sh/tenon/engine/world"
)

// Decide returns which machines could be given back although pods run on them,
// and why every other machine of a pool is kept. going are those that go anyway.
func Decide(w *world.World, going []plan.Give, o Options) plan.Plan {
	s := newSearch(w, going, o)
	s.weigh()
	if slices.ContainsFunc(s.machines, func(m machine) bool { return m.why == nil }) {
		for n := 0; n < maxSweeps && s.sweep(n == 0); n++ {
			if n == 0 {
				s.replace()
			}
		}
		s.admit(s.commands())
	}
	s.keep()
	s.plan.Steps += s.cluster.Steps()
	return s.plan
}

func newSearch(w *world.World, leave []plan.Give, o Options) *search {
	s := &search{world: w, options: o, menus: binder{w, map[*world.Catalog]map[string]*world.Shape{}}, going: leave, justMoved: map[string]bool{}, plan: plan.Plan{World: w.Digest(), At: w.At()}}
	if c := w.Currencies(); len(c) > 0 {
		s.plan.Currency = c[0]
	}
	for _, claim := range o.JustMoved {
		s.justMoved[claim] = true
	}
	going := map[string]string{}
	for _, g := range leave {
		going[g.Claim] = g.Reason
	}
	l := eligibility{search: s, book: hold.Open(w, o.Planned), going: going}
	whys := map[*world.Place]*reason.Why{}
	for _, p := range w.Places() {
		whys[p] = l.excludes(p)
	}
	if o.Pack.Steps == 0 {
		o.Pack.Steps = DefaultSteps
	}
	s.cluster = whatif.New(w, o.Pack, func(p *world.Place) bool { return whys[p] == nil })
	for i, p := range s.cluster.Places() {
		s.add(i, p, l, whys)
	}
	return s
}

// add notes what is known of machine i.
func (s *search) add(i int, p *world.Place, l eligibility, whys map[*world.Place]*reason.Why) {
	m := machine{place: s.world.Place(p.Name())}
	m.justMoved = m.place.Claim != nil && s.justMoved[m.place.Claim.Name]
	m.takes, m.why = l.takes(m.place), whys[m.place]
	if s.cluster.Taken(i) && m.why == nil {
		m.why = &reason.Why{Code: reason.Promised, Subject: p.Name(), Detail: "waiting pods are to go there"}
	}
	m.offer, m.price = offerOf(s.world, p)
	m.charge = s.cluster.Charge(p.Pool())
	m.price += m.charge
	for _, pod := range s.cluster.Movable(i) {
		m.weight += hold.Cost(pod)
	}
	if p.Pool().Name != "" {
		s.plan.Price += m.price - m.charge
	}
	if !m.takes {
		s.cluster.Bar(i)
	}
	s.machines = append(s.machines, m)
}

// weigh finds what moving the pods of each machine has to save.
func (s *search) weigh() {
	average := s.average()
	for i := range s.machines {
		if m := &s.machines[i]; m.why == nil {
			m.effort = s.effort(i, average)
		}
	}
	s.value()
}

// average is what a pod that may move costs in the middle, where new machines are bought for all of them.
func (s *search) average() money.Micro {
	worth, pods := money.Micro(0), 0
	for i := range s.machines {
		w, _ := s.cluster.Load(i)
		worth, pods = worth+w, pods+s.cluster.Count(i)
	}
	return worth.Part(1, int64(max(pods, 1)))
}

// effort is what moving the pods of machine i has to save. An eviction costs the
// same whatever the pod asks for, so that a machine with few large pods goes
// before one with many small ones; how much that is depends on what pods usually
// cost in this cluster, so that clusters of small pods and of large ones, in any
// currency, are treated alike. A pod that costs little has to save little, and
// one that costs much no more than others.
//
// Where pods have just been moved, kube-scheduler has bound them as it pleased, and not as they were planned for. A plan
// that puts that right for little moves the same pods again, and comes to no more than the last one: so little is not
// enough there.
func (s *search) effort(i int, average money.Micro) money.Micro {
	pods := int64(len(s.cluster.Movable(i)))
	if pods == 0 {
		return 0
	}
	m := &s.machines[i]
	l := s.options.level(s.world.Pool(m.place.Pool()))
	if m.justMoved {
		usual := l
		l = l.atLeast(levels[Cautious])
		m.justMoved = l != usual
	}
	worth, _ := s.cluster.Load(i)
	return min(average.Part(l.share, 100), worth.Part(1, pods).Part(l.most, 100), l.cost).Part(m.weight, 1000)
}

// offerOf is what a machine is sold as, and what it costs: a reservation is paid for anyway.
func offerOf(w *world.World, p *world.Place) (world.Offer, money.Micro) {
	o, _ := plan.OfferOf(w, p)
	if o.CapacityType == label.Reserved {
		return o, 0
	}
	return o, o.Price
}

// sweep takes each machine off in turn if that pays. Unless leave is set,
// nothing may be left over. It reports whether any went.
func (s *search) sweep(leave bool) bool {
	open := s.open()
	s.rank(open)
	went := 0
	for _, i := range open {
		if s.take(i, leave) {
			if went++; went%forgetFullAfter == 0 {
				s.takers = s.takers.Without(func(i int) bool { return s.machines[i].gone || s.cluster.Full(i) })
			}
		}
	}
	return went > 0
}
