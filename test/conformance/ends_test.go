package conformance

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/test/stage"
)

// ends are the checks of nodes and claims that somebody deletes.
func ends() []check {
	return []check{
		{name: "C18", run: nodeDeleted},
		{name: "C19", run: machineVanished},
		{name: "ClaimDeleted", run: claimDeleted},
		{name: "PoolDeleted", run: poolDeleted},
		{name: "PoolDeletedScaling", run: poolDeletedWhileScaling},
		{name: "GracePeriod", run: gracePeriod},
		{name: "DoNotDisrupt", run: doNotDisruptDelays},
		{name: "Tiers", run: tiers},
		{name: "Tolerating", run: tolerating},
		{name: "ForeignFinalizer", run: foreignFinalizer},
		{name: "NamespaceDeleted", run: namespaceDeleted},
		{name: "VolumeGrace", run: volumeThatStays},
		{name: "StuckPod", long: true, run: podThatDoesNotEnd},
	}
}

// guard is a budget that lets nothing of an app go.
func (s *story) guard(app string) *policyv1.PodDisruptionBudget {
	s.Helper()
	none := intstr.FromInt32(0)
	b := &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.ns, Name: app},
		Spec:       policyv1.PodDisruptionBudgetSpec{MaxUnavailable: &none, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}},
	}
	s.create(b)
	return b
}

// A node that is deleted is drained, its volumes are waited for, its machine
// ends, and then node and claim go. What ran there runs elsewhere.
func nodeDeleted(s *story) {
	s.pool()
	d := stage.Apart(s.ns, "web", 1)
	d.Spec.Template.Spec.NodeSelector = map[string]string{v1.LabelNodePool: s.name}
	s.create(d)
	budget := s.guard("web")
	s.Runs(s.T, soon, s.ns, 1)
	c := s.ready(1)[0]
	n := s.nodeOf(&c)
	volume := s.attach(n)
	s.Drop(s.T, n)

	s.condition(&c, v1.ConditionDrained, metav1.ConditionUnknown, v1.ReasonDraining)
	s.event(n, "FailedDraining")
	if err := s.get(n); err != nil || !tainted(n, "karpenter.sh/disrupted", corev1.TaintEffectNoSchedule) || n.Labels["node.kubernetes.io/exclude-from-external-load-balancers"] != "karpenter" {
		s.Errorf("the node that goes: %v, taints %v, labels %v", err, n.Spec.Taints, n.Labels)
	}
	if len(s.Alive()) == 0 || c.DeletionTimestamp == nil {
		s.Error("the machine ended before its pod went, or its claim is not going")
	}
	some := intstr.FromInt32(1)
	budget.Spec.MaxUnavailable = &some
	s.patch(budget, `{"spec":{"maxUnavailable":1}}`)
	s.condition(&c, v1.ConditionDrained, metav1.ConditionTrue, v1.ConditionDrained)
	s.condition(&c, v1.ConditionVolumesDetached, metav1.ConditionUnknown, v1.ReasonAwaitingVolumeDetachment)
	s.event(n, "AwaitingVolumeDetachment", volume.Name)
	s.patch(volume, `{"metadata":{"finalizers":null}}`)
	s.Drop(s.T, volume)
	s.condition(&c, v1.ConditionVolumesDetached, metav1.ConditionTrue, v1.ConditionVolumesDetached)
	s.condition(&c, v1.ConditionInstanceTerminating, metav1.ConditionTrue, v1.ConditionInstanceTerminating)
	s.gone(n, &c)
	s.ended(&c)
	s.Runs(s.T, soon, s.ns, 1)
	s.ready(1)
}

// attach makes a volume that is attached to a node and is in no pod's use.
func (s *story) attach(n *corev1.Node) *storagev1.VolumeAttachment {
	s.Helper()
	pv := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: s.name}, Spec: corev1.PersistentVolumeSpec{
		Capacity: corev1.ResourceList{"storage": resource.MustParse("1Gi")}, AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: "ebs.csi.aws.com", VolumeHandle: "vol-" + s.name}},
	}}
	s.create(pv)
	a := &storagev1.VolumeAttachment{
		ObjectMeta: metav1.ObjectMeta{Name: s.name, Finalizers: []string{"example.com/attached"}},
		Spec:       storagev1.VolumeAttachmentSpec{Attacher: "ebs.csi.aws.com", NodeName: n.Name, Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: &pv.Name}},
	}
	s.create(a)
	return a
}

