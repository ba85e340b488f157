package consolidate

import (
	"fmt"
	"slices"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/reason"
)

// spotToSpotMinTypes is how many types have to be cheaper for a spot machine to be
// replaced by another spot machine, and how many are then asked for: with
// fewer, pods would go round through ever scarcer types.
const spotToSpotMinTypes = 15

// bind writes what a group buys such that whatever the cloud chooses, the group
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
		s.menus.limit(&a, a.Price+(most-cost).Part(int64(a.Price), int64(max(cost, 1))))
		if spot && a.CapacityType == label.Spot {
			if n := len(a.Menu); n < spotToSpotMinTypes {
				return nil, &reason.Why{Code: reason.Inflexible, Detail: fmt.Sprintf("%s of spot node would be cheaper, and %d have to be", amount.Count(n, "type"), spotToSpotMinTypes)}
			}
			s.menus.choose(&a, a.Menu[:spotToSpotMinTypes])
		}
		if r, ok := s.menus.varied(a); !ok {
			return nil, &reason.Why{Code: reason.MinValues, Detail: fmt.Sprintf("among what is cheaper there are too few values of %s", r.Key)}
		}
		out = append(out, a)
	}
	return out, nil
}
