package scenario

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	awsv1 "github.com/tenon-sh/tenon/api/aws/v1"
	karpv1 "github.com/tenon-sh/tenon/api/karpenter/v1"
)

const (
	namespace = "default"
	zoneKey   = corev1.LabelTopologyZone
	hostKey   = corev1.LabelHostname
	gpu       = corev1.ResourceName("nvidia.com/gpu")
	mib       = int64(1) << 20
)

// in is a requirement that a label has one of values.
func in(key string, values ...string) karpv1.Requirement {
	return karpv1.Requirement{Key: key, Operator: corev1.NodeSelectorOpIn, Values: values}
}

// pool is a pool as people have them: on demand, general families, none of the old generations.
func (m *maker) pool(name string, more ...karpv1.Requirement) *karpv1.NodePool {
	p := &karpv1.NodePool{
		TypeMeta:   metav1.TypeMeta{APIVersion: "karpenter.sh/v1", Kind: "NodePool"},
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("pool-" + name)},
	}
	p.Spec.Template.Spec.NodeClassRef = class()
	p.Spec.Template.Spec.Requirements = append([]karpv1.Requirement{
		in(karpv1.LabelCapacityType, "on-demand"), in(corev1.LabelOSStable, "linux"),
	}, more...)
	m.in.Pools = append(m.in.Pools, p)
	return p
}

// class is what all pools refer to.
func class() *karpv1.NodeClassReference {
	return &karpv1.NodeClassReference{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: "default"}
}

// general is the pool of the documents: categories c, m and r, generation above 4.
func (m *maker) general(more ...karpv1.Requirement) *karpv1.NodePool {
	return m.pool("general", append([]karpv1.Requirement{
		in(awsv1.LabelInstanceCategory, "c", "m", "r"),
		{Key: awsv1.LabelInstanceGeneration, Operator: corev1.NodeSelectorOpGt, Values: []string{"4"}},
	}, more...)...)
}

// requests are what one container asks for.
func requests(milliCPU, mebibytes int64) corev1.ResourceList {
	return corev1.ResourceList{
		corev1.ResourceCPU:    *resource.NewMilliQuantity(milliCPU, resource.DecimalSI),
		corev1.ResourceMemory: *resource.NewQuantity(mebibytes*mib, resource.BinarySI),
	}
}

// app is pods that are alike but for their names.
type app struct {
	name string
	spec corev1.PodSpec
}

// app begins an application whose pods ask for these resources.
func newApp(name string, ask corev1.ResourceList) *app {
	return &app{name: name, spec: corev1.PodSpec{Containers: []corev1.Container{{
		Name: "main", Image: "example.com/" + name, Resources: corev1.ResourceRequirements{Requests: ask},
	}}}}
}

func (a *app) selector() *metav1.LabelSelector { return selects(a.name) }

func selects(name string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}
}

// spread says that the pods spread over the domains of key.
func (a *app) spread(key string, skew int32) {
	a.spec.TopologySpreadConstraints = append(a.spec.TopologySpreadConstraints, corev1.TopologySpreadConstraint{
		MaxSkew: skew, TopologyKey: key, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: a.selector(),
	})
}

// avoid says that no pod shares a domain of key with pods of the application named.
func (a *app) avoid(key, name string) {
	affinity := a.affinity()
	if affinity.PodAntiAffinity == nil {
		affinity.PodAntiAffinity = &corev1.PodAntiAffinity{}
	}
	terms := &affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	*terms = append(*terms, corev1.PodAffinityTerm{TopologyKey: key, LabelSelector: selects(name)})
}

// together says that all pods share a domain of key.
func (a *app) together(key string) {
	a.affinity().PodAffinity = &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{
		{TopologyKey: key, LabelSelector: a.selector()},
	}}
}

func (a *app) affinity() *corev1.Affinity {
	if a.spec.Affinity == nil {
		a.spec.Affinity = &corev1.Affinity{}
	}
	return a.spec.Affinity
}

// pod is the i-th pod of the application.
func (a *app) pod(i int) *corev1.Pod {
	name := fmt.Sprintf("%s-%d", a.name, i)
	return &corev1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: name, UID: types.UID(name), Labels: map[string]string{"app": a.name},
		},
		Spec: *a.spec.DeepCopy(),
	}
}

// wait adds n pods of an application that wait.
func (m *maker) wait(a *app, n int) {
	for i := range n {
		m.waitAs(a, i)
	}
}

// waitAs adds the i-th pod of an application as one that waits.
func (m *maker) waitAs(a *app, i int) {
	p := a.pod(i)
	p.Status.Phase = corev1.PodPending
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable}}
	m.in.Pending = append(m.in.Pending, p)
}

// daemon adds a DaemonSet that runs on every node, whatever its taints.
func (m *maker) daemon(name string, milliCPU, mebibytes int64) *appsv1.DaemonSet {
	a := newApp(name, requests(milliCPU, mebibytes))
	a.spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
	labels := map[string]string{"app": name}
	d := &appsv1.DaemonSet{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "DaemonSet"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: name, UID: types.UID("daemon-" + name)},
		Spec: appsv1.DaemonSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: a.spec},
		},
	}
	m.in.DaemonSets = append(m.in.DaemonSets, d)
	return d
}
