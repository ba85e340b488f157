package inventory

import (
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/internal/catalog"
)

// Spot is never sold for less than a tenth of what on-demand costs. A server that
// answers with a fiftieth, or with the same cent for everything, has made it up,
// and a plan that believed it would buy the largest machine there is. Where the
// price of on-demand is not known but only reckoned from other types, the tenth
// itself is asked for.
const (
	incredible = 50
	doubtful   = 10
)

// guard judges which prices of spot can be true.
type guard struct {
	shelf *Shelf
	types map[string]*catalog.Type
	cores map[string]money.Micro // what a core usually costs on demand, by family and by category of types
}

// newGuard returns the guard of a shelf whose prices of on-demand are known as far as they will be.
func newGuard(s *Shelf) *guard {
	g := &guard{shelf: s, types: make(map[string]*catalog.Type, len(s.Types)), cores: map[string]money.Micro{}}
	all := map[string][]money.Micro{}
	for i := range s.Types {
		t := &s.Types[i]
		g.types[t.Name] = t
		if p := s.OnDemand[t.Name]; p.Micro > 0 && t.VCPUs > 0 {
			each := p.Micro.Part(1, int64(t.VCPUs))
			all[t.Family], all[kindOf(t)] = append(all[t.Family], each), append(all[kindOf(t)], each)
		}
	}
	for of, prices := range all {
		slices.Sort(prices)
		g.cores[of] = prices[len(prices)/2]
	}
	return g
}

// kindOf names a type's category so that it is no family's name.
func kindOf(t *catalog.Type) string { return "category " + strings.ToLower(t.Category) }

// believes reports whether spot of a type can cost so little: compared with its
// price of on-demand, or else with what cores of its family, or of its category,
// cost. A type that there is nothing to compare with is not believed.
func (g *guard) believes(typ string, price money.Micro) bool {
	if p := g.shelf.OnDemand[typ]; p.Micro > 0 {
		return price >= p.Micro/incredible
	}
	t := g.types[typ]
	if t == nil {
		return false
	}
	for _, of := range []string{t.Family, kindOf(t)} {
		if each := g.cores[of]; each > 0 {
			return price >= each.Part(int64(t.VCPUs), doubtful)
		}
	}
	return false
}
