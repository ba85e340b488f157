package spread

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/world"
)

// Enlist makes known the terms that the pod carries.
func (l *terms) Enlist(p *world.Pod) {
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

func (l *terms) enlistSpread(p *world.Pod, i int) int32 {
	c := &p.Spread[i]
	s := nodeFilter{
		anyNode: c.AnyNode, taints: c.HonourTaints, needs: []string{c.Key},
		filter: world.Pod{NodeSelector: p.NodeSelector, NodeTerms: p.NodeTerms, Tolerations: p.Tolerations},
	}
	if !c.Soft {
		for _, o := range p.Spread {
			if !o.Soft {
				s.needs = append(s.needs, o.Key)
			}
		}
		slices.Sort(s.needs)
		s.needs = slices.Compact(s.needs)
	}
	key := l.key(c.Key)
	n := l.eligibleNodes(s, key)
	t := world.PodTerm{Selector: c.Selector, Namespaces: []string{p.Namespace}}
	l.text = appendSpreadID(l.text[:0], n, t)
	if g, known := l.byTerms[string(l.text)]; known {
		return g
	}
	return l.join(string(l.text), &group{kind: topologySpread, key: key, eligibleNodes: l.eligible[n], terms: []world.PodTerm{t}})
}

func (l *terms) enlistAntiAffinity(t world.PodTerm) int32 {
	l.text = appendAntiAffinityID(l.text[:0], t)
	if g, known := l.byTerms[string(l.text)]; known {
		return g
	}
	return l.join(string(l.text), &group{kind: antiAffinity, key: l.key(t.Key), terms: []world.PodTerm{t}})
}

func (l *terms) enlistAffinity(terms []world.PodTerm) int32 {
	l.text = appendAffinityID(l.text[:0], terms)
	if g, known := l.byTerms[string(l.text)]; known {
		return g
	}
	g := &group{kind: affinity, terms: terms, byKey: make([]tally, len(terms))}
	for _, t := range terms {
		g.keys = append(g.keys, l.key(t.Key))
	}
	return l.join(string(l.text), g)
}

// join adds a group of a new identity, and returns its number.
func (l *terms) join(id string, g *group) int32 {
	i := int32(len(l.groups))
	l.byTerms[id] = i
	l.groups = append(l.groups, g)
	l.file(i, g.terms)
	return i
}

// file puts a group where its members look for it: on the shelves of their
// namespaces, under one of their labels.
func (l *terms) file(i int32, terms []world.PodTerm) {
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
