package spread

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/spread/domain"
	"github.com/tenon-sh/tenon/engine/spread/terms"
)

// Gate names what keeps a pod from a machine until others are bound: a group, and the domain of it that the machine is in.
type Gate struct{ Group, Domain int32 }

// Gate returns the first term that keeps a pod of the class from machine n; false if it may go there.
func (l *Ledger) Gate(s *terms.PodInfo, n int) (g Gate, shut bool) {
	at := l.on(n)
	for i := range s.Spread {
		if e := &s.Spread[i]; !l.spreadAllows(e, at) {
			return l.gateAt(e.Group, l.Group(e.Group).Key, at), true
		}
	}
	for _, g := range s.AntiAffinity {
		if l.antiAffinityCount(g, at, false) > 0 {
			return l.gateAt(g, l.Group(g).Key, at), true
		}
	}
	for _, g := range s.Shunned {
		if l.antiAffinityCount(g, at, true) > 0 {
			return l.gateAt(g, l.Group(g).Key, at), true
		}
	}
	for _, groups := range [2][]int32{s.Unmade, s.Exclusive} {
		for _, g := range groups {
			if !l.hasVolume(g, at) {
				return l.gateAt(g, l.Group(g).Keys[0], at), true
			}
		}
	}
	if s.Affinity == domain.None || l.affinityAllows(s, at) {
		return Gate{}, false
	}
	return Gate{s.Affinity, domain.None}, true
}

// Ahead returns a group that the class counts for and by which others are spread over domains larger than a machine, if that of machine n
// has more of it than the emptiest.
func (l *Ledger) Ahead(s *terms.PodInfo, n int) (g Gate, is bool) {
	at := l.on(n)
	for _, id := range s.Members {
		g := l.Group(id)
		if !l.fills(g) {
			continue
		}
		if d, has := at.domain(g.Key); has && l.nodes[n].passes[g.Filter] && g.Counts.In(d) > g.Least() {
			return Gate{id, d}, true
		}
	}
	return Gate{}, false
}

// Fills reports whether the class counts for a group by which others are spread over domains larger than a machine.
func (l *Ledger) Fills(s *terms.PodInfo) bool {
	return slices.ContainsFunc(s.Members, func(id int32) bool { return l.fills(l.Group(id)) })
}

// fills reports whether pods of the group may be in the way of others that are spread among them, and are not them.
func (l *Ledger) fills(g *terms.Group) bool {
	return g.Kind == terms.TopologySpread && (g.Outside > 0 || g.Classes > g.Carriers) && l.TopologyKey(g.Key) != label.Hostname
}

func (l *Ledger) gateAt(group int32, key int, at candidate) Gate {
	d, _ := at.domain(key)
	return Gate{group, d}
}

// Opening grows whenever a pod that is bound opens gates of the group: each
// domain that pods want company in has its first, or the emptiest of those to be
// filled evenly has one more.
func (l *Ledger) Opening(group int32) int {
	g := l.Group(group)
	switch g.Kind {
	case terms.TopologySpread:
		return int(g.Least())
	case terms.Affinity:
		return g.Reached
	}
	return 0
}
