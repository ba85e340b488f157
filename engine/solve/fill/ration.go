package fill

import (
	"github.com/tenon-sh/tenon/engine/solve/firstfit"
	"github.com/tenon-sh/tenon/engine/solve/model"
	"github.com/tenon-sh/tenon/engine/solve/relax"
)

// When budgets do not suffice for everything, ranks are served in order: each rank gets free room first and new hosts then,
// before the next one is looked at.

// Ration places rank after rank. Alike says that every item counts the same, whatever it would cost.
func (k *Packer) Ration(f *relax.Relaxation, alike bool) *model.Solution {
	m := k.Model
	s := &model.Solution{Left: make([]int, len(m.Classes))}
	for c := range s.Left {
		s.Left[c] = m.Classes[c].Count
	}
	budgets := append([]int64{}, m.Budgets...)
	for _, classes := range m.Ranks() {
		for _, c := range classes {
			firstfit.IntoRoom(m, s, c)
		}
		clear(k.Remaining)
		for _, c := range classes {
			k.Remaining[c] = s.Left[c]
		}
		p := f.Prices(1e9)
		if alike {
			for c := range p.Value {
				p.Value[c] = 1
			}
		}
		s.Nodes = append(s.Nodes, k.Greedy(p, Style{DetourWeight: 1}, classes, budgets)...)
		for _, c := range classes {
			s.Left[c] = k.Remaining[c]
		}
	}
	return s
}
