package observe

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/api/karpenter/v1alpha5"
	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
)

// mirror is on pods that a node runs by itself.
const mirror = "kubernetes.io/config.mirror"

// Pod reads a pod. Its volumes are not yet resolved: Volumes.Bind does that.
func Pod(p *corev1.Pod) world.Pod {
	var wrong problems
	out := world.Pod{
		Key:      world.Key{Namespace: p.Namespace, Name: p.Name},
		UID:      string(p.UID),
		Labels:   p.Labels,
		Created:  seconds(p.CreationTimestamp),
		Requests: requests(p),

		Node:        p.Spec.NodeName,
		Nominated:   p.Status.NominatedNodeName,
		Promised:    p.Status.NominatedNodeName != "" && promised(p.ManagedFields),
		Waiting:     p.Spec.NodeName == "" && unschedulable(p),
		Gated:       len(p.Spec.SchedulingGates) > 0,
		Gates:       gates(p),
		Done:        p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed,
		Terminating: p.DeletionTimestamp != nil,
		Preempts:    p.Spec.PreemptionPolicy == nil || *p.Spec.PreemptionPolicy == corev1.PreemptLowerPriority,

		Tolerations: tolerations(p.Spec.Tolerations, wrong.add),
		Ports:       ports(p),
		Claims:      len(p.Spec.ResourceClaims) > 0,
		Disruption:  disruption(p),
	}
	if p.DeletionTimestamp != nil {
		out.Ends = seconds(*p.DeletionTimestamp)
	}
	if p.Status.StartTime != nil {
		out.Started = max(seconds(*p.Status.StartTime), seconds(p.CreationTimestamp)) // a kubelet's clock may be behind
	}
	if p.Spec.Priority != nil {
		out.Priority = *p.Spec.Priority
	}
	out.ReadyToServe = slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
	owned(&out, p)
	for k, v := range p.Spec.NodeSelector {
		if k == "" {
			wrong.add("spec.nodeSelector has a key that is empty")
			continue
		}
		out.NodeSelector = out.NodeSelector.And(label.Is(k, v))
	}
	if a := p.Spec.Affinity; a != nil {
		nodeAffinity(&out, a.NodeAffinity, wrong.add)
		podAffinity(&out, a, wrong.add)
	}
	out.Spread = spreads(p, wrong.add)
	checkRequests(p, wrong.add)
	out.Problems = wrong
	return out
}

// gates are the names of a pod's scheduling gates; nil if it has none.
func gates(p *corev1.Pod) (names []string) {
	for _, g := range p.Spec.SchedulingGates {
		names = append(names, g.Name)
	}
	return names
}

// Unread stands for a pod that cannot be read: it is where it is, must stay there,
// and cannot be planned for, because of why.
func Unread(p *corev1.Pod, why string) world.Pod {
	out := world.Pod{
		Key:         world.Key{Namespace: p.Namespace, Name: p.Name},
		UID:         string(p.UID),
		Created:     seconds(p.CreationTimestamp),
		Requests:    amount.List{}.With(amount.Pods, amount.Unit),
		Node:        p.Spec.NodeName,
		Waiting:     p.Spec.NodeName == "" && unschedulable(p),
		Done:        p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed,
		Terminating: p.DeletionTimestamp != nil,
		Problems:    []string{why},
	}
	owned(&out, p)
	out.Disruption.Forbidden = true
	return out
}

// FieldOwner is the name under which we nominate pods.
const FieldOwner = "tenon"

// promised reports whether the pod's nomination is ours.
func promised(fields []metav1.ManagedFieldsEntry) bool {
	ours := false
	for _, e := range fields {
		if e.Subresource != "status" || e.FieldsV1 == nil || !strings.Contains(e.FieldsV1.GetRawString(), `"f:nominatedNodeName"`) {
			continue
		}
		if e.Manager != FieldOwner {
			return false
		}
		ours = true
	}
	return ours
}

// owned says what made the pod, as far as that matters.
func owned(out *world.Pod, p *corev1.Pod) {
	_, out.Static = p.Annotations[mirror]
	for _, o := range p.OwnerReferences {
		switch {
		case o.Kind == "DaemonSet" && o.APIVersion == "apps/v1":
			out.DaemonSet = o.Name
		case o.Kind == "StatefulSet" && o.APIVersion == "apps/v1":
			out.StatefulOwner = true
		case o.Kind == "Node" && o.APIVersion == "v1":
			out.Static = true
		}
	}
	out.Disruption.Alone = out.DaemonSet == "" && !out.Static && metav1.GetControllerOfNoCopy(p) == nil && p.Annotations[v1.AnnotationDoNotDisrupt] != "false"
}

