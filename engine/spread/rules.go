package spread

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/label"
)

// rules says of one term after the other whether it lets one more pod go to a candidate.
type rules struct{ counts }

func (l *rules) allows(s *PodInfo, at candidate, but ...string) bool {
	for i := range s.spread {
		if len(but) > 0 && slices.Contains(but, l.keys[l.groups[s.spread[i].group].key]) {
			continue
		}
		if !l.spreadAllows(&s.spread[i], at) {
			return false
		}
	}
	return l.companyAllows(s, at)
}

// companyAllows reports whether pod affinity and anti-affinity, of the pod and of those that are there, and the
// volumes that it shares with others let it go to the candidate.
func (l *rules) companyAllows(s *PodInfo, at candidate) bool {
	for _, g := range s.antiAffinity {
		if l.antiAffinityCount(g, at, false) > 0 {
			return false
		}
	}
	for _, g := range s.shunned {
		if l.antiAffinityCount(g, at, true) > 0 {
			return false
		}
	}
	return l.hasVolumes(s, at) && (s.affinity == none || l.affinityAllows(s, at))
}

func (l *rules) spreadAllows(e *spreadConstraint, at candidate) bool {
	g := l.groups[e.group]
	if at.node != nil && at.node.domain[g.key] == none {
		return !at.node.astray[g.key] && l.openAllows(e, at.node.open[g.key])
	}
	d, has := at.domain(g.key)
	if !has {
		return false
	}
	return g.most(d)+g.arrives(e, at)+e.self-g.floor(e, at) <= e.maxSkew
}

// arrives counts the members that come with the candidate's machine, if it counts.
func (g *group) arrives(e *spreadConstraint, at candidate) int32 {
	if at.node != nil || len(at.place.Company) == 0 || !at.l.filters[g.filter].passes(at.place) {
		return 0
	}
	return at.company(e.group, false)
}

// openAllows judges a machine whose domain is not settled: every one it may come to be in has to do.
func (l *rules) openAllows(e *spreadConstraint, domains []int32) bool {
	g := l.groups[e.group]
	for _, d := range domains {
		least := g.least()
		if g.known+1 < e.minDomains || count(g.nodes, d) == 0 {
			least = 0
		}
		if g.most(d)+e.self-least > e.maxSkew {
			return false
		}
	}
	return len(domains) > 0
}

// floor is the least count the skew is measured from, given that the candidate's machine is there.
func (g *group) floor(e *spreadConstraint, at candidate) int32 {
	known, least := g.known, g.least()
	if at.node == nil && at.l.filters[g.filter].passes(at.place) {
		if d, _ := at.domain(g.key); count(g.nodes, d) == 0 {
			known, least = known+1, min(least, g.counts.in(d)+g.arrives(e, at))
		}
	}
	if known < e.minDomains {
		return 0
	}
	return least
}

// antiAffinityCount counts the members, or the owners, of an anti-affinity term that the candidate would be near.
func (l *rules) antiAffinityCount(id int32, at candidate, owners bool) int32 {
	g := l.groups[id]
	counts := &g.counts
	if owners {
		counts = &g.owners
	}
	if at.node != nil {
		sum := int32(0)
		for _, d := range at.node.all(g.key) {
			sum += counts.in(d)
		}
		return sum
	}
	d, has := at.domain(g.key)
	if !has {
		return 0
	}
	return counts.in(d) + at.company(id, owners)
}

func (l *rules) affinityAllows(s *PodInfo, at candidate) bool {
	g := l.groups[s.affinity]
	near := true
	for i, k := range g.keys {
		d, has := at.domain(k)
		if !has {
			return false
		}
		near = near && g.byKey[i].in(d)+at.company(s.affinity, false) > 0
	}
	return near || g.total == 0 && s.self
}

// hasVolumes reports whether every volume that the class shares can be had on the candidate.
func (l *rules) hasVolumes(s *PodInfo, at candidate) bool {
	for _, groups := range [2][]int32{s.unmade, s.exclusive} {
		for _, id := range groups {
			if !l.hasVolume(id, at) {
				return false
			}
		}
	}
	return true
}

func (l *rules) hasVolume(id int32, at candidate) bool {
	g := l.groups[id]
	d, has := at.domain(g.keys[0])
	switch {
	case g.total > 0:
		return !g.onePod && has && g.byKey[0].in(d) > 0
	case l.keys[g.keys[0]] == label.Hostname:
		return true
	}
	return has && (g.within == nil || slices.Contains(g.within, d))
}
