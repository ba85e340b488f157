// Package scenario makes worlds as Kubernetes objects, the same ones every time.
//
// A world is a function of the scenario, the number of pods and a seed. Both
// sides get the same objects, and so can tenon plan: see Input.Write.
package scenario

import (
	"math/rand/v2"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	karpv1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/engine/world"
)

// Input is the objects of a world.
type Input struct {
	Pools      []*karpv1.NodePool
	DaemonSets []*appsv1.DaemonSet
	Nodes      []*corev1.Node
	Claims     []*karpv1.NodeClaim
	Bound      []*corev1.Pod
	Pending    []*corev1.Pod
}

// Scenario is a kind of world.
type Scenario struct {
	Name string
	Says string // what it is, in a line
	make func(m *maker, n int)
}

// Make returns a world with n waiting pods.
func (s Scenario) Make(c world.Catalog, n int, seed uint64) Input {
	m := &maker{dice: rand.New(rand.NewPCG(seed, 0x7e0a)), catalog: c}
	s.make(m, n)
	return m.in
}

// maker collects the objects of a world.
type maker struct {
	dice    *rand.Rand
	catalog world.Catalog
	in      Input
}

// All returns every scenario.
func All() []Scenario {
	return []Scenario{
		{"diverse", "applications of 3 to 17 replicas; a fifth each plain, spread over zones, spread over hosts, apart by host, together in a zone", diverse},
		{"groups", "a fifth each plain, spread over zones, spread over hosts, together in a zone, and one large group that must be one a host", groups},
		{"plain", "applications of 1 to 20 replicas without constraints", plain},
		{"homogeneous", "pods that are all alike", homogeneous},
		{"unique", "pods of which no two are alike", unique},
		{"spread", "every application spread over zones and over hosts", spread},
		{"apart", "applications whose replicas keep apart by host, and from a neighbour application", apart},
		{"mix", "amd64, arm64 and either, one pod in fifty with GPUs; a pool each for general use and for GPUs", mix},
		{"trace", "log-normal requests, heavy-tailed replica counts, DaemonSets, one application in five spread over zones", trace},
		{"trace-capped", "the same, with machines of at most 32 vCPUs", traceCapped},
		{"preferences", "pods that would like one zone and a host each", preferences},
		{"zone-apart", "applications of three replicas, one a zone", zoneApart},
		{"same-host", "applications of two to six replicas that share a host", sameHost},
		{"tiny", "a handful of pods, some pinned to a zone, some one a host", tiny},
		{"steady", "2,000 nodes with 31,758 pods, and a burst", steady},
	}
}

// Find returns the scenario of that name.
func Find(name string) (Scenario, bool) {
	for _, s := range All() {
		if s.Name == name {
			return s, true
		}
	}
	return Scenario{}, false
}

// Objects lists all objects of the world.
func (in Input) Objects() []any {
	var out []any
	for _, o := range in.Pools {
		out = append(out, o)
	}
	for _, o := range in.DaemonSets {
		out = append(out, o)
	}
	for _, o := range in.Nodes {
		out = append(out, o)
	}
	for _, o := range in.Claims {
		out = append(out, o)
	}
	for _, o := range in.Bound {
		out = append(out, o)
	}
	for _, o := range in.Pending {
		out = append(out, o)
	}
	return out
}
