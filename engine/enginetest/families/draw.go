package families

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
)

const (
	now  = 1_700_000_000 // the time of every World
	mebi = int64(1<<20) * amount.Unit
	gpu  = "nvidia.com/gpu"
)

// drawer makes one World.
type drawer struct {
	dice    *rand.Rand
	b       *world.Builder
	catalog world.Catalog
	apps    int
}

func (d *drawer) between(low, high int) int { return low + d.dice.IntN(high-low+1) }
func (d *drawer) uniform(low, high float64) float64 {
	return low + float64(d.dice.Float64()*(high-low))
}

// chance reports true in so many of a hundred.
func (d *drawer) chance(percent int) bool { return d.dice.IntN(100) < percent }

// pick returns one of the values.
func pick[T any](d *drawer, values ...T) T { return values[d.dice.IntN(len(values))] }

// pareto is a number of at least 1 with a tail of this exponent.
func (d *drawer) pareto(exponent float64) float64 {
	return math.Pow(1-d.dice.Float64(), -1/exponent)
}

// habit is how pods of a World are sized, and how many are alike.
type habit struct {
	cpu      float64 // millicores of a typical pod
	width    float64 // of log-normal sizes; 0: Pareto
	tail     float64 // exponent of Pareto sizes
	ratio    float64 // MiB per millicore
	loose    float64 // how far memory is from that
	tie      float64 // how CPU and memory go together, -1 to 1
	grain    int64   // what people round to
	replicas func(*drawer) int
}

// habit draws one with log-normal sizes, and few alike or many.
func (d *drawer) habit() habit {
	exponent := d.uniform(0.9, 2)
	return habit{
		cpu: d.uniform(80, 900), width: d.uniform(0.4, 1.4), tail: d.uniform(1.1, 2.2), ratio: math.Exp(d.uniform(math.Log(1), math.Log(9))), loose: d.uniform(0.1, 1.1),
		tie: d.uniform(-0.9, 0.9), grain: pick(d, int64(1), 10, 50, 100), replicas: func(d *drawer) int { return int(d.pareto(exponent)) },
	}
}

// The smallest and largest pods there are: the largest machines have 192 cores, and most worlds have none for twenty.
const (
	leastCPU, mostCPU       = 10, 24_000
	leastMemory, mostMemory = 16, 180_000
)

// size draws what one pod asks for.
func (d *drawer) size(h habit) amount.List {
	a, b := d.dice.NormFloat64(), d.dice.NormFloat64()
	b = float64(h.tie*a) + float64(math.Sqrt(1-h.tie*h.tie)*b)
	var cpu, memory float64
	if h.width > 0 {
		cpu = h.cpu * math.Exp(h.width*a)
		memory = h.cpu * h.ratio * math.Exp(math.Hypot(h.width, h.loose)*b)
	} else {
		cpu = h.cpu / 3 * d.pareto(h.tail)
		memory = cpu * h.ratio * math.Exp(h.loose*b)
	}
	return request(rounded(cpu, h.grain, leastCPU, mostCPU), rounded(memory, h.grain, leastMemory, mostMemory))
}

// rounded is x to the grain, between bounds.
func rounded(x float64, grain, low, high int64) int64 {
	return min(max(int64(min(x, float64(high)))/grain*grain, low), high)
}

// request is so many millicores and mebibytes for one pod.
func request(cpu, memory int64) amount.List {
	return amount.Of(amount.Entry{Name: amount.CPU, Value: cpu}, amount.Entry{Name: amount.Memory, Value: memory * mebi}, amount.Entry{Name: amount.Pods, Value: amount.Unit})
}

// pool adds the pool that most Worlds have.
func (d *drawer) pool(requirements ...label.Requirement) {
	must(d.b.SetPool(world.Pool{ID: world.PoolID{Kind: world.NodePool, Name: "general"}, Template: d.catalog.Template, Requirements: label.SetOf(requirements...)}))
}

// ways draws how machines may be bought, and at times which.
func (d *drawer) ways() []label.Requirement {
	out := []label.Requirement{label.Is(label.CapacityType, pick(d, []string{label.OnDemand}, []string{label.OnDemand, label.Spot}, []string{label.Spot})...)}
	switch d.dice.IntN(5) {
	case 0:
		return append(out, label.Is("karpenter.k8s.aws/instance-category", pick(d, "c", "m", "r")))
	case 1:
		return append(out, label.Is("karpenter.k8s.aws/instance-cpu", "2", "4", "8", "16", "32"))
	}
	return out
}

// app is a new workload: a pod that stands for all its replicas.
func (d *drawer) app(requests amount.List) world.Pod {
	d.apps++
	name := fmt.Sprintf("app-%05d", d.apps)
	return world.Pod{Key: world.Key{Namespace: "default", Name: name}, Waiting: true, Labels: map[string]string{"app": name}, Requests: requests}
}

// wait adds so many replicas of the workload.
func (d *drawer) wait(p world.Pod, replicas int) {
	name := p.Name
	for i := range replicas {
		p.Name = fmt.Sprintf("%s-%d", name, i)
		must(d.b.SetPod(p))
	}
}

// fill adds workloads of the habit until n pods wait. What each of them carries besides is up to shape, which may be nil.
func (d *drawer) fill(n int, h habit, shape func(p *world.Pod, replicas int)) {
	for n > 0 {
		replicas := min(max(h.replicas(d), 1), n)
		p := d.app(d.size(h))
		if shape != nil {
			shape(&p, replicas)
		}
		d.wait(p, replicas)
		n -= replicas
	}
}

// of selects the pods of the workload.
func of(p *world.Pod) world.Selector {
	return world.Selector{Some: true, Set: label.SetOf(label.Is("app", p.Labels["app"]))}
}

// constrain has the workload look at its own pods in one way or another, or not at all.
func (d *drawer) constrain(p *world.Pod, replicas int) {
	zone := func() {
		p.Spread = append(p.Spread, world.Spread{Key: label.Zone, MaxSkew: d.between(1, 2), Selector: of(p)})
	}
	host := func() {
		p.Spread = append(p.Spread, world.Spread{Key: label.Hostname, MaxSkew: d.between(1, 4), Selector: of(p)})
	}
	term := func(anti bool, key string) {
		p.PodTerms = append(p.PodTerms, world.PodTerm{Anti: anti, Key: key, Selector: of(p), Namespaces: []string{p.Namespace}})
	}
	switch d.dice.IntN(8) {
	case 0, 1:
		zone()
	case 2:
		host()
	case 3:
		zone()
		host()
	case 4:
		if replicas <= 40 {
			term(true, label.Hostname)
		}
	case 5:
		if replicas <= 60 {
			term(false, label.Zone)
		}
	}
}
