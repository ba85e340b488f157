package enginetest

import (
	"fmt"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/world"
)

// dice is a sequence of numbers that look like chance and are always the same.
type dice uint64

func (d *dice) roll(n int) int {
	*d = *d*6364136223846793005 + 1442695040888963407
	return int(uint64(*d)>>33) % n
}

const gi = int64(1<<30) * amount.Unit

// Market is a catalogue of 800 types in three zones, on demand and spot, priced much as clouds do.
func Market() world.Catalog {
	c := world.Catalog{Template: "t", Region: "r"}
	var d dice
	for _, category := range []struct {
		name      string
		ratio     int64
		perCore   int64
		perMemory int64
	}{{"c", 2, 36_000, 2_500}, {"m", 4, 36_000, 2_500}, {"r", 8, 36_000, 2_500}} {
		for generation := 5; generation <= 8; generation++ {
			for _, variant := range []string{"", "a", "i", "g", "d", "n"} {
				for _, cores := range []int64{2, 4, 8, 16, 32, 48, 64, 96, 128, 192, 24} {
					if len(c.Shapes) == 800 {
						return c
					}
					name := fmt.Sprintf("%s%d%s.%d", category.name, generation, variant, cores)
					memory := cores * category.ratio
					price := money.Micro(cores*category.perCore+memory*category.perMemory).Part(int64(90+d.roll(25)), 100)
					arch := "amd64"
					if variant == "g" {
						arch, price = "arm64", price.Part(8, 10)
					}
					s := world.Shape{
						Name: name,
						Capacity: amount.Of(amount.Entry{Name: amount.CPU, Value: cores * amount.Unit}, amount.Entry{Name: amount.Memory, Value: memory * gi * 93 / 100},
							amount.Entry{Name: amount.Pods, Value: min(cores*15+10, 234) * amount.Unit}),
						Overhead: amount.Of(amount.Entry{Name: amount.CPU, Value: 60 + cores*2}, amount.Entry{Name: amount.Memory, Value: gi / 2}),
						Labels: label.Exactly(map[string]string{
							label.InstanceType: name, label.Arch: arch, label.OS: "linux",
							"karpenter.k8s.aws/instance-category": category.name, "karpenter.k8s.aws/instance-family": fmt.Sprintf("%s%d%s", category.name, generation, variant),
							"karpenter.k8s.aws/instance-cpu": fmt.Sprint(cores), "karpenter.k8s.aws/instance-generation": fmt.Sprint(generation),
						}),
					}
					for _, z := range []string{"a", "b", "c"} {
						s.Offers = append(s.Offers, world.Offer{Zone: z, CapacityType: label.OnDemand, Price: price},
							world.Offer{Zone: z, CapacityType: label.Spot, Price: price.Part(int64(30+d.roll(25)), 100), Synthetic: true})
					}
					c.Shapes = append(c.Shapes, s)
				}
			}
		}
	}
	return c
}

// Diverse is n pods of many kinds: a fifth each plain, spread by zone, spread by host, kept apart by host, and together by zone.
func Diverse(n int) *world.World {
	b := world.NewBuilder()
	must(b.SetCatalog(Market()))
	must(b.SetPool(world.Pool{ID: world.PoolID{Kind: world.NodePool, Name: "general"}, Template: "t", Requirements: label.SetOf(label.Is(label.CapacityType, label.OnDemand))}))
	var d dice
	for i := range n {
		name := fmt.Sprintf("pod-%06d", i)
		app := fmt.Sprintf("app-%d", d.roll(n/10+1))
		p := world.Pod{Key: world.Key{Namespace: "default", Name: name}, Waiting: true, Labels: map[string]string{"app": app, "name": name}}
		p.Requests = amount.Of(amount.Entry{Name: amount.CPU, Value: int64(1+d.roll(40)) * 100}, amount.Entry{Name: amount.Memory, Value: int64(1+d.roll(64)) * gi / 8},
			amount.Entry{Name: amount.Pods, Value: amount.Unit})
		must(b.SetPod(p))
	}
	return b.Snapshot(0)
}

