package spread

import (
	"encoding/binary"

	"github.com/tenon-sh/tenon/engine/fit"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
)

// valueOf is the place's value of a topology key. A node without the hostname
// label has none, as for kube-scheduler; a machine only planned will have one.
func valueOf(at *fit.Place, key string) (string, bool) {
	v, ok := at.Labels[key]
	if !ok && key == label.Hostname && at.Planned {
		return at.Name, true
	}
	return v, ok
}

// nodeFilter says which machines count for a topology spread constraint.
type nodeFilter struct {
	filter  world.Pod // selector, affinity and tolerations that machines have to pass
	anyNode bool
	taints  bool
	needs   []string // labels that a machine has to have
}

// passes reports whether the machine counts, whatever it becomes.
func (s *nodeFilter) passes(at *fit.Place) bool {
	for _, k := range s.needs {
		if _, ok := valueOf(at, k); !ok {
			return false
		}
	}
	return s.accepts(at)
}

// mayPass reports whether the machine may come to count. One on its way may
// become several types, and which of them decides. Until then its domain is one
// in which no pod is sure to count, so that the least there is none.
func (s *nodeFilter) mayPass(at *fit.Place) bool {
	if !at.Sealed || len(at.Open) == 0 {
		return false
	}
	for _, k := range s.needs {
		if _, ok := valueOf(at, k); ok {
			continue
		}
		if r, open := at.Open.Find(k); !open || r.Op() == label.DoesNotExist {
			return false
		}
	}
	loose := *at
	loose.Sealed = false // whatever an open label may be is enough
	return s.accepts(&loose)
}

func (s *nodeFilter) accepts(at *fit.Place) bool {
	if !s.anyNode && !fit.Selected(&s.filter, at) {
		return false
	}
	return !s.taints || len(fit.Untolerated(s.filter.Tolerations, at.Taints)) == 0 &&
		(!at.Cordoned || fit.Cordon(&s.filter, at) == nil)
}

// choosy reports whether which machines count depends on more than their domains.
func (s *nodeFilter) choosy() bool {
	return !s.anyNode && len(s.filter.NodeSelector)+len(s.filter.NodeTerms) > 0
}

// append names which machines count.
func (s *nodeFilter) append(b []byte) []byte {
	b = label.AppendFlags(b, s.anyNode, s.taints)
	b = binary.AppendUvarint(b, uint64(len(s.needs)))
	for _, k := range s.needs {
		b = label.AppendText(b, k)
	}
	if !s.anyNode {
		b = fit.AppendSelection(b, &s.filter)
	}
	if s.taints {
		b = fit.AppendTolerations(b, s.filter.Tolerations)
	}
	return b
}

// eligibleNodes are the machines that pass a filter or may come to, by domain of a key. Groups share it.
type eligibleNodes struct {
	filter int
	key    int
	nodes  []int32 // machines by domain
	known  int     // domains with machines
}

// change counts machines more or fewer in domain d.
func (t *eligibleNodes) change(d, by int32) {
	was := count(t.nodes, d)
	t.nodes = bump(t.nodes, d, by)
	switch {
	case was == 0 && by > 0:
		t.known++
	case was > 0 && was+by == 0:
		t.known--
	}
}
