package spread

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/fit"
	"github.com/tenon-sh/tenon/engine/label"
)

// Simple returns what the subject's terms come to; false if they depend on
// where single pods of other subjects are put.
func (l *Ledger) Simple(s *Subject) (Simple, bool) {
	var out Simple
	for i := range s.even {
		if !l.simpleEven(&s.even[i], &out) {
			return out, false
		}
	}
	for _, g := range s.apart {
		if !l.simpleApart(s, g, &out) {
			return out, false
		}
	}
	for _, id := range s.shunned {
		g := l.groups[id]
		mine := slices.Contains(s.apart, id)
		switch {
		case l.keys[g.key] == label.Hostname:
			out.Shunned = append(out.Shunned, id)
		case g.carriers > 0 && !mine:
			return out, false
		}
	}
	if s.together != none && !l.simpleTogether(s, &out) {
		return out, false
	}
	if !l.simpleMember(s, &out) {
		return out, false
	}
	ok := l.simpleVolumes(s, &out)
	return out, ok
}

// simpleTogether says what its affinity comes to. Members that do not carry the term go where the others do: one that was
// bound elsewhere before them would draw them along.
func (l *Ledger) simpleTogether(s *Subject, out *Simple) bool {
	g := l.groups[s.together]
	if !s.self || g.delivered || len(g.keys) != 1 || out.Split != nil {
		return false
	}
	onMachine := l.keys[g.keys[0]] == label.Hostname
	if onMachine && (g.total > 0 || g.mixed()) {
		return false
	}
	if g.total == 0 {
		out.Home = &Home{l.keys[g.keys[0]], s.together}
	}
	return true
}

// simpleVolumes says what the volumes come to that the subject shares: one machine for
// all pods, or else one zone.
func (l *Ledger) simpleVolumes(s *Subject, out *Simple) bool {
	for _, g := range s.exclusive {
		if out.Home != nil || out.Split != nil || l.groups[g].onePod || l.groups[g].total > 0 {
			return false
		}
		out.Home = &Home{label.Hostname, g}
	}
	for _, g := range s.unmade {
		switch {
		case len(s.exclusive) > 0: // a machine is in one zone
		case out.Home != nil || out.Split != nil:
			return false
		case l.groups[g].total == 0:
			out.Home = &Home{label.Zone, g}
		}
	}
	return true
}

// Caps are those on what one machine may hold of the subject and others together.
func (l *Ledger) Caps(s *Subject) []Share {
	var out []Share
	for i := range s.even {
		if e := &s.even[i]; e.self > 0 && l.keys[l.groups[e.group].key] == label.Hostname {
			out = append(out, Share{e.group, int(e.maxSkew)})
		}
	}
	for _, g := range s.apart {
		if l.keys[l.groups[g].key] == label.Hostname && slices.Contains(s.members, g) {
			out = append(out, Share{g, 1})
		}
	}
	return out
}

func (l *Ledger) simpleEven(e *even, out *Simple) bool {
	g := l.groups[e.group]
	onMachine := l.keys[g.key] == label.Hostname
	switch {
	case g.delivered:
		return false
	case onMachine && g.mixed():
		out.Mixed = append(out.Mixed, Share{e.group, int(e.maxSkew)})
		if e.self > 0 {
			out.cap(int(e.maxSkew))
		}
	case onMachine:
		if g.kinds > 1 {
			out.Shared = append(out.Shared, Share{e.group, int(e.maxSkew)})
		}
		out.cap(int(e.maxSkew))
	case e.self == 0:
		out.Among = append(out.Among, l.split(e))
	case out.Split != nil:
		return false
	default:
		split := l.split(e)
		out.Split = &split
	}
	return true
}

// split is what a constraint beyond the machine comes to.
func (l *Ledger) split(e *even) Split {
	return Split{Key: l.keys[l.groups[e.group].key], Group: e.group, MaxSkew: int(e.maxSkew), MinDomains: e.minDomains, Counts: l.ByDomain(e.group)}
}

func (l *Ledger) simpleApart(s *Subject, id int32, out *Simple) bool {
	g := l.groups[id]
	self := slices.Contains(s.members, id)
	if l.keys[g.key] == label.Hostname {
		out.Owns = append(out.Owns, id)
		if self {
			out.cap(1)
		}
		return true
	}
	switch {
	case self && g.kinds == 1 && g.carriers == 1 && out.Split == nil:
		out.Split = &Split{Key: l.keys[g.key], Group: id, Alone: true, Counts: map[string]int{}}
		for d, v := range l.values[g.key] {
			if n := count(g.counts, int32(d)) + count(g.owners, int32(d)); n > 0 {
				out.Split.Counts[v] = int(n)
			}
		}
		return true
	case !self && g.kinds == 0:
		return true
	}
	return false
}

// Accepts reports whether pods that run now, by affinity or anti-affinity, let
// the subject go to a new machine like this.
func (l *Ledger) Accepts(s *Subject, place *fit.Place) bool {
	at := l.onNew(place)
	for _, g := range s.apart {
		if l.apartFrom(g, at, false) > 0 {
			return false
		}
	}
	for _, g := range s.shunned {
		if l.apartFrom(g, at, true) > 0 {
			return false
		}
	}
	return l.hasVolumes(s, at) && (s.together == none || l.togetherAllows(s, at))
}

// Wish is what the soft terms of a subject come to for new machines, as far as
// that can be said for all its pods at once.
type Wish struct {
	PerHost int    // how many pods one machine should hold; 0: any number
	Split   *Split // they should be divided among domains
	Home    string // topology key of which one domain should take all
	Weight  int    // of the heaviest of these terms
}

// Wish returns what the subject's soft terms about its own like come to.
func (l *Ledger) Wish(s *Subject) Wish {
	var out Wish
	for i := range s.wishes {
		w := &s.wishes[i]
		g := l.groups[w.group]
		if g.kinds != 1 || !slices.Contains(s.members, w.group) {
			continue
		}
		key := g.key
		if w.kind == together {
			key = g.keys[0]
		}
		host := l.keys[key] == label.Hostname
		limit := 1
		if w.kind == evenly {
			limit = int(w.even.maxSkew)
		}
		switch {
		case w.kind == together && !host && g.total == 0:
			out.Home = l.keys[key]
		case w.kind == together:
			continue
		case host && (out.PerHost == 0 || limit < out.PerHost):
			out.PerHost = limit
		case !host && out.Split == nil:
			out.Split = &Split{Key: l.keys[key], MaxSkew: limit, Counts: map[string]int{}}
			for d, v := range l.values[key] {
				if n := count(g.counts, int32(d)); n > 0 {
					out.Split.Counts[v] = int(n)
				}
			}
		}
		out.Weight = max(out.Weight, w.weight)
	}
	return out
}
