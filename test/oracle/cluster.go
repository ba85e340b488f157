package oracle

import (
	"fmt"
	"math/rand/v2"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpv1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/world"
)

// Cluster is a cluster in Kubernetes' own objects, and what is for sale.
type Cluster struct {
	Namespaces []corev1.Namespace
	Nodes      []corev1.Node
	Pods       []corev1.Pod
	Daemons    []appsv1.DaemonSet
	Pools      []karpv1.NodePool
	Catalog    world.Catalog
	Classes    []storagev1.StorageClass
	PVCs       []corev1.PersistentVolumeClaim
	PVs        []corev1.PersistentVolume
	CSINodes   []storagev1.CSINode
	Now        int64 // seconds since 1970
	machines   []coming
	late       bool // the daemons have not come to the nodes that are there yet
}

const class = "karpenter.k8s.aws/EC2NodeClass/default"

var zones = []string{"z-a", "z-b", "z-c"} //nolint:gochecknoglobals // a constant that Go cannot write

// generate makes the cluster of a seed.
func generate(seed uint64) *Cluster {
	g := newGenerator(seed, 1)
	g.shapes()
	for i := range 1 + g.IntN(3) {
		g.pool(i)
	}
	if g.chance(60) {
		g.daemon()
	}
	for i := range g.IntN(6) {
		g.node(i)
	}
	if g.chance(50) {
		for i := range 1 + g.IntN(3) {
			g.order(i)
		}
	}
	g.furnish()
	for i := range 2 + g.IntN(6) {
		g.app(i)
	}
	return g.Cluster
}

// attended makes a small cluster with daemons whose pods others want to be near, or
// to keep away from, and that run on some machines only or keep others away.
func attended(seed uint64) *Cluster {
	g := newGenerator(seed, 6)
	g.agents = true
	return g.small()
}

// small makes a cluster of at most six machines, with at most 15 pods that wait.
// It has everything that others may have, with pods of fewer workloads, which
// meet more often: what is wrong is found in a tenth of the time.
func small(seed uint64) *Cluster { return newGenerator(seed, 5).small() }

func (g *generator) small() *Cluster {
	g.apps = 3
	g.shapes()
	g.pool(0)
	if g.chance(40) {
		g.pool(1)
	}
	if g.agents || g.chance(50) {
		g.daemon()
	}
	nodes := g.IntN(5)
	for i := range nodes {
		g.node(i)
	}
	for i := range g.IntN(min(3, 6-nodes)) {
		g.order(i)
	}
	g.furnish()
	there := len(g.Pods)
	for i := 0; i < 4 && len(g.Pods) < there+9; i++ {
		g.app(i)
	}
	return g.Cluster
}

// furnish adds storage and, but for late ones, the daemons' pods.
func (g *generator) furnish() {
	g.storage()
	if g.late = g.chance(40); !g.late {
		for _, n := range g.Nodes {
			g.Pods = append(g.Pods, g.DaemonPods(&n)...)
		}
	}
}

// generator makes one cluster.
type generator struct {
	*rand.Rand
	*Cluster
	apps   int  // of how many workloads pods are that run, or that terms select
	agents bool // whether terms select pods of daemons too
	disks  int  // how many in a hundred workloads have disks
	one    bool // whether all pods of a workload share one disk
}

// newGenerator makes clusters of a kind, which has two namespaces.
func newGenerator(seed, kind uint64) *generator {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, kind)), Cluster: &Cluster{}, apps: 4}
	g.Namespaces = []corev1.Namespace{
		{ObjectMeta: metav1.ObjectMeta{Name: "default", Labels: map[string]string{"kubernetes.io/metadata.name": "default", "team": "x"}}},
		{ObjectMeta: metav1.ObjectMeta{Name: "other", Labels: map[string]string{"kubernetes.io/metadata.name": "other", "team": "y"}}},
	}
	return g
}

func (g *generator) chance(percent int) bool { return g.IntN(100) < percent }

func pick[T any](g *generator, of ...T) T { return of[g.IntN(len(of))] }

// shapes puts a few types of machine on sale, some without an offer in some zones, some of another architecture, some with GPUs.
func (g *generator) shapes() {
	g.Catalog = world.Catalog{Template: class, Version: "1"}
	for _, s := range []struct {
		name     string
		cpu, mem int64
		arch     string
		gpu      int64
		price    money.Micro
	}{
		{"s.small", 2, 4, "amd64", 0, 100_000},
		{"s.medium", 4, 8, "amd64", 0, 190_000},
		{"s.large", 8, 16, "amd64", 0, 360_000},
		{"m.medium", 4, 32, "amd64", 0, 260_000},
		{"a.medium", 4, 8, "arm64", 0, 150_000},
		{"g.large", 8, 32, "amd64", 2, 900_000},
	} {
		shape := world.Shape{
			Name: s.name,
			Capacity: amount.Of(amount.Entry{Name: amount.CPU, Value: s.cpu * 1000}, amount.Entry{Name: amount.Memory, Value: s.mem << 30 * 1000},
				amount.Entry{Name: amount.Pods, Value: (4 + s.cpu*4) * 1000}),
			Overhead: amount.Of(amount.Entry{Name: amount.CPU, Value: 100}, amount.Entry{Name: amount.Memory, Value: 1 << 29 * 1000}),
			Labels: label.SetOf(label.Is(label.InstanceType, s.name), label.Is(label.Arch, s.arch), label.Is(label.OS, "linux"),
				label.Is("example.com/cores", fmt.Sprint(s.cpu))),
		}
		gpus := label.Requirement{Key: "example.com/gpus"}
		if s.gpu > 0 {
			shape.Capacity = shape.Capacity.With("nvidia.com/gpu", s.gpu*1000)
			gpus = label.Is("example.com/gpus", fmt.Sprint(s.gpu))
		}
		var sold []string
		for _, z := range zones {
			if g.chance(85) {
				sold = append(sold, z)
				shape.Offers = append(shape.Offers, world.Offer{Zone: z, CapacityType: label.OnDemand, Price: s.price})
			}
		}
		shape.Labels = shape.Labels.And(gpus).And(label.Is(label.Zone, sold...)).And(label.Is(label.CapacityType, label.OnDemand))
		g.Catalog.Shapes = append(g.Catalog.Shapes, shape)
	}
}

