package oracle

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	karpv1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/provision"
	"github.com/tenon-sh/tenon/engine/solve"
	"github.com/tenon-sh/tenon/engine/world"
)

// handful is a cluster of a few waiting pods and no machine, told twice: as a
// cluster, and in numbers from which the least price is found by looking at
// every way to share machines.
type handful struct {
	*Cluster
	offers []sale
	pods   []need
}

// sale is a machine that may be bought, with what is left beside overhead and daemons.
type sale struct {
	cpu, memory, pods int64 // thousandths of a core, MiB, a count
	zone, arch        string
	price             money.Micro
}

// need is what a pod needs.
type need struct {
	cpu, memory int64
	zone, arch  string // empty: any
	port        bool   // a port of the host
	apart       int    // 1 and more: pods of the same number keep off each other's host
}

const (
	overheadCPU, overheadMemory = 100, 512
	daemonCPU, daemonMemory     = 150, 256
)

// tiny makes the handful of a seed. Each pod fits at least one machine.
func tiny(seed uint64) handful {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 4)), Cluster: &Cluster{}}
	g.Namespaces = []corev1.Namespace{{ObjectMeta: metav1.ObjectMeta{Name: "default", Labels: map[string]string{"kubernetes.io/metadata.name": "default"}}}}
	pool := karpv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "general"}}
	pool.Spec.Template.Spec.NodeClassRef = &karpv1.NodeClassReference{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: "default"}
	g.Pools = []karpv1.NodePool{pool}
	h := handful{Cluster: g.Cluster}
	if g.chance(30) {
		g.daemon()
		g.Daemons[0].Spec.Template.Spec.Containers[0] = corev1.Container{Name: "a", Resources: requests(fmt.Sprintf("%dm", daemonCPU), fmt.Sprintf("%dMi", daemonMemory))}
	}
	g.market(&h)
	var kinds []need
	for i := range 1 + g.IntN(5) {
		n := need{cpu: pick[int64](g, 100, 500, 1000, 1500, 3000, 3600), memory: pick[int64](g, 128, 512, 1024, 3000, 7000, 12000), port: g.chance(12)}
		if g.chance(30) {
			n.zone = pick(g, zones[:2]...)
		}
		if g.chance(15) {
			n.arch = pick(g, "amd64", "arm64")
		}
		if g.chance(20) {
			n.apart = 1 + i
		}
		if _, ok := h.cheapest([]need{n}); ok {
			kinds = append(kinds, n)
		}
	}
	if len(kinds) == 0 {
		kinds = []need{{cpu: 100, memory: 128}}
	}
	for i := range 1 + g.IntN(8) {
		n := pick(g, kinds...)
		h.pods = append(h.pods, n)
		g.Pods = append(g.Pods, g.needing(i, n))
	}
	return h
}

// market puts machines of several sizes on sale, at another price in each zone; some are not sold in one of them.
func (g *generator) market(h *handful) {
	g.Catalog = world.Catalog{Template: class, Version: "1"}
	var taken sale
	if len(g.Daemons) > 0 {
		taken = sale{cpu: daemonCPU, memory: daemonMemory, pods: 1}
	}
	for _, arch := range []string{"amd64", "arm64"} {
		for _, per := range []int64{2, 4, 8} {
			for cpu := int64(2); cpu <= 8; cpu *= 2 {
				shape := world.Shape{
					Name: fmt.Sprintf("%s%d.%d", arch[:2], per, cpu),
					Capacity: amount.Of(amount.Entry{Name: amount.CPU, Value: cpu * 1000}, amount.Entry{Name: amount.Memory, Value: cpu * per << 30 * 1000},
						amount.Entry{Name: amount.Pods, Value: (2 + cpu) * 1000}),
					Overhead: amount.Of(amount.Entry{Name: amount.CPU, Value: overheadCPU}, amount.Entry{Name: amount.Memory, Value: overheadMemory << 20 * 1000}),
				}
				var sold []string
				for _, z := range zones[:2] {
					if cpu > 2 && g.chance(15) {
						continue
					}
					price := money.Micro(cpu*20_000 + cpu*per*3_000 + int64(g.IntN(11)-5)*1000)
					if arch == "arm64" {
						price = price.Part(85, 100)
					}
					sold = append(sold, z)
					shape.Offers = append(shape.Offers, world.Offer{Zone: z, CapacityType: label.OnDemand, Price: price})
					h.offers = append(h.offers, sale{
						cpu: cpu*1000 - overheadCPU - taken.cpu, memory: cpu*per<<10 - overheadMemory - taken.memory, pods: 2 + cpu - taken.pods,
						zone: z, arch: arch, price: price,
					})
				}
				if len(sold) == 0 {
					continue
				}
				shape.Labels = label.SetOf(label.Is(label.InstanceType, shape.Name), label.Is(label.Arch, arch), label.Is(label.OS, "linux"),
					label.Is(label.Zone, sold...), label.Is(label.CapacityType, label.OnDemand))
				g.Catalog.Shapes = append(g.Catalog.Shapes, shape)
			}
		}
	}
}

