package convert

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// storedOf reads objects as a cluster has them: class, pool and claim names carry the rest.
func storedOf(t *testing.T, texts ...string) stored {
	t.Helper()
	var s stored
	for _, text := range texts {
		var o map[string]any
		if err := yaml.Unmarshal([]byte(text), &o); err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		u := unstructured.Unstructured{Object: whole(o)}
		switch u.GetKind() {
		case "EC2NodeClass":
			s.classes = append(s.classes, u)
		case "NodePool":
			s.pools = append(s.pools, u)
		case "NodeClaim":
			s.claims = append(s.claims, u)
		default:
			s.nodes = append(s.nodes, u)
		}
	}
	return s
}

const (
	classText = "{apiVersion: karpenter.k8s.aws/v1beta1, kind: EC2NodeClass, metadata: {name: NAME, uid: c-NAME}, spec: {amiFamily: AL2023, role: r, subnetSelectorTerms: [{id: subnet-1}], securityGroupSelectorTerms: [{id: sg-1}]}}"
	poolText  = "{apiVersion: karpenter.sh/v1beta1, kind: NodePool, metadata: {name: NAME, uid: p-NAME}, spec: {disruption: {expireAfter: 48h}, template: {spec: {nodeClassRef: {name: t}, requirements: [], kubelet: KUBELET}}}}"
	claimText = "{apiVersion: karpenter.sh/v1beta1, kind: NodeClaim, metadata: {name: NAME, uid: n-NAME, labels: {karpenter.sh/nodepool: POOL}}, spec: {nodeClassRef: {name: t}, requirements: [], kubelet: KUBELET}}"
)

func classNamed(name string) string { return strings.ReplaceAll(classText, "NAME", name) }

func poolWith(name, kubelet string) string {
	return strings.NewReplacer("NAME", name, "KUBELET", kubelet).Replace(poolText)
}

func claimOf(name, pool, kubelet string) string {
	return strings.NewReplacer("NAME", name, "POOL", pool, "KUBELET", kubelet).Replace(claimText)
}

// apply writes the first changes of a plan.
func apply(s stored, all []change) stored {
	put := func(list []unstructured.Unstructured, c change) []unstructured.Unstructured {
		for i := range list {
			if list[i].GetName() == c.object.GetName() {
				list[i] = c.object
				return list
			}
		}
		return append(list, c.object)
	}
	for _, c := range all {
		switch c.kind {
		case classKind():
			s.classes = put(s.classes, c)
		case poolKind():
			s.pools = put(s.pools, c)
		case claimKind():
			s.claims = put(s.claims, c)
		}
	}
	return s
}

// uses says which class each pool and claim names, and what each class says of the kubelet.
func uses(s stored) map[string]string {
	out := map[string]string{}
	for _, c := range s.classes {
		kubelet, _, _ := unstructured.NestedMap(c.Object, "spec", "kubelet")
		text, _ := yaml.Marshal(kubelet)
		out["class "+c.GetName()] = strings.TrimSpace(string(text))
	}
	for _, p := range s.pools {
		out["pool "+p.GetName()], _, _ = unstructured.NestedString(p.Object, "spec", "template", "spec", "nodeClassRef", "name")
	}
	for _, c := range s.claims {
		out["claim "+c.GetName()], _, _ = unstructured.NestedString(c.Object, "spec", "nodeClassRef", "name")
	}
	return out
}

