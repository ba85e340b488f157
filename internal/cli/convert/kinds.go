package convert

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	awsv1 "github.com/tenon-sh/tenon/api/aws/v1"
	"github.com/tenon-sh/tenon/api/crds"
	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
)

// kind is a kind that was stored as v1beta1.
type kind struct{ group, plural, name string }

func classKind() kind { return kind{awsv1.Group, "ec2nodeclasses", "EC2NodeClass"} }
func poolKind() kind  { return kind{v1.Group, "nodepools", "NodePool"} }
func claimKind() kind { return kind{v1.Group, "nodeclaims", "NodeClaim"} }

// kinds are all of them, in the order in which their objects are written.
func kinds() []kind { return []kind{classKind(), poolKind(), claimKind()} }

// definition is the name of the kind's CRD.
func (k kind) definition() string { return k.plural + "." + k.group }

// at is how objects of the kind are reached in a version.
func (k kind) at(version string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: k.group, Version: version, Resource: k.plural}
}

// storedIn are the versions in which objects may be stored.
func storedIn(crd *unstructured.Unstructured) []string {
	out, _, _ := unstructured.NestedStringSlice(crd.Object, "status", "storedVersions")
	return out
}

// versionsOf are the versions of a CRD by their names.
func versionsOf(crd *unstructured.Unstructured) map[string]map[string]any {
	list, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
	out := map[string]map[string]any{}
	for _, v := range list {
		if fields, ok := v.(map[string]any); ok {
			name, _ := fields["name"].(string)
			out[name] = fields
		}
	}
	return out
}

// old reports whether a kind has to do with v1beta1 at all.
func old(crd *unstructured.Unstructured) bool {
	_, has := versionsOf(crd)[beta]
	return has || slices.Contains(storedIn(crd), beta)
}

// writes reports whether a kind stores what is written in a version.
func writes(crd *unstructured.Unstructured, version string) bool {
	return versionsOf(crd)[version]["storage"] == true
}

// open reports whether a kind is as opened makes it: v1beta1 shows objects as they are stored, without a webhook.
func open(crd *unstructured.Unstructured) bool { return opens(crd, beta, latest) }

// reopened is open the other way round: v1 shows objects as they are stored.
func reopened(crd *unstructured.Unstructured) bool { return opens(crd, latest, beta) }

// opens reports whether one version of a kind takes anything, the other has no subresources, and no webhook converts.
func opens(crd *unstructured.Unstructured, anything, judge string) bool {
	all := versionsOf(crd)
	takes, _, _ := unstructured.NestedBool(all[anything], "schema", "openAPIV3Schema", "x-kubernetes-preserve-unknown-fields")
	_, parts := all[judge]["subresources"]
	strategy, _, _ := unstructured.NestedString(crd.Object, "spec", "conversion", "strategy")
	return len(all) == 2 && takes && all[judge] != nil && !parts && strategy != "Webhook" && all[anything]["served"] == true && all[judge]["served"] == true
}

// readable reports whether what is stored can be read whole as the kind is, and in which version. Where objects may be stored in two versions,
// a schema cuts off what only the other one has, and a webhook that would convert has gone with its controller.
func readable(crd *unstructured.Unstructured) (string, bool) {
	switch versions := storedIn(crd); {
	case open(crd):
		return beta, true
	case len(versions) == 1 && versionsOf(crd)[versions[0]]["served"] == true:
		return versions[0], true
	}
	return "", false
}

// opened is a definition by which objects are read as they are stored, and are
// checked by the rules of v1 when they are written: but not by those that
// compare with what was, since a claim's spec could not be changed otherwise,
// and together with their status, so that each is one write.
func opened(crd *unstructured.Unstructured, k kind, storage string) (*unstructured.Unstructured, error) {
	last, err := final(k)
	if err != nil {
		return nil, err
	}
	return between(crd, last, latest, beta, storage)
}

// between is a definition with the spec of another, by one version of which objects are judged, and by anything they are read as they are stored.
func between(crd, of *unstructured.Unstructured, judge, anything, storage string) (*unstructured.Unstructured, error) {
	next := versionsOf(of)[judge]
	if next == nil {
		return nil, fmt.Errorf("the definition of %s has no version %s", of.GetName(), judge)
	}
	delete(next, "subresources")
	withoutTransitions(next["schema"])
	next["served"], next["storage"] = true, storage == judge
	free := map[string]any{
		"name": anything, "served": true, "storage": storage == anything,
		"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
	}
	out := crd.DeepCopy()
	spec, _, _ := unstructured.NestedMap(of.Object, "spec")
	spec["conversion"] = map[string]any{"strategy": "None"}
	spec["versions"] = []any{next, free}
	out.Object["spec"] = spec
	return out, nil
}

// withoutTransitions takes away the rules that compare with the object as it was.
func withoutTransitions(node any) {
	switch n := node.(type) {
	case []any:
		for _, v := range n {
			withoutTransitions(v)
		}
	case map[string]any:
		if rules, ok := n["x-kubernetes-validations"].([]any); ok {
			rules = slices.DeleteFunc(rules, func(r any) bool {
				fields, _ := r.(map[string]any)
				rule, _ := fields["rule"].(string)
				return strings.Contains(rule, "oldSelf")
			})
			n["x-kubernetes-validations"] = rules
			if len(rules) == 0 {
				delete(n, "x-kubernetes-validations")
			}
		}
		for _, v := range n {
			withoutTransitions(v)
		}
	}
}

// closed is a definition with this release's spec, and with the labels and annotations that it has.
func closed(crd *unstructured.Unstructured, k kind) (*unstructured.Unstructured, error) {
	last, err := final(k)
	if err != nil {
		return nil, err
	}
	out := crd.DeepCopy()
	out.Object["spec"] = last.Object["spec"]
	return out, nil
}

// final is the definition of this release.
func final(k kind) (*unstructured.Unstructured, error) {
	for _, text := range crds.All() {
		var o map[string]any
		if err := yaml.Unmarshal(text, &o); err != nil {
			return nil, fmt.Errorf("read the definition of %s: %w", k.definition(), err)
		}
		u := &unstructured.Unstructured{Object: o}
		if u.GetName() == k.definition() {
			u.Object = runtime.DeepCopyJSON(whole(o))
			return u, nil
		}
	}
	return nil, fmt.Errorf("there is no definition of %s", k.definition())
}

// whole has whole numbers as integers, which is how Kubernetes copies and compares them.
func whole(node any) map[string]any {
	out, _ := integers(node).(map[string]any)
	return out
}

func integers(node any) any {
	switch n := node.(type) {
	case float64:
		if n == float64(int64(n)) {
			return int64(n)
		}
	case []any:
		for i := range n {
			n[i] = integers(n[i])
		}
	case map[string]any:
		for k := range n {
			n[k] = integers(n[k])
		}
	}
	return node
}
