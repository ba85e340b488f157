package fit

import (
	"encoding/binary"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
)

// AppendIdentity appends a text that two pods share only if no standing rule
// tells them apart. Every part says how long it is, so that different demands
// never read alike.
func AppendIdentity(b []byte, p *world.Pod) []byte {
	b = AppendTolerations(AppendSelection(b, p), p.Tolerations)
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
