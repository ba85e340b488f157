package families

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/enginetest"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/world"
)

func spot(d *drawer, n int) {
	d.reprice()
	d.pool(label.Is(label.CapacityType, label.OnDemand, label.Spot))
	h := d.habit()
	constrained := d.between(0, 60)
	d.fill(n, h, func(p *world.Pod, replicas int) {
		if d.chance(constrained) {
			d.constrain(p, replicas)
		}
	})
}

// reprice gives spot other prices: of each type in each zone by themselves, of a zone for all types alike, of a type
// in all zones alike, or such as make no sense, from a hundredth of the price on demand to ten times that.
func (d *drawer) reprice() {
	factor := func() float64 { return d.uniform(0.2, 0.9) }
	if d.chance(25) {
		factor = func() float64 { return math.Exp(d.uniform(math.Log(0.01), math.Log(10))) }
	}
	kind, absent := d.dice.IntN(3), d.between(0, 40)
	byZone := map[string]float64{}
	for i := range d.catalog.Shapes {
		s := &d.catalog.Shapes[i]
		ofType := factor()
		s.Offers = slices.Clone(s.Offers)
		for j := range s.Offers {
			o := &s.Offers[j]
			if o.CapacityType != label.Spot {
				continue
			}
			if byZone[o.Zone] == 0 {
				byZone[o.Zone] = factor()
			}
			part := []float64{factor(), byZone[o.Zone] * d.uniform(0.9, 1.1), ofType * d.uniform(0.9, 1.1)}[kind]
			o.Price = max(money.Micro(float64(s.Offers[0].Price)*part), 1) // the first is on demand
			o.Gone = d.chance(absent)
		}
	}
}

// pools makes up to thirty pools that may buy much the same, each with some of: a requirement, a weight, a limit, a taint that some pods tolerate, a label that some select.
func pools(d *drawer, n int) {
	h := d.habit()
	var teams []string
	weighted := d.chance(50)
	for i := range d.between(4, 30) {
		name := fmt.Sprintf("pool-%02d", i)
		p := world.Pool{ID: world.PoolID{Kind: world.NodePool, Name: name}, Template: d.catalog.Template, Labels: map[string]string{}}
		if weighted {
			p.Weight = int32(pick(d, 0, 0, 0, 10, 50)) //nolint:gosec // a small number
		}
		p.Requirements = label.SetOf(d.ways()...)
		switch d.dice.IntN(4) {
		case 0:
			p.Requirements = p.Requirements.And(label.Is(label.Arch, pick(d, "amd64", "arm64")))
		case 1:
			p.Requirements = p.Requirements.And(label.Is("karpenter.k8s.aws/instance-generation", "6", "7", "8"))
		case 2:
			p.Requirements = p.Requirements.And(label.Is(label.Zone, pick(d, []string{"a"}, []string{"b"}, []string{"a", "c"})...))
		}
		if i > 0 && d.chance(40) {
			p.Limits = amount.Of(amount.Entry{Name: amount.CPU, Value: int64(n) * int64(d.between(5, 200))})
		}
		if i > 0 && d.chance(40) {
			p.Labels["team"] = name
			p.Taints = []world.Taint{{Key: "team", Value: name, Effect: world.NoSchedule}}
			teams = append(teams, name)
		}
		must(d.b.SetPool(p))
	}
	constrained := d.between(0, 60)
	d.fill(n, h, func(p *world.Pod, replicas int) {
		if d.chance(constrained) {
			d.constrain(p, replicas)
		}
		if len(teams) == 0 || d.chance(50) {
			return
		}
		team := pick(d, teams...)
		p.Tolerations = []world.Toleration{{Key: "team", Value: team, Effect: world.NoSchedule}}
		if d.chance(50) {
			p.NodeSelector = label.SetOf(label.Is("team", team))
		}
	})
}

// gpus sells machines with one to eight GPUs of two kinds, some with much memory for each and some with little.
func gpus(d *drawer, n int) {
	d.sellGPUs()
	d.pool(label.Is(label.CapacityType, pick(d, []string{label.OnDemand}, []string{label.OnDemand, label.Spot})...))
	d.fill(n, d.habit(), d.accelerate())
}

// accelerate has some workloads ask for GPUs.
func (d *drawer) accelerate() func(*world.Pod, int) {
	share := d.between(3, 40)
	return func(p *world.Pod, _ int) {
		if !d.chance(share) {
			return
		}
		cpu, memory := p.Requests.Value(amount.CPU), p.Requests.Value(amount.Memory)
		p.Requests = request(min(cpu, 7_000), min(memory/mebi, 28_000)).With(gpu, int64(pick(d, 1, 1, 1, 1, 2, 4, 8))*amount.Unit)
		if p.Requests.Value(gpu) == 8*amount.Unit && d.chance(50) {
			p.NodeSelector = label.SetOf(label.Is("karpenter.k8s.aws/instance-family", "p1"))
		}
	}
}