// A node whose machine is gone goes without being drained: no kubelet is left that
// could end its pods.
func machineVanished(s *story) {
	s.pool()
	pod := s.pod("web")
	s.runs(pod)
	s.guard("web")
	c := s.ready(1)[0]
	n := s.nodeOf(&c)
	if err := s.Account.Market.Kill(s.machine(&c)); err != nil {
		s.Fatal(err)
	}
	s.Drop(s.T, n)
	s.gone(n, &c)
	for _, e := range s.events(pod) {
		if e.Reason == "Evicted" || e.Reason == "Disrupted" {
			s.Errorf("the pod was told %s: %s", e.Reason, e.Message)
		}
	}
}

// A claim that is deleted takes its node with it.
func claimDeleted(s *story) {
	s.pool()
	pod := s.pod("web")
	s.runs(pod)
	c := s.ready(1)[0]
	n := s.nodeOf(&c)
	s.Drop(s.T, &c)
	s.gone(pod, n, &c)
	s.ended(&c)
}

// A pool that is deleted takes its claims and nodes with it.
func poolDeleted(s *story) {
	p := s.pool()
	pod := s.pod("web")
	s.runs(pod)
	c := s.ready(1)[0]
	n := s.nodeOf(&c)
	s.Drop(s.T, p)
	s.gone(p, n, &c)
	s.ended(&c)
}

// So it is in the middle of growing: nothing of it is left.
func poolDeletedWhileScaling(s *story) {
	p := s.pool()
	d := stage.Apart(s.ns, "web", 8)
	d.Spec.Template.Spec.NodeSelector = map[string]string{v1.LabelNodePool: s.name}
	s.create(d)
	s.await(func() error {
		if len(s.claims(s.name)) == 0 {
			return errors.New("no claims")
		}
		return nil
	})
	s.Drop(s.T, p)
	s.gone(p)
	s.await(func() error {
		alive := 0
		for _, i := range s.Alive() {
			if i.Tags[v1.LabelNodePool] == s.name {
				alive++
			}
		}
		if n := len(s.claims(s.name)); n+alive > 0 {
			return fmt.Errorf("%d claims and %d machines are left", n, alive)
		}
		return nil
	})
}

// When the grace period of a node is over, its pods go whatever they say, each
// early enough for its own grace.
func gracePeriod(s *story) {
	const grace = 14 * time.Second
	s.pool(func(p *v1.NodePool) {
		p.Spec.Template.Spec.TerminationGracePeriod = &metav1.Duration{Duration: grace}
	})
	own := int64(6)
	pod := s.pod("web", func(p *corev1.Pod) {
		p.Spec.TerminationGracePeriodSeconds = &own
		p.Annotations = map[string]string{v1.AnnotationDoNotDisrupt: "true"}
		p.Finalizers = []string{"example.com/keep"} // so that its end can be read
	})
	s.guard("web")
	s.runs(pod)
	c := s.ready(1)[0]
	s.Drop(s.T, &c)
	s.await(func() error {
		if err := s.get(&c); err != nil {
			return err
		}
		at, err := time.Parse(time.RFC3339, c.Annotations[v1.AnnotationTerminationTime])
		if err == nil && !at.Equal(c.DeletionTimestamp.Add(grace)) {
			err = fmt.Errorf("the claim is deleted since %s and goes at %s", c.DeletionTimestamp, at)
		}
		return err
	})
	s.event(&c, "TerminationGracePeriodExpiring")
	s.await(func() error {
		if err := s.get(pod); err != nil {
			return err
		}
		if pod.DeletionTimestamp == nil {
			return errors.New("the pod stays")
		}
		return nil
	})
	began := pod.DeletionTimestamp.Add(-time.Duration(*pod.DeletionGracePeriodSeconds) * time.Second)
	if after := began.Sub(c.DeletionTimestamp.Time); after < grace-time.Duration(own)*time.Second-time.Second || *pod.DeletionGracePeriodSeconds > own {
		s.Errorf("the pod was told to go %s after its claim, with a grace of %ds: its own is %ds of %s", after, *pod.DeletionGracePeriodSeconds, own, grace)
	}
	s.event(pod, "Disrupted")
	s.patch(pod, `{"metadata":{"finalizers":null}}`)
	s.gone(&c)
}

