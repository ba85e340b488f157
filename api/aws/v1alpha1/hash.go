package v1alpha1

import "github.com/tenon-sh/tenon/api/digest"

// HashVersion names how Hash is made.
const HashVersion = digest.Version

// Hash tells whether machines made from the template before would be made otherwise today. Selectors are left out: what
// they find is compared, not how it is asked for.
func (t *AWSNodeTemplate) Hash() string {
	s := t.Spec
	s.SubnetSelector, s.SecurityGroupSelector, s.AMISelector = nil, nil, nil
	return digest.Of(s)
}
