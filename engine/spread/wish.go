package spread

import (
	"fmt"

	"github.com/tenon-sh/tenon/engine/spread/terms"
)

// Lost is one soft term that a place does not honour.
type Lost struct {
	Weight int
	Term   string // path of the term in the pod
	Of     Soft
}

// Soft says which soft term of a pod it is.
type Soft struct {
	Kind SoftKind
	At   int // its position among the pod's constraints, pod terms or wishes on nodes
}

// SoftKind is where soft terms stand in a pod.
type SoftKind int

// The kinds of soft terms. The zero value is none of the pod's: a taint of the node.
const (
	SoftTaint SoftKind = iota
	SoftConstraint
	SoftPodTerm
	SoftNodeTerm
)

// Regret is the weight of the soft terms that machine n would not honour.
func (l *Ledger) Regret(s *terms.PodInfo, n int) int {
	return l.regret(s, l.on(n), nil)
}

// Losses returns the soft terms that a pod of the class, already on machine n, has to do without.
func (l *Ledger) Losses(s *terms.PodInfo, n int) []Lost {
	l.Take(s, n)
	var out []Lost
	l.regret(s, l.on(n), &out)
	l.Put(s, n)
	return out
}

func (l *Ledger) regret(s *terms.PodInfo, at candidate, lost *[]Lost) int {
	sum := 0
	for i := range s.Soft {
		w := &s.Soft[i]
		if l.granted(w, at) {
			continue
		}
		sum += w.Weight
		if lost != nil {
			*lost = append(*lost, Lost{w.Weight, l.wishText(w), softOf(w)})
		}
	}
	return sum
}

func (l *Ledger) granted(w *terms.SoftTerm, at candidate) bool {
	g := l.Group(w.Group)
	switch w.Kind {
	case terms.TopologySpread:
		return l.spreadAllows(&w.Constraint, at)
	case terms.AntiAffinity:
		return l.antiAffinityCount(w.Group, at, false) == 0
	}
	d, _ := at.domain(g.Keys[0])
	return g.ByKey[0].In(d)+at.company(w.Group, false) > 0
}

// softOf says which soft term of the pod the wish is.
func softOf(w *terms.SoftTerm) Soft {
	if w.Kind == terms.TopologySpread {
		return Soft{SoftConstraint, w.At}
	}
	return Soft{SoftPodTerm, w.At}
}

func (l *Ledger) wishText(w *terms.SoftTerm) string {
	switch w.Kind {
	case terms.TopologySpread:
		return fmt.Sprintf("topologySpreadConstraints[%d] (%s)", w.At, l.TopologyKey(l.Group(w.Group).Key))
	case terms.AntiAffinity:
		return fmt.Sprintf("podAntiAffinity preferred (%s)", l.TopologyKey(l.Group(w.Group).Key))
	}
	return fmt.Sprintf("podAffinity preferred (%s)", l.TopologyKey(l.Group(w.Group).Keys[0]))
}
