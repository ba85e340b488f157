package spread

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/label"
)

// Reaches reports whether a group that the class is in, or carries a hard term of, has another key than the one named.
func (l *Ledger) Reaches(s *PodInfo, but string) bool {
	other := func(g int32) bool {
		if l.groups[g].kind != affinity {
			return l.keys[l.groups[g].key] != but
		}
		for _, k := range l.groups[g].keys {
			if l.keys[k] != but {
				return true
			}
		}
		return false
	}
	for _, g := range s.members {
		if other(g) {
			return true
		}
	}
	for _, e := range s.spread {
		if other(e.group) {
			return true
		}
	}
	for _, g := range s.antiAffinity {
		if other(g) {
			return true
		}
	}
	return s.affinity != none && other(s.affinity)
}

// Follows reports whether other classes than this one decide where it may go,
// so that it is better placed after them: it wants company that it is not
// itself, or is spread among pods that are not its like.
func (l *Ledger) Follows(s *PodInfo) bool {
	for _, e := range s.spread {
		if l.groups[e.group].classes > int(e.self) {
			return true
		}
	}
	return s.affinity != none && !s.self
}

// Clings reports whether the class wants company on the very machine, and
// whether some of that company does not want the same. Pods that share a volume
// for one node want each other's.
func (l *Ledger) Clings(s *PodInfo) (clings, others bool) {
	if s.affinity != none {
		g := l.groups[s.affinity]
		for _, k := range g.keys {
			clings = clings || l.keys[k] == label.Hostname
		}
		others = clings && g.classes > g.carriers
	}
	return clings || len(s.exclusive) > 0, others
}

// Rank orders classes by the classes they depend on. Pods that all have to go onto one
// machine find it first; pods that are spread among others, or want the company
// of others, comes after them; those that want it on the same machine come last.
func (l *Ledger) Rank(s *PodInfo) int {
	clings, others := l.Clings(s)
	switch {
	case others:
		return 3
	case l.Follows(s):
		return 2
	case clings:
		return 0
	}
	return 1
}

// Wants returns the group whose company the class wants on the very machine, if it has a member somewhere, and how often
// the domains that hold members have changed; false if the class may go to machines without any.
func (l *Ledger) Wants(s *PodInfo) (group int32, changes int, wanted bool) {
	if s.affinity == none {
		return none, 0, false
	}
	g := l.groups[s.affinity]
	onMachine := slices.ContainsFunc(g.keys, func(k int) bool { return l.keys[k] == label.Hostname })
	return s.affinity, g.moves, onMachine && g.total > 0
}

// Hosts reports whether machine n holds members of the group that wants its company there.
func (l *Ledger) Hosts(group int32, n int) bool {
	g := l.groups[group]
	for i, k := range g.keys {
		if l.keys[k] == label.Hostname && g.byKey[i].in(l.nodes[n].domain[k]) == 0 {
			return false
		}
	}
	return true
}

// Draws reports whether a pod of y is company that s wants by its required affinity.
func (l *Ledger) Draws(s, y *PodInfo) bool {
	return s.affinity != none && slices.Contains(y.members, s.affinity)
}
