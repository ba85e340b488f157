package v1alpha5

import (
	"slices"
	"strings"

	awsv1 "github.com/tenon-sh/tenon/api/aws/v1"
	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
)

// WellKnownLabels returns the labels that requirements and labels may use although their domain is restricted.
func WellKnownLabels() []string {
	return append([]string{
		v1.LabelZone, v1.LabelRegion, v1.LabelInstanceType, v1.LabelArch, v1.LabelOS, v1.LabelCapacityType, v1.LabelWindowsBuild,
		"failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region",
		"beta.kubernetes.io/arch", "beta.kubernetes.io/os", "beta.kubernetes.io/instance-type",
		"topology.ebs.csi.aws.com/zone",
	}, awsv1.WellKnownLabels()...)
}

// RestrictedDomains returns the domains whose labels are not the user's to set.
func RestrictedDomains() []string {
	return []string{"kubernetes.io", "k8s.io", v1.Group, awsv1.Group}
}

// Restricted reports whether a Provisioner may not speak of the label.
func Restricted(label string) bool {
	domain, _, ok := strings.Cut(label, "/")
	if !ok || slices.Contains(WellKnownLabels(), label) ||
		within(domain, []string{"kops.k8s.io", "node.kubernetes.io", "testing.karpenter.sh"}) {
		return false
	}
	return within(domain, RestrictedDomains())
}

func within(domain string, domains []string) bool {
	return slices.ContainsFunc(domains, func(d string) bool { return domain == d || strings.HasSuffix(domain, "."+d) })
}
