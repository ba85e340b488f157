package drift

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
)

// A claim is looked at again for whatever drift is read from, and not for each pod that comes to its node.
func TestWhatMatters(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	claim := func() *v1.NodeClaim {
		c := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c", ResourceVersion: "1", Labels: map[string]string{"a": "b"}}}
		c.Conditions().True(v1.ConditionLaunched, "", "", now)
		return c
	}
	for name, c := range map[string]struct {
		change func(*v1.NodeClaim)
		want   bool
	}{
		"PodEvent":       {func(c *v1.NodeClaim) { c.Status.LastPodEventTime = metav1.NewTime(now) }, false},
		"Consolidatable": {func(c *v1.NodeClaim) { c.Conditions().True(v1.ConditionConsolidatable, "", "", now) }, false},
		"Going":          {func(c *v1.NodeClaim) { c.Conditions().True(v1.ConditionDisruptionReason, "Empty", "", now) }, false},
		"Registered":     {func(c *v1.NodeClaim) { c.Conditions().True(v1.ConditionRegistered, "", "", now) }, true},
		"Drifted":        {func(c *v1.NodeClaim) { c.Conditions().True(v1.ConditionDrifted, "Because", "", now) }, true},
		"Label":          {func(c *v1.NodeClaim) { c.Labels = map[string]string{"a": "c"} }, true},
		"Annotation":     {func(c *v1.NodeClaim) { c.Annotations = map[string]string{"hash": "1"} }, true},
		"Machine":        {func(c *v1.NodeClaim) { c.Status.ProviderID = "aws:///a/i-1" }, true},
		"Image":          {func(c *v1.NodeClaim) { c.Status.ImageID = "ami-1" }, true},
		"Spec":           {func(c *v1.NodeClaim) { c.Spec.Taints = nil; c.Spec.NodeClassRef = &v1.NodeClassReference{Name: "n"} }, true},
		"LookedAtAnew":   {func(c *v1.NodeClaim) { c.ResourceVersion = "1" }, true},
	} {
		t.Run(name, func(t *testing.T) {
			was, is := claim(), claim()
			is.ResourceVersion = "2"
			c.change(is)
			if got := matters(was, is); got != c.want {
				t.Errorf("it matters: %t, want %t", got, c.want)
			}
		})
	}
}