func (g *generator) pool(i int) {
	p := karpv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("pool-%d", i)}}
	t := &p.Spec.Template
	t.Spec.NodeClassRef = &karpv1.NodeClassReference{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: "default"}
	t.Labels = map[string]string{"pool": fmt.Sprint(i)}
	if g.chance(30) {
		w := int32(g.IntN(3) + 1)
		p.Spec.Weight = &w
	}
	if g.chance(40) {
		t.Labels["tier"] = pick(g, "gold", "silver")
	}
	if g.chance(30) {
		t.Spec.Taints = []corev1.Taint{{Key: "only", Value: pick(g, "a", "b", ""), Effect: pick(g, corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute, corev1.TaintEffectPreferNoSchedule)}}
	}
	if g.chance(30) {
		t.Spec.Requirements = append(t.Spec.Requirements, karpv1.Requirement{Key: label.Zone, Operator: corev1.NodeSelectorOpIn, Values: zones[:1+g.IntN(3)]})
	}
	if g.chance(30) {
		t.Spec.Requirements = append(t.Spec.Requirements, karpv1.Requirement{Key: label.Arch, Operator: corev1.NodeSelectorOpIn, Values: []string{"amd64"}})
	}
	if g.chance(20) {
		t.Spec.Requirements = append(t.Spec.Requirements, karpv1.Requirement{Key: "example.com/cores", Operator: corev1.NodeSelectorOpGt, Values: []string{"2"}})
	}
	if g.chance(25) {
		p.Spec.Limits = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(pick(g, "4", "16", "64"))}
	}
	g.Pools = append(g.Pools, p)
}

// daemon runs a pod on every node: it selects nothing and tolerates everything.
func (g *generator) daemon() {
	d := appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Name: "agent", Namespace: "default"}}
	d.Spec.Template.Labels = map[string]string{"app": "agent"}
	d.Spec.Template.Spec = corev1.PodSpec{
		Tolerations: []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
		Containers:  []corev1.Container{{Name: "a", Resources: requests("100m", "128Mi")}},
	}
	if g.chance(30) {
		d.Spec.Template.Spec.Containers[0].Ports = []corev1.ContainerPort{{HostPort: 9100, ContainerPort: 9100}}
	}
	if g.agents {
		g.choosy(&d.Spec.Template.Spec)
	}
	g.Daemons = append(g.Daemons, d)
}

// choosy has a daemon run on some machines only, or keep others away.
func (g *generator) choosy(s *corev1.PodSpec) {
	switch g.IntN(4) {
	case 0:
		s.NodeSelector = map[string]string{"tier": pick(g, "gold", "silver")}
	case 1:
		s.NodeSelector = map[string]string{"pool": "0"}
	}
	if g.chance(15) {
		s.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{g.term()}}}
	}
}

func requests(cpu, memory string) corev1.ResourceRequirements {
	return corev1.ResourceRequirements{Requests: corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory),
	}}
}

// node makes a machine that is there already, of a pool or of somebody else.
func (g *generator) node(i int) {
	name := fmt.Sprintf("node-%d", i)
	zone := pick(g, zones...)
	n := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
		label.Hostname: name, label.Zone: zone, label.Arch: "amd64", label.OS: "linux", label.InstanceType: "s.medium", label.CapacityType: label.OnDemand,
		"example.com/cores": "4",
	}}}
	n.Status.Allocatable = corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("3900m"), corev1.ResourceMemory: resource.MustParse("7680Mi"), corev1.ResourcePods: resource.MustParse("20"),
	}
	n.Status.Capacity = n.Status.Allocatable
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	switch {
	case g.chance(50):
		p := pick(g, g.Pools...)
		n.Labels[label.NodePool], n.Labels[label.Registered], n.Labels[label.Initialized] = p.Name, "true", "true"
		for k, v := range p.Spec.Template.Labels {
			n.Labels[k] = v
		}
		n.Spec.Taints = p.Spec.Template.Spec.Taints
	case g.chance(30):
		n.Spec.Taints = []corev1.Taint{{Key: "eks.amazonaws.com/compute-type", Value: "fargate", Effect: corev1.TaintEffectNoSchedule}}
	case g.chance(10):
		n.Spec.Unschedulable = true
		n.Spec.Taints = []corev1.Taint{{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}}
	case g.chance(10):
		delete(n.Labels, label.Zone)
	}
	g.Nodes = append(g.Nodes, n)
	for j := range g.IntN(4) {
		p := g.plain(fmt.Sprintf("old-%d-%d", i, j), pick(g, "default", "other"), fmt.Sprintf("app-%d", g.IntN(g.apps)))
		p.Spec.NodeName, p.Status.Phase = name, corev1.PodRunning
		p.Spec.Containers[0].Resources = requests(pick(g, "100m", "500m"), "256Mi")
		if g.chance(20) {
			p.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{g.term()}}}
		}
		g.Pods = append(g.Pods, p)
	}
}

func (g *generator) plain(name, namespace, app string) corev1.Pod {
	return corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace, Labels: map[string]string{"app": app}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "a"}}},
	}
}
