package initialize_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/internal/controller/initialize"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func TestNext(t *testing.T) {
	claim := func() *v1.NodeClaim {
		c := &v1.NodeClaim{Spec: v1.NodeClaimSpec{
			StartupTaints: []corev1.Taint{{Key: "wait", Value: "1", Effect: corev1.TaintEffectNoSchedule}},
			Resources:     v1.ResourceRequirements{Requests: corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("1"), "cpu": resource.MustParse("1"), "none": resource.MustParse("0")}},
		}}
		c.Conditions().True(v1.ConditionRegistered, "", "", noon)
		return c
	}
	node := func() *corev1.Node {
		return &corev1.Node{Status: corev1.NodeStatus{
			Conditions:  []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
			Allocatable: corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("1"), "cpu": resource.MustParse("4")},
		}}
	}
	taint := func(t corev1.Taint) func(*v1.NodeClaim, *corev1.Node) {
		return func(_ *v1.NodeClaim, n *corev1.Node) { n.Spec.Taints = append(n.Spec.Taints, t) }
	}
	tests := map[string]struct {
		why    string
		change func(*v1.NodeClaim, *corev1.Node)
		kind   initialize.Kind
		reason string
	}{
		"Well":    {"Nothing is missing.", func(*v1.NodeClaim, *corev1.Node) {}, initialize.Done, ""},
		"Own":     {"Taints of the pool are there to stay.", taint(corev1.Taint{Key: "gpu", Effect: corev1.TaintEffectNoSchedule}), initialize.Done, ""},
		"Unready": {"Its kubelet is not ready.", func(_ *v1.NodeClaim, n *corev1.Node) { n.Status.Conditions[0].Status = corev1.ConditionFalse }, initialize.Wait, v1.ReasonNodeNotReady},
		"Pressure": {"What else is true of it does not make it ready.", func(_ *v1.NodeClaim, n *corev1.Node) {
			n.Status.Conditions[0].Status = corev1.ConditionFalse
			n.Status.Conditions = append([]corev1.NodeCondition{{Type: corev1.NodeMemoryPressure, Status: corev1.ConditionTrue}}, n.Status.Conditions...)
		}, initialize.Wait, v1.ReasonNodeNotReady},
		"Fine": {"What is not true of it does not keep it from being ready.", func(_ *v1.NodeClaim, n *corev1.Node) {
			n.Status.Conditions = append([]corev1.NodeCondition{{Type: corev1.NodeMemoryPressure, Status: corev1.ConditionFalse}}, n.Status.Conditions...)
		}, initialize.Done, ""},
		"Weaker": {"A taint of another effect is no startup taint.", taint(corev1.Taint{Key: "wait", Effect: corev1.TaintEffectPreferNoSchedule}), initialize.Done, ""},
		"Broken": {"Its device is there and cannot be used.", func(_ *v1.NodeClaim, n *corev1.Node) {
			n.Status.Allocatable["nvidia.com/gpu"] = resource.MustParse("0")
		}, initialize.Wait, v1.ReasonResourceNotRegistered},
		"Leaving":   {"It is being deleted.", func(c *v1.NodeClaim, _ *corev1.Node) { c.DeletionTimestamp = &metav1.Time{Time: noon} }, initialize.Nothing, ""},
		"Silent":    {"Its kubelet has said nothing.", func(_ *v1.NodeClaim, n *corev1.Node) { n.Status.Conditions = nil }, initialize.Wait, v1.ReasonNodeNotReady},
		"Startup":   {"Something still prepares it; the value does not matter.", taint(corev1.Taint{Key: "wait", Effect: corev1.TaintEffectNoSchedule}), initialize.Wait, v1.ReasonStartupTaints},
		"Ephemeral": {"The cloud still prepares it.", taint(corev1.Taint{Key: "node.cloudprovider.kubernetes.io/uninitialized", Value: "true", Effect: corev1.TaintEffectNoSchedule}), initialize.Wait, v1.ReasonEphemeralTaints},
		"Readiness": {"A readiness gate of the node holds it.", taint(corev1.Taint{Key: "readiness.k8s.io/gpu", Effect: corev1.TaintEffectNoSchedule}), initialize.Wait, v1.ReasonEphemeralTaints},
		"NoDevice":  {"A device that pods wait for has not shown up.", func(_ *v1.NodeClaim, n *corev1.Node) { delete(n.Status.Allocatable, "nvidia.com/gpu") }, initialize.Wait, v1.ReasonResourceNotRegistered},
		"Already":   {"It is initialized.", func(c *v1.NodeClaim, _ *corev1.Node) { c.Conditions().True(v1.ConditionInitialized, "", "", noon) }, initialize.Compare, ""},
		"Early":     {"It is not registered.", func(c *v1.NodeClaim, _ *corev1.Node) { c.Status.Conditions = nil }, initialize.Nothing, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c, n := claim(), node()
			tc.change(c, n)
			if got := initialize.Next(c, n); got.Kind != tc.kind || got.Reason != tc.reason {
				t.Errorf("%+v, want %s %s: %s", got, tc.kind, tc.reason, tc.why)
			}
		})
	}
	if got := initialize.Next(claim(), nil); got.Reason != v1.ReasonNodeNotFound {
		t.Errorf("without a node: %+v", got)
	}
	c := claim()
	c.Conditions().True(v1.ConditionInitialized, "", "", noon)
	if got := initialize.Next(c, nil); got.Kind != initialize.Nothing {
		t.Errorf("initialized, and its node is gone: %+v", got)
	}
}

func TestAMissingDeviceNamesItsPlugin(t *testing.T) {
	c := &v1.NodeClaim{Spec: v1.NodeClaimSpec{Resources: v1.ResourceRequirements{Requests: corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("1")}}}}
	c.Conditions().True(v1.ConditionRegistered, "", "", noon)
	n := &corev1.Node{Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}}}
	if s := initialize.Next(c, n); !strings.Contains(s.Message, `"nvidia.com/gpu"`) || !strings.Contains(s.Message, "device plugin") {
		t.Errorf("a claim that waits for a GPU is told %q", s.Message)
	}
}
