// Package loop is what every reconciler shares: what it may touch, how it writes, and when it comes again.
package loop

import (
	"cmp"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
)

// Spec says what a reconciler is called and what it touches. The roles of the
// program are made from the Specs, so what is not declared is not allowed.
type Spec struct {
	Name   string
	Reads  []Resource // gets, lists and watches
	Writes []Write
}

// Resource is a kind as RBAC names it: nodeclaims in karpenter.sh. A
// subresource is behind a slash: nodeclaims/status.
type Resource struct{ Group, Name string }

// Write is what a reconciler does to a resource.
type Write struct {
	Resource

	Verbs []string
}

// Of names a kind of a group; the core group is "".
func Of(group, name string) Resource { return Resource{group, name} }

// To declares verbs on a resource.
func To(group, name string, verbs ...string) Write { return Write{Resource{group, name}, verbs} }

// Rules returns the least role that allows what the Specs say, in a fixed order.
func Rules(specs ...Spec) []rbacv1.PolicyRule {
	verbs := map[Resource][]string{}
	for _, s := range specs {
		for _, r := range s.Reads {
			verbs[r] = append(verbs[r], "get", "list", "watch")
		}
		for _, w := range s.Writes {
			verbs[w.Resource] = append(verbs[w.Resource], w.Verbs...)
		}
	}
	out := make([]rbacv1.PolicyRule, 0, len(verbs))
	for r, v := range verbs {
		slices.Sort(v)
		out = append(out, rbacv1.PolicyRule{APIGroups: []string{r.Group}, Resources: []string{r.Name}, Verbs: slices.Compact(v)})
	}
	slices.SortFunc(out, func(a, b rbacv1.PolicyRule) int {
		return cmp.Or(strings.Compare(a.APIGroups[0], b.APIGroups[0]), strings.Compare(a.Resources[0], b.Resources[0]))
	})
	return out
}
