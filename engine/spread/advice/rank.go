package advice

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/spread/domain"
	"github.com/tenon-sh/tenon/engine/spread/terms"
)

// Reaches reports whether a group that the class is in, or carries a hard term of, has another key than the one named.
func (a Advice) Reaches(s *terms.PodInfo, but string) bool {
	other := func(g int32) bool {
		if a.ledger.Group(g).Kind != terms.Affinity {
			return a.ledger.TopologyKey(a.ledger.Group(g).Key) != but
		}
		for _, k := range a.ledger.Group(g).Keys {
			if a.ledger.TopologyKey(k) != but {
				return true
			}
		}
		return false
	}
	for _, g := range s.Members {
		if other(g) {
			return true
		}
	}
	for _, e := range s.Spread {
		if other(e.Group) {
			return true
		}
	}
	for _, g := range s.AntiAffinity {
		if other(g) {
			return true
		}
	}
	return s.Affinity != domain.None && other(s.Affinity)
}

// Follows reports whether other classes than this one decide where it may go,
// so that it is better placed after them: it wants company that it is not
// itself, or is spread among pods that are not its like.
func (a Advice) Follows(s *terms.PodInfo) bool {
	for _, e := range s.Spread {
		if a.ledger.Group(e.Group).Classes > int(e.Self) {
			return true
		}
	}
	return s.Affinity != domain.None && !s.Self
}

// Clings reports whether the class wants company on the very machine, and
// whether some of that company does not want the same. Pods that share a volume
// for one node want each other's.
func (a Advice) Clings(s *terms.PodInfo) (clings, others bool) {
	if s.Affinity != domain.None {
		g := a.ledger.Group(s.Affinity)
		for _, k := range g.Keys {
			clings = clings || a.ledger.TopologyKey(k) == label.Hostname
		}
		others = clings && g.Classes > g.Carriers
	}
	return clings || len(s.Exclusive) > 0, others
}

// Rank orders classes by the classes they depend on. Pods that all have to go onto one
// machine find it first; pods that are spread among others, or want the company
// of others, comes after them; those that want it on the same machine come last.
func (a Advice) Rank(s *terms.PodInfo) int {
	clings, others := a.Clings(s)
	switch {
	case others:
		return 3
	case a.Follows(s):
		return 2
	case clings:
		return 0
	}
	return 1
}

// Wants returns the group whose company the class wants on the very machine, if it has a member somewhere, and how often
// the domains that hold members have changed; false if the class may go to machines without any.
func (a Advice) Wants(s *terms.PodInfo) (group int32, changes int, wanted bool) {
	if s.Affinity == domain.None {
		return domain.None, 0, false
	}
	g := a.ledger.Group(s.Affinity)
	onMachine := slices.ContainsFunc(g.Keys, func(k int) bool { return a.ledger.TopologyKey(k) == label.Hostname })
	return s.Affinity, g.Moves, onMachine && g.Total > 0
}

// Hosts reports whether machine n holds members of the group that wants its company there.
func (a Advice) Hosts(group int32, n int) bool {
	g := a.ledger.Group(group)
	for i, k := range g.Keys {
		if a.ledger.TopologyKey(k) == label.Hostname && g.ByKey[i].In(a.ledger.DomainOf(n, k)) == 0 {
			return false
		}
	}
	return true
}

// Draws reports whether a pod of y is company that s wants by its required affinity.
func (a Advice) Draws(s, y *terms.PodInfo) bool {
	return slices.Contains(y.Members, s.Affinity)
}
