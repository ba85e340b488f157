package problems

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/tenon-sh/tenon/engine/solve/problem"
)

const (
	mib = int64(1) << 20
	gib = int64(1) << 30
)

// shape is a made-up machine type with realistic proportions.
type shape struct {
	family string
	cpus   int64
	gpus   int64
	host   problem.Host
}

// market is a table of hosts: shapes by zones.
type market struct {
	hosts  []problem.Host
	shapes []shape
	zones  int
}

// families are sold in three kinds (compute, general, memory) with 2, 4 and 8 GiB for each virtual CPU.
var families = []struct {
	name string
	mem  int64   // GiB for each virtual CPU
	cent float64 // per virtual CPU and hour
}{
	{"c5", 2, 4.25},
	{"c5a", 2, 3.85},
	{"c6i", 2, 4.25},
	{"c6a", 2, 3.825},
	{"c6g", 2, 3.4},
	{"c7i", 2, 4.4625},
	{"c7a", 2, 5.132},
	{"c7g", 2, 3.625},
	{"m5", 4, 4.8},
	{"m5a", 4, 4.3},
	{"m6i", 4, 4.8},
	{"m6a", 4, 4.32},
	{"m6g", 4, 3.85},
	{"m7i", 4, 5.04},
	{"m7a", 4, 5.796},
	{"m7g", 4, 4.08},
	{"r5", 8, 6.3},
	{"r5a", 8, 5.65},
	{"r6i", 8, 6.3},
	{"r6a", 8, 5.67},
	{"r6g", 8, 5.04},
	{"r7i", 8, 6.615},
	{"r7a", 8, 7.608},
	{"r7g", 8, 5.355},
}

// amd64 are the families left when there is no arm image.
func amd64(name string) bool { return name[len(name)-1] != 'g' }

func cmrMarket(zones int, maxCPUs int64) market {
	sizes := []int64{2, 4, 8, 16, 32, 48, 64, 96, 128, 192}
	m := market{zones: zones}
	for _, f := range families {
		if !amd64(f.name) {
			continue
		}
		for _, n := range sizes {
			if n <= maxCPUs {
				m.shapes = append(m.shapes, newShape(f.name, n, n*f.mem, 0, f.cent*float64(n)))
			}
		}
	}
	m.fill()
	return m
}

func gpuMarket(zones int) market {
	m := cmrMarket(zones, 32)
	for _, n := range []int64{4, 8, 16, 32} {
		m.shapes = append(m.shapes, newShape("g5", n, n*4, 1, 60+10.1*float64(n)))
		m.shapes = append(m.shapes, newShape("g6", n, n*4, 1, 48+8.1*float64(n)))
	}
	m.shapes = append(m.shapes, newShape("g5", 48, 192, 4, 567.2), newShape("g6", 48, 192, 4, 460.2))
	m.fill()
	return m
}

// fill makes a host of each shape in each zone.
func (m *market) fill() {
	m.hosts = nil
	for _, s := range m.shapes {
		for z := range m.zones {
			h := s.host
			h.Name = fmt.Sprintf("%s/%d", h.Name, z)
			m.hosts = append(m.hosts, h)
		}
	}
}

// newShape takes off what the kubelet, the system and DaemonSets use.
func newShape(family string, cpus, memory, gpus int64, cent float64) shape {
	pods := int64(29)
	switch {
	case cpus > 32:
		pods = 737
	case cpus > 8:
		pods = 234
	case cpus > 2:
		pods = 58
	}
	cpu := cpus*1000 - 60 - 10 - min(max(cpus-2, 0), 2)*5 - max(cpus-4, 0)*5/2 - 230
	mem := memory*gib*925/1000 - (255+11*pods+100)*mib - 350*mib
	return shape{family, cpus, gpus, problem.Host{
		Name:  fmt.Sprintf("%s.%d", family, cpus),
		Room:  []int64{cpu, mem, pods - 4, gpus},
		Price: int64(cent * 10_000),
	}}
}

// where returns the set of hosts whose shape and zone are welcome.
func (m *market) where(welcome func(s shape, zone int) bool) problem.Bits {
	b := problem.NewBits(len(m.hosts))
	for i := range m.hosts {
		if welcome(m.shapes[i/m.zones], i%m.zones) {
			b.Set(i)
		}
	}
	return b
}

// workload makes n items in about classes classes on the market.
type workload func(r *rand.Rand, m *market, n, classes int) problem.Problem

func logNormal(r *rand.Rand, median, sigma float64) float64 {
	return median * math.Exp(sigma*r.NormFloat64())
}

// need rounds as people do who write requests.
func need(cpu, mem float64) []int64 {
	c := max(int64(math.Round(cpu/10)), 1) * 10
	k := max(int64(math.Round(mem/16)), 1) * 16 * mib
	return []int64{min(c, 14_000), min(k, 48*gib), 1, 0}
}

