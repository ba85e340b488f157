package terminate

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/internal/cloud"
)

// A node counts as marked only with the whole mark: without the taint pods would still
// come, and without the label load balancers would still send to those that leave.
func TestTainted(t *testing.T) {
	mark := corev1.Taint{Key: v1.TaintDisrupted, Effect: corev1.TaintEffectNoSchedule}
	other := corev1.Taint{Key: "example.com/own", Effect: corev1.TaintEffectNoSchedule}
	for name, tc := range map[string]struct {
		label  string
		taints []corev1.Taint
		want   bool
	}{
		"Whole":   {v1.ExcludedByUs, []corev1.Taint{other, mark}, true},
		"Own":     {"true", []corev1.Taint{mark}, true}, // a person had it left out before
		"NoLabel": {"", []corev1.Taint{mark}, false},
		"NoTaint": {v1.ExcludedByUs, nil, false},
		"Another": {v1.ExcludedByUs, []corev1.Taint{other}, false},
		"Weaker":  {v1.ExcludedByUs, []corev1.Taint{{Key: v1.TaintDisrupted, Effect: corev1.TaintEffectPreferNoSchedule}}, false},
	} {
		n := &corev1.Node{Spec: corev1.NodeSpec{Taints: tc.taints}}
		if tc.label != "" {
			n.Labels = map[string]string{v1.LabelExcludeBalancers: tc.label}
		}
		if got := tainted(n); got != tc.want {
			t.Errorf("%s: %t, want %t", name, got, tc.want)
		}
	}
}

// A node takes pods before it is registered unless the taint is on it that keeps all of them off.
func TestOpen(t *testing.T) {
	for name, tc := range map[string]struct {
		taints []corev1.Taint
		want   bool
	}{
		"Adopted":      {nil, true},
		"Joining":      {[]corev1.Taint{{Key: "node.kubernetes.io/not-ready", Effect: corev1.TaintEffectNoExecute}, {Key: v1.TaintUnregistered, Effect: corev1.TaintEffectNoExecute}}, false},
		"OthersTaints": {[]corev1.Taint{{Key: "node.kubernetes.io/not-ready", Effect: corev1.TaintEffectNoExecute}}, true},
		"Weaker":       {[]corev1.Taint{{Key: v1.TaintUnregistered, Effect: corev1.TaintEffectPreferNoSchedule}}, true},
	} {
		if got := open(&corev1.Node{Spec: corev1.NodeSpec{Taints: tc.taints}}); got != tc.want {
			t.Errorf("%s: %t, want %t", name, got, tc.want)
		}
	}
}

// Once a node is drained only what others have put there keeps it.
func TestHeldBy(t *testing.T) {
	now := metav1.Unix(1, 0)
	for name, tc := range map[string]struct {
		going      *metav1.Time
		finalizers []string
		want       []string
	}{
		"Others":   {&now, []string{"example.com/a", "example.com/b"}, []string{"example.com/a", "example.com/b"}},
		"Draining": {&now, []string{"example.com/a", v1.Finalizer}, nil},
		"Staying":  {nil, []string{"example.com/a"}, nil},
		"None":     {&now, nil, nil},
	} {
		if got := heldBy(&corev1.Node{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: tc.going, Finalizers: tc.finalizers}}); !slices.Equal(got, tc.want) {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
}

// A claim tells why its machine cannot be ended if that does not pass by itself, and not once the machine is ending.
func TestRefused(t *testing.T) {
	lasts, passes := cloud.Errorf(cloud.Invalid, "", "it is protected"), cloud.Errorf(cloud.Throttled, "", "slow down")
	for name, tc := range map[string]struct {
		err    error
		ending bool
		want   metav1.ConditionStatus
	}{
		"Lasts": {lasts, false, metav1.ConditionFalse}, "Passes": {passes, false, ""}, "Ending": {lasts, true, metav1.ConditionTrue},
	} {
		c := &v1.NodeClaim{}
		if tc.ending {
			c.Conditions().True(v1.ConditionInstanceTerminating, "", "", time.Unix(1, 0))
		}
		Refused(c, tc.err, time.Unix(2, 0))
		got := c.Conditions().Get(v1.ConditionInstanceTerminating)
		if (got == nil) != (tc.want == "") || got != nil && got.Status != tc.want {
			t.Errorf("%s: the condition is %v, want %q", name, got, tc.want)
		}
	}
}
