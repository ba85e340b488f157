package spread

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
)

// Subject is what the ledger knows of pods that no term tells apart: the terms they carry and the groups that count them.
type Subject struct {
	even     []even
	apart    []int32 // groups of the required anti-affinity terms it carries
	together int32   // the group of its required affinity terms, or none
	self     bool    // it is a member of that group itself
	wishes   []wish
	members  []int32 // every group that counts it
	shunned  []int32 // those of members that are apart

	// Groups of the pods that share a volume with it: one still to be made, and one for one node or one pod.
	unmade    []int32
	exclusive []int32
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

// Subject returns what the ledger knows of the pod, whose terms have been enlisted, and considers it.
func (l *terms) Subject(p *world.Pod) *Subject {
	s := l.Describe(p)
	l.Consider(s)
	return s
}

// Consider takes the subject for one of those that are being planned. Advice
// depends on which pods they are; what is allowed does not.
func (l *terms) Consider(s *Subject) { l.consider(s, 1) }

// Dismiss takes the subject for one that is not being planned any more.
func (l *terms) Dismiss(s *Subject) { l.consider(s, -1) }

func (l *terms) consider(s *Subject, by int) {
	for _, g := range s.members {
		l.groups[g].kinds += by
	}
	for _, e := range s.even {
		l.groups[e.group].carriers += by * int(e.self)
		l.groups[e.group].outside += by * int(1-e.self)
	}
	for _, g := range s.apart {
		l.groups[g].carriers += by
	}
	for _, g := range s.unmade {
		l.groups[g].carriers += by
	}
	for _, g := range s.exclusive {
		l.groups[g].carriers += by
	}
	if s.self {
		l.groups[s.together].carriers += by
	}
}

// Describe returns what the ledger knows of the pod, whose terms have been enlisted.
func (l *terms) Describe(p *world.Pod) *Subject {
	s := &Subject{together: none, members: l.Members(p)}
	for _, g := range s.members {
		switch of := l.groups[g]; {
		case of.kind == apart:
			s.shunned = append(s.shunned, g)
		case of.volume == "":
		case l.keys[of.keys[0]] == label.Hostname:
			s.exclusive = append(s.exclusive, g)
		default:
			s.unmade = append(s.unmade, g)
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

// Indifferent reports whether no hard term of the subject or of other pods decides where it may go.
func (s *Subject) Indifferent() bool {
	return len(s.even)+len(s.apart)+len(s.shunned)+len(s.unmade)+len(s.exclusive) == 0 && s.together == none
}

// Unmade are the groups of the pods that share a volume with the subject that is still to be made.
func (s *Subject) Unmade() []int32 { return s.unmade }

// Members are the groups that count pods of the subject.
func (s *Subject) Members() []int32 { return s.members }

// In reports whether the group counts pods of the subject.
func (s *Subject) In(group int32) bool { return slices.Contains(s.members, group) }

// Wishes reports whether the subject carries soft terms.
func (s *Subject) Wishes() bool { return len(s.wishes) > 0 }
