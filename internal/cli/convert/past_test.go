package convert

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// pastOf is a backup of objects, by definitions that fill in nothing.
func pastOf(s stored) past {
	p := past{crds: map[kind]*unstructured.Unstructured{}, objects: s}
	for _, k := range kinds() {
		p.crds[k] = &unstructured.Unstructured{Object: map[string]any{}}
	}
	return p
}

// judged has changes as an API server writes them by this release's definitions.
func judged(t *testing.T, all []change) []change {
	t.Helper()
	for i := range all {
		crd, err := final(all[i].kind)
		if err != nil {
			t.Fatal(err)
		}
		all[i].object.Object["spec"] = defaulted(all[i].object.Object["spec"], schemaOf(crd, latest))
	}
	return all
}

// specs are the specs of all objects.
func specs(s stored) map[string]any {
	out := map[string]any{}
	for _, list := range [][]unstructured.Unstructured{s.classes, s.pools, s.claims} {
		for _, o := range list {
			out[o.GetKind()+" "+o.GetName()] = o.Object["spec"]
		}
	}
	return out
}

// What is put back is what was, wherever the conversion and the way back were interrupted.
func TestPast(t *testing.T) {
	in := []string{
		classNamed("t"), classNamed("u"), poolWith("p", "{maxPods: 20}"), poolWith("q", "{maxPods: 30}"), poolWith("r", "{}"),
		claimOf("c", "p", "{maxPods: 20}"), claimOf("d", "q", "{maxPods: 30}"), claimOf("e", "r", "{}"),
	}
	before := storedOf(t, in...)
	there := judged(t, planOf(storedOf(t, in...), time.Time{}).changes)
	for n := range len(there) + 1 {
		for _, m := range []int{0, 3, 6} {
			now := apply(storedOf(t, in...), there[:n])
			var back restored
			for _, steps := range []int{m, len(there) + 1} {
				var err error
				if back, err = pastOf(before).plan(now, false); err != nil || len(back.refused()) > 0 {
					t.Fatalf("after %d writes there and %d back: %v %v", n, m, err, back.refused())
				}
				now = apply(now, back.changes[:min(steps, len(back.changes))])
			}
			got := specs(now)
			for _, name := range back.removed {
				delete(got, "EC2NodeClass "+name)
			}
			if diff := cmp.Diff(specs(before), got); diff != "" {
				t.Fatalf("after %d writes there and %d back -want +got\n%s", n, m, diff)
			}
		}
	}
}

// What somebody changed since is named by its field, unless it may be lost; a claim that came since is of the class and with the settings that v1beta1 has for it.
func TestPastChangedSince(t *testing.T) {
	in := []string{classNamed("t"), poolWith("p", "{maxPods: 20}"), poolWith("q", "{}")}
	before := storedOf(t, in...)
	now := apply(storedOf(t, in...), judged(t, planOf(storedOf(t, in...), time.Time{}).changes))
	now.claims = storedOf(t, `{apiVersion: karpenter.sh/v1, kind: NodeClaim, metadata: {name: new, uid: n, ownerReferences: [{apiVersion: karpenter.sh/v1, kind: NodePool, name: p, uid: p-p}]},
		spec: {expireAfter: 48h, nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: t-p}, requirements: []}}`).claims
	if err := unstructured.SetNestedField(now.pools[0].Object, "7", "spec", "limits", "cpu"); err != nil {
		t.Fatal(err)
	}
	back, err := pastOf(before).plan(now, false)
	if err != nil || len(back.refused()) != 1 || !strings.HasPrefix(back.refused()[0].String(), "NodePool/p: spec.limits: it was changed after the conversion") {
		t.Errorf("%v: refused is %v", err, back.refused())
	}
	if back, err = pastOf(before).plan(now, true); err != nil || len(back.refused()) > 0 {
		t.Fatalf("%v: refused is %v", err, back.refused())
	}
	after := apply(now, back.changes)
	if diff := cmp.Diff(before.pools[0].Object["spec"], after.pools[0].Object["spec"]); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	want := map[string]any{
		"nodeClassRef": map[string]any{"apiVersion": "karpenter.k8s.aws/v1beta1", "kind": "EC2NodeClass", "name": "t"}, "requirements": []any{},
		"kubelet": map[string]any{"maxPods": int64(20)},
	}
	if diff := cmp.Diff(want, after.claims[0].Object["spec"]); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if owner := after.claims[0].GetOwnerReferences()[0].APIVersion; owner != "karpenter.sh/v1beta1" {
		t.Errorf("its owner is of %s", owner)
	}
}

// Each way takes off the taint that only the controllers take off that were there before; a node that is ending keeps what it has.
func TestTaintsOfNodes(t *testing.T) {
	const ending = `deletionTimestamp: "2026-01-01T00:00:00Z", `
	node := func(deleted string) *unstructured.Unstructured {
		s := storedOf(t, `{apiVersion: v1, kind: Node, metadata: {name: a, `+deleted+`ownerReferences: [{apiVersion: karpenter.sh/v1beta1, kind: NodeClaim, name: c, uid: c}]},
			spec: {taints: [{key: karpenter.sh/disruption, value: disrupting, effect: NoSchedule}, {key: team, value: a, effect: NoSchedule}]}}`)
		return &s.nodes[0]
	}
	taints := func(n *unstructured.Unstructured) string {
		var keys []string
		all, _, _ := unstructured.NestedSlice(n.Object, "spec", "taints")
		for _, one := range all {
			keys = append(keys, one.(map[string]any)["key"].(string))
		}
		return strings.Join(keys, " ") + ", " + n.GetOwnerReferences()[0].APIVersion
	}
	for _, tc := range []struct{ deleted, there, back string }{
		{"", "team, karpenter.sh/v1", "team, karpenter.sh/v1beta1"},
		{ending, "karpenter.sh/disruption team, karpenter.sh/v1", "karpenter.sh/disruption team, karpenter.sh/v1beta1"},
	} {
		there, changed := renewedNode(node(tc.deleted))
		if got := taints(there); got != tc.there || !changed {
			t.Errorf("%sthere it has %s, changed: %v; want %s", tc.deleted, got, changed, tc.there)
		}
		back, changed := earlierNode(there)
		if got := taints(back); got != tc.back || !changed {
			t.Errorf("%sback it has %s, changed: %v; want %s", tc.deleted, got, changed, tc.back)
		}
	}
	now := node("")
	err := unstructured.SetNestedSlice(now.Object, []any{map[string]any{"key": "karpenter.sh/disrupted", "effect": "NoSchedule"}, map[string]any{"key": "team", "effect": "NoSchedule"}}, "spec", "taints")
	if err != nil {
		t.Fatal(err)
	}
	if back, changed := earlierNode(now); !changed || taints(back) != "team, karpenter.sh/v1beta1" {
		t.Errorf("back it has %s, changed: %v", taints(back), changed)
	}
}
