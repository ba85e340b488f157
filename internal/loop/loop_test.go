package loop_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/tenon-sh/tenon/internal/loop"
)

func TestRulesAreTheUnionOfSpecs(t *testing.T) {
	got := loop.Rules(
		loop.Spec{Reads: []loop.Resource{loop.Of("", "nodes")}, Writes: []loop.Write{loop.To("", "nodes", "patch")}},
		loop.Spec{Writes: []loop.Write{loop.To("", "nodes", "delete", "patch"), loop.To("", "events", "create")}},
	)
	want := []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"events"}, Verbs: []string{"create"}},
		{APIGroups: []string{""}, Resources: []string{"nodes"}, Verbs: []string{"delete", "get", "list", "patch", "watch"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}
