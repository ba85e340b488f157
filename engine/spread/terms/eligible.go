package terms

import (
	"encoding/binary"

	"github.com/tenon-sh/tenon/engine/fit"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/spread/domain"
	"github.com/tenon-sh/tenon/engine/world"
)

// ValueOf is the place's value of a topology key. A node without the hostname
// label has none, as for kube-scheduler; a machine only planned will have one.
func ValueOf(at *fit.Place, key string) (string, bool) {
	v, ok := at.Labels[key]
	if !ok && key == label.Hostname && at.Planned {
		return at.Name, true
	}
	return v, ok
}

// NodeFilter says which machines count for a topology spread constraint.
type NodeFilter struct {
	Filter  world.Pod // selector, affinity and tolerations that machines have to pass
	anyNode bool
	taints  bool
	Needs   []string // labels that a machine has to have
}

// Passes reports whether the machine counts, whatever it becomes.
func (s *NodeFilter) Passes(at *fit.Place) bool {
	for _, k := range s.Needs {
		if _, ok := ValueOf(at, k); !ok {
			return false
		}
	}
	return s.accepts(at)
}

// MayPass reports whether the machine may come to count. One on its way may
// become several types, and which of them decides. Until then its domain is one
// in which no pod is sure to count, so that the least there is none.
func (s *NodeFilter) MayPass(at *fit.Place) bool {
	if !at.Sealed || len(at.Open) == 0 {
		return false
	}
	for _, k := range s.Needs {
		if _, ok := ValueOf(at, k); ok {
			continue
		}
		if r, _ := at.Open.Find(k); r.Op() == label.DoesNotExist { // one that is not open has no values either
			return false
		}
	}
	loose := *at
	loose.Sealed = false // whatever an open label may be is enough
	return s.accepts(&loose)
}

func (s *NodeFilter) accepts(at *fit.Place) bool {
	if !s.anyNode && !fit.Selected(&s.Filter, at) {
		return false
	}
	return !s.taints || len(fit.Untolerated(s.Filter.Tolerations, at.Taints)) == 0 && fit.Cordon(&s.Filter, at) == nil
}

// Choosy reports whether which machines count depends on more than their domains.
func (s *NodeFilter) Choosy() bool {
	return !s.anyNode && len(s.Filter.NodeSelector)+len(s.Filter.NodeTerms) > 0
}

// append names which machines count.
func (s *NodeFilter) append(b []byte) []byte {
	b = label.AppendFlags(b, s.anyNode, s.taints)
	b = binary.AppendUvarint(b, uint64(len(s.Needs)))
	for _, k := range s.Needs {
		b = label.AppendText(b, k)
	}
	if !s.anyNode {
		b = fit.AppendSelection(b, &s.Filter)
	}
	if s.taints {
		b = fit.AppendTolerations(b, s.Filter.Tolerations)
	}
	return b
}

// EligibleNodes are the machines that pass a filter or may come to, by domain of a key. Groups share it.
type EligibleNodes struct {
	Filter int
	Key    int
	Nodes  []int32 // machines by domain
	Known  int     // domains with machines
}

// Change counts machines more or fewer in domain d.
func (t *EligibleNodes) Change(d, by int32) {
	if domain.Count(t.Nodes, d) == 0 {
		t.Known++
	}
	t.Nodes = domain.Bump(t.Nodes, d, by)
	if t.Nodes[d] == 0 {
		t.Known--
	}
}