// Apps is n pods in deployments of ten: a fifth each plain, spread by zone, spread by host, apart by host, together by zone.
func Apps(n int) *world.World {
	b := world.NewBuilder()
	must(b.SetCatalog(Market()))
	must(b.SetPool(world.Pool{ID: world.PoolID{Kind: world.NodePool, Name: "general"}, Template: "t", Requirements: label.SetOf(label.Is(label.CapacityType, label.OnDemand))}))
	var d dice
	for i := range n / 10 {
		name := fmt.Sprintf("app-%05d", i)
		p := world.Pod{Waiting: true, Labels: map[string]string{"app": name}}
		p.Requests = amount.Of(amount.Entry{Name: amount.CPU, Value: int64(1+d.roll(40)) * 100}, amount.Entry{Name: amount.Memory, Value: int64(1+d.roll(64)) * gi / 8},
			amount.Entry{Name: amount.Pods, Value: amount.Unit})
		switch i % 5 {
		case 1:
			p.Spread = []world.Spread{{Key: label.Zone, MaxSkew: 1, Selector: app(name)}}
		case 2:
			p.Spread = []world.Spread{{Key: label.Hostname, MaxSkew: 1, Selector: app(name)}}
		case 3:
			p.PodTerms = []world.PodTerm{{Anti: true, Key: label.Hostname, Selector: app(name), Namespaces: []string{"default"}}}
		case 4:
			p.PodTerms = []world.PodTerm{{Key: label.Zone, Selector: app(name), Namespaces: []string{"default"}}}
		}
		for j := range 10 {
			p.Key = world.Key{Namespace: "default", Name: fmt.Sprintf("%s-%d", name, j)}
			must(b.SetPod(p))
		}
	}
	return b.Snapshot(0)
}

// Deployments is n workloads of so many pods each, without constraints, of which no two ask for the same.
func Deployments(n, replicas int) *world.World {
	b := Apps(0).Edit()
	for i := range n {
		p := world.Pod{Waiting: true, Labels: map[string]string{"app": "x"}}
		p.Requests = amount.Of(amount.Entry{Name: amount.CPU, Value: int64(100 + 4*(i%977))}, amount.Entry{Name: amount.Memory, Value: gi/8 + int64(i)*4096*amount.Unit},
			amount.Entry{Name: amount.Pods, Value: amount.Unit})
		for j := range replicas {
			p.Key = world.Key{Namespace: "default", Name: fmt.Sprintf("app-%07d-%07d", i, j)}
			must(b.SetPod(p))
		}
	}
	return b.Snapshot(0)
}