// Which classes there are afterwards, and who uses them; and that it comes to the same wherever the conversion was interrupted.
func TestPlan(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		why  string
		in   []string
		want map[string]string
	}{
		"Plain": {
			"Without settings of the kubelet there is nothing to move.",
			[]string{classNamed("t"), poolWith("p", "{}"), claimOf("c", "p", "{}")},
			map[string]string{"class t": "null", "pool p": "t", "claim c": "t"},
		},
		"One": {
			"Settings that all pools of a class share become the class'.",
			[]string{classNamed("t"), poolWith("p", "{maxPods: 20}"), poolWith("q", "{maxPods: 20}"), claimOf("c", "p", "{maxPods: 20}"), claimOf("d", "q", "{maxPods: 20}")},
			map[string]string{"class t": "maxPods: 20", "pool p": "t", "pool q": "t", "claim c": "t", "claim d": "t"},
		},
		"Some": {
			"A class that some pool uses without settings keeps having none.",
			[]string{classNamed("t"), poolWith("p", "{maxPods: 20}"), poolWith("q", "{}"), claimOf("c", "p", "{maxPods: 20}"), claimOf("d", "q", "{}")},
			map[string]string{"class t": "null", "class t-p": "maxPods: 20", "pool p": "t-p", "pool q": "t", "claim c": "t-p", "claim d": "t"},
		},
		"Several": {
			"Pools that differ get classes of their own, and so do their claims. The class stays: what an older claim was started from is still there.",
			[]string{classNamed("t"), poolWith("p", "{maxPods: 20}"), poolWith("q", "{maxPods: 30}"), claimOf("c", "p", "{maxPods: 20}"), claimOf("d", "q", "{maxPods: 30}"), claimOf("old", "q", "{maxPods: 7}")},
			map[string]string{"class t": "null", "class t-p": "maxPods: 20", "class t-q": "maxPods: 30", "pool p": "t-p", "pool q": "t-q", "claim c": "t-p", "claim d": "t-q", "claim old": "t"},
		},
		"Kept": {
			"Karpenter 1.0 had kept the settings in an annotation of the pool.",
			[]string{
				classNamed("t"), `{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: p, uid: p-p, annotations: {compatibility.karpenter.sh/v1beta1-kubelet-conversion: '{"maxPods":20}'}},
					spec: {template: {spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: t}, requirements: []}}}}`,
			},
			map[string]string{"class t": "maxPods: 20", "pool p": "t"},
		},
		"NoClass": {
			"A pool whose class is not there is converted all the same.",
			[]string{poolWith("p", "{maxPods: 20}")},
			map[string]string{"pool p": "t"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			whole := planOf(storedOf(t, test.in...), now)
			if len(whole.refused()) > 0 {
				t.Fatalf("%s it is refused: %v", test.why, whole.refused())
			}
			for n := range len(whole.changes) + 1 {
				s := apply(storedOf(t, test.in...), whole.changes[:n])
				rest := planOf(s, now)
				s = apply(s, rest.changes)
				if diff := cmp.Diff(test.want, uses(s)); diff != "" {
					t.Errorf("%s interrupted after %d writes -want +got\n%s", test.why, n, diff)
				}
				for _, c := range planOf(s, now).changes {
					if c.moved || c.isNew {
						t.Errorf("interrupted after %d writes %s would be changed once more", n, c)
					}
				}
			}
		})
	}
}

// A class that a pool would need, and that says something else, is not written over.
func TestPlanRefusesATakenName(t *testing.T) {
	s := storedOf(t, classNamed("t"), strings.Replace(classNamed("t-p"), "role: r", "role: other", 1), poolWith("p", "{maxPods: 20}"), poolWith("q", "{}"))
	var said []string
	for _, n := range planOf(s, time.Time{}).refused() {
		said = append(said, n.String())
	}
	if len(said) != 1 || !strings.Contains(said[0], "the pool needs a class t-p, and there is one that says something else") {
		t.Errorf("got %q", said)
	}
}

// Age that budgets held back does not wait any more, and that is said.
func TestPlanTellsOfAge(t *testing.T) {
	old := strings.Replace(claimOf("c", "p", "{}"), "uid: n-c", `uid: n-c, creationTimestamp: "2026-01-01T00:00:00Z"`, 1)
	for hours, want := range map[int]bool{47: false, 49: true} {
		p := planOf(storedOf(t, classNamed("t"), poolWith("p", "{}"), old), time.Date(2026, 1, 1, hours, 0, 0, 0, time.UTC))
		said := false
		for _, n := range p.notes {
			said = said || n.Field == "spec.expireAfter"
		}
		if said != want {
			t.Errorf("after %d hours of 48 it is said: %t", hours, said)
		}
	}
}
