package scenario

import (
	"fmt"
	"math"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	awsv1 "github.com/tenon-sh/tenon/api/aws/v1"
	karpv1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/bench/market"
)

func amd64() karpv1.Requirement { return in(corev1.LabelArchStable, "amd64") }

// between returns a whole number from low to high.
func (m *maker) between(low, high int) int { return low + m.dice.IntN(high-low+1) }

// pick returns one of values.
func pick[T any](m *maker, values ...T) T { return values[m.dice.IntN(len(values))] }

// modest is what pods of web applications ask for, in steps that people write down.
func (m *maker) modest() corev1.ResourceList {
	return requests(pick(m, int64(100), 250, 500, 500, 1000, 1000, 1500, 2000, 4000), pick(m, int64(128), 256, 512, 1024, 1024, 2048, 4096, 8192))
}

// apps adds applications until n pods wait. Sizes are between low and high; shape finishes each.
func (m *maker) apps(n, low, high int, shape func(a *app, index, replicas int)) {
	for i := 0; n > 0; i++ {
		replicas := min(m.between(low, high), n)
		a := newApp(fmt.Sprintf("app-%05d", i), m.modest())
		shape(a, i, replicas)
		m.wait(a, replicas)
		n -= replicas
	}
}

func diverse(m *maker, n int) {
	m.general(amd64())
	m.apps(n, 3, 17, func(a *app, i, _ int) {
		switch i % 5 {
		case 1:
			a.spread(zoneKey, 1)
		case 2:
			a.spread(hostKey, 1)
		case 3:
			a.avoid(hostKey, a.name)
		case 4:
			a.together(zoneKey)
		}
	})
}

// groups has few and very large groups: seven labels for all spread and
// together pods, one for all that keep apart.
func groups(m *maker, n int) {
	m.general(amd64())
	for i := range n {
		kind := i % 5
		name := fmt.Sprintf("kind-%d-%c", kind, 'a'+m.dice.IntN(7))
		if kind == 3 {
			name = "single"
		}
		a := newApp(name, requests(pick(m, int64(100), 250, 500, 1000, 1500), pick(m, int64(100), 256, 512, 1024, 2048, 4096)))
		switch kind {
		case 1:
			a.spread(zoneKey, 1)
		case 2:
			a.spread(hostKey, 1)
		case 3:
			a.avoid(hostKey, a.name)
		case 4:
			a.together(zoneKey)
		}
		m.waitAs(a, i)
	}
}

func plain(m *maker, n int) {
	m.general(amd64())
	m.apps(n, 1, 20, func(*app, int, int) {})
}

func homogeneous(m *maker, n int) {
	m.general(amd64())
	m.wait(newApp("web", requests(1000, 2048)), n)
}

func unique(m *maker, n int) {
	m.general(amd64())
	for i := range n {
		a := newApp(fmt.Sprintf("job-%07d", i), m.modest())
		ask := a.spec.Containers[0].Resources.Requests
		more := ask[corev1.ResourceMemory]
		more.Add(*resource.NewQuantity(int64(i)<<7, resource.BinarySI))
		ask[corev1.ResourceMemory] = more
		m.waitAs(a, 0)
	}
}

func spread(m *maker, n int) {
	m.general(amd64())
	m.apps(n, 3, 30, func(a *app, _, _ int) {
		a.spread(zoneKey, int32(m.between(1, 2)))
		a.spread(hostKey, int32(m.between(1, 3)))
	})
}

func apart(m *maker, n int) {
	m.general(amd64())
	m.apps(n, 2, 20, func(a *app, i, _ int) {
		a.avoid(hostKey, a.name)
		if i%3 == 1 {
			a.avoid(hostKey, fmt.Sprintf("app-%05d", i-1))
		}
	})
}

