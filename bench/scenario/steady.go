package scenario

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	karpv1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/bench/market"
	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/world"
)

// What is there in a steady cluster.
const (
	steadyNodes = 2_000
	steadyPods  = 31_758 // on its nodes, daemons among them
	steadyType  = "m6i.2xlarge"
)

// steady is a cluster that is fairly full, with room for a pod or two on most
// nodes, into which n pods arrive.
func steady(m *maker, n int) {
	m.general(amd64())
	daemons := []*app{m.daemonApp("logs", 100, 200), m.daemonApp("network", 50, 100)}
	shape := m.shape(steadyType)
	for i := range steadyNodes {
		node := m.node(shape, i)
		for _, d := range daemons {
			p := d.pod(i)
			p.Namespace = "kube-system"
			yes := true
			p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet", Name: d.name, UID: types.UID("daemon-" + d.name), Controller: &yes}}
			m.bind(p, node)
		}
	}
	const replicas = 14
	var a *app
	for slot := range steadyPods - len(daemons)*steadyNodes {
		if slot%replicas == 0 {
			a = newApp(fmt.Sprintf("old-%05d", slot/replicas), requests(int64(m.between(40, 52))*10, int64(m.between(64, 118))*16))
			switch (slot / replicas) % 5 {
			case 1:
				a.spread(zoneKey, 1)
			case 3:
				a.avoid(hostKey, a.name)
			}
		}
		m.bind(a.pod(slot%replicas), m.in.Nodes[slot%steadyNodes])
	}
	m.apps(n, 3, 17, func(a *app, i, _ int) {
		switch i % 5 {
		case 1:
			a.spread(zoneKey, 1)
		case 2:
			a.spread(hostKey, 5)
		case 3:
			a.avoid(hostKey, a.name)
		}
	})
}

// daemonApp adds a DaemonSet and returns its pods.
func (m *maker) daemonApp(name string, milliCPU, mebibytes int64) *app {
	d := m.daemon(name, milliCPU, mebibytes)
	return &app{name: name, spec: d.Spec.Template.Spec}
}

// shape finds a type of the catalogue.
func (m *maker) shape(name string) world.Shape {
	i := slices.IndexFunc(m.catalog.Shapes, func(s world.Shape) bool { return s.Name == name })
	if i < 0 {
		panic("the catalogue has no " + name) // it is the bundled one
	}
	return m.catalog.Shapes[i]
}

// node adds the i-th node, of the general pool, and its claim.
func (m *maker) node(shape world.Shape, i int) *corev1.Node {
	name := fmt.Sprintf("node-%05d", i)
	labels := map[string]string{
		karpv1.LabelNodePool: "general", karpv1.LabelRegistered: "true", karpv1.LabelInitialized: "true",
		karpv1.LabelCapacityType: "on-demand", zoneKey: market.Zones()[i%len(market.Zones())], hostKey: name,
	}
	for _, r := range shape.Labels {
		if len(r.Values) == 1 && !r.Not && labels[r.Key] == "" {
			labels[r.Key] = r.Values[0]
		}
	}
	return m.machine(machine{
		name: name, claim: name, id: fmt.Sprintf("i-%017x", i), pool: "general", labels: labels, claimLabels: labels,
		capacity: resources(shape.Capacity), allocatable: resources(shape.Allocatable()),
	})
}

// machine is a node that is complete, and its claim.
type machine struct {
	name, claim, id, pool string
	labels, claimLabels   map[string]string
	capacity, allocatable corev1.ResourceList
	quiet                 bool // nothing has come or gone for as long as its pool waits
}

// machine adds a node and its claim.
func (m *maker) machine(x machine) *corev1.Node {
	yes, id, uid := true, "aws:///"+x.labels[zoneKey]+"/"+x.id, types.UID("claim-"+x.claim)
	node := &corev1.Node{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Node"},
		ObjectMeta: metav1.ObjectMeta{Name: x.name, UID: types.UID(x.name), Labels: x.labels, OwnerReferences: []metav1.OwnerReference{
			{APIVersion: "karpenter.sh/v1", Kind: "NodeClaim", Name: x.claim, UID: uid, BlockOwnerDeletion: &yes},
		}},
		Spec: corev1.NodeSpec{ProviderID: id},
		Status: corev1.NodeStatus{
			Capacity: x.capacity, Allocatable: x.allocatable,
			Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
		},
	}
	claim := &karpv1.NodeClaim{
		TypeMeta:   metav1.TypeMeta{APIVersion: "karpenter.sh/v1", Kind: "NodeClaim"},
		ObjectMeta: metav1.ObjectMeta{Name: x.claim, UID: uid, Labels: x.claimLabels},
	}
	of := m.in.Pools[slices.IndexFunc(m.in.Pools, func(p *karpv1.NodePool) bool { return p.Name == x.pool })]
	claim.Spec.NodeClassRef, claim.Spec.Requirements = of.Spec.Template.Spec.NodeClassRef, of.Spec.Template.Spec.Requirements
	claim.Status.ProviderID, claim.Status.NodeName = id, x.name
	claim.Status.Capacity, claim.Status.Allocatable = x.capacity, x.allocatable
	conditions := []string{karpv1.ConditionLaunched, karpv1.ConditionRegistered, karpv1.ConditionInitialized}
	if x.quiet {
		conditions = append(conditions, karpv1.ConditionConsolidatable)
	}
	for _, c := range conditions {
		claim.Status.Conditions = append(claim.Status.Conditions, metav1.Condition{Type: c, Status: metav1.ConditionTrue, Reason: c})
	}
	m.in.Nodes, m.in.Claims = append(m.in.Nodes, node), append(m.in.Claims, claim)
	return node
}

// bind adds a pod that runs on a node.
func (m *maker) bind(p *corev1.Pod, node *corev1.Node) {
	p.Spec.NodeName, p.Status.Phase = node.Name, corev1.PodRunning
	m.in.Bound = append(m.in.Bound, p)
}

// resources writes amounts as Kubernetes does.
func resources(l amount.List) corev1.ResourceList {
	out := corev1.ResourceList{}
	for _, e := range l {
		format := resource.DecimalSI
		if e.Name == amount.Memory || e.Name == amount.Ephemeral {
			format = resource.BinarySI
		}
		out[corev1.ResourceName(e.Name)] = *resource.NewMilliQuantity(e.Value, format)
	}
	return out
}