func (d *drawer) sellGPUs() {
	for _, kind := range []struct {
		family               string
		cores, memory, price int64 // for each GPU
	}{{"g1", 8, 32, 900_000}, {"g2", 16, 64, 1_300_000}, {"p1", 24, 140, 4_000_000}} {
		for _, count := range []int64{1, 2, 4, 8} {
			name := fmt.Sprintf("%s.%d", kind.family, count)
			s := world.Shape{
				Name: name, Overhead: amount.Of(amount.Entry{Name: amount.CPU, Value: 200}, amount.Entry{Name: amount.Memory, Value: 1024 * mebi}),
				Capacity: amount.Of(amount.Entry{Name: amount.CPU, Value: kind.cores * count * amount.Unit}, amount.Entry{Name: amount.Memory, Value: kind.memory * count * 1024 * mebi},
					amount.Entry{Name: amount.Pods, Value: 110 * amount.Unit}, amount.Entry{Name: gpu, Value: count * amount.Unit}),
				Labels: label.Exactly(map[string]string{
					label.InstanceType: name, label.Arch: "amd64", label.OS: "linux", "karpenter.k8s.aws/instance-category": kind.family[:1],
					"karpenter.k8s.aws/instance-family": kind.family, "karpenter.k8s.aws/instance-cpu": strconv.FormatInt(kind.cores*count, 10), "karpenter.k8s.aws/instance-generation": "8",
				}),
			}
			for _, zone := range []string{"a", "b", "c"} {
				if count == 8 && zone == "b" {
					continue
				}
				price := money.Micro(float64(kind.price*count) * d.uniform(0.9, 1.1))
				s.Offers = append(s.Offers, world.Offer{Zone: zone, CapacityType: label.OnDemand, Price: price}, world.Offer{Zone: zone, CapacityType: label.Spot, Price: price.Part(int64(d.between(25, 80)), 100)})
			}
			d.catalog.Shapes = append(d.catalog.Shapes, s)
		}
	}
}

// halfFull has nodes for about as many pods as wait, each of some type and age and filled to some degree.
func halfFull(d *drawer, n int) {
	wait := int64(d.between(0, 3600))
	pool := world.Pool{
		ID: world.PoolID{Kind: world.NodePool, Name: "general"}, Template: d.catalog.Template, Requirements: label.SetOf(d.ways()...),
		Disruption: world.PoolDisruption{EmptyAfter: &wait, MoveAfter: &wait},
	}
	must(d.b.SetPool(pool))
	h := d.habit()
	var there []world.Pod // workloads, each of which runs somewhere
	for range max(n/8, 3) {
		p := d.app(d.size(h))
		d.constrain(&p, h.replicas(d))
		there = append(there, p)
	}
	full := d.uniform(0.3, 0.95)
	for i, running := 0, 0; running < n && i < n; i++ {
		shape := pick(d, d.catalog.Shapes...)
		node := fmt.Sprintf("node-%05d", i)
		enginetest.Join(d.b, &pool, &shape, world.Offer{Zone: pick(d, "a", "b", "c"), CapacityType: label.OnDemand}, node)
		left := shape.Allocatable()
		part := min(max(full+d.dice.NormFloat64()/4, 0), 1)
		most := int64(float64(left.Value(amount.CPU)) * part)
		for misses := 0; misses < 8; {
			p := pick(d, there...)
			if !p.Requests.Fits(left) || left.Value(amount.CPU)-p.Requests.Value(amount.CPU) < shape.Allocatable().Value(amount.CPU)-most {
				misses++
				continue
			}
			left = left.Minus(p.Requests)
			p.Name, p.Node, p.Waiting, p.Created = fmt.Sprintf("%s-run-%d", p.Name, running), node, false, now-int64(d.between(0, 30*86400))
			must(d.b.SetPod(p))
			running++
		}
	}
	for left := n; left > 0; {
		replicas := min(max(h.replicas(d), 1), left)
		p := pick(d, there...)
		if d.chance(40) {
			p = d.app(d.size(h))
		} else {
			d.apps++
			p.Name = fmt.Sprintf("%s-new-%d", p.Name, d.apps)
		}
		d.wait(p, replicas)
		left -= replicas
	}
}

// everything has workloads of all habits side by side.
func everything(d *drawer, n int) {
	d.sellGPUs()
	d.reprice()
	d.pool(label.Is(label.CapacityType, label.OnDemand, label.Spot))
	accelerate := d.accelerate()
	for range 4 {
		h := d.habit()
		if d.chance(30) {
			h.width = 0
		}
		d.fill(n/6, h, nil)
		d.fill(n/24, h, accelerate)
		d.fill(n/24, h, func(p *world.Pod, replicas int) {
			d.constrain(p, replicas)
			if d.chance(30) {
				d.beside(*p, "job", request(10, 16), 1)
			}
		})
	}
}
