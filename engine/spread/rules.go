package spread

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/spread/domain"
	"github.com/tenon-sh/tenon/engine/spread/terms"
)

// rules says of one term after the other whether it lets one more pod go to a candidate.
type rules struct{ counts }

func (l *rules) allows(s *terms.PodInfo, at candidate, but ...string) bool {
	for i := range s.Spread {
		if len(but) > 0 && slices.Contains(but, l.TopologyKey(l.Group(s.Spread[i].Group).Key)) {
			continue
		}
		if !l.spreadAllows(&s.Spread[i], at) {
			return false
		}
	}
	return l.companyAllows(s, at)
}

// companyAllows reports whether pod affinity and anti-affinity, of the pod and of those that are there, and the
// volumes that it shares with others let it go to the candidate.
func (l *rules) companyAllows(s *terms.PodInfo, at candidate) bool {
	for _, g := range s.AntiAffinity {
		if l.antiAffinityCount(g, at, false) > 0 {
			return false
		}
	}
	for _, g := range s.Shunned {
		if l.antiAffinityCount(g, at, true) > 0 {
			return false
		}
	}
	return l.hasVolumes(s, at) && (s.Affinity == domain.None || l.affinityAllows(s, at))
}

func (l *rules) spreadAllows(e *terms.Constraint, at candidate) bool {
	g := l.Group(e.Group)
	if at.node != nil && at.node.domain[g.Key] == domain.None {
		return !at.node.astray[g.Key] && l.openAllows(e, at.node.open[g.Key])
	}
	d, has := at.domain(g.Key)
	if !has {
		return false
	}
	return g.Most(d)+at.arrives(g, e)+e.Self-at.floor(g, e) <= e.MaxSkew
}

// arrives counts the members that come with the candidate's machine, if it counts.
func (at candidate) arrives(g *terms.Group, e *terms.Constraint) int32 {
	if at.node != nil || len(at.place.Company) == 0 || !at.l.Filter(g.Filter).Passes(at.place) {
		return 0
	}
	return at.company(e.Group, false)
}

// openAllows judges a machine whose domain is not settled: every one it may come to be in has to do.
func (l *rules) openAllows(e *terms.Constraint, domains []int32) bool {
	g := l.Group(e.Group)
	for _, d := range domains {
		least := g.Least() // where it would be the first of its domain this has no pods either, and one more is no skew
		if g.Known+1 < e.MinDomains {
			least = 0
		}
		if g.Most(d)+e.Self-least > e.MaxSkew {
			return false
		}
	}
	return len(domains) > 0
}

// floor is the least count the skew is measured from, given that the candidate's machine is there.
func (at candidate) floor(g *terms.Group, e *terms.Constraint) int32 {
	known, least := g.Known, g.Least()
	if at.node == nil && at.l.Filter(g.Filter).Passes(at.place) {
		if d, _ := at.domain(g.Key); domain.Count(g.Nodes, d) == 0 {
			known, least = known+1, min(least, g.Counts.In(d)+at.arrives(g, e))
		}
	}
	if known < e.MinDomains {
		return 0
	}
	return least
}

// antiAffinityCount counts the members, or the owners, of an anti-affinity term that the candidate would be near.
func (l *rules) antiAffinityCount(id int32, at candidate, owners bool) int32 {
	g := l.Group(id)
	counts := &g.Counts
	if owners {
		counts = &g.Owners
	}
	if at.node != nil {
		sum := int32(0)
		for _, d := range at.node.all(g.Key) {
			sum += counts.In(d)
		}
		return sum
	}
	d, has := at.domain(g.Key)
	if !has {
		return 0
	}
	return counts.In(d) + at.company(id, owners)
}

func (l *rules) affinityAllows(s *terms.PodInfo, at candidate) bool {
	g := l.Group(s.Affinity)
	near := true
	for i, k := range g.Keys {
		d, has := at.domain(k)
		if !has {
			return false
		}
		near = near && g.ByKey[i].In(d)+at.company(s.Affinity, false) > 0
	}
	return near || g.Total == 0 && s.Self
}

// hasVolumes reports whether every volume that the class shares can be had on the candidate.
func (l *rules) hasVolumes(s *terms.PodInfo, at candidate) bool {
	for _, groups := range [2][]int32{s.Unmade, s.Exclusive} {
		for _, id := range groups {
			if !l.hasVolume(id, at) {
				return false
			}
		}
	}
	return true
}

func (l *rules) hasVolume(id int32, at candidate) bool {
	g := l.Group(id)
	d, has := at.domain(g.Keys[0])
	switch {
	case g.Total > 0:
		return !g.OnePod && g.ByKey[0].In(d) > 0
	case l.TopologyKey(g.Keys[0]) == label.Hostname:
		return true
	}
	return has && (g.Within == nil || slices.Contains(g.Within, d))
}
