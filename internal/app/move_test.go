package app_test

import (
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/internal/kubetest"
)

// Nodes that cost more than their pods need are replaced, whose pods run
// meanwhile; then nothing more happens. A node that has drifted is replaced as well.
func TestPodsAreMoved(t *testing.T) {
	if os.Getenv("TENON_TEST_FAULTS") != "all" {
		t.Skip("it takes most of a minute: set TENON_TEST_FAULTS=all to have it")
	}
	h := build(t)
	ns := kubetest.Namespace(t)
	p := pool("moved")
	p.Spec.Disruption = v1.Disruption{ConsolidateAfter: "1s", ConsolidationPolicy: v1.WhenEmptyOrUnderutilized, Budgets: []v1.Budget{{Nodes: "100%"}}}
	fill, web := deployment(ns, "fill", 3, "3"), deployment(ns, "web", 3, "500m")
	least := int32(3)
	spread(fill, corev1.DoNotSchedule, &least)
	spread(web, corev1.ScheduleAnyway, nil)
	h.make(t, p, fill)
	h.runs(t, ns, 3)
	h.make(t, web) // there is room beside each of the others
	h.runs(t, ns, 6)
	before, err := h.claims()
	if err != nil || len(before) != 3 {
		t.Fatal(len(before), " claims, want 3: ", err)
	}
	if err := h.client.Patch(t.Context(), fill, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"replicas":0}}`))); err != nil {
		t.Fatal(err)
	}
	after := h.replaced(t, before)
	h.runs(t, ns, 3)

	if err := h.client.Get(t.Context(), client.ObjectKeyFromObject(p), p); err != nil {
		t.Fatal(err)
	}
	p.Spec.Template.Labels = map[string]string{"changed": "true"}
	if err := h.client.Update(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	h.replaced(t, after)
	h.runs(t, ns, 3)
	h.clear(t, fill, web, p)
}

func spread(d *appsv1.Deployment, otherwise corev1.UnsatisfiableConstraintAction, least *int32) {
	d.Spec.Template.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
		MaxSkew: 1, MinDomains: least, TopologyKey: v1.LabelHostname, WhenUnsatisfiable: otherwise, LabelSelector: d.Spec.Selector,
	}}
}

// replaced waits until none of the claims is left, others are, and none is meant to go.
func (h fixture) replaced(t *testing.T, before []v1.NodeClaim) (after []v1.NodeClaim) {
	t.Helper()
	kubetest.Within(t, 2*time.Minute, func() error {
		var err error
		if after, err = h.claims(); err != nil {
			return err
		}
		if len(after) == 0 {
			return fmt.Errorf("no claims")
		}
		for i := range after {
			c := &after[i]
			old := slices.ContainsFunc(before, func(b v1.NodeClaim) bool { return b.UID == c.UID })
			if old || !c.Conditions().Is(v1.ConditionInitialized) || c.Conditions().Is(v1.ConditionDisruptionReason) {
				return fmt.Errorf("claim %s: one of before: %t, %+v", c.Name, old, c.Status.Conditions)
			}
		}
		return nil
	})
	return after
}
