package consolidate

import (
	"fmt"
	"slices"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
)

// variety is how many types have to be cheaper for a spot machine to be
// replaced by another spot machine, and how many are then asked for: with
// fewer, pods would go round through ever scarcer types.
const variety = 15

// bind writes what a group buys such that whatever the seller chooses, the group
// still saves what it has to. It says why that cannot be had.
func (s *search) bind(g group, price money.Micro) ([]plan.Ask, *reason.Why) {
	most := price - max(s.options.leastSaving(), price.PartUp(s.options.leastShare(), 100))
	cost := price - g.saving
	spot := !slices.ContainsFunc(g.machines, func(i int) bool { return s.machines[i].offer.CapacityType != label.Spot })
	var out []plan.Ask
	for _, j := range g.bought {
		a := s.cluster.Ask(j)
		if a.Reservation != "" {
			out = append(out, a)
			continue
		}
		if spot && a.CapacityType == label.Spot && !s.options.SpotToSpot {
			return nil, &reason.Why{Code: reason.Inflexible, Detail: "what would be cheaper is spot, and a spot node is not replaced by spot nodes", Hint: "switch the gate SpotToSpotConsolidation on"}
		}
		s.limit(&a, a.Price+(most-cost).Part(int64(a.Price/1000), int64(max(cost/1000, 1))))
		if spot && a.CapacityType == label.Spot {
			if n := len(a.Menu); n < variety {
				return nil, &reason.Why{Code: reason.Inflexible, Detail: fmt.Sprintf("%s of spot node would be cheaper, and %d have to be", amount.Count(n, "type"), variety)}
			}
			s.choose(&a, a.Menu[:variety])
		}
		if r, ok := s.varied(a); !ok {
			return nil, &reason.Why{Code: reason.MinValues, Detail: fmt.Sprintf("among what is cheaper there are too few values of %s", r.Key)}
		}
		out = append(out, a)
	}
	return out, nil
}

// limit takes off an ask's menu what may cost more than the limit wherever it
// is bought. If what is planned does in some of its zones, only the zone planned is left.
func (s *search) limit(a *plan.Ask, limit money.Micro) {
	a.Requirements = a.Requirements.And(label.Is(label.CapacityType, a.CapacityType))
	if _, most := s.span(a, a.Shape); most > limit {
		a.Requirements = a.Requirements.And(label.Is(label.Zone, a.Zone))
	}
	var menu []plan.Choice
	for _, c := range a.Menu {
		if least, most := s.span(a, c.Shape); most > 0 && most <= limit || c.Shape == a.Shape {
			menu = append(menu, plan.Choice{Shape: c.Shape, Price: least})
		}
	}
	slices.SortStableFunc(menu, func(x, y plan.Choice) int { return int(x.Price - y.Price) })
	s.choose(a, menu)
}

// choose makes the menu what the ask demands.
func (s *search) choose(a *plan.Ask, menu []plan.Choice) {
	names := make([]string, len(menu))
	for i, c := range menu {
		names[i] = c.Shape
	}
	a.Menu, a.Requirements = menu, a.Requirements.And(label.Is(label.InstanceType, names...))
}

// span is the least and the most that a shape costs where the ask may be bought; 0 if it is not sold there.
func (s *search) span(a *plan.Ask, shape string) (least, most money.Micro) {
	zones, _ := a.Requirements.Find(label.Zone)
	sh := s.shapes(a)[shape]
	if sh == nil {
		return 0, 0
	}
	for _, o := range sh.Offers {
		if o.Gone || o.CapacityType != a.CapacityType || !zones.Has(o.Zone) {
			continue
		}
		if least == 0 || o.Price < least {
			least = o.Price
		}
		most = max(most, o.Price)
	}
	return least, most
}

// shapes are those of the ask's catalogue, by name.
func (s *search) shapes(a *plan.Ask) map[string]*world.Shape {
	c := s.world.CatalogFor(a.Pool, a.Template)
	if s.byName[c] == nil {
		s.byName[c] = make(map[string]*world.Shape, len(c.Shapes))
		for i := range c.Shapes {
			s.byName[c][c.Shapes[i].Name] = &c.Shapes[i]
		}
	}
	return s.byName[c]
}

// varied reports whether the ask keeps its pool's minValues, or which requirement it does not keep.
func (s *search) varied(a plan.Ask) (label.Requirement, bool) {
	if a.Relaxed {
		return label.Requirement{}, true
	}
	for _, r := range s.world.Pool(a.Pool).Requirements {
		if r.Least == 0 {
			continue
		}
		values := map[string]bool{}
		for _, c := range a.Menu {
			if r.Key == label.InstanceType {
				values[c.Shape] = true
			} else if l, ok := s.shapes(&a)[c.Shape].Labels.Find(r.Key); ok && !l.Not {
				for _, v := range l.Values {
					values[v] = values[v] || r.Has(v)
				}
			} else if l, ok := a.Requirements.Find(r.Key); ok && !l.Not {
				for _, v := range l.Values {
					values[v] = true
				}
			}
		}
		if len(values) < r.Least {
			return r, false
		}
	}
	return label.Requirement{}, true
}
