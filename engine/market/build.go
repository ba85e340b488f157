package market

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/fit"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/world"
)

// New compiles the pools that may be bought from.
func New(w *world.World, dims []string, o Options) *Market {
	m := &Market{Dims: dims, Rules: fit.In(w), Options: o, byKey: map[string]map[string]Set{}, byNames: map[string]Set{}}
	usage := usages(w)
	for _, p := range w.Pools() {
		catalog := w.CatalogFor(p.ID, p.Template)
		if p.Deleting || p.NotReady != "" || (p.Replicas != nil) != o.Static || catalog == nil {
			continue
		}
		m.Pools = append(m.Pools, &Pool{Pool: p, Precedence: o.precedence(p), Catalog: catalog, Left: remaining(p.Limits, usage[p.ID])})
	}
	slices.SortFunc(m.Pools, func(a, b *Pool) int {
		return cmp.Or(cmp.Compare(b.Precedence, a.Precedence), strings.Compare(b.ID.Name, a.ID.Name), strings.Compare(a.ID.Kind, b.ID.Kind))
	})
	m.levy(w)
	buyers := newBuyers(m.Rules, o.For)
	shelves := shelves{world: w, pods: o.For, known: map[*world.Catalog]knowledge{}}
	wanted := make([]*Pool, 0, len(m.Pools))
	for i, p := range m.Pools {
		p.number, p.title = i, fmt.Sprintf("%06d ", i)
		m.stock(p, shelves.of(p))
		if buyers.want(p) {
			wanted = append(wanted, p)
		}
	}
	likeness := m.newLikeness(w, wanted)
	for _, p := range wanted {
		if likeness.covers(p) {
			continue
		}
		m.fill(p, w.DaemonSets())
		likeness.add(p)
		if n := len(m.Tiers); n > 0 && m.Tiers[n-1][0].Precedence == p.Precedence {
			m.Tiers[n-1] = append(m.Tiers[n-1], p)
			continue
		}
		m.Tiers = append(m.Tiers, []*Pool{p})
	}
	none := NewSet(len(m.Offers))
	for _, p := range m.Pools {
		p.Offers = none
		if len(p.Types) == 0 {
			continue
		}
		p.Offers = NewSet(len(m.Offers))
		for _, t := range p.Types {
			for i := t.First; i < t.Last; i++ {
				p.Offers.Add(i)
			}
		}
	}
	m.places = make([]*fit.Place, len(m.Offers))
	m.reserve(w.Places())
	return m
}

// levy says what nodes weigh beside their price. As long as no pool has a charge of its own
// the nodes of all count the same, which only matters where another node would do.
func (m *Market) levy(w *world.World) {
	if m.Every, m.Charged = m.Options.Charge, Charged(w); !m.Charged {
		return
	}
	m.Every = 0
	for _, p := range m.Pools {
		p.Levy = ChargeOf(p.Pool, m.Options.Charge)
	}
}

// Charged reports whether some pool has a charge of its own for each node.
func Charged(w *world.World) bool {
	return slices.ContainsFunc(w.Pools(), func(p *world.Pool) bool { return p.Charge != nil })
}

// ChargeOf is what each of the pool's nodes counts beside its price, where those of others count so much.
func ChargeOf(p *world.Pool, others money.Micro) money.Micro {
	if p != nil && p.Charge != nil {
		return *p.Charge
	}
	return others
}

// stock finds which of the pool's requirements are about what is sold, and how.
func (m *Market) stock(p *Pool, k knowledge) {
	p.Known = k.keys
	for _, r := range p.Requirements {
		sold := r.Key == label.Zone || r.Key == label.CapacityType
		if sold || slices.Contains(k.offering, r.Key) {
			p.selling = append(p.selling, r)
		}
		if !sold && p.Known[r.Key] {
			p.shaping = append(p.shaping, r)
		}
	}
	for _, r := range p.Requirements {
		p.HasMinValues = p.HasMinValues || r.Least > 0
		if _, fixed := p.Labels[r.Key]; !fixed && !p.Known[r.Key] {
			p.Open = append(p.Open, r)
		}
	}
	for _, t := range p.Taints {
		if t.Effect == world.PreferNoSchedule {
			p.SoftTaints++
		}
	}
}

// fill finds what the pool's requirements let it buy.
func (m *Market) fill(p *Pool, daemons []*world.DaemonSet) {
	offers := 0
	for i := range p.Catalog.Shapes {
		offers += len(p.Catalog.Shapes[i].Offers)
	}
	m.Offers = slices.Grow(m.Offers, offers)
	p.Types = slices.Grow(p.Types, len(p.Catalog.Shapes))
	for i := range p.Catalog.Shapes {
		m.stockShape(p, &p.Catalog.Shapes[i], daemons)
	}
	byName := slices.Clone(p.Types)
	slices.SortFunc(byName, func(a, b *Type) int { return strings.Compare(a.Shape.Name, b.Shape.Name) })
	for i, t := range byName {
		t.Rank = i
	}
	p.ByPrice = slices.DeleteFunc(byName, func(t *Type) bool { return t.First != t.From })
	slices.SortStableFunc(p.ByPrice, func(a, b *Type) int { return cmp.Compare(a.Least, b.Least) })
}

