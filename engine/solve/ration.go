package solve

// When budgets do not suffice for everything, ranks are served in order: each rank gets free room first and new hosts then,
// before the next one is looked at.

// ration places rank after rank. Alike says that every item counts the same, whatever it would cost.
func (k *packer) ration(f *relaxation, alike bool) *solution {
	m := k.model
	s := &solution{left: make([]int, len(m.classes))}
	for c := range s.left {
		s.left[c] = m.classes[c].count
	}
	budgets := append([]int64{}, m.budgets...)
	for _, classes := range m.ranks() {
		for _, c := range classes {
			m.intoRoom(s, c)
		}
		clear(k.remaining)
		for _, c := range classes {
			k.remaining[c] = s.left[c]
		}
		p := f.prices(1e9)
		if alike {
			for c := range p.value {
				p.value[c] = 1
			}
		}
		s.nodes = append(s.nodes, k.greedy(p, style{detourWeight: 1}, classes, budgets)...)
		for _, c := range classes {
			s.left[c] = k.remaining[c]
		}
	}
	return s
}