// Steady is a cluster of n nodes with sixteen pods each, and a burst of waiting pods.
func Steady(n, burst int) *world.World {
	b := world.NewBuilder()
	must(b.SetCatalog(Market()))
	must(b.SetPool(world.Pool{ID: world.PoolID{Kind: world.NodePool, Name: "general"}, Template: "t", Requirements: label.SetOf(label.Is(label.CapacityType, label.OnDemand))}))
	var d dice
	for i := range n {
		node := fmt.Sprintf("node-%05d", i)
		room := amount.Of(amount.Entry{Name: amount.CPU, Value: 7900}, amount.Entry{Name: amount.Memory, Value: 30 * gi}, amount.Entry{Name: amount.Pods, Value: 58 * amount.Unit})
		must(b.SetNode(world.Node{
			Name: node, Capacity: room, Allocatable: room, Ready: true, Pool: world.PoolID{Kind: world.NodePool, Name: "general"},
			Labels: map[string]string{
				label.Hostname: node, label.Zone: string(rune('a' + d.roll(3))), label.NodePool: "general", label.Initialized: "true", label.InstanceType: "m5.8", label.CapacityType: label.OnDemand,
				label.Arch: "amd64", label.OS: "linux",
			},
		}))
		for j := range 16 {
			app1 := fmt.Sprintf("app-%d", d.roll(300))
			must(b.SetPod(world.Pod{
				Key: world.Key{Namespace: "default", Name: fmt.Sprintf("run-%d-%d", i, j)}, Node: node, Labels: map[string]string{"app": app1, "tier": "x"},
				Requests: amount.Of(amount.Entry{Name: amount.CPU, Value: int64(1+d.roll(9)) * 100}, amount.Entry{Name: amount.Memory, Value: int64(1+d.roll(7)) * gi / 2},
					amount.Entry{Name: amount.Pods, Value: amount.Unit}),
			}))
		}
	}
	for i := range burst {
		name := fmt.Sprintf("app-%d", i/10)
		p := world.Pod{Key: world.Key{Namespace: "default", Name: fmt.Sprintf("new-%05d", i)}, Waiting: true, Labels: map[string]string{"app": name}}
		p.Requests = amount.Of(amount.Entry{Name: amount.CPU, Value: int64(1+(i/10)%20) * 100}, amount.Entry{Name: amount.Memory, Value: int64(1+(i/10)%13) * gi / 4}, amount.Entry{Name: amount.Pods, Value: amount.Unit})
		switch i / 10 % 5 {
		case 1:
			p.Spread = []world.Spread{{Key: label.Zone, MaxSkew: 1, Selector: app(name)}}
		case 2:
			p.Spread = []world.Spread{{Key: label.Hostname, MaxSkew: 1, Selector: app(name)}}
		case 3:
			p.PodTerms = []world.PodTerm{{Anti: true, Key: label.Hostname, Selector: app(name), Namespaces: []string{"default"}}}
		}
		must(b.SetPod(p))
	}
	return b.Snapshot(0)
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// Wishful is n pods in deployments of twenty with soft terms: apart by host, spread by zone and by host, a preferred zone.
func Wishful(n int) *world.World {
	b := Apps(0).Edit()
	var d dice
	for i := range n / 20 {
		name := fmt.Sprintf("app-%05d", i)
		p := world.Pod{Waiting: true, Labels: map[string]string{"app": name}}
		p.Requests = amount.Of(amount.Entry{Name: amount.CPU, Value: int64(1+d.roll(20)) * 100}, amount.Entry{Name: amount.Memory, Value: int64(1+d.roll(32)) * gi / 8},
			amount.Entry{Name: amount.Pods, Value: amount.Unit})
		switch i % 4 {
		case 0:
			p.PodTerms = []world.PodTerm{{Anti: true, Weight: 100, Key: label.Hostname, Selector: app(name), Namespaces: []string{"default"}}}
		case 1:
			p.Spread = []world.Spread{{Key: label.Zone, MaxSkew: 1, Soft: true, Selector: app(name)}, {Key: label.Hostname, MaxSkew: 1, Soft: true, Selector: app(name)}}
		case 2:
			p.NodeWishes = []world.NodeWish{{Weight: 50, Term: world.NodeTerm{Labels: label.SetOf(label.Is(label.Zone, "b"))}}}
		}
		for j := range 20 {
			p.Key = world.Key{Namespace: "default", Name: fmt.Sprintf("%s-%d", name, j)}
			must(b.SetPod(p))
		}
	}
	return b.Snapshot(0)
}

// Limited is Apps of n pods under limits that leave some out, in pools of two weights.
func Limited(n int) *world.World {
	b := Apps(n).Edit()
	for i, name := range []string{"general", "second"} {
		must(b.SetPool(world.Pool{
			ID: world.PoolID{Kind: world.NodePool, Name: name}, Template: "t", Weight: int32(i), Requirements: label.SetOf(label.Is(label.CapacityType, label.OnDemand)),
			Limits: amount.Of(amount.Entry{Name: amount.CPU, Value: int64(n) * 800}, amount.Entry{Name: amount.Nodes, Value: int64(n) * 100}),
		}))
	}
	return b.Snapshot(0)
}

// Hopeless is n pods of many kinds that nothing takes, beside a thousand full nodes.
func Hopeless(n int) *world.World {
	b := Steady(1000, 0).Edit()
	var d dice
	for i := range n {
		p := world.Pod{Key: world.Key{Namespace: "default", Name: fmt.Sprintf("pod-%05d", i)}, Waiting: true, Labels: map[string]string{"app": "x"}}
		p.Requests = amount.Of(amount.Entry{Name: amount.CPU, Value: int64(300+d.roll(2000)) * 1000}, amount.Entry{Name: amount.Pods, Value: amount.Unit})
		if i%2 == 0 {
			p.NodeSelector = label.SetOf(label.Is(label.Zone, fmt.Sprint("z", i%10)))
		}
		if i%3 == 0 {
			p.Spread = []world.Spread{{Key: label.Zone, MaxSkew: 1, Selector: app("x")}}
		}
		must(b.SetPod(p))
	}
	return b.Snapshot(0)
}

// Tangled is n pods a sixth each plain, spread by zone and by host among pods of
// a label that need not be their own, together by zone and by host, and all of a kind apart by host.
func Tangled(n int) *world.World {
	b := world.NewBuilder()
	must(b.SetCatalog(Market()))
	must(b.SetPool(world.Pool{ID: world.PoolID{Kind: world.NodePool, Name: "general"}, Template: "t", Requirements: label.SetOf(label.Is(label.CapacityType, label.OnDemand))}))
	var d dice
	letter := func() string { return string(rune('a' + d.roll(7))) }
	for i := range n {
		p := world.Pod{Key: world.Key{Namespace: "default", Name: fmt.Sprintf("pod-%05d", i)}, Waiting: true}
		p.Requests = amount.Of(amount.Entry{Name: amount.CPU, Value: []int64{100, 250, 500, 1000, 1500}[d.roll(5)]},
			amount.Entry{Name: amount.Memory, Value: []int64{100, 256, 512, 1024, 2048, 4096}[d.roll(6)] * gi / 1024}, amount.Entry{Name: amount.Pods, Value: amount.Unit})
		mine := label.SetOf(label.Is("my-label", letter()))
		p.Labels = map[string]string{"my-label": letter()}
		near := letter()
		company := world.PodTerm{Selector: world.Selector{Some: true, Set: label.SetOf(label.Is("my-affinity", near))}, Namespaces: []string{"default"}}
		switch i % 6 {
		case 1:
			p.Spread = []world.Spread{{Key: label.Zone, MaxSkew: 1, Selector: world.Selector{Some: true, Set: mine}}}
		case 2:
			p.Spread = []world.Spread{{Key: label.Hostname, MaxSkew: 1, Selector: world.Selector{Some: true, Set: mine}}}
		case 3, 4:
			company.Key = []string{label.Zone, label.Hostname}[i%6-3]
			p.Labels, p.PodTerms = map[string]string{"my-affinity": near}, []world.PodTerm{company}
		case 5:
			p.Labels = map[string]string{"app": "nginx"}
			p.PodTerms = []world.PodTerm{{Anti: true, Key: label.Hostname, Selector: app("nginx"), Namespaces: []string{"default"}}}
		}
		must(b.SetPod(p))
	}
	return b.Snapshot(0)
}

// Chain is n pods of which each wants the company of the next by name in its zone.
func Chain(n int) *world.World {
	b := Apps(0).Edit()
	for i := range n {
		p := world.Pod{
			Key: world.Key{Namespace: "default", Name: fmt.Sprintf("pod-%06d", i)}, Waiting: true, Labels: map[string]string{"app": fmt.Sprint(i)},
			Requests: amount.Of(amount.Entry{Name: amount.CPU, Value: 100}, amount.Entry{Name: amount.Memory, Value: gi / 8}, amount.Entry{Name: amount.Pods, Value: amount.Unit}),
		}
		if i+1 < n {
			p.PodTerms = []world.PodTerm{{Key: label.Zone, Selector: app(fmt.Sprint(i + 1)), Namespaces: []string{"default"}}}
		}
		must(b.SetPod(p))
	}
	return b.Snapshot(0)
}

// Tenants is n pools of 800 types each, every one for a team that has a taint and
// a label of its own, and pods of fifty of the teams.
func Tenants(n, pods int) *world.World {
	b := world.NewBuilder()
	must(b.SetCatalog(Market()))
	team := func(i int) string { return fmt.Sprintf("team-%04d", i) }
	for i := range n {
		must(b.SetPool(world.Pool{
			ID: world.PoolID{Kind: world.NodePool, Name: team(i)}, Template: "t", Labels: map[string]string{"team": team(i)},
			Taints: []world.Taint{{Key: "team", Value: team(i), Effect: world.NoSchedule}},
		}))
	}
	var d dice
	for i := range pods {
		mine := team(d.roll(50) * n / 50)
		must(b.SetPod(world.Pod{
			Key: world.Key{Namespace: "default", Name: fmt.Sprintf("pod-%05d", i)}, Waiting: true,
			NodeSelector: label.SetOf(label.Is("team", mine)), Tolerations: []world.Toleration{{Key: "team", Value: mine, Effect: world.NoSchedule}},
			Requests: amount.Of(amount.Entry{Name: amount.CPU, Value: int64(1+d.roll(40)) * 100}, amount.Entry{Name: amount.Memory, Value: int64(1+d.roll(64)) * gi / 8},
				amount.Entry{Name: amount.Pods, Value: amount.Unit}),
		}))
	}
	return b.Snapshot(0)
}

// Open is n pools of 800 types each that every pod may use, and so many pods.
// Each pool has a label of its own that no pod asks for.
func Open(n, pods int) *world.World {
	b := world.NewBuilder()
	must(b.SetCatalog(Market()))
	for i := range n {
		name := fmt.Sprintf("team-%04d", i)
		must(b.SetPool(world.Pool{ID: world.PoolID{Kind: world.NodePool, Name: name}, Template: "t", Labels: map[string]string{"team": name}}))
	}
	var d dice
	for i := range pods {
		must(b.SetPod(world.Pod{
			Key: world.Key{Namespace: "default", Name: fmt.Sprintf("pod-%05d", i)}, Waiting: true,
			Requests: amount.Of(amount.Entry{Name: amount.CPU, Value: int64(1+d.roll(40)) * 100}, amount.Entry{Name: amount.Memory, Value: int64(1+d.roll(64)) * gi / 8},
				amount.Entry{Name: amount.Pods, Value: amount.Unit}),
		}))
	}
	return b.Snapshot(0)
}

// Drifted is the World in which all nodes of pools are claims' and have drifted an hour after they joined.
func Drifted(w *world.World) *world.World {
	b := w.Edit()
	const hour = 3600
	for _, p := range w.Places() {
		if p.Node == nil || p.Node.Pool == (world.PoolID{}) {
			continue
		}
		n := *p.Node
		c := world.Claim{
			Name: n.Name, Node: n.Name, Pool: n.Pool, Template: "t", ProviderID: n.Name, Labels: n.Labels, Capacity: n.Capacity, Allocatable: n.Allocatable,
			Launched: true, Registered: true, Initialized: true, Drifted: "NodeClassDrifted",
		}
		if p.Claim != nil {
			b.DeleteClaim(p.Claim.Name)
		}
		n.Claim = n.Name
		must(b.SetNode(n))
		must(b.SetClaim(c))
	}
	return b.Snapshot(w.At() + hour)
}