func (m *Market) stockShape(p *Pool, s *world.Shape, daemons []*world.DaemonSet) {
	for _, r := range p.shaping {
		if l, ok := s.Labels.Find(r.Key); ok && !l.Meets(r) && !(l.Negative() && r.Negative()) || !ok && !r.Negative() && !offered(s, r) {
			return
		}
	}
	var kept []*world.Offer
	for i := range s.Offers {
		o := &s.Offers[i]
		if !o.Gone && (o.CapacityType != label.Reserved || o.Count > 0) && p.accepts(o) {
			kept = append(kept, o)
		}
	}
	from, known := len(m.Offers), len(p.Types)
	for _, alike := range p.byDaemons(s, kept, daemons) {
		t := &Type{Pool: p, Shape: s, Runs: alike.daemons, First: len(m.Offers), From: from}
		for _, d := range alike.daemons {
			t.Daemon = t.Daemon.Plus(d.Pod.Requests)
			t.Ports = append(t.Ports, d.Pod.Ports...)
		}
		for _, o := range alike.offers {
			pays := o.Price
			if o.CapacityType == label.Reserved {
				pays = 0
			}
			expected := m.expected(s, o, pays)
			m.Offers = append(m.Offers, Offer{Offer: o, Type: t, Expected: expected, Weighs: expected + p.Levy, Pays: pays, Quota: m.quota(o)})
		}
		t.Last = len(m.Offers)
		t.Cheapest = m.leastPrice(t)
		t.Short, t.Full = t.Daemon.Short(s.Allocatable())
		t.Room = make([]int64, len(m.Dims))
		for i, d := range m.Dims {
			t.Room[i] = amount.Plus(s.Room(d), -t.Daemon.Value(d))
			if t.Full {
				t.Room[i] = -1 // for no pod, not even one that asks for nothing
			}
		}
		p.Types = append(p.Types, t)
	}
	all := p.Types[known:]
	for _, t := range all {
		t.To = len(m.Offers)
		t.Least = slices.MinFunc(all, func(a, b *Type) int { return cmp.Compare(a.Cheapest, b.Cheapest) }).Cheapest
	}
}

// expected is what an offer costs on average. Spot that was refused lately will
// be, as often, and what is bought then is on-demand; spot that may be taken
// back counts as costing that much more.
func (m *Market) expected(s *world.Shape, o *world.Offer, pays money.Micro) money.Micro {
	if o.CapacityType != label.Spot {
		return pays
	}
	pays += pays.Part(int64(m.Options.SpotPremium), 100)
	if o.Refused == 0 {
		return pays
	}
	instead := money.Micro(0)
	for i := range s.Offers {
		if other := &s.Offers[i]; other.CapacityType == label.OnDemand && (instead == 0 || other.Price < instead) {
			instead = other.Price
		}
	}
	return pays + max(instead-pays, 0).Part(int64(o.Refused), 1000)
}

// quota returns the position of the offer's reservation among the quotas, or -1.
func (m *Market) quota(o *world.Offer) int {
	if o.CapacityType != label.Reserved {
		return -1
	}
	id := o.Reservation
	if id == "" {
		id = o.Zone
	}
	for i := range m.Quotas {
		if m.Quotas[i].ID == id {
			m.Quotas[i].Left = min(m.Quotas[i].Left, o.Count)
			return i
		}
	}
	m.Quotas = append(m.Quotas, Quota{id, o.Count})
	return len(m.Quotas) - 1
}

// buyers are what machines may be bought for: one pod of each signature. Of a
// thousand pools most are for the pods of others, and what none of these pods
// could use is not worth the room that a list of its offers takes.
type buyers struct {
	pods     []buyer
	everyone bool
}

// buyer is what a pod demands of pools.
type buyer struct {
	tolerations []world.Toleration
	groups      [][]world.NodeTerm
}

func newBuyers(rules *fit.Rules, pods []*world.Pod) buyers {
	out := buyers{everyone: pods == nil}
	known := map[string]bool{}
	var b []byte
	for _, p := range pods {
		if b = rules.AppendIdentity(b[:0], p); !known[string(b)] {
			known[string(b)] = true
			out.pods = append(out.pods, buyer{p.Tolerations, alternatives(p)})
		}
	}
	return out
}

// want reports whether the pool's taints and its own labels and requirements let one of the pods onto its machines.
func (b buyers) want(p *Pool) bool {
	for _, x := range b.pods {
		if len(fit.Untolerated(x.tolerations, p.Taints)) == 0 && !p.demand(x.groups).impossible {
			return true
		}
	}
	return b.everyone
}
