package v1alpha5

import "github.com/tenon-sh/tenon/api/digest"

// HashVersion names how Hash is made.
const HashVersion = digest.Version

// Hash tells whether nodes made from the Provisioner before would be made otherwise today. What says which pods, how
// many nodes and how long is left out, and so are requirements: a node that still meets them has not drifted.
func (p *Provisioner) Hash() string {
	s := p.Spec
	return digest.Of(ProvisionerSpec{
		Annotations: s.Annotations, Labels: s.Labels, Taints: s.Taints, StartupTaints: s.StartupTaints,
		KubeletConfiguration: s.KubeletConfiguration, Provider: s.Provider, ProviderRef: s.ProviderRef,
	})
}
