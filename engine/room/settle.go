package room

import (
	"github.com/tenon-sh/tenon/engine/world"
)

// settle gives waiting pods, and those of machines that are going, their
// places: first where kube-scheduler or the last plan means them to be.
func (l *Ledger) settle(w *world.World) {
	held, meant := l.homes(w)
	var kept, rest []*world.Pod
	for _, p := range looking(w) {
		if i, known := held[p.Key]; known {
			l.put(guest{p, l.class(p)}, i)
		} else if _, known := meant[p.Key]; known {
			kept = append(kept, p)
		} else {
			rest = append(rest, p)
		}
	}
	for again := true; again; { // some can only go once others are there
		again = false
		var waiting []*world.Pod
		for _, p := range kept {
			if g := (guest{p, l.class(p)}); l.accepts(g, meant[p.Key]) {
				l.put(g, meant[p.Key])
				again = true
				continue
			}
			waiting = append(waiting, p)
		}
		kept = waiting
	}
	l.Place(append(rest, kept...))
}

// looking are the pods that look for a place.
func looking(w *world.World) []*world.Pod {
	var out []*world.Pod
	for _, p := range w.Waiting() {
		if p.DaemonSet == "" && !p.Static && !p.Terminating && !p.Gated && p.Plannable() && (p.Waiting || p.Nominated != "") {
			out = append(out, p)
		}
	}
	for _, m := range w.Places() {
		if !m.Deleting() {
			continue
		}
		for _, p := range m.Pods {
			if movable(p) {
				out = append(out, p)
			}
		}
	}
	return out
}

// homes are the machines where kube-scheduler nominated pods, and those where
// the last plan had them.
func (l *Ledger) homes(w *world.World) (held, meant map[world.Key]int) {
	held, meant = map[world.Key]int{}, map[world.Key]int{}
	byName, planned := map[string]int{}, map[string]int{}
	for i := range l.machines {
		m := l.machines[i].place
		if m.Deleting() {
			continue
		}
		byName[m.Name()], planned[m.Name()] = i, i
		if m.Claim != nil {
			planned[m.Claim.Name] = i
			for _, k := range m.Claim.Pods {
				meant[k] = i
			}
		}
	}
	for _, p := range w.Waiting() {
		if i, known := byName[p.Nominated]; known && !p.Promised {
			held[p.Key] = i
		}
		if i, known := planned[p.Nominated]; known && p.Promised {
			meant[p.Key] = i
		}
		if i, known := planned[p.Planned]; known {
			meant[p.Key] = i
		}
	}
	return held, meant
}
