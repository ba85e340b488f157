// Package market knows what can be bought: the pools, the instance types they accept, and the offers of these, with limits and reservations.
package market

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/engine/fit"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/world"
)

// Offer is one machine on sale in one zone in one way.
type Offer struct {
	*world.Offer
	Type      *Type
	Expected  money.Micro // that the plan counts on
	Weighs    money.Micro // by which offers are chosen: Expected, and the charge for a node where pools have their own
	Pays      money.Micro // that is paid if it is available, and stays
	Quota     int         // position in Market.Quotas, or -1
	DomainSet int         // which topology domains its nodes lie in
	Domain    int         // the same, whichever of them count for pods there
	title     string
}

// Market is everything that can be bought.
type Market struct {
	Options Options
	Rules   *fit.Rules
	Every   money.Micro // what every node counts beside what its offer weighs
	Charged bool        // some pool has a charge of its own, so that charges are part of what offers weigh
	Dims    []string
	Pools   []*Pool // heaviest first
	Tiers   [][]*Pool
	Offers  []Offer // of all pools
	Quotas  []Quota
	Exotics Set          // offers of types that are bought only where no other would do; nil if there are none
	places  []*fit.Place // for each offer, what its node would be like; made when asked for

	byKey   map[string]map[string]Set // offers by their value of a topology key; divided when asked for
	bySet   []Set                     // offers by their set of domains; divided when asked for
	byNames map[string]Set            // offers by the zones and ways that asks name; gathered when asked for
}

// Quota is how many machines of a reservation are left.
type Quota struct {
	ID   string
	Left int
}

// Options are what a caller may choose.
type Options struct {
	Charge         money.Micro  // what a node counts beside its price, of pools that do not say
	SpotPremium    int          // percent of its price that spot counts as costing more
	LowerMinValues bool         // minValues is lowered to what is sold
	UnhealthyLast  bool         // of pools whose machines did not register is bought last
	For            []*world.Pod // what machines may be bought for; nil: anything
	Static         bool         // what static pools buy, and no others; otherwise it is what the others buy
}

// aboveAnyWeight is more than a pool may weigh.
const aboveAnyWeight = 1000

// precedence is that of a pool.
func (o Options) precedence(p *world.Pool) int32 {
	if o.UnhealthyLast && p.Unhealthy {
		return p.Weight - aboveAnyWeight
	}
	return p.Weight
}

// leastPrice is the price of the type's cheapest offer.
func (m *Market) leastPrice(t *Type) money.Micro {
	return slices.MinFunc(m.Offers[t.First:t.Last], func(a, b Offer) int { return cmp.Compare(a.Expected, b.Expected) }).Expected
}

// LeastWeight is what the type's cheapest offer weighs.
func (m *Market) LeastWeight(t *Type) money.Micro { return m.leastPrice(t) + t.Pool.Levy }

// CompareOffer orders offers of equal cost a pod: price, later pool first, name, zone, capacity type.
func (m *Market) CompareOffer(a, b int) int {
	x, y := &m.Offers[a], &m.Offers[b]
	if x.Weighs != y.Weighs {
		return cmp.Compare(x.Weighs, y.Weighs)
	}
	return cmp.Or(
		cmp.Compare(x.Type.Pool.number, y.Type.Pool.number),
		cmp.Compare(x.Type.Rank, y.Type.Rank),
		strings.Compare(x.Zone, y.Zone),
		strings.Compare(x.CapacityType, y.CapacityType),
		strings.Compare(x.cut(), y.cut()),
	)
}

// KeepFitting leaves only offers with room for the need.
func (m *Market) KeepFitting(offers Set, need []int64) {
	for _, p := range m.Pools {
		if !p.In(offers) {
			continue
		}
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
		o.title = o.Type.Pool.title + o.Type.Shape.Name + " " + o.Zone + " " + o.CapacityType + " " + o.Reservation + o.cut()
	}
	return o.title
}

// sameCut reports whether nodes of both offers have the labels by which the offers of their pool are cut in common.
func (o *Offer) sameCut(other *Offer) bool {
	return !slices.ContainsFunc(o.Type.Pool.Cut, func(key string) bool { return o.Labels[key] != other.Labels[key] })
}

// cut is a text of these labels that tells offers of a pool apart.
func (o *Offer) cut() string {
	text := ""
	for _, key := range o.Type.Pool.Cut {
		text += " " + o.Labels[key]
	}
	return text
}

// At is what a node bought by the offer would be like.
func (m *Market) At(offer int) *fit.Place {
	if m.places[offer] == nil {
		o := &m.Offers[offer]
		at := sold(o.Type.at(), o.Offer)
		at.Ports = o.Type.Ports
		at.Free = fit.Left(o.Type.Shape.Allocatable(), nil, o.Type.Daemon)
		m.places[offer] = at
	}
	return m.places[offer]
}
