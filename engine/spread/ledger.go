// Package spread counts pods by domain and says where topology spread and pod affinity let one more go.
//
// A Ledger answers exactly as kube-scheduler's filters would, given the nodes
// and pods entered in it: only domains that have nodes count for the minimum,
// a running pod's anti-affinity keeps others away, and the first pod of a group
// that wants its own company may go anywhere.
package spread

import (
	"github.com/tenon-sh/tenon/engine/fit"
	"github.com/tenon-sh/tenon/engine/spread/terms"
	"github.com/tenon-sh/tenon/engine/world"
)

// Ledger counts pods by domain. It is filled in order: Enlist and Watch make
// known which counts matter, then nodes and pods are entered, then it is asked.
type Ledger struct{ rules }

// New returns an empty Ledger that knows the namespaces' labels.
func New(namespaces []*world.Namespace) *Ledger {
	return &Ledger{rules{counts{Table: terms.NewTable(namespaces)}}}
}

// Allows reports whether a pod of the class may go to machine n. Spread over
// the keys in but is not looked at.
func (l *Ledger) Allows(s *terms.PodInfo, n int, but ...string) bool {
	if s.Indifferent() {
		return true
	}
	return l.allows(s, l.on(n), but...)
}

// AllowsNew reports whether a pod of the class may go to a machine that would be added.
func (l *Ledger) AllowsNew(s *terms.PodInfo, at *fit.Place) bool {
	return l.allows(s, l.onNew(at))
}

// Accepts reports whether pods that run now, by affinity or anti-affinity, let
// the class go to a new machine like this.
func (l *Ledger) Accepts(s *terms.PodInfo, place *fit.Place) bool {
	return l.companyAllows(s, l.onNew(place))
}
