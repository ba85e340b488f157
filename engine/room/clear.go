package room

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/fit"
	"github.com/tenon-sh/tenon/engine/world"
)

// Goes reports whether the machine's pods would fit on the others, and leaves the ledger as it is.
func (l *Ledger) Goes(p *world.Place) bool {
	mark := l.Mark()
	_, ok := l.Clear(p)
	l.Undo(mark)
	return ok
}

// Clear takes the machine away and puts its pods onto the others. If one of
// them finds no place, it says so and leaves the ledger as it was.
func (l *Ledger) Clear(p *world.Place) (moves []Move, ok bool) {
	mark := l.Mark()
	moves, homeless := l.place(l.Remove(p), true)
	if len(homeless) > 0 {
		l.Undo(mark)
		return nil, false
	}
	return moves, true
}

// Remove takes the machine away with all that runs there, and returns the pods
// that need another place: its own, and those that were moved there.
func (l *Ledger) Remove(p *world.Place) []*world.Pod {
	i, ok := l.number[p]
	if !ok || l.machines[i].gone {
		return nil
	}
	m := &l.machines[i]
	var out []*world.Pod
	for _, pod := range p.Pods {
		if m.counts(pod) {
			l.spread.Stop(pod, m.node)
			if pod.Moves() {
				out = append(out, pod)
			}
		}
	}
	for _, g := range m.guests {
		l.spread.Take(g.class.subject, m.node)
		out = append(out, g.pod)
	}
	l.spread.Leave(m.node)
	m.gone = true
	l.journal = append(l.journal, change{machine: i})
	return out
}

// Place puts pods that are nowhere onto machines, and returns where each goes
// and those without a place. Who has to wait for the company of others is tried
// again as long as somebody finds a place.
func (l *Ledger) Place(pods []*world.Pod) (moves []Move, homeless []*world.Pod) {
	return l.place(pods, false)
}

// place does that, or gives up at the first pod that cannot have a place if all are to have one.
func (l *Ledger) place(pods []*world.Pod, all bool) (moves []Move, homeless []*world.Pod) {
	lots, homeless := l.lots(pods)
	for progress := true; progress; {
		progress = false
		for i := range lots {
			t := &lots[i]
			for len(t.pods) > 0 {
				to := l.find(t)
				if to < 0 {
					break
				}
				g := guest{t.pods[0], t.class}
				l.put(g, to)
				moves = append(moves, Move{g.pod, l.machines[to].place})
				t.pods = t.pods[1:]
				progress = true
			}
			if all && t.class.plain && len(t.pods) > 0 {
				return moves, append(homeless, t.pods...)
			}
		}
		progress = progress && slices.ContainsFunc(lots, func(t lot) bool { return len(t.pods) > 0 && !t.class.plain })
	}
	for _, t := range lots {
		homeless = append(homeless, t.pods...)
	}
	return moves, homeless
}

// find returns the first machine that takes a pod of the lot; -1 if none does.
// Pods that have to share a machine begin on one with room for all of them.
func (l *Ledger) find(t *lot) int {
	g := guest{t.pods[0], t.class}
	if t.rank == 0 && len(t.pods) > 1 {
		for i := range l.machines {
			if holds(t.class.need, l.roomOf(i), len(t.pods)) && l.accepts(g, i) {
				return i
			}
		}
	}
	for i := t.from; i < len(l.machines); i++ {
		if l.accepts(g, i) {
			return i
		}
		if t.class.plain {
			t.from = i + 1
		}
	}
	return -1
}

// accepts reports whether machine i takes the pod as it is.
func (l *Ledger) accepts(g guest, i int) bool {
	c, m := g.class, &l.machines[i]
	return fits(c.need, l.roomOf(i)) && !m.gone && !m.closed && l.stands(c.signature)[i] &&
		(c.plain || l.spread.Allows(c.subject, m.node) && extras(g.pod, &m.at))
}

// fits reports whether room has as much of everything as need wants.
func fits(need, room []int64) bool {
	for d, n := range need {
		if n > room[d] && n > 0 {
			return false
		}
	}
	return true
}

// holds reports whether room has enough for need n times over.
func holds(need, room []int64, n int) bool {
	for d, each := range need {
		if each > 0 && room[d]/each < int64(n) {
			return false
		}
	}
	return true
}

// extras are the rules on what is not counted as room.
func extras(p *world.Pod, at *fit.Place) bool {
	return fit.Ports(p, at) == nil && fit.Attach(p, at) == nil
}
