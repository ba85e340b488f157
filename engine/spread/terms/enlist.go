package terms

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/spread/domain"
	"github.com/tenon-sh/tenon/engine/world"
)

// Enlist makes known the terms that the pod carries.
func (l *Table) Enlist(p *world.Pod) {
	for i := range p.Spread {
		l.enlistSpread(p, i)
	}
	var terms []world.PodTerm
	for _, t := range p.PodTerms {
		switch {
		case !t.Anti && t.Weight == 0:
			terms = append(terms, t)
		case t.Anti:
			l.enlistAntiAffinity(t)
		default:
			l.enlistAffinity([]world.PodTerm{t})
		}
	}
	if len(terms) > 0 {
		l.enlistAffinity(terms)
	}
}

func (l *Table) enlistSpread(p *world.Pod, i int) int32 {
	c := &p.Spread[i]
	s := NodeFilter{
		anyNode: c.AnyNode, taints: c.HonourTaints, Needs: []string{c.Key},
		Filter: world.Pod{NodeSelector: p.NodeSelector, NodeTerms: p.NodeTerms, Tolerations: p.Tolerations},
	}
	if !c.Soft {
		for _, o := range p.Spread {
			if !o.Soft {
				s.Needs = append(s.Needs, o.Key)
			}
		}
		slices.Sort(s.Needs)
		s.Needs = slices.Compact(s.Needs)
	}
	key := l.key(c.Key)
	n := l.eligibleNodes(s, key)
	t := world.PodTerm{Selector: c.Selector, Namespaces: []string{p.Namespace}}
	l.text = appendSpreadID(l.text[:0], n, t)
	if g, known := l.byTerms[string(l.text)]; known {
		return g
	}
	return l.join(string(l.text), &Group{Kind: TopologySpread, Key: key, EligibleNodes: l.eligible[n], Terms: []world.PodTerm{t}})
}

func (l *Table) enlistAntiAffinity(t world.PodTerm) int32 {
	l.text = appendAntiAffinityID(l.text[:0], t)
	if g, known := l.byTerms[string(l.text)]; known {
		return g
	}
	return l.join(string(l.text), &Group{Kind: AntiAffinity, Key: l.key(t.Key), Terms: []world.PodTerm{t}})
}

func (l *Table) enlistAffinity(terms []world.PodTerm) int32 {
	l.text = appendAffinityID(l.text[:0], terms)
	if g, known := l.byTerms[string(l.text)]; known {
		return g
	}
	g := &Group{Kind: Affinity, Terms: terms, ByKey: make([]domain.Tally, len(terms))}
	for _, t := range terms {
		g.Keys = append(g.Keys, l.key(t.Key))
	}
	return l.join(string(l.text), g)
}

// join adds a group of a new identity, and returns its number.
func (l *Table) join(id string, g *Group) int32 {
	i := int32(len(l.groups))
	l.byTerms[id] = i
	l.groups = append(l.groups, g)
	l.file(i, g.Terms)
	return i
}

// file puts a group where its members look for it: on the shelves of their
// namespaces, under one of their labels.
func (l *Table) file(i int32, terms []world.PodTerm) {
	t := &terms[0]
	if t.Within.Some {
		l.wide.file(i, terms)
		return
	}
	for _, n := range t.Namespaces {
		if l.shelves[n] == nil {
			l.shelves[n] = &shelf{}
		}
		l.shelves[n].file(i, terms)
	}
}