// counts deals n items to classes with a heavy tail.
func counts(r *rand.Rand, n, classes int) []int {
	weight := make([]float64, classes)
	sum := 0.0
	for i := range weight {
		weight[i] = logNormal(r, 1, 1)
		sum += weight[i]
	}
	out := make([]int, classes)
	for i := range out {
		out[i] = max(int(float64(n)*weight[i]/sum), 1)
	}
	return out
}

func newItem(k, n int, need []int64, hosts problem.Bits) problem.Item {
	return problem.Item{Name: fmt.Sprintf("w%05d", k), Count: n, Need: need, Hosts: hosts}
}

func homog(r *rand.Rand, m *market, n, _ int) problem.Problem {
	sizes := [][2]float64{{500, 1024}, {1000, 2048}, {250, 700}, {900, 3000}}
	s := sizes[r.IntN(len(sizes))]
	return problem.Problem{Hosts: m.hosts, Items: []problem.Item{newItem(0, n, need(s[0], s[1]), problem.AllBits(len(m.hosts)))}}
}

func lognorm(r *rand.Rand, m *market, n, classes int) problem.Problem {
	p := problem.Problem{Hosts: m.hosts}
	all := problem.AllBits(len(m.hosts))
	for k, c := range counts(r, n, classes) {
		cpu := logNormal(r, 300, 0.9)
		p.Items = append(p.Items, newItem(k, c, need(cpu, cpu*logNormal(r, 3, 0.7)), all))
	}
	return p
}

func compl(r *rand.Rand, m *market, n, classes int) problem.Problem {
	p := problem.Problem{Hosts: m.hosts}
	all := problem.AllBits(len(m.hosts))
	for k, c := range counts(r, n, classes) {
		cpu, ratio := logNormal(r, 600, 0.7), logNormal(r, 1, 0.4)
		if k%2 == 0 {
			cpu, ratio = logNormal(r, 200, 0.7), logNormal(r, 12, 0.4)
		}
		p.Items = append(p.Items, newItem(k, c, need(cpu, cpu*ratio), all))
	}
	return p
}

// constr is lognorm with selectors, pinned zones, and classes spread by one to a host.
func constr(r *rand.Rand, m *market, n, classes int) problem.Problem {
	p := lognorm(r, m, n, classes)
	for i := range p.Items {
		it := &p.Items[i]
		switch r.IntN(10) {
		case 0, 1:
			kind := "cmr"[r.IntN(3)]
			it.Hosts = m.where(func(s shape, _ int) bool { return s.family[0] == kind })
		case 2, 3, 4:
			zone := r.IntN(m.zones)
			it.Hosts = m.where(func(_ shape, z int) bool { return z == zone })
		case 5:
			it.Hosts = m.where(func(s shape, _ int) bool { return s.family[1] >= '6' })
		case 6:
			it.PerHost = 1 + r.IntN(2)
		case 7:
			if i > 0 {
				p.Groups = append(p.Groups, problem.Group{Members: []int{i - 1, i}, Cap: 1 + r.IntN(3)})
			}
		}
	}
	return p
}

// onePerNode is a mix of which a fifth of the items stands alone among its kind.
func onePerNode(r *rand.Rand, m *market, n, classes int) problem.Problem {
	p := problem.Problem{Hosts: m.hosts}
	all := problem.AllBits(len(m.hosts))
	cpus := []float64{100, 250, 500, 1000, 1500}
	mems := []float64{100, 256, 512, 1024, 2048, 4096}
	groups := make([]problem.Group, 3)
	for g := range groups {
		groups[g].Cap = 1
	}
	for k, c := range counts(r, n, classes) {
		it := newItem(k, c, need(cpus[r.IntN(5)], mems[r.IntN(6)]), all)
		switch k % 5 {
		case 0:
			g := &groups[r.IntN(3)]
			g.Members = append(g.Members, k)
		case 1:
			it.PerHost = 1
		case 2:
			zone := r.IntN(m.zones)
			it.Hosts = m.where(func(_ shape, z int) bool { return z == zone })
		}
		p.Items = append(p.Items, it)
	}
	p.Groups = groups
	return p
}

func gpumix(r *rand.Rand, m *market, n, classes int) problem.Problem {
	p := lognorm(r, m, n, classes)
	for i := range p.Items {
		if i%10 == 0 {
			p.Items[i].Need[3] = 1
			p.Items[i].Count = (p.Items[i].Count + 3) / 4
		}
	}
	return p
}

// unique has as many classes as items.
func unique(r *rand.Rand, m *market, n, _ int) problem.Problem {
	p := problem.Problem{Hosts: m.hosts}
	all := problem.AllBits(len(m.hosts))
	for k := range n {
		cpu := logNormal(r, 300, 0.9)
		p.Items = append(p.Items, newItem(k, 1, need(cpu, cpu*logNormal(r, 3, 0.7)), all))
	}
	return p
}