// unschedulable reports whether kube-scheduler tried to place the pod and gave up.
func unschedulable(p *corev1.Pod) bool {
	return slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodScheduled && c.Reason == corev1.PodReasonUnschedulable
	})
}

func disruption(p *corev1.Pod) world.PodDisruption {
	d := world.PodDisruption{
		Grace:    30,
		Critical: p.Spec.PriorityClassName == "system-cluster-critical" || p.Spec.PriorityClassName == "system-node-critical",
	}
	if g := p.Spec.TerminationGracePeriodSeconds; g != nil {
		d.Grace = max(*g, 0)
	}
	if cost, err := strconv.ParseInt(p.Annotations[v1.AnnotationPodDeletionCost], 10, 32); err == nil {
		d.DeletionCost = int32(cost)
	}
	d.Forbidden = p.Annotations[v1alpha5.AnnotationDoNotEvict] == "true"
	switch span, forever, _ := DoNotDisrupt(p.Annotations); {
	case forever:
		d.Forbidden = true
	default:
		d.ForbiddenFor = int64(span / time.Second)
	}
	return d
}

// DoNotDisrupt reads the annotation by which a pod forbids that it is moved:
// for good, or for some time from its start. What cannot be read forbids nothing.
func DoNotDisrupt(annotations map[string]string) (span time.Duration, forever bool, err error) {
	said, ok := annotations[v1.AnnotationDoNotDisrupt]
	switch {
	case !ok:
		return 0, false, nil
	case said == "true":
		return 0, true, nil
	case said == "false":
		return 0, false, nil
	}
	d, err := time.ParseDuration(said)
	if err != nil || d <= 0 {
		return 0, false, fmt.Errorf("annotation %s is %q: use true or a length of time such as 30m", v1.AnnotationDoNotDisrupt, said)
	}
	return d, false, nil
}

func tolerations(in []corev1.Toleration, problem func(string, ...any)) []world.Toleration {
	var out []world.Toleration
	for i, t := range in {
		switch t.Operator {
		case corev1.TolerationOpExists:
			out = append(out, world.Toleration{Key: t.Key, Exists: true, Effect: string(t.Effect)})
		case corev1.TolerationOpEqual, "":
			out = append(out, world.Toleration{Key: t.Key, Value: t.Value, Effect: string(t.Effect)})
		case corev1.TolerationOpLt, corev1.TolerationOpGt: // a comparison that kube-scheduler knows only behind a gate tolerates nothing
		default:
			problem("spec.tolerations[%d].operator is %q, want Exists or Equal", i, t.Operator)
		}
	}
	return out
}

// ports are the host ports of the containers that run side by side.
func ports(p *corev1.Pod) []world.Port {
	var out []world.Port
	add := func(c *corev1.Container) {
		for _, port := range c.Ports {
			number := port.HostPort
			if number == 0 && p.Spec.HostNetwork {
				number = port.ContainerPort
			}
			if number <= 0 {
				continue
			}
			hp := world.Port{IP: port.HostIP, Protocol: string(port.Protocol), Port: number}
			if hp.Protocol == "" {
				hp.Protocol = string(corev1.ProtocolTCP)
			}
			if hp.IP == "0.0.0.0" || hp.IP == "::" {
				hp.IP = ""
			}
			out = append(out, hp)
		}
	}
	for i := range p.Spec.InitContainers {
		if c := &p.Spec.InitContainers[i]; c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			add(c)
		}
	}
	for i := range p.Spec.Containers {
		add(&p.Spec.Containers[i])
	}
	return out
}

