package market

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/money"
)

// InDomainSet are all offers of a set of domains. It is not to be changed.
func (m *Market) InDomainSet(domains int) Set { return m.DomainSets()[domains] }

// DomainSets are the offers of each set of domains; one that is no offer's is nil. They are not to be changed.
func (m *Market) DomainSets() []Set {
	if m.bySet == nil {
		for i := range m.Offers {
			d := m.Offers[i].DomainSet
			for len(m.bySet) <= d {
				m.bySet = append(m.bySet, nil)
			}
			if m.bySet[d] == nil {
				m.bySet[d] = NewSet(len(m.Offers))
			}
			m.bySet[d].Add(i)
		}
	}
	return m.bySet
}

// DropDomainSet drops the offers of a set of domains.
func (m *Market) DropDomainSet(offers Set, domains int) { offers.Subtract(m.InDomainSet(domains)) }

// DomainOf is the value that nodes of the offer have for a topology key.
func (m *Market) DomainOf(offer int, key string) string {
	if key == label.Zone {
		return m.Offers[offer].Zone
	}
	return m.At(offer).Labels[key]
}

// ByDomain divides the offers by their domain of a key.
func (m *Market) ByDomain(offers Set, key string) (names []string, sets map[string]Set) {
	sets = map[string]Set{}
	for d, all := range m.domains(key) {
		part := slices.Clone(all)
		if part.Intersect(offers); !part.Empty() {
			sets[d] = part
			names = append(names, d)
		}
	}
	slices.Sort(names)
	return names, sets
}

// domains divides all offers by their domain of a key.
func (m *Market) domains(key string) map[string]Set {
	if out, known := m.byKey[key]; known {
		return out
	}
	out := map[string]Set{}
	for i := range m.Offers {
		d := m.DomainOf(i, key)
		if d == "" {
			continue
		}
		if out[d] == nil {
			out[d] = NewSet(len(m.Offers))
		}
		out[d].Add(i)
	}
	m.byKey[key] = out
	return out
}

// Alike reports whether every type that is sold is sold in all domains of the key in the same ways, at the same prices.
func (m *Market) Alike(key string) bool {
	all := len(m.domains(key))
	for _, p := range m.Pools {
		for _, t := range p.Types {
			weighs, count := map[string]money.Micro{}, map[string]int{}
			for i := t.First; i < t.Last; i++ {
				o := &m.Offers[i]
				if count[o.CapacityType] == 0 {
					weighs[o.CapacityType] = o.Weighs
				}
				if count[o.CapacityType]++; o.Weighs != weighs[o.CapacityType] {
					return false
				}
			}
			for _, n := range count {
				if n != all {
					return false
				}
			}
		}
	}
	return true
}
