package plan_test

import (
	"strings"
	"testing"
)

// Nothing of the input is passed over in silence.
func TestNothingIsPassedOver(t *testing.T) {
	const none = `{"requirements":[]}`
	tests := map[string]struct{ why, input, note string }{
		"PoolBesideOthers": {
			"That another pool sells does not mend it.", `{"apiVersion":"karpenter.sh/v1","kind":"NodePool","metadata":{"name":"wrong"},"spec":{"weight":101,"template":{"spec":` + none + `}}}`,
			"NodePool wrong buys nothing: ",
		},
		"Version": {
			"No version of that name has the fields that are read.", `{"apiVersion":"karpenter.sh/v7","kind":"NodePool","metadata":{"name":"p"},"spec":{"template":{"spec":` + none + `}}}`,
			"1 of kind karpenter.sh/v7 NodePool read as karpenter.sh/v1",
		},
		"OtherKindsVersion": {
			"A NodePool is no kind of that version.", `{"apiVersion":"karpenter.sh/v1alpha5","kind":"NodePool","metadata":{"name":"p"},"spec":{"template":{"spec":` + none + `}}}`,
			"1 of kind karpenter.sh/v1alpha5 NodePool read as karpenter.sh/v1",
		},
		"CoreVersion": {"Nor is there a v2.", `{"apiVersion":"v2","kind":"Namespace","metadata":{"name":"n"}}`, "1 of kind v2 Namespace read as v1"},
		"Class": {
			"What a class would change is said by name.", `{"apiVersion":"karpenter.k8s.aws/v1","kind":"EC2NodeClass","metadata":{"name":"c"},"spec":{"kubelet":{"maxPods":3},"instanceStorePolicy":"RAID0"}}`,
			"spec.instanceStorePolicy, spec.kubelet counts for nothing",
		},
		"Kubelet": {
			"So is what a Provisioner has of its own.", `{"apiVersion":"karpenter.sh/v1alpha5","kind":"Provisioner","metadata":{"name":"p"},"spec":{"kubeletConfiguration":{"maxPods":3}}}`,
			"spec.kubeletConfiguration counts for nothing",
		},
		"DaemonPod": {
			"Only a DaemonSet speaks for its pods.", `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"d","ownerReferences":[{"apiVersion":"apps/v1","kind":"DaemonSet","name":"logs","uid":"u","controller":true}]},"spec":{"containers":[{"name":"c"}]}}`,
			"DaemonSet logs is not in the input: pod default/d counts for nothing",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, notes, err := run(t, pool+podOf("a", "1")+tc.input)
			if err != nil || !strings.Contains(notes, tc.note) {
				t.Errorf("%s\nnotes %q lack %q; %v", tc.why, notes, tc.note, err)
			}
		})
	}
}

// Wrong input is refused with what is wrong and where.
func TestInputThatLeadsNowhere(t *testing.T) {
	owned := func(name, by string) string {
		return `{"apiVersion":"apps/v1","kind":"ReplicaSet","metadata":{"name":"` + name + `","ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"` + by + `","uid":"u","controller":true}]},"spec":{"template":{"spec":{"containers":[{"name":"c"}]}}}}` + "\n"
	}
	tests := map[string]struct{ why, input, want string }{
		"Circle":   {"Both would count as represented by the other.", owned("a", "b") + owned("b", "a"), "document 2 (line 2): ReplicaSet default/a: metadata.ownerReferences lead back to it"},
		"ToItself": {"So would one alone.", owned("a", "a"), "metadata.ownerReferences lead back to it"},
		"IntoOne":  {"Only those of the circle are named.", owned("x", "a") + owned("a", "b") + owned("b", "a"), "document 3 (line 3): ReplicaSet default/a"},
		"Job":      {"A Job has no replicas.", `{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"j"},"spec":{"parallelism":-3,"template":{"spec":{"containers":[{"name":"c"}]}}}}`, "Job j: spec.parallelism is negative"},
		"TooLarge": {"It is a whole number.", `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"spec":{"replicas":99999999999}}`, "spec.replicas is 99999999999, which is more than the field can hold"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if _, _, err := run(t, pool+tc.input); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s\nerror %v, want %q", tc.why, err, tc.want)
			}
		})
	}
}

// A demand without values holds nowhere, and the API server refuses it.
func TestDemandWithoutValues(t *testing.T) {
	const pod = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[{"name":"c"}],"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"x","operator":"In","values":[]}]}]}}}}}`
	out, _, err := run(t, pool+pod)
	if want := "matchExpressions[0]: operator In needs at least one value"; err != nil || !strings.Contains(out, want) {
		t.Errorf("the text lacks %q: %v\n%s", want, err, out)
	}
}
