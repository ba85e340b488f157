package conformance

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "github.com/tenon-sh/tenon/api/aws/v1"
	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/internal/sim/kubelet"
)

// lives are the checks of a claim's way to a node that can be used.
func lives() []check {
	return []check{
		{name: "C6", run: startupTaints},
		{name: "C7", run: withoutTheTaint},
		{name: "Ephemeral", run: ephemeralTaints},
		{name: "NotJoined", run: notJoined},
		{name: "NotReadyNode", run: notReady},
		{name: "Standalone", run: madeByHand},
		{name: "StandaloneBroken", run: madeByHandOfNothing},
	}
}

// Pods are planned onto nodes with startup taints, and a node is not
// initialized before the taints are gone.
func startupTaints(s *story) {
	starting := corev1.Taint{Key: "example.com/starting", Effect: corev1.TaintEffectNoSchedule}
	s.pool(func(p *v1.NodePool) { p.Spec.Template.Spec.StartupTaints = []corev1.Taint{starting} })
	pod := s.pod("web")
	c := s.has(1)[0]
	said := s.condition(&c, v1.ConditionInitialized, metav1.ConditionUnknown, v1.ReasonStartupTaints)
	if !strings.Contains(said.Message, starting.Key) {
		s.Errorf("Initialized says %q, not which taint", said.Message)
	}
	s.condition(&c, "Ready", metav1.ConditionUnknown, "ReconcilingDependents")
	n := s.nodeOf(&c)
	if !tainted(n, starting.Key, starting.Effect) || n.Labels[v1.LabelRegistered] != "true" || n.Labels[v1.LabelInitialized] != "" {
		s.Errorf("the node has taints %v and labels %v", n.Spec.Taints, n.Labels)
	}
	s.stays(3*time.Second, func() error {
		if n := len(s.claims(s.name)); n != 1 {
			return fmt.Errorf("%d claims", n)
		}
		return nil
	})
	s.untaint(n, starting.Key)
	s.condition(&c, v1.ConditionInitialized, metav1.ConditionTrue, v1.ConditionInitialized)
	s.runs(pod)
	if n = s.nodeOf(&c); n.Labels[v1.LabelInitialized] != "true" {
		s.Errorf("the node's labels are %v", n.Labels)
	}
}

// untaint takes a taint from a node, as a daemon does.
func (s *story) untaint(n *corev1.Node, key string) {
	s.Helper()
	s.await(func() error {
		if err := s.get(n); err != nil {
			return err
		}
		n.Spec.Taints = slices.DeleteFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.Key == key })
		return s.Client.Update(s.Context(), n)
	})
}

// custom is a class whose machines join by a script of the user's own.
func (s *story) custom(flags string) {
	family, script := "Custom", "#!/bin/bash\n/etc/eks/bootstrap.sh "+s.Name+" --kubelet-extra-args '"+flags+"'\n"
	class := s.Class()
	class.Name, class.Spec.AMIFamily, class.Spec.UserData = s.name, &family, &script
	s.create(class)
}

func (s *story) ofCustom(p *v1.NodePool) {
	p.Spec.Template.Spec.NodeClassRef = &v1.NodeClassReference{Group: awsv1.Group, Kind: "EC2NodeClass", Name: s.name}
}

// A node that joins without the taint that keeps pods off is registered all the
// same, with a warning.
func withoutTheTaint(s *story) {
	s.custom("--node-labels=" + v1.LabelNodePool + "=" + s.name)
	s.pool(s.ofCustom)
	pod := s.pod("web")
	s.runs(pod)
	c := s.ready(1)[0]
	s.await(func() error {
		var said []string
		for _, o := range []client.Object{&c, s.nodeOf(&c)} {
			for _, e := range s.events(o) {
				if e.Type == corev1.EventTypeWarning && strings.Contains(e.Message, v1.TaintUnregistered) {
					return nil
				}
				said = append(said, e.Reason)
			}
		}
		return fmt.Errorf("no warning names the missing taint: %q", said)
	})
}

// A node with taints that somebody is known to take off is not initialized
// before they are gone, and its pods are waited for.
func ephemeralTaints(s *story) {
	const readiness, cloud = "readiness.k8s.io/network", "node.cloudprovider.kubernetes.io/uninitialized"
	s.custom("--node-labels=" + v1.LabelNodePool + "=" + s.name +
		" --register-with-taints=karpenter.sh/unregistered:NoExecute," + readiness + "=pending:NoSchedule," + cloud + "=true:NoSchedule")
	s.pool(s.ofCustom)
	pod := s.pod("web")
	c := s.has(1)[0]
	s.condition(&c, v1.ConditionInitialized, metav1.ConditionUnknown, v1.ReasonEphemeralTaints)
	for _, key := range []string{cloud, readiness} {
		if n := len(s.claims(s.name)); n != 1 || c.Conditions().Is(v1.ConditionInitialized) {
			s.Errorf("%d claims, conditions %+v", n, c.Status.Conditions)
		}
		s.untaint(s.nodeOf(&c), key)
	}
	s.condition(&c, v1.ConditionInitialized, metav1.ConditionTrue, v1.ConditionInitialized)
	s.runs(pod)
}

