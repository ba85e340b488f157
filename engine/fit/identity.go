package fit

import (
	"encoding/binary"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
)

// none is the identity of a rule to which all pods are alike, or whose demands another rule tells.
func none(b []byte, _ *world.Pod) []byte { return b }

func appendTolerations(b []byte, p *world.Pod) []byte { return AppendTolerations(b, p.Tolerations) }

// appendReach appends from where the pod's volumes are reached.
func appendReach(b []byte, p *world.Pod) []byte {
	for _, v := range p.Volumes {
		if len(v.Places) == 0 {
			continue // reached from everywhere
		}
		b = binary.AppendUvarint(b, uint64(len(v.Places)))
		for _, s := range v.Places {
			b = s.AppendIdentity(b)
		}
	}
	return append(b, 0)
}

// AppendSelection appends a text that two pods share only if they select the same machines by label and name.
func AppendSelection(b []byte, p *world.Pod) []byte {
	b = p.NodeSelector.AppendIdentity(b)
	b = binary.AppendUvarint(b, uint64(len(p.NodeTerms)))
	for _, t := range p.NodeTerms {
		b = AppendTerm(b, t)
	}
	return b
}

// AppendTolerations appends a text that only equal tolerations share.
func AppendTolerations(b []byte, ts []world.Toleration) []byte {
	b = binary.AppendUvarint(b, uint64(len(ts)))
	for _, t := range ts {
		b = label.AppendText(label.AppendText(label.AppendText(b, t.Key), t.Value), t.Effect)
		b = label.AppendFlags(b, t.Exists)
	}
	return b
}

// AppendTerm appends a text that only equal terms share.
func AppendTerm(b []byte, t world.NodeTerm) []byte {
	b = t.Labels.AppendIdentity(b)
	b = label.AppendFlags(b, t.Name != nil)
	if t.Name != nil {
		b = t.Name.AppendIdentity(b)
	}
	return b
}
