package oracle

import (
	"fmt"
	"math/rand/v2"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	karpv1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/engine/enginetest"
	"github.com/tenon-sh/tenon/engine/label"
)

// Settle makes a cluster as people have them: one pool, many small deployments
// and a few large ones, half of them spread or kept apart, and no machine yet.
func Settle(seed uint64, pods int) *Cluster { return SettleInCompany(seed, pods, 0) }

// SettleInCompany is Settle where beside so many of a hundred of the deployments without constraints there is another one, as a proxy
// beside each cache: each of its pods runs on a machine only that has a pod of the first.
func SettleInCompany(seed uint64, pods, percent int) *Cluster {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 2)), Cluster: &Cluster{}}
	g.Namespaces = []corev1.Namespace{{ObjectMeta: metav1.ObjectMeta{Name: "default", Labels: map[string]string{"kubernetes.io/metadata.name": "default"}}}}
	g.Catalog = enginetest.Market()
	g.Catalog.Template = class
	pool := karpv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "general"}}
	t := &pool.Spec.Template
	t.Spec.NodeClassRef = &karpv1.NodeClassReference{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: "default"}
	t.Spec.Requirements = []karpv1.Requirement{
		{Key: label.CapacityType, Operator: corev1.NodeSelectorOpIn, Values: []string{label.OnDemand}},
		{Key: label.Arch, Operator: corev1.NodeSelectorOpIn, Values: []string{"amd64"}},
		{Key: "karpenter.k8s.aws/instance-cpu", Operator: corev1.NodeSelectorOpLt, Values: []string{"33"}},
	}
	g.Pools = []karpv1.NodePool{pool}
	agent := appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Name: "agent", Namespace: "default"}}
	agent.Spec.Template.Labels = map[string]string{"app": "agent"}
	agent.Spec.Template.Spec = corev1.PodSpec{
		Tolerations: []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
		Containers:  []corev1.Container{{Name: "a", Resources: requests("150m", "200Mi")}},
	}
	g.Daemons = []appsv1.DaemonSet{agent}
	for i := 0; len(g.Pods) < pods; i++ {
		g.household(i, pods-len(g.Pods))
		if last := g.Pods[len(g.Pods)-1]; percent > 0 && last.Spec.Affinity == nil && len(last.Spec.TopologySpreadConstraints) == 0 && g.chance(percent) {
			g.company(i, last.Labels)
		}
	}
	return g.Cluster
}

// household is the pods of one deployment, at most so many.
func (g *generator) household(i, most int) {
	name := fmt.Sprintf("app-%03d", i)
	p := g.plain(name, "default", name)
	p.Spec.Containers[0].Resources = requests(pick(g, "100m", "250m", "500m", "500m", "1", "2", "4"), pick(g, "128Mi", "512Mi", "1Gi", "2Gi", "4Gi", "10Gi"))
	own := &metav1.LabelSelector{MatchLabels: p.Labels}
	switch g.IntN(8) {
	case 0, 1:
		p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{
			{MaxSkew: 1, TopologyKey: label.Zone, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: own},
		}
	case 2:
		p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{
			{MaxSkew: 1, TopologyKey: label.Zone, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: own},
			{MaxSkew: 1, TopologyKey: label.Hostname, WhenUnsatisfiable: corev1.ScheduleAnyway, LabelSelector: own},
		}
	case 3:
		p.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{TopologyKey: label.Hostname, LabelSelector: own}},
		}}
	}
	g.replicate(p, min(most, pick(g, 1, 1, 2, 2, 3, 3, 3, 5, 8, 12, 20, 40)))
}

// company is the pods of a deployment that run beside those with the labels only, one for each of these.
func (g *generator) company(i int, labels map[string]string) {
	replicas := 0
	for j := range g.Pods {
		if g.Pods[j].Labels["app"] == labels["app"] {
			replicas++
		}
	}
	name := fmt.Sprintf("beside-%03d", i)
	p := g.plain(name, "default", name)
	p.Spec.Containers[0].Resources = requests(pick(g, "100m", "250m", "500m", "1"), pick(g, "128Mi", "512Mi", "1Gi", "2Gi"))
	p.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{TopologyKey: label.Hostname, LabelSelector: &metav1.LabelSelector{MatchLabels: labels}}},
	}}
	g.replicate(p, replicas)
}

// replicate makes as many waiting pods like p.
func (g *generator) replicate(p corev1.Pod, replicas int) {
	name := p.Name
	for j := range replicas {
		one := *p.DeepCopy()
		one.Name = fmt.Sprintf("%s-%d", name, j)
		one.UID = types.UID("uid-" + one.Name)
		one.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable}}
		g.Pods = append(g.Pods, one)
	}
}
