package advice

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/spread/domain"
	"github.com/tenon-sh/tenon/engine/spread/terms"
)

// Simple returns what the class's terms come to; false if they depend on
// where single pods of other classes are put.
func (a Advice) Simple(s *terms.PodInfo) (Simple, bool) {
	x := simplifier{Advice: a, pod: s}
	ok := x.all()
	return x.out, ok
}

func (x *simplifier) all() bool {
	s := x.pod
	for i := range s.Spread {
		if !x.spread(&s.Spread[i]) {
			return false
		}
	}
	for _, g := range s.AntiAffinity {
		if !x.antiAffinity(g) {
			return false
		}
	}
	for _, id := range s.Shunned {
		if !x.shunned(id) {
			return false
		}
	}
	return (s.Affinity == domain.None || x.affinity()) && x.member() && x.volumes()
}

func (x *simplifier) shunned(id int32) bool {
	g := x.ledger.Group(id)
	if x.ledger.TopologyKey(g.Key) == label.Hostname {
		x.out.Shunned = append(x.out.Shunned, id)
		return true
	}
	return g.Carriers == 0 || slices.Contains(x.pod.AntiAffinity, id)
}

// affinity says what its affinity comes to. Members that do not carry the term go where the others do: one that was
// bound elsewhere before them would draw them along.
func (x *simplifier) affinity() bool {
	g := x.ledger.Group(x.pod.Affinity)
	if !x.pod.Self || g.Delivered || len(g.Keys) != 1 || x.out.Split != nil {
		return false
	}
	onMachine := x.ledger.TopologyKey(g.Keys[0]) == label.Hostname
	if onMachine && (g.Total > 0 || g.Mixed()) {
		return false
	}
	if g.Total == 0 {
		x.out.Home = &Home{x.ledger.TopologyKey(g.Keys[0]), x.pod.Affinity}
	}
	return true
}

// volumes says what the volumes come to that the class shares: one machine for
// all pods, or else one zone.
func (x *simplifier) volumes() bool {
	for _, g := range x.pod.Exclusive {
		if x.out.Home != nil || x.out.Split != nil || x.ledger.Group(g).OnePod || x.ledger.Group(g).Total > 0 {
			return false
		}
		x.out.Home = &Home{label.Hostname, g}
	}
	for _, g := range x.pod.Unmade {
		switch {
		case len(x.pod.Exclusive) > 0: // a machine is in one zone
		case x.out.Home != nil || x.out.Split != nil:
			return false
		case x.ledger.Group(g).Total == 0:
			x.out.Home = &Home{label.Zone, g}
		}
	}
	return true
}

// Caps are those on what one machine may hold of the class and others together.
func (a Advice) Caps(s *terms.PodInfo) []Share {
	var out []Share
	for i := range s.Spread {
		if e := &s.Spread[i]; e.Self > 0 && a.ledger.TopologyKey(a.ledger.Group(e.Group).Key) == label.Hostname {
			out = append(out, Share{e.Group, int(e.MaxSkew)})
		}
	}
	for _, g := range s.AntiAffinity {
		if a.ledger.TopologyKey(a.ledger.Group(g).Key) == label.Hostname && slices.Contains(s.Members, g) {
			out = append(out, Share{g, 1})
		}
	}
	return out
}

func (x *simplifier) spread(e *terms.Constraint) bool {
	g := x.ledger.Group(e.Group)
	onMachine := x.ledger.TopologyKey(g.Key) == label.Hostname
	switch {
	case g.Delivered:
		return false
	case onMachine && g.Mixed():
		x.out.Mixed = append(x.out.Mixed, Share{e.Group, int(e.MaxSkew)})
		if e.Self > 0 {
			x.out.cap(int(e.MaxSkew))
		}
	case onMachine:
		if g.Classes > 1 {
			x.out.Shared = append(x.out.Shared, Share{e.Group, int(e.MaxSkew)})
		}
		x.out.cap(int(e.MaxSkew))
	case e.Self == 0:
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
func (x *simplifier) split(e *terms.Constraint) Split {
	return Split{Key: x.ledger.TopologyKey(x.ledger.Group(e.Group).Key), Group: e.Group, MaxSkew: int(e.MaxSkew), MinDomains: e.MinDomains, Counts: x.ByDomain(e.Group)}
}

func (x *simplifier) antiAffinity(id int32) bool {
	g := x.ledger.Group(id)
	self := slices.Contains(x.pod.Members, id)
	if x.ledger.TopologyKey(g.Key) == label.Hostname {
		x.out.Owns = append(x.out.Owns, id)
		if self {
			x.out.cap(1)
		}
		return true
	}
	switch {
	case self && g.Classes == 1 && g.Carriers == 1 && x.out.Split == nil:
		x.out.Split = &Split{Key: x.ledger.TopologyKey(g.Key), Group: id, Alone: true, Counts: map[string]int{}}
		for d, v := range x.ledger.DomainsOf(g.Key).Values {
			if n := g.Counts.In(int32(d)) + g.Owners.In(int32(d)); n > 0 {
				x.out.Split.Counts[v] = int(n)
			}
		}
		return true
	case g.Classes == 0:
		return true
	}
	return false
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
func (a Advice) Wish(s *terms.PodInfo) Wish {
	var out Wish
	for i := range s.Soft {
		w := &s.Soft[i]
		g := a.ledger.Group(w.Group)
		if g.Classes != 1 || !slices.Contains(s.Members, w.Group) {
			continue
		}
		key := g.Key
		if w.Kind == terms.Affinity {
			key = g.Keys[0]
		}
		host := a.ledger.TopologyKey(key) == label.Hostname
		limit := 1
		if w.Kind == terms.TopologySpread {
			limit = int(w.Constraint.MaxSkew)
		}
		switch {
		case w.Kind == terms.Affinity && !host && g.Total == 0:
			out.Home = a.ledger.TopologyKey(key)
		case w.Kind == terms.Affinity:
			continue
		case host && (out.PerHost == 0 || limit < out.PerHost):
			out.PerHost = limit
		case !host && out.Split == nil:
			out.Split = &Split{Key: a.ledger.TopologyKey(key), MaxSkew: limit, Counts: map[string]int{}}
			for d, v := range a.ledger.DomainsOf(key).Values {
				if n := g.Counts.In(int32(d)); n > 0 {
					out.Split.Counts[v] = int(n)
				}
			}
		}
		out.Weight = max(out.Weight, w.Weight)
	}
	return out
}
