package spread

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/fit"
	"github.com/tenon-sh/tenon/engine/spread/domain"
	"github.com/tenon-sh/tenon/engine/spread/terms"
)

// candidate is where a pod may go, as the groups see it: a machine entered, or one that would be new.
type candidate struct {
	l     *counts
	node  *node
	place *fit.Place // of a machine not entered
}

// domain returns the domain of key; fresh if the machine would be the first there.
func (s candidate) domain(key int) (d int32, has bool) {
	if s.node != nil {
		d = s.node.domain[key]
		return d, d != domain.None
	}
	v, ok := terms.ValueOf(s.place, s.l.TopologyKey(key))
	if !ok {
		return domain.None, false
	}
	if d, known := s.l.DomainsOf(key).Find(v); known {
		return d, true
	}
	return domain.None, true
}

// value names the domain of key.
func (s candidate) value(key int) string {
	if s.node == nil {
		v, _ := terms.ValueOf(s.place, s.l.TopologyKey(key))
		return v
	}
	if d := s.node.domain[key]; d != domain.None {
		return s.l.DomainsOf(key).Values[d]
	}
	return ""
}

// company counts the members of a group, or the owners of its term, that come
// with a machine that is not entered.
func (s candidate) company(group int32, owners bool) int32 {
	if s.node != nil {
		return 0
	}
	n := int32(0)
	for _, p := range s.place.Company {
		switch {
		case !owners && slices.Contains(s.l.Members(p), group):
			n++
		case owners:
			for i := range p.PodTerms {
				if t := &p.PodTerms[i]; t.KeepsAway() && s.l.OwnedBy(t) == group {
					n++
				}
			}
		}
	}
	return n
}

// on is machine n as a candidate.
func (l *counts) on(n int) candidate { return candidate{l: l, node: &l.nodes[n]} }

// onNew is a machine that would be added as a candidate.
func (l *counts) onNew(at *fit.Place) candidate { return candidate{l: l, place: at} }

// DomainOf is the domain of a key that machine n is in; none if it is in none.
func (l *counts) DomainOf(n, key int) int32 { return l.nodes[n].domain[key] }

// DomainOfNew is the domain of a key that a machine that is to be added would be in; false if in none.
func (l *counts) DomainOfNew(at *fit.Place, key int) (d int32, has bool) {
	return l.onNew(at).domain(key)
}