func mix(m *maker, n int) {
	m.general(in(corev1.LabelArchStable, "amd64", "arm64"))
	special := m.pool("gpu", in(awsv1.LabelInstanceCategory, "g"), in(awsv1.LabelInstanceGPUManufacturer, "nvidia"))
	special.Spec.Template.Spec.Taints = []corev1.Taint{{Key: string(gpu), Value: "true", Effect: corev1.TaintEffectNoSchedule}}
	m.apps(n, 2, 20, func(a *app, i, _ int) {
		switch {
		case i%50 == 7:
			ask := a.spec.Containers[0].Resources.Requests
			ask[gpu] = *resource.NewQuantity(pick(m, int64(1), 1, 1, 2, 4), resource.DecimalSI)
			a.spec.Tolerations = []corev1.Toleration{{Key: string(gpu), Operator: corev1.TolerationOpExists}}
		case i%10 < 4:
			a.spec.NodeSelector = map[string]string{corev1.LabelArchStable: "amd64"}
		case i%10 < 7:
			a.spec.NodeSelector = map[string]string{corev1.LabelArchStable: "arm64"}
		}
		if i%4 == 2 {
			a.spread(zoneKey, 1)
		}
	})
}

func trace(m *maker, n int) { m.general(amd64()); m.traced(n) }
func traceCapped(m *maker, n int) {
	m.general(amd64(), karpv1.Requirement{Key: awsv1.LabelInstanceCPU, Operator: corev1.NodeSelectorOpLt, Values: []string{"33"}})
	m.traced(n)
}

// traced has the skew of real clusters: most applications are small and have
// one or two replicas, a few have hundreds, and every node runs three daemons.
func (m *maker) traced(n int) {
	m.daemon("logs", 100, 200)
	m.daemon("network", 50, 100)
	m.daemon("metrics", 80, 64)
	for i := 0; n > 0; i++ {
		cpu := 200 * math.Exp(m.dice.NormFloat64()*1.2)
		memory := cpu * 2.5 * math.Exp(m.dice.NormFloat64()*0.9)
		ask := requests(tens(cpu, 10, 14_000), tens(memory, 16, 100_000))
		replicas := min(int(math.Pow(1-m.dice.Float64(), -1/1.1)), max(n/8, 1), n)
		a := newApp(fmt.Sprintf("app-%05d", i), ask)
		if i%5 == 1 && replicas >= 3 {
			a.spread(zoneKey, 1)
		}
		m.wait(a, replicas)
		n -= replicas
	}
}

// tens rounds to tens, between bounds.
func tens(x float64, low, high int64) int64 {
	return min(max(int64(x/10)*10, low), high)
}

func preferences(m *maker, n int) {
	m.general(amd64())
	a := newApp("web", requests(500, 1024))
	a.affinity().NodeAffinity = &corev1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{
		{Weight: 1, Preference: corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{
			{Key: zoneKey, Operator: corev1.NodeSelectorOpIn, Values: market.Zones()[:1]},
		}}},
	}}
	a.affinity().PodAntiAffinity = &corev1.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{
		{Weight: 10, PodAffinityTerm: corev1.PodAffinityTerm{TopologyKey: hostKey, LabelSelector: a.selector()}},
	}}
	m.wait(a, n)
}

func zoneApart(m *maker, n int) {
	m.general(amd64())
	m.apps(n, 3, 3, func(a *app, _, _ int) { a.avoid(zoneKey, a.name) })
}

func sameHost(m *maker, n int) {
	m.general(amd64())
	m.apps(n, 2, 6, func(a *app, _, _ int) { a.together(hostKey) })
}

// tiny is small enough for its optimum to be known: one to four kinds of pod.
func tiny(m *maker, n int) {
	m.general(amd64())
	var kinds []*app
	for i := range m.between(1, 4) {
		a := newApp(fmt.Sprintf("app-%d", i), requests(pick(m, int64(100), 500, 1000, 1500, 3000, 3900, 7000), int64(m.between(1, 64))*256))
		if m.between(1, 5) < 3 {
			a.spec.NodeSelector = map[string]string{zoneKey: pick(m, market.Zones()...)}
		}
		if m.between(1, 4) == 1 {
			a.avoid(hostKey, a.name)
		}
		kinds = append(kinds, a)
	}
	for i := range n {
		m.waitAs(pick(m, kinds...), i)
	}
}
