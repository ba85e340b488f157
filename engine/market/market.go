// Package market knows what can be bought: the pools, the instance types they accept, and the offers of these, with limits and reservations.
package market

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/fit"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
)

// Offer is one machine on sale in one zone in one way.
type Offer struct {
	*world.Offer
	Type     *Type
	Expected int64 // that the plan counts on
	Pays     int64 // that is paid if it is to be had, and stays
	Quota    int   // position in Market.Quotas, or -1
	Tuple    int   // which topology domains its nodes lie in
	title    string
}

// Market is everything that can be bought.
type Market struct {
	Options Options
	Dims    []string
	Pools   []*Pool // heaviest first
	Tiers   [][]*Pool
	Offers  []Offer // of all pools
	Quotas  []Quota
	Exotics Set          // offers of types that are bought only where no other would do; nil if there are none
	places  []*fit.Place // for each offer, what its node would be like; made when asked for

	byKey   map[string]map[string]Set // offers by their value of a topology key; divided when asked for
	byNames map[string]Set            // offers by the zones and ways that asks name; gathered when asked for
}

// Quota is how many machines of a reservation are left.
type Quota struct {
	ID   string
	Left int
}

// Options are what a caller may choose.
type Options struct {
	SpotPremium    int  // percent of its price that spot counts as costing more
	LowerMinValues bool // minValues is lowered to what can be had
}

// New compiles the pools that may be bought from.
func New(w *world.World, dims []string, o Options) *Market {
	m := &Market{Dims: dims, Options: o, byKey: map[string]map[string]Set{}, byNames: map[string]Set{}}
	usage := usages(w)
	for _, p := range w.Pools() {
		catalog := w.CatalogFor(p.ID, p.Template)
		if p.Deleting || p.NotReady != "" || p.Replicas != nil || catalog == nil {
			continue
		}
		m.Pools = append(m.Pools, &Pool{Pool: p, Catalog: catalog, Left: remaining(p.Limits, usage[p.ID])})
	}
	slices.SortFunc(m.Pools, func(a, b *Pool) int {
		return cmp.Or(cmp.Compare(b.Weight, a.Weight), strings.Compare(b.ID.Name, a.ID.Name), strings.Compare(a.ID.Kind, b.ID.Kind))
	})
	for i, p := range m.Pools {
		p.number, p.title = i, fmt.Sprintf("%06d ", i)
		m.stock(p, w.DaemonSets())
		if n := len(m.Tiers); n > 0 && m.Tiers[n-1][0].Weight == p.Weight {
			m.Tiers[n-1] = append(m.Tiers[n-1], p)
			continue
		}
		m.Tiers = append(m.Tiers, []*Pool{p})
	}
	for _, p := range m.Pools {
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

// stock finds what the pool's requirements let it buy.
func (m *Market) stock(p *Pool, daemons []*world.DaemonSet) {
	offering := p.learn()
	for _, r := range p.Requirements {
		sold := r.Key == label.Zone || r.Key == label.CapacityType
		if sold || slices.Contains(offering, r.Key) {
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
	for i := range p.Catalog.Shapes {
		m.stockShape(p, &p.Catalog.Shapes[i], daemons)
	}
	byName := slices.Clone(p.Types)
	slices.SortFunc(byName, func(a, b *Type) int { return strings.Compare(a.Shape.Name, b.Shape.Name) })
	for i, t := range byName {
		t.Rank = i
	}
	p.ByPrice = byName
	slices.SortStableFunc(p.ByPrice, func(a, b *Type) int { return cmp.Compare(a.Cheapest, b.Cheapest) })
}

// LeastPrice is the price of the type's cheapest offer.
func (m *Market) LeastPrice(t *Type) int64 {
	return slices.MinFunc(m.Offers[t.First:t.Last], func(a, b Offer) int { return cmp.Compare(a.Expected, b.Expected) }).Expected
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
			m.Offers = append(m.Offers, Offer{Offer: o, Type: t, Expected: m.expected(s, o, pays), Pays: pays, Quota: m.quota(o)})
		}
		t.Last = len(m.Offers)
		t.Cheapest = m.LeastPrice(t)
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
	for _, t := range p.Types[known:] {
		t.To = len(m.Offers)
	}
}

// expected is what an offer costs on average. Spot that was refused lately will
// be, as often, and what is bought then is on-demand; spot that may be taken
// back counts as costing that much more.
func (m *Market) expected(s *world.Shape, o *world.Offer, pays int64) int64 {
	if o.CapacityType != label.Spot {
		return pays
	}
	pays += pays * int64(m.Options.SpotPremium) / 100
	if o.Refused == 0 {
		return pays
	}
	instead := int64(0)
	for i := range s.Offers {
		if other := &s.Offers[i]; other.CapacityType == label.OnDemand && (instead == 0 || other.Price < instead) {
			instead = other.Price
		}
	}
	return pays + max(instead-pays, 0)*int64(o.Refused)/1000
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

// CompareOffer orders offers of equal cost a pod: price, later pool first, name, zone, capacity type.
func (m *Market) CompareOffer(a, b int) int {
	x, y := &m.Offers[a], &m.Offers[b]
	if x.Expected != y.Expected {
		return cmp.Compare(x.Expected, y.Expected)
	}
	return cmp.Or(
		cmp.Compare(x.Type.Pool.number, y.Type.Pool.number),
		cmp.Compare(x.Type.Rank, y.Type.Rank),
		strings.Compare(x.Zone, y.Zone),
		strings.Compare(x.CapacityType, y.CapacityType),
	)
}

// KeepFitting leaves only offers with room for the need.
func (m *Market) KeepFitting(offers Set, need []int64) {
	for _, p := range m.Pools {
		for _, t := range p.Types {
			if Fits(need, t.Room) {
				continue
			}
			for i := t.First; i < t.Last; i++ {
				offers.Drop(i)
			}
		}
	}
}

// SoftPools reports whether some pool has PreferNoSchedule taints.
func (m *Market) SoftPools() bool {
	return slices.ContainsFunc(m.Pools, func(p *Pool) bool { return p.SoftTaints > 0 })
}

// Name tells offers apart and orders those of equal price: later pools first.
func (o *Offer) Name() string {
	if o.title == "" {
		o.title = o.Type.Pool.title + o.Type.Shape.Name + " " + o.Zone + " " + o.CapacityType + " " + o.Reservation
	}
	return o.title
}

// Stands reports whether some offer of the type meets the signature.
func (m *Market) Stands(t *Type, s *Signature) bool {
	for i := t.First; i < t.Last; i++ {
		if s.Offers.Has(i) {
			return true
		}
	}
	return false
}
