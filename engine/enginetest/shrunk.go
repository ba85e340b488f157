package enginetest

import (
	"fmt"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
)

// Shrunk is a cluster that grew batch by batch, each packed first fit onto the
// machines that hold most, and of which the applications then shrank unevenly
// to less than half. About n pods are left.
//
// Half of the applications are plain; of the others some are spread over zones,
// some over hosts, and some keep apart.
func Shrunk(n int, seed uint64) *world.World {
	g := grower{b: world.NewBuilder(), d: dice(seed), market: Market()}
	must(g.b.SetCatalog(g.market))
	wait := int64(0)
	g.pool = world.Pool{
		ID: world.PoolID{Kind: world.NodePool, Name: "general"}, Template: "t",
		Requirements: label.SetOf(label.Is(label.CapacityType, label.OnDemand), label.Is(label.Arch, "amd64")),
		Disruption:   world.PoolDisruption{EmptyAfter: &wait, MoveAfter: &wait},
	}
	must(g.b.SetPool(g.pool))
	for i := 0; g.kept < n; i++ {
		g.grow(i)
	}
	return g.b.Snapshot(0)
}

// grower fills machines.
type grower struct {
	b      *world.Builder
	d      dice
	market world.Catalog
	pool   world.Pool
	open   []*vessel // machines with room, of the batch
	nodes  int
	kept   int
}

// vessel is a machine that is being filled.
type vessel struct {
	name, zone  string
	cpu, memory int64
	pods        int
	apps        map[string]int
}

// grow adds one application: all of its replicas take part in filling, and some stay.
func (g *grower) grow(i int) {
	d := &g.d
	if i%100 == 0 {
		g.open = nil // the next batch finds the others full
	}
	name := fmt.Sprintf("app-%05d", i)
	replicas := 1 + d.roll(1+d.roll(60))
	stays := d.roll(90)
	p := world.Pod{Labels: map[string]string{"app": name}}
	cpu, memory := int64(1+d.roll(1+d.roll(24)))*100, int64(1+d.roll(1+d.roll(40)))*gi/8
	p.Requests = amount.Of(amount.Entry{Name: amount.CPU, Value: cpu}, amount.Entry{Name: amount.Memory, Value: memory}, amount.Entry{Name: amount.Pods, Value: amount.Unit})
	perHost, zonal := replicas, false
	switch i % 8 {
	case 1, 5:
		p.Spread, zonal = []world.Spread{{Key: label.Zone, MaxSkew: 1, Selector: app(name)}}, true
	case 2:
		p.Spread, perHost = []world.Spread{{Key: label.Hostname, MaxSkew: 5, Selector: app(name)}}, 5
	case 3:
		if replicas < 8 {
			p.PodTerms, perHost = []world.PodTerm{{Anti: true, Key: label.Hostname, Selector: app(name), Namespaces: []string{"default"}}}, 1
		}
	}
	for j := range replicas {
		zone := ""
		if zonal {
			zone = string(rune('a' + j%3))
		}
		at := g.room(name, zone, cpu, memory, perHost)
		if zonal && j >= replicas*stays/100/3*3 || !zonal && d.roll(100) >= stays {
			continue
		}
		g.kept++
		p.Key, p.Node = world.Key{Namespace: "default", Name: fmt.Sprintf("%s-%d", name, j)}, at.name
		must(g.b.SetPod(p))
	}
}

// room takes a pod's room of the first machine of the batch that has it, or of a new one.
func (g *grower) room(name, zone string, cpu, memory int64, perHost int) *vessel {
	for _, v := range g.open {
		if v.cpu >= cpu && v.memory >= memory && v.pods > 0 && v.apps[name] < perHost && (zone == "" || v.zone == zone) {
			return v.put(name, cpu, memory)
		}
	}
	v := g.buy(zone, cpu, memory)
	g.open = append(g.open, v)
	return v.put(name, cpu, memory)
}

func (v *vessel) put(name string, cpu, memory int64) *vessel {
	v.cpu, v.memory, v.pods = v.cpu-cpu, v.memory-memory, v.pods-1
	v.apps[name]++
	return v
}

// buy opens a machine of sixteen cores or fewer, of an older generation or a newer one.
func (g *grower) buy(zone string, cpu, memory int64) *vessel {
	if zone == "" {
		zone = string(rune('a' + g.d.roll(3)))
	}
	for {
		s := &g.market.Shapes[g.d.roll(len(g.market.Shapes))]
		room, cores := s.Allocatable(), s.Capacity.Value(amount.CPU)
		if arch, _ := s.Labels.Find(label.Arch); !arch.Has("amd64") || cores > 16*amount.Unit || cores < 8*amount.Unit || room.Value(amount.CPU) < cpu || room.Value(amount.Memory) < memory {
			continue
		}
		g.nodes++
		v := &vessel{
			name: fmt.Sprintf("node-%05d", g.nodes), zone: zone, cpu: room.Value(amount.CPU), memory: room.Value(amount.Memory),
			pods: int(room.Value(amount.Pods) / amount.Unit), apps: map[string]int{},
		}
		Join(g.b, &g.pool, s, v.name, zone, label.OnDemand)
		return v
	}
}
