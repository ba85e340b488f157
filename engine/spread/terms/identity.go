package terms

import (
	"encoding/binary"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
)

// AppendIdentity appends a text that two pods share only if their spread
// constraints and pod terms are equal.
func AppendIdentity(b []byte, p *world.Pod) []byte {
	for _, c := range p.Spread {
		b = label.AppendText(label.AppendText(append(b, 's'), p.Namespace), c.Key)
		b = binary.AppendVarint(binary.AppendVarint(b, int64(c.MaxSkew)), int64(c.MinDomains))
		b = label.AppendFlags(b, c.Soft, c.AnyNode, c.HonourTaints, c.Selector.Some)
		b = c.Selector.Set.AppendIdentity(b)
	}
	for _, t := range p.PodTerms {
		b = binary.AppendVarint(append(b, 't'), int64(t.Weight))
		b = label.AppendFlags(b, t.Anti)
		b = appendTerm(b, t)
	}
	return b
}
