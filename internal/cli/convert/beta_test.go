package convert_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/tenon-sh/tenon/internal/cli/verb"
)

func betaClass(name, spec string) string {
	return "---\napiVersion: karpenter.k8s.aws/v1beta1\nkind: EC2NodeClass\nmetadata: {name: " + name + ", annotations: {karpenter.k8s.aws/ec2nodeclass-hash: x}}\nspec:\n  " +
		"subnetSelectorTerms: [{tags: {karpenter.sh/discovery: c}}]\n  securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: c}}]\n  role: r\n  " +
		strings.ReplaceAll(spec, "\n", "\n  ") + "\nstatus: {anything: [1]}\n"
}

func betaPool(name, template, spec string) string {
	return "---\napiVersion: karpenter.sh/v1beta1\nkind: NodePool\nmetadata: {name: " + name + "}\nspec:\n  template:\n    spec:\n      " +
		"requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [spot]}]\n      nodeClassRef: {apiVersion: karpenter.k8s.aws/v1beta1, kind: EC2NodeClass, name: t}\n      " +
		strings.ReplaceAll(template, "\n", "\n      ") + "\n  " + strings.ReplaceAll(spec, "\n", "\n  ") + "\nstatus: {resources: {cpu: 1}}\n"
}

// What each field of v1beta1 becomes that is another in v1, or means another thing when it is not written.
func TestFieldsOfBeta(t *testing.T) {
	class := betaClass("t", "amiFamily: AL2023")
	for name, test := range map[string]struct {
		why    string
		in     string
		object int // of the output, classes first
		path   string
		want   string // YAML
		said   string
	}{
		"Underutilized": {
			why: "Consolidation had no wait of its own, and its policy another name.",
			in:  class + betaPool("p", "", "disruption: {consolidationPolicy: WhenUnderutilized}"), object: 1, path: "spec.disruption",
			want: "{consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: 0s, budgets: [{nodes: 10%}]}",
		},
		"NeverConsolidated": {
			why: "Consolidation that was switched off stays so.",
			in:  class + betaPool("p", "", "disruption: {consolidationPolicy: WhenUnderutilized, consolidateAfter: Never}"), object: 1, path: "spec.disruption",
			want: "{consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: Never, budgets: [{nodes: 10%}]}",
		},
		"Empty": {
			why: "Empty nodes wait as long as before.",
			in:  class + betaPool("p", "", "disruption: {consolidationPolicy: WhenEmpty, consolidateAfter: 30s}"), object: 1, path: "spec.disruption",
			want: "{consolidationPolicy: WhenEmpty, consolidateAfter: 30s, budgets: [{nodes: 10%}]}",
		},
		"Age": {
			why: "The age of nodes moves to the template.",
			in:  class + betaPool("p", "", "disruption: {expireAfter: Never}"), object: 1, path: "spec.template.spec.expireAfter", want: "Never",
		},
		"AgeUnsaid": {
			why: "Thirty days, unless one said otherwise.",
			in:  class + betaPool("p", "", "weight: 3"), object: 1, path: "spec.template.spec.expireAfter", want: "720h",
		},
		"Budgets": {
			why: "Reasons are written otherwise today, and age is none any more.",
			in:  class + betaPool("p", "", `disruption: {budgets: [{nodes: "1", reasons: [underutilized, drifted, expired]}, {nodes: 10%}]}`), object: 1, path: "spec.disruption.budgets",
			want: `[{nodes: "1", reasons: [Underutilized, Drifted]}, {nodes: 10%}]`, said: "budgets[0].reasons: expired is left out",
		},
		"Reference": {
			why: "A class is named by its group, not by its version.",
			in:  class + betaPool("p", "", "weight: 3"), object: 1, path: "spec.template.spec.nodeClassRef",
			want: "{group: karpenter.k8s.aws, kind: EC2NodeClass, name: t}",
		},
		"Kubelet": {
			why: "Settings of the kubelet move to the class.",
			in:  class + betaPool("p", "kubelet: {maxPods: 20, cpuCFSQuota: true}", "weight: 3"), object: 0, path: "spec.kubelet",
			want: "{cpuCFSQuota: true, maxPods: 20}",
		},
		"KubeletsDiffer": {
			why: "A class whose pools differ in them becomes two, and each pool names its own.",
			in:  class + betaPool("p", "kubelet: {maxPods: 20}", "weight: 3") + betaPool("q", "", "weight: 4"), object: 2, path: "spec.template.spec.nodeClassRef.name",
			want: "t-p",
		},
		"Images": {
			why: "A family without a selector meant its newest image.",
			in:  class, object: 0, path: "spec.amiSelectorTerms", want: "[{alias: al2023@latest}]",
		},
		"Selected": {
			why: "A selector stays as it is.",
			in:  betaClass("t", "amiFamily: AL2\namiSelectorTerms: [{id: ami-123}]"), object: 0, path: "spec.amiSelectorTerms", want: "[{id: ami-123}]",
		},
		"Metadata": {
			why: "Two hops, unless said otherwise; an EC2NodeClass of today allows one.",
			in:  class, object: 0, path: "spec.metadataOptions",
			want: "{httpEndpoint: enabled, httpProtocolIPv6: disabled, httpPutResponseHopLimit: 2, httpTokens: required}",
		},
		"Annotations": {
			why: "What the controller noted is not carried over.",
			in:  class, object: 0, path: "metadata", want: "{name: t}",
		},
	} {
		t.Run(name, func(t *testing.T) {
			objects, said := converted(t, test.in)
			if len(objects) <= test.object {
				t.Fatalf("%s\n%d objects", test.why, len(objects))
			}
			var want any
			if err := yaml.Unmarshal([]byte(test.want), &want); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, at(objects[test.object], test.path)); diff != "" {
				t.Errorf("%s\n-want +got\n%s", test.why, diff)
			}
			if !strings.Contains(said, test.said) {
				t.Errorf("%s\nit says\n%s\nwant %q", test.why, said, test.said)
			}
		})
	}
}

// What of v1beta1 cannot be converted is named, and the rest still is.
func TestRefusalsOfBeta(t *testing.T) {
	for name, test := range map[string]struct{ in, says string }{
		"Ubuntu":      {betaClass("t", "amiFamily: Ubuntu"), "EC2NodeClass/t: spec.amiFamily: an EC2NodeClass knows no Ubuntu"},
		"Custom":      {betaClass("t", "amiFamily: Custom"), "spec.amiFamily: Custom needs an amiSelector"},
		"Foreign":     {strings.Replace(betaPool("p", "", "weight: 1"), "kind: EC2NodeClass", "kind: Other", 1), "NodePool/p: spec.template.spec.nodeClassRef.kind: Other"},
		"TwoOfAName":  {betaClass("t", "amiFamily: AL2") + template("t", subnets+"\n"+groups+"\ninstanceProfile: p"), "EC2NodeClass/t: metadata.name: an AWSNodeTemplate becomes a class of that name"},
		"Unknown":     {betaPool("p", "", "weights: 1"), "weights"},
		"ClassAbsent": {betaPool("p", "", "weight: 1"), "EC2NodeClass t was not given"},
	} {
		t.Run(name, func(t *testing.T) {
			status, _, said := run(t, test.in, "-f", "-")
			if !strings.Contains(said, test.says) || (status == verb.OK) != (name == "ClassAbsent") {
				t.Errorf("status %d, it says\n%s\nwant %q", status, said, test.says)
			}
		})
	}
}
