package main

import (
	"fmt"
	"strings"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	awsv1 "github.com/tenon-sh/tenon/api/aws/v1"
	"github.com/tenon-sh/tenon/api/karpenter/v1alpha5"
)

// rule is a check of one label's key, with k for the key.
type rule struct{ cel, message string }

// onKey checks the field that is a key.
func onKey(rules ...rule) func(*schema) {
	return func(s *schema) {
		for _, r := range rules {
			s.XValidations = append(s.XValidations, apiextensions.ValidationRule{
				Rule:              strings.ReplaceAll(r.cel, "$k", "self"),
				Message:           r.message,
				MessageExpression: fmt.Sprintf(`'label ' + self + ': ' + %s`, quote(r.message)),
			})
		}
	}
}

// onKeys checks every key of a map.
func onKeys(rules ...rule) func(*schema) {
	return func(s *schema) {
		for _, r := range rules {
			cel := strings.ReplaceAll(r.cel, "$k", "k")
			s.XValidations = append(s.XValidations, apiextensions.ValidationRule{
				Rule:              fmt.Sprintf("self.all(k, %s)", cel),
				Message:           r.message,
				MessageExpression: fmt.Sprintf(`'label ' + self.filter(k, !(%s))[0] + ': ' + %s`, cel, quote(r.message)),
			})
		}
	}
}

func poolKey(s *schema) {
	onKey(ours("karpenter.sh/capacity-type", "karpenter.sh/nodepool"), noPool(), noHostname(), aws())(s)
}

func poolLabels(s *schema) {
	onKeys(ours("karpenter.sh/capacity-type", "karpenter.sh/nodepool"), noPool(), noHostname(), aws())(s)
}

func claimKey(s *schema) {
	onKey(ours("karpenter.sh/capacity-type", "karpenter.sh/nodepool"), noHostname(), aws())(s)
}

func overlayKey(s *schema) {
	onKey(ours("karpenter.sh/capacity-type", "karpenter.sh/nodepool"), noHostname())(s)
}

func provisionerKey(s *schema) { onKey(old())(s) }

func provisionerLabels(s *schema) { onKeys(old())(s) }

func ours(but ...string) rule {
	return rule{
		fmt.Sprintf(`$k in %s || !$k.matches('^[^/]*karpenter\\.sh(/|$)')`, list(but)),
		"of the domain karpenter.sh only karpenter.sh/capacity-type can be used, the controller sets the others",
	}
}

func noPool() rule {
	return rule{`$k != 'karpenter.sh/nodepool'`, "it is the pool's own name and set by the controller"}
}

func noHostname() rule {
	return rule{`$k != 'kubernetes.io/hostname'`, "it is the node's own name and set by its kubelet"}
}

func aws() rule {
	return rule{
		fmt.Sprintf(`$k in %s || !$k.matches('^[^/]*karpenter\\.k8s\\.aws(/|$)')`, list(awsv1.WellKnownLabels())),
		"of the domain karpenter.k8s.aws only these can be used: " + strings.Join(names(awsv1.WellKnownLabels()), ", "),
	}
}

// names are labels without their domains: in a list of one domain they are read sooner.
func names(labels []string) []string {
	out := make([]string, len(labels))
	for i, l := range labels {
		_, out[i], _ = strings.Cut(l, "/")
	}
	return out
}

func old() rule {
	return rule{
		fmt.Sprintf(`$k in %s || $k.matches('^([^/]*\\.)?(kops\\.k8s\\.io|node\\.kubernetes\\.io|testing\\.karpenter\\.sh)/') || `+
			`!$k.matches('^([^/]*\\.)?(kubernetes\\.io|k8s\\.io|karpenter\\.sh|karpenter\\.k8s\\.aws)/')`, list(v1alpha5.WellKnownLabels())),
		"it is restricted: use a well-known label (" + strings.Join(v1alpha5.WellKnownLabels(), ", ") +
			") or one outside the domains " + strings.Join(v1alpha5.RestrictedDomains(), ", "),
	}
}

func list(of []string) string { return "['" + strings.Join(of, "', '") + "']" }

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `\'`) + "'" }
