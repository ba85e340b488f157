package spread

import (
	"fmt"
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
func (l *Ledger) Regret(s *PodInfo, n int) int {
	return l.regret(s, l.on(n), nil)
}

// Losses returns the soft terms that a pod of the class, already on machine n, has to do without.
func (l *Ledger) Losses(s *PodInfo, n int) []Lost {
	l.Take(s, n)
	var out []Lost
	l.regret(s, l.on(n), &out)
	l.Put(s, n)
	return out
}

func (l *Ledger) regret(s *PodInfo, at candidate, lost *[]Lost) int {
	sum := 0
	for i := range s.wishes {
		w := &s.wishes[i]
		if l.granted(w, at) {
			continue
		}
		sum += w.weight
		if lost != nil {
			*lost = append(*lost, Lost{w.weight, l.wishText(w), w.soft()})
		}
	}
	return sum
}

func (l *Ledger) granted(w *wish, at candidate) bool {
	g := l.groups[w.group]
	switch w.kind {
	case topologySpread:
		return l.spreadAllows(&w.constraint, at)
	case antiAffinity:
		return l.antiAffinityCount(w.group, at, false) == 0
	}
	d, _ := at.domain(g.keys[0])
	return g.byKey[0].in(d)+at.company(w.group, false) > 0
}

// soft says which soft term of the pod the wish is.
func (w *wish) soft() Soft {
	if w.kind == topologySpread {
		return Soft{SoftConstraint, w.at}
	}
	return Soft{SoftPodTerm, w.at}
}

func (l *Ledger) wishText(w *wish) string {
	switch w.kind {
	case topologySpread:
		return fmt.Sprintf("topologySpreadConstraints[%d] (%s)", w.at, l.keys[l.groups[w.group].key])
	case antiAffinity:
		return fmt.Sprintf("podAntiAffinity preferred (%s)", l.keys[l.groups[w.group].key])
	}
	return fmt.Sprintf("podAffinity preferred (%s)", l.keys[l.groups[w.group].keys[0]])
}
