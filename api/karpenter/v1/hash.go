package v1

import "github.com/tenon-sh/tenon/api/digest"

// HashVersion names how Hash is made. It is not Karpenter's, so neither controller takes the other's nodes for drifted.
const HashVersion = digest.Version

// Hash tells whether claims made from the pool before would be made otherwise today. Requirements are left out: a node
// that still meets them has not drifted.
func (p *NodePool) Hash() string {
	t := p.Spec.Template.DeepCopy()
	t.Spec.Requirements = nil
	return digest.Of(t)
}
