package advice

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/fit"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/spread/terms"
)

// simplifier works out what the terms of a class come to. Its methods are false where that cannot be said for all its pods at once.
type simplifier struct {
	Advice

	pod *terms.PodInfo
	out Simple
}

// member says what it means for the class to be a member of mixed groups.
func (x *simplifier) member() bool {
	if x.out.Split != nil {
		x.out.CountedBy = x.out.Split.Key
	}
	for _, id := range x.pod.Members {
		g := x.ledger.Group(id)
		if !g.Mixed() {
			continue
		}
		switch {
		case g.Kind == terms.Affinity:
			if id != x.pod.Affinity && !x.companion(id) {
				return false
			}
		case x.ledger.TopologyKey(g.Key) == label.Hostname:
			x.out.MixedIn = append(x.out.MixedIn, id)
		case slices.ContainsFunc(x.pod.Spread, func(e terms.Constraint) bool { return e.Group == id }):
		case x.out.CountedBy != "" && x.out.CountedBy != x.ledger.TopologyKey(g.Key):
			return false
		default:
			x.out.Counted, x.out.CountedBy = append(x.out.Counted, id), x.ledger.TopologyKey(g.Key)
		}
	}
	return true
}

// companion has a member of a group that wants its own company by domain go where the others do.
func (x *simplifier) companion(id int32) bool {
	g := x.ledger.Group(id)
	if len(g.Keys) != 1 || x.ledger.TopologyKey(g.Keys[0]) == label.Hostname || g.Total > 0 {
		return true // the pods that carry the term are placed one by one, or where their company is already
	}
	if x.out.Home != nil || x.out.Split != nil {
		return false
	}
	x.out.Home = &Home{x.ledger.TopologyKey(g.Keys[0]), id}
	return true
}

// ByDomain counts the members of a group that is spread, in every domain that has machines that count.
func (a Advice) ByDomain(id int32) map[string]int {
	g := a.ledger.Group(id)
	out := map[string]int{}
	for d, n := range g.Nodes {
		if n > 0 {
			out[a.ledger.DomainsOf(g.Key).Values[d]] = int(g.Counts.In(int32(d)))
		}
	}
	return out
}

// CountsOn reports whether a group that is spread would count its members on a new machine like this.
func (a Advice) CountsOn(id int32, at *fit.Place) bool {
	return a.ledger.Filter(a.ledger.Group(id).Filter).Passes(at)
}

// Strays are the mixed groups that count the class, although it does not carry their term.
func (a Advice) Strays(s *terms.PodInfo) []int32 {
	var out []int32
	for _, id := range s.Members {
		if a.ledger.Group(id).Mixed() && !s.Carries(id) {
			out = append(out, id)
		}
	}
	return out
}
