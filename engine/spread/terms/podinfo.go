package terms

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/spread/domain"
	"github.com/tenon-sh/tenon/engine/world"
)

// PodInfo is what the ledger knows of a class of pods, worked out once: the terms that they carry and the groups that
// count them. It is to a class what kube-scheduler's PodInfo is to a pod.
type PodInfo struct {
	Spread       []Constraint
	AntiAffinity []int32 // groups of the required anti-affinity terms it carries
	Affinity     int32   // the group of its required affinity terms, or none
	Self         bool    // it is a member of that group itself
	Soft         []SoftTerm
	Members      []int32 // every group that counts it
	Shunned      []int32 // those of members that are of anti-affinity terms: pods that carry such a term keep away from it

	// Groups of the pods that share a volume with it: one still to be made, and one for one node or one pod.
	Unmade    []int32
	Exclusive []int32
}

// Constraint is one topology spread constraint that a class carries.
type Constraint struct {
	Group      int32
	MaxSkew    int32
	MinDomains int
	Self       int32 // 1 if the constraint counts the pod itself
	At         int   // position among the pod's constraints
}

// SoftTerm is a soft term that a class carries.
type SoftTerm struct {
	Kind       Kind
	Group      int32
	Constraint Constraint
	Weight     int
	At         int // position among the pod's constraints or terms
}

// SoftSpread is the weight of a soft topology spread constraint among the other soft terms.
const SoftSpread = 50

// PodInfo returns what the ledger knows of the pod, whose terms have been enlisted, and considers it.
func (l *Table) PodInfo(p *world.Pod) *PodInfo {
	s := l.describe(p)
	l.consider(s)
	return s
}

// consider takes the class for one of those that are being planned. Advice
// depends on which pods they are; what is allowed does not.
func (l *Table) consider(s *PodInfo) {
	for _, g := range s.Members {
		l.groups[g].Classes++
	}
	for _, e := range s.Spread {
		l.groups[e.Group].Carriers += int(e.Self)
		l.groups[e.Group].Outside += int(1 - e.Self)
	}
	for _, g := range s.AntiAffinity {
		l.groups[g].Carriers++
	}
	for _, g := range s.Unmade {
		l.groups[g].Carriers++
	}
	for _, g := range s.Exclusive {
		l.groups[g].Carriers++
	}
	if s.Self {
		l.groups[s.Affinity].Carriers++
	}
}

// describe returns what the ledger knows of the pod, whose terms have been enlisted.
func (l *Table) describe(p *world.Pod) *PodInfo {
	s := &PodInfo{Affinity: domain.None, Members: l.Members(p)}
	for _, g := range s.Members {
		switch of := l.groups[g]; {
		case of.Kind == AntiAffinity:
			s.Shunned = append(s.Shunned, g)
		case of.Volume == "":
		case l.keys[of.Keys[0]] == label.Hostname:
			s.Exclusive = append(s.Exclusive, g)
		default:
			s.Unmade = append(s.Unmade, g)
		}
	}
	for i, c := range p.Spread {
		g := l.enlistSpread(p, i)
		e := Constraint{Group: g, MaxSkew: int32(min(c.MaxSkew, 1<<30)), MinDomains: c.MinDomains, At: i}
		if slices.Contains(s.Members, g) {
			e.Self = 1
		}
		if c.Soft {
			s.Soft = append(s.Soft, SoftTerm{Kind: TopologySpread, Group: g, Constraint: e, Weight: SoftSpread, At: i})
			continue
		}
		s.Spread = append(s.Spread, e)
	}
	var terms []world.PodTerm
	for i, t := range p.PodTerms {
		switch {
		case t.Weight == 0 && !t.Anti:
			terms = append(terms, t)
		case t.Weight == 0:
			s.AntiAffinity = append(s.AntiAffinity, l.enlistAntiAffinity(t))
		case t.Anti:
			s.Soft = append(s.Soft, SoftTerm{Kind: AntiAffinity, Group: l.enlistAntiAffinity(t), Weight: t.Weight, At: i})
		default:
			s.Soft = append(s.Soft, SoftTerm{Kind: Affinity, Group: l.enlistAffinity([]world.PodTerm{t}), Weight: t.Weight, At: i})
		}
	}
	if len(terms) > 0 {
		s.Affinity = l.enlistAffinity(terms)
		s.Self = slices.Contains(s.Members, s.Affinity)
	}
	return s
}

// Indifferent reports whether no hard term of the class or of other pods decides where it may go.
func (s *PodInfo) Indifferent() bool {
	return len(s.Spread)+len(s.AntiAffinity)+len(s.Shunned)+len(s.Unmade)+len(s.Exclusive) == 0 && s.Affinity == domain.None
}

// In reports whether the group counts pods of the class.
func (s *PodInfo) In(group int32) bool { return slices.Contains(s.Members, group) }

// Wishes reports whether the class carries soft terms.
func (s *PodInfo) Wishes() bool { return len(s.Soft) > 0 }

// CarriesAny reports whether the class carries the term of one of the groups.
func (s *PodInfo) CarriesAny(groups map[int32]bool) bool {
	return groups[s.Affinity] || slices.ContainsFunc(s.Spread, func(e Constraint) bool { return groups[e.Group] })
}

// Carries reports whether the class carries the term of the group, of spread or affinity.
func (s *PodInfo) Carries(id int32) bool {
	return s.Affinity == id || slices.ContainsFunc(s.Spread, func(e Constraint) bool { return e.Group == id })
}
