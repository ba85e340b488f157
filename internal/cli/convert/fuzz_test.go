package convert_test

import (
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/tenon-sh/tenon/internal/cli/verb"
)

// Whatever a file of old objects holds, it is converted or refused with words,
// and what it is converted to can be converted again.
func FuzzConvert(f *testing.F) {
	for _, seed := range []string{
		template("t", subnets+"\n"+groups+"\ninstanceProfile: p\namiFamily: Bottlerocket\nblockDeviceMappings: [{deviceName: /dev/xvda, ebs: {volumeSize: 20Gi, iops: 3000}}]"),
		template("t", subnets) + provisioner("p", "providerRef: {name: t}\nlimits: {resources: {cpu: 1k}}\nrequirements: [{key: karpenter.sh/capacity-type, operator: In, values: [spot]}]\nttlSecondsAfterEmpty: 30"),
		provisioner("p", "provider: {subnetSelector: {a: b}, securityGroupSelector: {a: b}, launchTemplate: x}\nkubeletConfiguration: {maxPods: 20}\nweight: 101"),
		"apiVersion: karpenter.sh/v1beta1\nkind: NodePool\nmetadata: {name: n}\nspec: {disruption: {consolidateAfter: 30s, budgets: [{nodes: 10%, schedule: '@daily', duration: 1h}]}, template: {spec: {nodeClassRef: {name: d}, requirements: []}}}\n",
		"apiVersion: v1\nkind: List\nitems: [null]\n", "a: [", "---\n---\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		status, out, said := run(t, text, "-f", "-")
		if status != verb.OK {
			if strings.TrimSpace(said) == "" {
				t.Errorf("status %d without a word", status)
			}
			return
		}
		for doc := range strings.SplitSeq(out, "---\n") {
			var o map[string]any
			if err := yaml.Unmarshal([]byte(doc), &o); err != nil {
				t.Errorf("%v in\n%s", err, doc)
			}
		}
	})
}
