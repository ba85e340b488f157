package search

import (
	"cmp"
	"slices"

	"github.com/tenon-sh/tenon/engine/solve/problem"
)

// mix is a group of pods spread over machines of which not all that count carry the constraint, or the other way round.
type mix struct {
	most     int   // that one machine may hold of the members beside one that carries the constraint
	carriers []int // lots
	members  []int // lots, with or without the constraint
}

// mixed writes what keeps lots apart that count for each other's spread over machines, although not all of them carry it.
//
// It is enough that machines with a carrier hold few members. A cap on every machine says more than that, and is best where
// machines are many anyway; else carriers and members without the constraint do not share one.
func (k *Searcher) mixed(p *problem.Problem, lots []*lot) {
	mixes := map[int32]*mix{}
	of := func(g int32) *mix {
		if mixes[g] == nil {
			mixes[g] = &mix{}
		}
		return mixes[g]
	}
	for i, l := range lots {
		for _, s := range l.simple.Mixed {
			x := of(s.Group)
			x.carriers = append(x.carriers, i)
			if x.most == 0 || s.Cap < x.most {
				x.most = s.Cap
			}
		}
		for _, g := range l.simple.MixedIn {
			of(g).members = append(of(g).members, i)
		}
	}
	demanded := demand(p)
	for _, g := range sortedKeys(mixes, cmp.Compare[int32]) {
		x := mixes[g]
		if len(x.carriers) == 0 || len(x.members) == 0 {
			continue
		}
		total := 0
		for _, i := range x.members {
			total += p.Items[i].Count
		}
		if total <= x.most*max(demanded, 1) {
			p.Groups = append(p.Groups, problem.Group{Members: x.members, Cap: x.most})
			continue
		}
		var counted []int // members that carry the constraint
		for _, i := range x.carriers {
			if slices.Contains(x.members, i) {
				counted = append(counted, i)
			}
			for _, j := range x.members {
				if !slices.Contains(x.carriers, j) {
					p.Items[i].Conflicts = append(p.Items[i].Conflicts, j)
				}
			}
		}
		if len(counted) > 0 {
			p.Groups = append(p.Groups, problem.Group{Members: counted, Cap: x.most})
		}
	}
}

// demand is how many machines the cap that demands most makes of them.
func demand(p *problem.Problem) int {
	most := 0
	for i := range p.Items {
		if n := p.Items[i].PerHost; n > 0 {
			most = max(most, (p.Items[i].Count+n-1)/n)
		}
	}
	for _, g := range p.Groups {
		total := 0
		for _, i := range g.Members {
			total += p.Items[i].Count
		}
		most = max(most, (total+g.Cap-1)/g.Cap)
	}
	return most
}