// A pod that says that it must not be disrupted holds its node up for as long
// as it says so.
func doNotDisruptDelays(s *story) {
	s.pool()
	pod := s.pod("web", func(p *corev1.Pod) { p.Annotations = map[string]string{v1.AnnotationDoNotDisrupt: "true"} })
	s.runs(pod)
	c := s.ready(1)[0]
	s.Drop(s.T, &c)
	s.condition(&c, v1.ConditionDrained, metav1.ConditionUnknown, v1.ReasonDraining)
	s.stays(8*time.Second, func() error {
		if err := s.get(pod); err != nil || pod.DeletionTimestamp != nil {
			return fmt.Errorf("the pod goes: %w", err)
		}
		return nil
	})
	s.patch(pod, `{"metadata":{"annotations":null}}`)
	s.gone(pod, &c)
}

// Pods leave in tiers: daemons after others, what is critical after what is not.
func tiers(s *story) {
	s.pool(only("m5.2xlarge"))
	small := func(p *corev1.PodSpec, critical bool) {
		p.Containers[0].Resources.Requests = corev1.ResourceList{"cpu": resource.MustParse("100m")}
		if critical {
			p.PriorityClassName = "system-node-critical"
		}
	}
	var order []*corev1.Pod
	for i, name := range []string{"plain", "critical"} {
		order = append(order, s.pod(name, func(p *corev1.Pod) { small(&p.Spec, i == 1) }))
	}
	s.runs(order[0])
	c := s.ready(1)[0]
	for i, name := range []string{"daemon", "critical-daemon"} {
		order = append(order, s.daemon(name, func(t *corev1.PodTemplateSpec) { small(&t.Spec, i == 1) }))
	}
	order = []*corev1.Pod{order[0], order[2], order[1], order[3]}
	for _, p := range order {
		s.runs(p)
		s.patch(p, `{"metadata":{"finalizers":["example.com/keep"]}}`) // so that none is gone before it is looked at
	}
	s.Drop(s.T, &c)
	for i, p := range order {
		s.await(func() error {
			var i isnt
			err := s.get(p)
			i.is(err == nil && p.DeletionTimestamp != nil, "pod %s stays: %v", p.Name, err)
			return i.err()
		})
		for _, later := range order[i+1:] {
			if err := s.get(later); err != nil || later.DeletionTimestamp != nil {
				s.Errorf("pod %s goes with %s, before it is gone: %v", later.Name, p.Name, err)
			}
		}
		s.patch(p, `{"metadata":{"finalizers":null}}`)
	}
	s.gone(&c)
}

// daemon makes a daemon for the story's nodes, of which there is one, and returns its pod.
func (s *story) daemon(name string, change func(*corev1.PodTemplateSpec)) *corev1.Pod {
	s.Helper()
	labels, none := map[string]string{"app": name}, int64(0)
	d := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: s.ns, Name: name}, Spec: appsv1.DaemonSetSpec{
		Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{
			NodeSelector: map[string]string{v1.LabelNodePool: s.name}, TerminationGracePeriodSeconds: &none,
			Containers: []corev1.Container{{Name: "a", Image: "a"}},
		}},
	}}
	change(&d.Spec.Template)
	s.create(d)
	var out *corev1.Pod
	s.await(func() error {
		var pods corev1.PodList
		if err := s.Client.List(s.Context(), &pods); err != nil {
			return err
		}
		i := slices.IndexFunc(pods.Items, func(p corev1.Pod) bool {
			return p.Namespace == s.ns && strings.HasPrefix(p.Name, name+"-") && p.Labels["app"] == name
		})
		if i < 0 {
			return fmt.Errorf("no pod of daemon %s", name)
		}
		out = &pods.Items[i]
		return nil
	})
	return out
}

