package market

import (
	"slices"
)

// Exotic types are bare metal and those with GPUs or accelerators. A machine is
// planned as one, or asked for with one on its menu, only if in its pool no other
// type would host the pod that it is bought for; in its topology domains, if the
// pod is spread over them or bound to them.
// Pools with minValues are exempt: they want many types.

// Exotic returns the offers of exotic types that the rule is about; nil if there are none.
func (m *Market) Exotic() Set {
	var out Set
	for _, p := range m.Pools {
		for _, t := range p.Types {
			if p.HasMinValues || !t.Shape.Exotic() {
				continue
			}
			p.Exotic = append(p.Exotic, t)
			if out == nil {
				out = NewSet(len(m.Offers))
			}
			for i := t.First; i < t.Last; i++ {
				out.Add(i)
			}
		}
	}
	return out
}

// KeepOrdinary drops the exotic offers from the set where it has others of the same
// pool, in the same topology domains if it matters in which the machine is, and returns it.
func (m *Market) KeepOrdinary(offers Set, pinned bool) Set {
	if m.Exotics == nil || !offers.Meets(m.Exotics) {
		return offers
	}
	for _, p := range m.Pools {
		if len(p.Exotic) == 0 {
			continue
		}
		first, last := p.Types[0].First, p.Types[len(p.Types)-1].Last // those of a pool lie side by side
		switch {
		case pinned:
			m.keepOrdinaryIn(offers, first, last)
		case !offers.within(m.Exotics, first, last):
			offers.subtract(m.Exotics, first, last)
		}
	}
	return offers
}

// keepOrdinaryIn drops the exotic ones of the offers from first up to, and without, last that lie in the topology domains of others of these.
func (m *Market) keepOrdinaryIn(offers Set, first, last int) {
	domains := NewSet(len(m.Offers)) // they are numbered
	for i := first; i < last; i++ {
		if offers.Has(i) && !m.Exotics.Has(i) {
			domains.Add(m.Offers[i].Domain)
		}
	}
	for i := first; i < last; i++ {
		if offers.Has(i) && m.Exotics.Has(i) && domains.Has(m.Offers[i].Domain) {
			offers.Drop(i)
		}
	}
}

// Choice is what a machine that is planned as the offer may become as well.
func (m *Market) Choice(offer int) Set {
	out := slices.Clone(m.Offers[offer].Type.Pool.Offers)
	if m.Exotics != nil && !m.Exotics.Has(offer) {
		out.Subtract(m.Exotics)
	}
	return out
}