// A claim whose machine does not join says what it waits for, and is capacity
// that is on its way: nothing else is bought for its pod.
func notJoined(s *story) {
	s.BreakPool(s.name, kubelet.Faults{NeverRegisters: true})
	s.pool()
	s.pod("web")
	c := s.has(1)[0]
	s.condition(&c, v1.ConditionLaunched, metav1.ConditionTrue, v1.ConditionLaunched)
	s.condition(&c, v1.ConditionRegistered, metav1.ConditionUnknown, v1.ReasonNodeNotFound)
	s.condition(&c, "Ready", metav1.ConditionUnknown, "ReconcilingDependents")
	if i := c.Conditions().Get(v1.ConditionInitialized); i == nil || i.Status != metav1.ConditionUnknown {
		s.Errorf("Initialized is %+v", i)
	}
	if c.Status.ProviderID == "" || c.Status.ImageID == "" || c.Status.NodeName != "" || c.Labels[v1.LabelInstanceType] == "" {
		s.Errorf("status %+v, labels %v", c.Status, c.Labels)
	}
	s.stays(3*time.Second, func() error {
		if n := len(s.claims(s.name)); n != 1 {
			return fmt.Errorf("%d claims", n)
		}
		return nil
	})
	s.Drop(s.T, &c)
	s.gone(&c)
	s.ended(&c)
}

// A node that is not ready is registered and not initialized.
func notReady(s *story) {
	s.BreakPool(s.name, kubelet.Faults{NeverReady: true})
	s.pool()
	s.pod("web")
	c := s.has(1)[0]
	s.condition(&c, v1.ConditionRegistered, metav1.ConditionTrue, v1.ConditionRegistered)
	s.condition(&c, v1.ConditionInitialized, metav1.ConditionUnknown, v1.ReasonNodeNotReady)
}

// byHand is a claim of no pool.
func (s *story) byHand(class string, change ...func(*v1.NodeClaim)) *v1.NodeClaim {
	s.Helper()
	c := &v1.NodeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: s.name, Labels: map[string]string{"team": s.name}, Annotations: map[string]string{"example.com/note": "kept"}},
		Spec: v1.NodeClaimSpec{
			NodeClassRef: &v1.NodeClassReference{Group: awsv1.Group, Kind: "EC2NodeClass", Name: class},
			Taints:       []corev1.Taint{{Key: "example.com/own", Effect: corev1.TaintEffectNoSchedule}},
			Requirements: []v1.Requirement{
				{Key: v1.LabelInstanceType, Operator: corev1.NodeSelectorOpIn, Values: []string{"m5.large"}},
				{Key: v1.LabelCapacityType, Operator: corev1.NodeSelectorOpIn, Values: []string{"on-demand"}},
			},
		},
	}
	for _, f := range change {
		f(c)
	}
	s.create(c)
	return c
}

// A claim that somebody makes by hand becomes a node like every other, takes
// pods, and goes with its node.
func madeByHand(s *story) {
	class := s.Class()
	class.Name = s.name // which no pool names
	s.create(class)
	c := s.byHand(s.name)
	s.condition(c, "Ready", metav1.ConditionTrue, "Ready")
	n := s.nodeOf(c)
	var i isnt
	i.is(slices.Contains(c.Finalizers, v1.Finalizer), "the claim's finalizers are %v", c.Finalizers)
	i.is(c.Spec.ExpireAfter == "720h", "it expires after %s, want the default", c.Spec.ExpireAfter)
	i.is(c.Labels["karpenter.k8s.aws/ec2nodeclass"] == s.name, "the claim's labels are %v", c.Labels)
	i.is(n.Labels["team"] == s.name && n.Labels[v1.LabelInitialized] == "true" && n.Labels["karpenter.k8s.aws/ec2nodeclass"] == s.name, "the node's labels are %v", n.Labels)
	i.is(tainted(n, "example.com/own", corev1.TaintEffectNoSchedule), "the node's taints are %v", n.Spec.Taints)
	i.is(n.Annotations["example.com/note"] == "kept", "the node's annotations are %v", n.Annotations)
	if err := i.err(); err != nil {
		s.Error(err)
	}
	pod := s.pod("web", func(p *corev1.Pod) {
		p.Spec.NodeSelector = map[string]string{"team": s.name}
		p.Spec.Tolerations = []corev1.Toleration{{Key: "example.com/own", Operator: corev1.TolerationOpExists}}
	})
	if at := s.runs(pod); at != n.Name {
		s.Errorf("the pod runs on %s", at)
	}
	c.Spec.ExpireAfter = v1.Never
	if err := s.Client.Update(s.Context(), c); err == nil {
		s.Error("the spec of a claim could be changed")
	}
	s.Drop(s.T, pod)
	s.stays(3*time.Second, func() error { // no pool says that it may go
		if err := s.get(c); err != nil || c.DeletionTimestamp != nil {
			return fmt.Errorf("the claim goes: %w", err)
		}
		return nil
	})
	s.Drop(s.T, n)
	s.gone(n, c)
	s.ended(c)
}

// One that names no class that there is goes again: it could never be had.
func madeByHandOfNothing(s *story) {
	c := s.byHand("nobodys")
	s.gone(c)
}
