package oracle

import (
	"cmp"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/tenon-sh/tenon/engine/label"
)

// app makes the waiting pods of one workload, all alike.
func (g *generator) app(i int) {
	name, namespace := fmt.Sprintf("app-%d", i), pick(g, "default", "default", "other")
	p := g.plain(name, namespace, name)
	s := &p.Spec
	s.Containers[0].Resources = requests(pick(g, "100m", "500m", "1", "1500m", "3"), pick(g, "128Mi", "1Gi", "3Gi", "9Gi"))
	if g.chance(8) {
		s.Containers[0].Resources.Requests["nvidia.com/gpu"] = resource.MustParse("1")
	}
	if g.chance(10) {
		s.InitContainers = []corev1.Container{{Name: "i", Resources: requests("2", "64Mi")}}
	}
	if g.chance(15) {
		s.NodeSelector = map[string]string{pick(g, "tier", label.Zone, label.Arch): pick(g, "gold", "z-a", "z-b", "arm64")}
	}
	if g.chance(35) {
		s.Tolerations = []corev1.Toleration{{Key: "only", Operator: pick(g, corev1.TolerationOpExists, corev1.TolerationOpEqual), Value: ""}}
		if s.Tolerations[0].Operator == corev1.TolerationOpEqual {
			s.Tolerations[0].Value = pick(g, "a", "b", "")
		}
	}
	g.affinity(&p)
	if g.chance(35) {
		g.spread(&p)
	}
	if g.chance(8) {
		s.Containers[0].Ports = []corev1.ContainerPort{{HostPort: pick(g, int32(8080), 9100), ContainerPort: 80, HostIP: pick(g, "", "127.0.0.1")}}
	}
	if g.chance(15) {
		v := int32(g.IntN(3) * 100)
		s.Priority = &v
	}
	disks, first := g.chance(cmp.Or(g.disks, 12)), (*corev1.Pod)(nil)
	for j := range 1 + g.IntN(7) {
		one := *p.DeepCopy()
		one.Name = fmt.Sprintf("%s-%d", name, j)
		one.UID = types.UID("uid-" + one.Name)
		one.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable}}
		switch {
		case disks && first != nil:
			g.share(&one, first)
		case disks:
			g.disk(&one)
			if g.one {
				first = one.DeepCopy()
				g.settle(&one)
			}
		}
		g.Pods = append(g.Pods, one)
	}
}

func (g *generator) affinity(p *corev1.Pod) {
	a := &corev1.Affinity{}
	if g.chance(25) {
		a.NodeAffinity = &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{}}
		for range 1 + g.IntN(2) {
			a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms = append(
				a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms,
				corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{g.expression()}})
		}
	}
	if g.chance(10) {
		if a.NodeAffinity == nil {
			a.NodeAffinity = &corev1.NodeAffinity{}
		}
		a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution = []corev1.PreferredSchedulingTerm{
			{Weight: int32(1 + g.IntN(100)), Preference: corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{g.expression()}}},
		}
	}
	if g.chance(20) {
		a.PodAntiAffinity = &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{g.termFor(p, 70)}}
	}
	if g.chance(15) {
		a.PodAffinity = &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{g.termFor(p, 50)}}
	}
	if g.chance(10) {
		if a.PodAntiAffinity == nil {
			a.PodAntiAffinity = &corev1.PodAntiAffinity{}
		}
		a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution = []corev1.WeightedPodAffinityTerm{{Weight: 50, PodAffinityTerm: g.termFor(p, 70)}}
	}
	if a.NodeAffinity != nil || a.PodAffinity != nil || a.PodAntiAffinity != nil {
		p.Spec.Affinity = a
	}
}

func (g *generator) expression() corev1.NodeSelectorRequirement {
	switch g.IntN(7) {
	case 0:
		return corev1.NodeSelectorRequirement{Key: label.Zone, Operator: corev1.NodeSelectorOpIn, Values: []string{"z-a", "z-c"}}
	case 1:
		return corev1.NodeSelectorRequirement{Key: label.Zone, Operator: corev1.NodeSelectorOpNotIn, Values: []string{"z-a"}}
	case 2:
		return corev1.NodeSelectorRequirement{Key: "tier", Operator: corev1.NodeSelectorOpExists}
	case 3:
		return corev1.NodeSelectorRequirement{Key: "tier", Operator: corev1.NodeSelectorOpDoesNotExist}
	case 4:
		return corev1.NodeSelectorRequirement{Key: "example.com/cores", Operator: corev1.NodeSelectorOpGt, Values: []string{"3"}}
	case 5:
		return corev1.NodeSelectorRequirement{Key: "example.com/gpus", Operator: corev1.NodeSelectorOpDoesNotExist}
	}
	return corev1.NodeSelectorRequirement{Key: label.InstanceType, Operator: corev1.NodeSelectorOpNotIn, Values: []string{"s.small"}}
}

// term selects pods of some workload.
func (g *generator) term() corev1.PodAffinityTerm {
	t := corev1.PodAffinityTerm{
		TopologyKey:   pick(g, label.Hostname, label.Zone),
		LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": fmt.Sprintf("app-%d", g.IntN(g.apps))}},
	}
	if g.agents && g.chance(40) {
		t.LabelSelector.MatchLabels["app"] = "agent"
	}
	switch g.IntN(6) {
	case 0:
		t.Namespaces = []string{"default", "other"}
	case 1:
		t.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"team": "y"}}
	case 2:
		t.NamespaceSelector = &metav1.LabelSelector{}
	}
	return t
}

// termFor selects the pod's own workload so often of a hundred, and some workload otherwise.
func (g *generator) termFor(p *corev1.Pod, own int) corev1.PodAffinityTerm {
	t := g.term()
	if g.chance(own) {
		t.LabelSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": p.Labels["app"]}}
	}
	return t
}

func (g *generator) spread(p *corev1.Pod) {
	for range 1 + g.IntN(2) {
		c := corev1.TopologySpreadConstraint{
			MaxSkew: int32(1 + g.IntN(2)), TopologyKey: pick(g, label.Hostname, label.Zone),
			WhenUnsatisfiable: pick(g, corev1.DoNotSchedule, corev1.DoNotSchedule, corev1.ScheduleAnyway),
			LabelSelector:     &metav1.LabelSelector{MatchLabels: map[string]string{"app": p.Labels["app"]}},
		}
		for _, has := range p.Spec.TopologySpreadConstraints {
			if has.TopologyKey == c.TopologyKey {
				return
			}
		}
		if c.WhenUnsatisfiable == corev1.DoNotSchedule && g.chance(20) {
			n := int32(1 + g.IntN(3))
			c.MinDomains = &n
		}
		if g.chance(20) {
			policy := pick(g, corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore)
			c.NodeTaintsPolicy = &policy
		}
		if g.chance(20) {
			policy := pick(g, corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore)
			c.NodeAffinityPolicy = &policy
		}
		p.Spec.TopologySpreadConstraints = append(p.Spec.TopologySpreadConstraints, c)
	}
}