// needing is the waiting pod of a need.
func (g *generator) needing(i int, n need) corev1.Pod {
	p := g.plain(fmt.Sprintf("p%d", i), "default", fmt.Sprintf("app-%d", n.apart))
	p.UID = types.UID("uid-" + p.Name)
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable}}
	p.Spec.Containers[0].Resources = requests(fmt.Sprintf("%dm", n.cpu), fmt.Sprintf("%dMi", n.memory))
	p.Spec.NodeSelector = map[string]string{}
	if n.zone != "" {
		p.Spec.NodeSelector[label.Zone] = n.zone
	}
	if n.arch != "" {
		p.Spec.NodeSelector[label.Arch] = n.arch
	}
	if n.port {
		p.Spec.Containers[0].Ports = []corev1.ContainerPort{{HostPort: 8080, ContainerPort: 80}}
	}
	if n.apart > 0 {
		p.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{
			{TopologyKey: label.Hostname, LabelSelector: &metav1.LabelSelector{MatchLabels: p.Labels}},
		}}}
	}
	return p
}

// cheapest is the price of the cheapest machine that takes the pods together.
func (h handful) cheapest(pods []need) (price money.Micro, ok bool) {
	var all need
	ports, apart := 0, map[int]bool{}
	for _, p := range pods {
		if p.zone != "" && all.zone != "" && p.zone != all.zone || p.arch != "" && all.arch != "" && p.arch != all.arch || p.apart > 0 && apart[p.apart] {
			return 0, false
		}
		all.zone, all.arch = max(all.zone, p.zone), max(all.arch, p.arch)
		all.cpu, all.memory = all.cpu+p.cpu, all.memory+p.memory
		apart[p.apart] = true
		if p.port {
			ports++
		}
	}
	for _, s := range h.offers {
		fits := all.cpu <= s.cpu && all.memory <= s.memory && int64(len(pods)) <= s.pods && ports <= 1
		if fits && (all.zone == "" || all.zone == s.zone) && (all.arch == "" || all.arch == s.arch) && (!ok || s.price < price) {
			price, ok = s.price, true
		}
	}
	return price, ok
}

// optimum is the least price of machines for all pods.
func (h handful) optimum() money.Micro {
	least, alone := make([]money.Micro, 1<<len(h.pods)), make([]money.Micro, 1<<len(h.pods))
	for set := 1; set < len(least); set++ {
		var pods []need
		for rest := uint(set); rest > 0; rest &= rest - 1 {
			pods = append(pods, h.pods[bits.TrailingZeros(rest)])
		}
		least[set], alone[set] = math.MaxInt64/2, math.MaxInt64/2
		if price, ok := h.cheapest(pods); ok {
			alone[set] = price
		}
		first := set & -set
		for part := set; part > 0; part = (part - 1) & set {
			if part&first != 0 {
				least[set] = min(least[set], alone[part]+least[set&^part])
			}
		}
	}
	return least[len(least)-1]
}

// tryTiny compares the price of a plan, and the bound that it says, with the
// least price there is: no plan is cheaper, none is dearer than a handful may
// be for the sake of fewer machines, and the bound is not above it.
func tryTiny(seed uint64) (Trial, error) {
	h := tiny(seed)
	w, err := h.world()
	if err != nil {
		return Trial{}, err
	}
	p := provision.Decide(w, provision.Options{})
	t := Trial{Placed: len(h.pods) - len(p.Refused), Refused: len(p.Refused)}
	least := h.optimum()
	var wrong []string
	if len(p.Refused) > 0 {
		wrong = append(wrong, "pods are refused that each fit some machine")
	}
	if p.Cost < least {
		wrong = append(wrong, "the plan is cheaper than what is possible")
	}
	if p.Cost > solve.PriceCeiling(least) {
		wrong = append(wrong, "the plan is dearer than it may be")
	}
	if p.Bound > least {
		wrong = append(wrong, "the bound is above the optimum")
	}
	if len(wrong) > 0 {
		t.Wrong = append(t.Wrong, fmt.Sprintf("%s: price %d, optimum %d, bound %d\n%s", strings.Join(wrong, ", "), p.Cost, least, p.Bound, p.Text(true)))
	}
	return t, nil
}
