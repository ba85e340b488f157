package spread

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/fit"
	"github.com/tenon-sh/tenon/engine/label"
)

// A group is mixed where not every pod that counts carries the constraint, or not every pod that carries it counts: a job
// with the labels of a Deployment, a canary without its constraints, a selector that means others. Where a pod that carries it
// may go then depends on where others are put that may go anywhere, unless these are put with care.

// mixed reports whether members and carriers of the group are not the same pods. Of those that keep apart, and of
// volumes, it makes no difference.
func (g *group) mixed() bool {
	return g.kind != antiAffinity && g.volume == "" && !g.delivered && (g.carriers > 0 && g.classes > g.carriers || g.outside > 0)
}

// simplifier works out what the terms of a class come to. Its methods are false where that cannot be said for all its pods at once.
type simplifier struct {
	*Ledger

	pod *PodInfo
	out Simple
}

// member says what it means for the class to be a member of mixed groups.
func (x *simplifier) member() bool {
	if x.out.Split != nil {
		x.out.CountedBy = x.out.Split.Key
	}
	for _, id := range x.pod.members {
		g := x.groups[id]
		if !g.mixed() {
			continue
		}
		switch {
		case g.kind == affinity:
			if id != x.pod.affinity && !x.companion(id) {
				return false
			}
		case x.keys[g.key] == label.Hostname:
			x.out.MixedIn = append(x.out.MixedIn, id)
		case slices.ContainsFunc(x.pod.spread, func(e spreadConstraint) bool { return e.group == id }):
		case x.out.CountedBy != "" && x.out.CountedBy != x.keys[g.key]:
			return false
		default:
			x.out.Counted, x.out.CountedBy = append(x.out.Counted, id), x.keys[g.key]
		}
	}
	return true
}

// companion has a member of a group that wants its own company by domain go where the others do.
func (x *simplifier) companion(id int32) bool {
	g := x.groups[id]
	if len(g.keys) != 1 || x.keys[g.keys[0]] == label.Hostname || g.total > 0 {
		return true // the pods that carry the term are placed one by one, or where their company is already
	}
	if x.out.Home != nil || x.out.Split != nil {
		return false
	}
	x.out.Home = &Home{x.keys[g.keys[0]], id}
	return true
}

// ByDomain counts the members of a group that is spread, in every domain that has machines that count.
func (l *Ledger) ByDomain(id int32) map[string]int {
	g := l.groups[id]
	out := map[string]int{}
	for d, n := range g.nodes {
		if n > 0 {
			out[l.domains[g.key].values[d]] = int(g.counts.in(int32(d)))
		}
	}
	return out
}

// CountsOn reports whether a group that is spread would count its members on a new machine like this.
func (l *Ledger) CountsOn(id int32, at *fit.Place) bool {
	return l.filters[l.groups[id].filter].passes(at)
}

// Strays are the mixed groups that count the class, although it does not carry their term.
func (l *Ledger) Strays(s *PodInfo) []int32 {
	var out []int32
	for _, id := range s.members {
		if l.groups[id].mixed() && !s.carries(id) {
			out = append(out, id)
		}
	}
	return out
}

// CarriesAny reports whether the class carries the term of one of the groups.
func (s *PodInfo) CarriesAny(groups map[int32]bool) bool {
	return s.affinity != none && groups[s.affinity] || slices.ContainsFunc(s.spread, func(e spreadConstraint) bool { return groups[e.group] })
}

// carries reports whether the class carries the term of the group, of spread or affinity.
func (s *PodInfo) carries(id int32) bool {
	return s.affinity == id || slices.ContainsFunc(s.spread, func(e spreadConstraint) bool { return e.group == id })
}