// Pods that tolerate that their node goes are neither evicted nor waited for.
func tolerating(s *story) {
	s.pool()
	pod := s.pod("web", func(p *corev1.Pod) {
		p.Spec.Tolerations = []corev1.Toleration{{Key: v1.TaintDisrupted, Operator: corev1.TolerationOpExists}}
	})
	s.runs(pod)
	c := s.ready(1)[0]
	s.Drop(s.T, &c)
	s.gone(&c)
	for _, e := range s.events(pod) {
		if e.Reason == "Evicted" {
			s.Error("the pod was evicted")
		}
	}
}

// A finalizer of somebody else keeps the object and nothing else: the machine
// ends, and the object goes when the other lets go of it.
func foreignFinalizer(s *story) {
	s.pool()
	s.pod("web")
	c := s.ready(1)[0]
	n := s.nodeOf(&c)
	s.patch(&c, `{"metadata":{"finalizers":["karpenter.sh/termination","example.com/mine"]}}`)
	s.patch(n, `{"metadata":{"finalizers":["karpenter.sh/termination","example.com/mine"]}}`)
	s.Drop(s.T, n)
	s.ended(&c)
	s.await(func() error {
		if err := s.get(n); err != nil {
			return err
		}
		if slices.Contains(n.Finalizers, v1.Finalizer) {
			return fmt.Errorf("the node's finalizers are %v", n.Finalizers)
		}
		return nil
	})
	s.patch(n, `{"metadata":{"finalizers":null}}`)
	s.await(func() error {
		if err := s.get(&c); err != nil {
			return err
		}
		if slices.Contains(c.Finalizers, v1.Finalizer) {
			return fmt.Errorf("the claim's finalizers are %v", c.Finalizers)
		}
		return nil
	})
	s.patch(&c, `{"metadata":{"finalizers":null}}`)
	s.gone(n, &c)
}

// Pods of a namespace that is being deleted cannot be evicted. They go with it,
// and the node after them.
func namespaceDeleted(s *story) {
	s.pool()
	pod := s.pod("web", func(p *corev1.Pod) { p.Finalizers = []string{"example.com/keep"} }) // so that the namespace takes its time
	s.runs(pod)
	c := s.ready(1)[0]
	s.Drop(s.T, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.ns}})
	s.Drop(s.T, &c)
	s.condition(&c, v1.ConditionDrained, metav1.ConditionUnknown, v1.ReasonDraining)
	s.stays(2*time.Second, func() error { return s.get(&c) })
	s.patch(pod, `{"metadata":{"finalizers":null}}`)
	s.gone(pod, &c)
	s.ended(&c)
}

// A volume that does not come off is waited for until the node's time is over.
func volumeThatStays(s *story) {
	s.pool(func(p *v1.NodePool) {
		p.Spec.Template.Spec.TerminationGracePeriod = &metav1.Duration{Duration: 12 * time.Second}
	})
	pod := s.pod("web")
	s.runs(pod)
	c := s.ready(1)[0]
	volume := s.attach(s.nodeOf(&c))
	s.patch(&c, `{"metadata":{"finalizers":["karpenter.sh/termination","example.com/keep"]}}`) // so that its end can be read
	s.Drop(s.T, &c)
	s.condition(&c, v1.ConditionVolumesDetached, metav1.ConditionFalse, v1.ReasonGracePeriodElapsed)
	s.ended(&c)
	s.patch(&c, `{"metadata":{"finalizers":null}}`)
	s.patch(volume, `{"metadata":{"finalizers":null}}`)
	s.gone(&c)
}

// A pod that is told to end and does not is waited for a minute longer than it
// was given, and then its machine ends.
func podThatDoesNotEnd(s *story) {
	s.pool()
	pod := s.pod("web", func(p *corev1.Pod) { p.Finalizers = []string{"example.com/keep"} })
	s.runs(pod)
	c := s.ready(1)[0]
	n := s.nodeOf(&c)
	s.Drop(s.T, &c)
	s.condition(&c, v1.ConditionDrained, metav1.ConditionUnknown, v1.ReasonDraining)
	s.gone(n, &c)
	s.ended(&c)
	if err := s.get(pod); err != nil && !apierrors.IsNotFound(err) {
		s.Fatal(err)
	} else if told := pod.DeletionTimestamp; told == nil || time.Since(told.Time) < time.Minute {
		s.Errorf("the machine ended although its pod was told to end at %v", told)
	}
	s.patch(pod, `{"metadata":{"finalizers":null}}`)
}
