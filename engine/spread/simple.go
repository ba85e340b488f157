package spread

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/fit"
	"github.com/tenon-sh/tenon/engine/label"
)

// Simple returns what the class's terms come to; false if they depend on
// where single pods of other classes are put.
func (l *Ledger) Simple(s *PodInfo) (Simple, bool) {
	x := simplifier{Ledger: l, pod: s}
	ok := x.all()
	return x.out, ok
}

func (x *simplifier) all() bool {
	s := x.pod
	for i := range s.spread {
		if !x.spread(&s.spread[i]) {
			return false
		}
	}
	for _, g := range s.antiAffinity {
		if !x.antiAffinity(g) {
			return false
		}
	}
	for _, id := range s.shunned {
		if !x.shunned(id) {
			return false
		}
	}
	return (s.affinity == none || x.affinity()) && x.member() && x.volumes()
}

func (x *simplifier) shunned(id int32) bool {
	g := x.groups[id]
	if x.keys[g.key] == label.Hostname {
		x.out.Shunned = append(x.out.Shunned, id)
		return true
	}
	return g.carriers == 0 || slices.Contains(x.pod.antiAffinity, id)
}

// affinity says what its affinity comes to. Members that do not carry the term go where the others do: one that was
// bound elsewhere before them would draw them along.
func (x *simplifier) affinity() bool {
	g := x.groups[x.pod.affinity]
	if !x.pod.self || g.delivered || len(g.keys) != 1 || x.out.Split != nil {
		return false
	}
	onMachine := x.keys[g.keys[0]] == label.Hostname
	if onMachine && (g.total > 0 || g.mixed()) {
		return false
	}
	if g.total == 0 {
		x.out.Home = &Home{x.keys[g.keys[0]], x.pod.affinity}
	}
	return true
}

// volumes says what the volumes come to that the class shares: one machine for
// all pods, or else one zone.
func (x *simplifier) volumes() bool {
	for _, g := range x.pod.exclusive {
		if x.out.Home != nil || x.out.Split != nil || x.groups[g].onePod || x.groups[g].total > 0 {
			return false
		}
		x.out.Home = &Home{label.Hostname, g}
	}
	for _, g := range x.pod.unmade {
		switch {
		case len(x.pod.exclusive) > 0: // a machine is in one zone
		case x.out.Home != nil || x.out.Split != nil:
			return false
		case x.groups[g].total == 0:
			x.out.Home = &Home{label.Zone, g}
		}
	}
	return true
}

// Caps are those on what one machine may hold of the class and others together.
func (l *Ledger) Caps(s *PodInfo) []Share {
	var out []Share
	for i := range s.spread {
		if e := &s.spread[i]; e.self > 0 && l.keys[l.groups[e.group].key] == label.Hostname {
			out = append(out, Share{e.group, int(e.maxSkew)})
		}
	}
	for _, g := range s.antiAffinity {
		if l.keys[l.groups[g].key] == label.Hostname && slices.Contains(s.members, g) {
			out = append(out, Share{g, 1})
		}
	}
	return out
}

func (x *simplifier) spread(e *spreadConstraint) bool {
	g := x.groups[e.group]
	onMachine := x.keys[g.key] == label.Hostname
	switch {
	case g.delivered:
		return false
	case onMachine && g.mixed():
		x.out.Mixed = append(x.out.Mixed, Share{e.group, int(e.maxSkew)})
		if e.self > 0 {
			x.out.cap(int(e.maxSkew))
		}
	case onMachine:
		if g.classes > 1 {
			x.out.Shared = append(x.out.Shared, Share{e.group, int(e.maxSkew)})
		}
		x.out.cap(int(e.maxSkew))
	case e.self == 0:
		x.out.Among = append(x.out.Among, x.split(e))
	case x.out.Split != nil:
		return false
	default:
		split := x.split(e)
		x.out.Split = &split
	}
	return true
}

// split is what a constraint beyond the machine comes to.
func (x *simplifier) split(e *spreadConstraint) Split {
	return Split{Key: x.keys[x.groups[e.group].key], Group: e.group, MaxSkew: int(e.maxSkew), MinDomains: e.minDomains, Counts: x.ByDomain(e.group)}
}

func (x *simplifier) antiAffinity(id int32) bool {
	g := x.groups[id]
	self := slices.Contains(x.pod.members, id)
	if x.keys[g.key] == label.Hostname {
		x.out.Owns = append(x.out.Owns, id)
		if self {
			x.out.cap(1)
		}
		return true
	}
	switch {
	case self && g.classes == 1 && g.carriers == 1 && x.out.Split == nil:
		x.out.Split = &Split{Key: x.keys[g.key], Group: id, Alone: true, Counts: map[string]int{}}
		for d, v := range x.domains[g.key].values {
			if n := g.counts.in(int32(d)) + g.owners.in(int32(d)); n > 0 {
				x.out.Split.Counts[v] = int(n)
			}
		}
		return true
	case !self && g.classes == 0:
		return true
	}
	return false
}

// Accepts reports whether pods that run now, by affinity or anti-affinity, let
// the class go to a new machine like this.
func (l *Ledger) Accepts(s *PodInfo, place *fit.Place) bool {
	return l.companyAllows(s, l.onNew(place))
}

// Wish is what the soft terms of a class come to for new machines, as far as
// that can be said for all its pods at once.
type Wish struct {
	PerHost int    // how many pods one machine should hold; 0: any number
	Split   *Split // they should be divided among domains
	Home    string // topology key of which one domain should take all
	Weight  int    // of the heaviest of these terms
}

// Wish returns what the class's soft terms about its own like come to.
func (l *Ledger) Wish(s *PodInfo) Wish {
	var out Wish
	for i := range s.wishes {
		w := &s.wishes[i]
		g := l.groups[w.group]
		if g.classes != 1 || !slices.Contains(s.members, w.group) {
			continue
		}
		key := g.key
		if w.kind == affinity {
			key = g.keys[0]
		}
		host := l.keys[key] == label.Hostname
		limit := 1
		if w.kind == topologySpread {
			limit = int(w.constraint.maxSkew)
		}
		switch {
		case w.kind == affinity && !host && g.total == 0:
			out.Home = l.keys[key]
		case w.kind == affinity:
			continue
		case host && (out.PerHost == 0 || limit < out.PerHost):
			out.PerHost = limit
		case !host && out.Split == nil:
			out.Split = &Split{Key: l.keys[key], MaxSkew: limit, Counts: map[string]int{}}
			for d, v := range l.domains[key].values {
				if n := g.counts.in(int32(d)); n > 0 {
					out.Split.Counts[v] = int(n)
				}
			}
		}
		out.Weight = max(out.Weight, w.weight)
	}
	return out
}
