package spread

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
)

// PodInfo is what the ledger knows of a class of pods, worked out once: the terms that they carry and the groups that
// count them. It is to a class what kube-scheduler's PodInfo is to a pod.
type PodInfo struct {
	spread       []spreadConstraint
	antiAffinity []int32 // groups of the required anti-affinity terms it carries
	affinity     int32   // the group of its required affinity terms, or none
	self         bool    // it is a member of that group itself
	wishes       []wish
	members      []int32 // every group that counts it
	shunned      []int32 // those of members that are of anti-affinity terms: pods that carry such a term keep away from it

	// Groups of the pods that share a volume with it: one still to be made, and one for one node or one pod.
	unmade    []int32
	exclusive []int32
}

// spreadConstraint is one topology spread constraint that a class carries.
type spreadConstraint struct {
	group      int32
	maxSkew    int32
	minDomains int
	self       int32 // 1 if the constraint counts the pod itself
	at         int   // position among the pod's constraints
}

// wish is a soft term that a class carries.
type wish struct {
	kind       kind
	group      int32
	constraint spreadConstraint
	weight     int
	at         int // position among the pod's constraints or terms
}

// SoftSpread is the weight of a soft topology spread constraint among the other soft terms.
const SoftSpread = 50

// PodInfo returns what the ledger knows of the pod, whose terms have been enlisted, and considers it.
func (l *terms) PodInfo(p *world.Pod) *PodInfo {
	s := l.Describe(p)
	l.consider(s)
	return s
}

// consider takes the class for one of those that are being planned. Advice
// depends on which pods they are; what is allowed does not.
func (l *terms) consider(s *PodInfo) {
	for _, g := range s.members {
		l.groups[g].classes++
	}
	for _, e := range s.spread {
		l.groups[e.group].carriers += int(e.self)
		l.groups[e.group].outside += int(1 - e.self)
	}
	for _, g := range s.antiAffinity {
		l.groups[g].carriers++
	}
	for _, g := range s.unmade {
		l.groups[g].carriers++
	}
	for _, g := range s.exclusive {
		l.groups[g].carriers++
	}
	if s.self {
		l.groups[s.affinity].carriers++
	}
}

// Describe returns what the ledger knows of the pod, whose terms have been enlisted.
func (l *terms) Describe(p *world.Pod) *PodInfo {
	s := &PodInfo{affinity: none, members: l.Members(p)}
	for _, g := range s.members {
		switch of := l.groups[g]; {
		case of.kind == antiAffinity:
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
		e := spreadConstraint{group: g, maxSkew: int32(min(c.MaxSkew, 1<<30)), minDomains: c.MinDomains, at: i}
		if slices.Contains(s.members, g) {
			e.self = 1
		}
		if c.Soft {
			s.wishes = append(s.wishes, wish{kind: topologySpread, group: g, constraint: e, weight: SoftSpread, at: i})
			continue
		}
		s.spread = append(s.spread, e)
	}
	var terms []world.PodTerm
	for i, t := range p.PodTerms {
		switch {
		case t.Weight == 0 && !t.Anti:
			terms = append(terms, t)
		case t.Weight == 0:
			s.antiAffinity = append(s.antiAffinity, l.enlistAntiAffinity(t))
		case t.Anti:
			s.wishes = append(s.wishes, wish{kind: antiAffinity, group: l.enlistAntiAffinity(t), weight: t.Weight, at: i})
		default:
			s.wishes = append(s.wishes, wish{kind: affinity, group: l.enlistAffinity([]world.PodTerm{t}), weight: t.Weight, at: i})
		}
	}
	if len(terms) > 0 {
		s.affinity = l.enlistAffinity(terms)
		s.self = slices.Contains(s.members, s.affinity)
	}
	return s
}

// Indifferent reports whether no hard term of the class or of other pods decides where it may go.
func (s *PodInfo) Indifferent() bool {
	return len(s.spread)+len(s.antiAffinity)+len(s.shunned)+len(s.unmade)+len(s.exclusive) == 0 && s.affinity == none
}

// Unmade are the groups of the pods that share a volume with the class that is still to be made.
func (s *PodInfo) Unmade() []int32 { return s.unmade }

// Members are the groups that count pods of the class.
func (s *PodInfo) Members() []int32 { return s.members }

// In reports whether the group counts pods of the class.
func (s *PodInfo) In(group int32) bool { return slices.Contains(s.members, group) }

// Wishes reports whether the class carries soft terms.
func (s *PodInfo) Wishes() bool { return len(s.wishes) > 0 }