func nodeAffinity(out *world.Pod, a *corev1.NodeAffinity, problem func(string, ...any)) {
	if a == nil {
		return
	}
	const path = "spec.affinity.nodeAffinity."
	if required := a.RequiredDuringSchedulingIgnoredDuringExecution; required != nil {
		for i, t := range required.NodeSelectorTerms {
			at := fmt.Sprintf("%srequiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[%d]", path, i)
			if term, ok := nodeTerm(t, at, problem); ok {
				out.NodeTerms = append(out.NodeTerms, term)
			}
		}
		if len(out.NodeTerms) == 0 {
			problem("%srequiredDuringSchedulingIgnoredDuringExecution has no term that a node can match", path)
		}
	}
	for i, w := range a.PreferredDuringSchedulingIgnoredDuringExecution {
		at := fmt.Sprintf("%spreferredDuringSchedulingIgnoredDuringExecution[%d].preference", path, i)
		if term, ok := nodeTerm(w.Preference, at, problem); ok && w.Weight > 0 {
			out.NodeWishes = append(out.NodeWishes, world.NodeWish{Weight: int(w.Weight), Term: term})
		}
	}
}

func podAffinity(out *world.Pod, a *corev1.Affinity, problem func(string, ...any)) {
	add := func(t corev1.PodAffinityTerm, weight int32, anti bool, path string) {
		if t.TopologyKey == "" {
			problem("%s.topologyKey is empty", path)
			return
		}
		term := world.PodTerm{Anti: anti, Weight: int(weight), Key: label.Canonical(t.TopologyKey), Namespaces: t.Namespaces}
		term.Selector = narrowed(selector(t.LabelSelector, path+".labelSelector", problem), out.Labels, t.MatchLabelKeys, t.MismatchLabelKeys)
		if t.NamespaceSelector != nil {
			term.Within = selector(t.NamespaceSelector, path+".namespaceSelector", problem)
		} else if len(t.Namespaces) == 0 {
			term.Namespaces = []string{out.Namespace}
		}
		out.PodTerms = append(out.PodTerms, term)
	}
	terms := func(required []corev1.PodAffinityTerm, preferred []corev1.WeightedPodAffinityTerm, anti bool, path string) {
		for i, t := range required {
			add(t, 0, anti, fmt.Sprintf("%s.requiredDuringSchedulingIgnoredDuringExecution[%d]", path, i))
		}
		for i, w := range preferred {
			if w.Weight > 0 {
				add(w.PodAffinityTerm, w.Weight, anti, fmt.Sprintf("%s.preferredDuringSchedulingIgnoredDuringExecution[%d].podAffinityTerm", path, i))
			}
		}
	}
	if t := a.PodAffinity; t != nil {
		terms(t.RequiredDuringSchedulingIgnoredDuringExecution, t.PreferredDuringSchedulingIgnoredDuringExecution, false, "spec.affinity.podAffinity")
	}
	if t := a.PodAntiAffinity; t != nil {
		terms(t.RequiredDuringSchedulingIgnoredDuringExecution, t.PreferredDuringSchedulingIgnoredDuringExecution, true, "spec.affinity.podAntiAffinity")
	}
}

func spreads(p *corev1.Pod, problem func(string, ...any)) []world.Spread {
	var out []world.Spread
	for i, c := range p.Spec.TopologySpreadConstraints {
		path := fmt.Sprintf("spec.topologySpreadConstraints[%d]", i)
		if c.TopologyKey == "" || c.MaxSkew < 1 {
			problem("%s needs a topologyKey and a maxSkew of at least 1", path)
			continue
		}
		if w := c.WhenUnsatisfiable; w != "" && w != corev1.DoNotSchedule && w != corev1.ScheduleAnyway {
			problem("%s.whenUnsatisfiable is %q, want DoNotSchedule or ScheduleAnyway", path, w)
			continue
		}
		s := constraint(c)
		s.Selector = narrowed(selector(c.LabelSelector, path+".labelSelector", problem), p.Labels, c.MatchLabelKeys, nil)
		out = append(out, s)
	}
	return out
}

// checkRequests finds requests that no machine can mean.
func checkRequests(p *corev1.Pod, problem func(string, ...any)) {
	check := func(kind string, cs []corev1.Container) {
		for i := range cs {
			for _, name := range negative(cs[i].Resources.Requests) {
				problem("spec.%s[%d].resources.requests.%s is negative: give an amount of zero or more", kind, i, name)
			}
		}
	}
	check("initContainers", p.Spec.InitContainers)
	check("containers", p.Spec.Containers)
	for _, name := range negative(p.Spec.Overhead) {
		problem("spec.overhead.%s is negative: give an amount of zero or more", name)
	}
}

// seconds is a time in seconds since 1970; zero for none.
func seconds(t metav1.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.Unix()
}
