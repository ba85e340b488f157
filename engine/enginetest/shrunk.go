package enginetest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/world"
)

// Shrunk is a cluster that grew in batches, the largest pods of each first onto
// the first machine of at most sixteen cores that held them, and of which the
// applications then shrank unevenly to less than half. About n pods are left.
//
// Half of the applications are plain; of the others some are spread over zones,
// some over hosts, and some keep apart.
func Shrunk(n int, seed uint64) *world.World {
	return ShrunkFrom(Market(), label.SetOf(label.Is(label.CapacityType, label.OnDemand), label.Is(label.Arch, "amd64")), n, seed)
}

// ShrunkFrom is the same with a catalogue, and a pool that buys on demand what its requirements accept.
func ShrunkFrom(c world.Catalog, requirements label.Set, n int, seed uint64) *world.World {
	g := shrinking{b: world.NewBuilder(), d: dice(seed), market: c}
	must(g.b.SetCatalog(g.market))
	wait := int64(0)
	g.pool = world.Pool{
		ID: world.PoolID{Kind: world.NodePool, Name: "general"}, Template: c.Template, Requirements: requirements,
		Disruption: world.PoolDisruption{EmptyAfter: &wait, MoveAfter: &wait},
	}
	for _, o := range c.Shapes[0].Offers {
		if !slices.Contains(g.zones, o.Zone) {
			g.zones = append(g.zones, o.Zone)
		}
	}
	must(g.b.SetPool(g.pool))
	for g.kept < n {
		for range max(n/100, 20) {
			g.deploy()
		}
		g.pack()
	}
	return g.b.Snapshot(3600) // nothing has come or gone lately
}

// shrinking fills machines.
type shrinking struct {
	b      *world.Builder
	d      dice
	market world.Catalog
	pool   world.Pool
	zones  []string
	batch  []newPod
	apps   int
	nodes  int
	kept   int
}

// newPod is a pod of the batch. Those that do not stay leave only their room.
type newPod struct {
	pod     world.Pod
	zone    string // if it is to be in one
	perHost int
	stays   bool
}

// filledMachine is a machine that is being filled.
type filledMachine struct {
	name, zone  string
	cpu, memory int64
	pods        int
	apps        map[string]int
}

// deploy adds the pods of one application to the batch.
func (g *shrinking) deploy() {
	d := &g.d
	name := fmt.Sprintf("app-%05d", g.apps)
	replicas := 1 + d.roll(1+d.roll(60))
	s := newPod{pod: world.Pod{Labels: map[string]string{"app": name}}, perHost: replicas}
	cpu, memory := int64(1+d.roll(1+d.roll(24)))*100, int64(1+d.roll(1+d.roll(40)))*gi/8
	s.pod.Requests = amount.Of(amount.Entry{Name: amount.CPU, Value: cpu}, amount.Entry{Name: amount.Memory, Value: memory}, amount.Entry{Name: amount.Pods, Value: amount.Unit})
	zonal := false
	switch g.apps % 8 {
	case 1, 5:
		s.pod.Spread, zonal = []world.Spread{{Key: label.Zone, MaxSkew: 1, Selector: app(name)}}, true
	case 2:
		s.pod.Spread, s.perHost = []world.Spread{{Key: label.Hostname, MaxSkew: 5, Selector: app(name)}}, 5
	case 3:
		if replicas < 8 {
			s.pod.PodTerms, s.perHost = []world.PodTerm{{Anti: true, Key: label.Hostname, Selector: app(name), Namespaces: []string{"default"}}}, 1
		}
	}
	share := d.roll(90)
	for j := range replicas {
		s.pod.Key = world.Key{Namespace: "default", Name: fmt.Sprintf("%s-%d", name, j)}
		s.stays = d.roll(100) < share
		if zonal {
			s.zone, s.stays = g.zones[j%len(g.zones)], j < replicas*share/100/len(g.zones)*len(g.zones)
		}
		g.batch = append(g.batch, s)
	}
	g.apps++
}

// pack puts the batch onto machines, each of which then becomes the cheapest that holds what it got.
func (g *shrinking) pack() {
	const cores, memory, pods = 15_500, 110 * gi, 110
	slices.SortStableFunc(g.batch, func(a, b newPod) int {
		return cmp.Compare(b.pod.Requests.Value(amount.CPU), a.pod.Requests.Value(amount.CPU))
	})
	var open []*filledMachine
	for _, s := range g.batch {
		i := slices.IndexFunc(open, func(v *filledMachine) bool { return v.takes(s) })
		if i < 0 {
			i = len(open)
			g.nodes++
			zone := cmp.Or(s.zone, g.zones[g.nodes%len(g.zones)])
			open = append(open, &filledMachine{name: fmt.Sprintf("node-%05d", g.nodes), zone: zone, cpu: cores, memory: memory, pods: pods, apps: map[string]int{}})
		}
		v := open[i]
		v.cpu -= s.pod.Requests.Value(amount.CPU)
		v.memory -= s.pod.Requests.Value(amount.Memory)
		v.pods--
		v.apps[s.pod.Labels["app"]]++
		if s.stays {
			g.kept++
			s.pod.Node = v.name
			must(g.b.SetPod(s.pod))
		}
	}
	for _, v := range open {
		Join(g.b, &g.pool, g.cheapest(cores-v.cpu, memory-v.memory, int64(pods-v.pods)), world.Offer{Zone: v.zone, CapacityType: label.OnDemand}, v.name)
	}
	g.batch = nil
}

func (v *filledMachine) takes(s newPod) bool {
	return v.cpu >= s.pod.Requests.Value(amount.CPU) && v.memory >= s.pod.Requests.Value(amount.Memory) && v.pods > 0 &&
		v.apps[s.pod.Labels["app"]] < s.perHost && (s.zone == "" || v.zone == s.zone)
}

// cheapest is the cheapest type of machine with so much room.
func (g *shrinking) cheapest(cpu, memory, pods int64) *world.Shape {
	need := amount.Of(amount.Entry{Name: amount.CPU, Value: cpu}, amount.Entry{Name: amount.Memory, Value: memory}, amount.Entry{Name: amount.Pods, Value: pods * amount.Unit})
	return cheapest(&g.market, &g.pool, need)
}

// cheapest is the type that costs least on demand among those with so much room that the pool may buy.
func cheapest(c *world.Catalog, pool *world.Pool, need amount.List) *world.Shape {
	var best *world.Shape
	for i := range c.Shapes {
		s := &c.Shapes[i]
		if onDemand(s) == 0 || !buys(pool, s) || !need.Fits(s.Allocatable()) {
			continue
		}
		if best == nil || cmp.Or(cmp.Compare(onDemand(s), onDemand(best)), strings.Compare(s.Name, best.Name)) < 0 {
			best = s
		}
	}
	return best
}

// onDemand is what a type costs on demand; 0 if it is not sold.
func onDemand(s *world.Shape) money.Micro {
	for _, o := range s.Offers {
		if o.CapacityType == label.OnDemand && !o.Gone {
			return o.Price
		}
	}
	return 0
}

// buys reports whether the pool's requirements accept the type.
func buys(pool *world.Pool, s *world.Shape) bool {
	for _, r := range pool.Requirements {
		if r.Key == label.Zone || r.Key == label.CapacityType {
			continue
		}
		if l, ok := s.Labels.Find(r.Key); !ok || !l.Meets(r) {
			return false
		}
	}
	return true
}
