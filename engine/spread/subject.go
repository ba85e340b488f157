package spread

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/world"
)

// Subject is what the ledger knows of pods that no term tells apart: the terms they carry and the groups that count them.
type Subject struct {
	even     []even
	apart    []int32 // groups of the required anti-affinity terms it carries
	together int32   // the group of its required affinity terms, or none
	self     bool    // it is a member of that group itself
	volumes  []int32 // groups of those who share a volume with it
	wishes   []wish
	members  []int32 // every group that counts it
	shunned  []int32 // those of members that are apart
}

// even is one topology spread constraint that a subject carries.
type even struct {
	group      int32
	maxSkew    int32
	minDomains int
	self       int32 // 1 if the constraint counts the pod itself
	at         int   // position among the pod's constraints
}

// wish is a soft term that a subject carries.
type wish struct {
	kind   kind
	group  int32
	even   even
	weight int
	at     int // position among the pod's constraints or terms
}

// SoftSpread is the weight of a soft topology spread constraint among the other soft terms.
const SoftSpread = 50

// Enlist makes known the terms that the pod carries.
func (l *Ledger) Enlist(p *world.Pod) {
	for i := range p.Spread {
		l.enlistSpread(p, i)
	}
	var terms []world.PodTerm
	for _, t := range p.PodTerms {
		switch {
		case !t.Anti && t.Weight == 0:
			terms = append(terms, t)
		case t.Anti:
			l.enlistApart(t)
		default:
			l.enlistTogether([]world.PodTerm{t})
		}
	}
	if len(terms) > 0 {
		l.enlistTogether(terms)
	}
}

func (l *Ledger) enlistSpread(p *world.Pod, i int) int32 {
	c := &p.Spread[i]
	s := sieve{
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
	n := l.terrain(s, key)
	t := world.PodTerm{Selector: c.Selector, Namespaces: []string{p.Namespace}}
	l.text = appendEvenlyID(l.text[:0], n, t)
	if g, known := l.byTerms[string(l.text)]; known {
		return g
	}
	return l.join(string(l.text), &group{kind: evenly, key: key, terrain: l.terrains[n], terms: []world.PodTerm{t}})
}

func (l *Ledger) enlistApart(t world.PodTerm) int32 {
	l.text = appendApartID(l.text[:0], t)
	if g, known := l.byTerms[string(l.text)]; known {
		return g
	}
	return l.join(string(l.text), &group{kind: apart, key: l.key(t.Key), terms: []world.PodTerm{t}})
}

func (l *Ledger) enlistTogether(terms []world.PodTerm) int32 {
	l.text = appendTogetherID(l.text[:0], terms)
	if g, known := l.byTerms[string(l.text)]; known {
		return g
	}
	g := &group{kind: together, terms: terms, byKey: make([][]int32, len(terms))}
	for _, t := range terms {
		g.keys = append(g.keys, l.key(t.Key))
	}
	return l.join(string(l.text), g)
}

// Subject returns what the ledger knows of the pod, whose terms have been enlisted, and considers it.
func (l *Ledger) Subject(p *world.Pod) *Subject {
	s := l.Describe(p)
	l.Consider(s)
	return s
}

// Consider takes the subject for one of those that are being planned. Advice
// depends on who they are; what is allowed does not.
func (l *Ledger) Consider(s *Subject) { l.consider(s, 1) }

// Dismiss takes the subject for one that is not being planned any more.
func (l *Ledger) Dismiss(s *Subject) { l.consider(s, -1) }

func (l *Ledger) consider(s *Subject, by int) {
	for _, g := range s.members {
		l.groups[g].kinds += by
	}
	for _, e := range s.even {
		l.groups[e.group].carriers += by * int(e.self)
	}
	for _, g := range s.apart {
		l.groups[g].carriers += by
	}
	for _, g := range s.volumes {
		l.groups[g].carriers += by
	}
	if s.self {
		l.groups[s.together].carriers += by
	}
}

// Describe returns what the ledger knows of the pod, whose terms have been enlisted.
func (l *Ledger) Describe(p *world.Pod) *Subject {
	s := &Subject{together: none, members: l.Members(p)}
	for _, g := range s.members {
		switch {
		case l.groups[g].kind == apart:
			s.shunned = append(s.shunned, g)
		case l.groups[g].volume != "":
			s.volumes = append(s.volumes, g)
		}
	}
	for i, c := range p.Spread {
		g := l.enlistSpread(p, i)
		e := even{group: g, maxSkew: int32(min(c.MaxSkew, 1<<30)), minDomains: c.MinDomains, at: i}
		if slices.Contains(s.members, g) {
			e.self = 1
		}
		if c.Soft {
			s.wishes = append(s.wishes, wish{kind: evenly, group: g, even: e, weight: SoftSpread, at: i})
			continue
		}
		s.even = append(s.even, e)
	}
	var terms []world.PodTerm
	for i, t := range p.PodTerms {
		switch {
		case t.Weight == 0 && !t.Anti:
			terms = append(terms, t)
		case t.Weight == 0:
			s.apart = append(s.apart, l.enlistApart(t))
		case t.Anti:
			s.wishes = append(s.wishes, wish{kind: apart, group: l.enlistApart(t), weight: t.Weight, at: i})
		default:
			s.wishes = append(s.wishes, wish{kind: together, group: l.enlistTogether([]world.PodTerm{t}), weight: t.Weight, at: i})
		}
	}
	if len(terms) > 0 {
		s.together = l.enlistTogether(terms)
		s.self = slices.Contains(s.members, s.together)
	}
	return s
}
