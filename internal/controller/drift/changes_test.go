package drift_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/controller/drift"
)

func TestChanges(t *testing.T) {
	tests := map[string]struct {
		why    string
		reason string
		change func(*drift.Seen)
		want   string
	}{
		"Label": {"A label that the template gives otherwise.", v1.ReasonNodePoolDrifted, func(s *drift.Seen) {
			s.Pool.Spec.Template.Labels = map[string]string{"team": "b"}
		}, "label team=a, and the pool has team=b"},
		"Taint": {"A taint that is new, and one that is gone.", v1.ReasonNodePoolDrifted, func(s *drift.Seen) {
			s.Pool.Spec.Template.Spec.Taints = []corev1.Taint{{Key: "gpu", Effect: corev1.TaintEffectNoSchedule}}
			s.Claim.Spec.Taints = []corev1.Taint{{Key: "old", Value: "x", Effect: corev1.TaintEffectNoSchedule}}
		}, "taint gpu:NoSchedule is only in the pool; taint old=x:NoSchedule is no longer in the pool"},
		"Value": {"A taint of another value is another; one that both have is none.", v1.ReasonNodePoolDrifted, func(s *drift.Seen) {
			same := corev1.Taint{Key: "same", Value: "1", Effect: corev1.TaintEffectNoSchedule}
			s.Pool.Spec.Template.Spec.StartupTaints = []corev1.Taint{{Key: "wait", Value: "new", Effect: corev1.TaintEffectNoSchedule}, same}
			s.Claim.Spec.StartupTaints = []corev1.Taint{same, {Key: "wait", Value: "old", Effect: corev1.TaintEffectNoSchedule}}
		}, "startup taint wait=new:NoSchedule is only in the pool; startup taint wait=old:NoSchedule is no longer in the pool"},
		"Expiry": {"For ever is Never.", v1.ReasonNodePoolDrifted, func(s *drift.Seen) {
			s.Claim.Spec.ExpireAfter, s.Pool.Spec.Template.Spec.ExpireAfter = v1.Never, v1.After(90*time.Minute)
		}, "expireAfter: Never here, 1h30m in the pool"},
		"NoExpiry": {"A pool that says nothing of it leaves it as it was.", v1.ReasonNodePoolDrifted, func(s *drift.Seen) {
			s.Claim.Spec.ExpireAfter, s.Pool.Spec.Template.Labels = v1.After(time.Hour), map[string]string{"team": "b"}
		}, "label team=a, and the pool has team=b"},
		"Empty": {"A label that is there and empty is not one that is missing.", v1.ReasonNodePoolDrifted, func(s *drift.Seen) {
			s.Pool.Spec.Template.Labels = map[string]string{"new": ""}
		}, "label new is not there, and the pool has new="},
		"Five": {"Five are named.", v1.ReasonNodePoolDrifted, func(s *drift.Seen) {
			s.Pool.Spec.Template.Labels = map[string]string{"a": "", "b": "", "c": "", "d": "", "e": ""}
		}, "label a is not there, and the pool has a=; label b is not there, and the pool has b=; label c is not there, and the pool has c=; label d is not there, and the pool has d=; label e is not there, and the pool has e="},
		"Class": {"Another class.", v1.ReasonNodePoolDrifted, func(s *drift.Seen) {
			s.Pool.Spec.Template.Spec.NodeClassRef = &v1.NodeClassReference{Kind: "EC2NodeClass", Name: "new"}
		}, "nodeClassRef: none here, EC2NodeClass new in the pool"},
		"Spans": {"Spans are written as people write them.", v1.ReasonNodePoolDrifted, func(s *drift.Seen) {
			s.Pool.Spec.Template.Spec.TerminationGracePeriod = &metav1.Duration{Duration: 2 * time.Hour}
		}, "terminationGracePeriod: none here, 2h in the pool"},
		"Unknown": {
			"What was removed leaves no trace but the hash.", v1.ReasonNodePoolDrifted, func(*drift.Seen) {},
			"the pool's template is not the one that the claim was made from, by its hash; a label or annotation may have been removed",
		},
		"Requirement": {"The requirement that is not met, with what the node has.", v1.ReasonRequirementsDrifted, func(s *drift.Seen) {
			s.World.Requirements = label.SetOf(label.Is(label.Zone, "b"))
		}, "label topology.kubernetes.io/zone=a, and the pool requires topology.kubernetes.io/zone In [b]"},
		"NotSold": {"The offer that is gone.", v1.ReasonInstanceTypeNotFound, func(*drift.Seen) {}, "the catalogue of its class no longer has m5 in a as on-demand"},
	}
	tried := map[string]bool{}
	for name, tc := range tests {
		tried[tc.reason] = true
		t.Run(name, func(t *testing.T) {
			s := drift.Seen{
				Pool:  &v1.NodePool{Spec: v1.NodePoolSpec{Template: v1.NodeClaimTemplate{ObjectMeta: v1.ObjectMeta{Labels: map[string]string{"team": "a"}}}}},
				World: &world.Pool{}, Claim: &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{
					Labels: map[string]string{"team": "a", label.Zone: "a", label.InstanceType: "m5", label.CapacityType: label.OnDemand},
				}},
			}
			tc.change(&s)
			if got := drift.Changes(s, tc.reason); got != tc.want {
				t.Errorf("%s\ngot  %s\nwant %s", tc.why, got, tc.want)
			}
		})
	}
	for _, reason := range drift.Reasons() {
		if !tried[reason] {
			t.Errorf("no case is for %s", reason)
		}
	}
}
