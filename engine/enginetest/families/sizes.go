package families

import (
	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
)

func logNormal(d *drawer, n int) {
	d.pool(d.ways()...)
	d.fill(n, d.habit(), nil)
}

func pareto(d *drawer, n int) {
	d.pool(d.ways()...)
	h := d.habit()
	h.width = 0
	exponent := d.uniform(0.8, 1.3)
	h.replicas = func(d *drawer) int { return int(min(d.pareto(exponent), float64(max(n/4, 1)))) }
	d.fill(n, h, nil)
}

func few(d *drawer, n int) {
	d.pool(d.ways()...)
	h := d.habit()
	each := n/d.between(1, 6) + 1
	h.replicas = func(d *drawer) int { return d.between(each/2+1, each+each/2) }
	d.fill(n, h, func(p *world.Pod, _ int) {
		if d.chance(50) {
			p.Spread = []world.Spread{{Key: label.Zone, MaxSkew: d.between(1, 3), Selector: of(p)}}
		}
		if d.chance(20) {
			p.Spread = append(p.Spread, world.Spread{Key: label.Hostname, MaxSkew: d.between(3, 20), Selector: of(p)})
		}
	})
}

func singles(d *drawer, n int) {
	d.pool(d.ways()...)
	h := d.habit()
	h.grain, h.replicas = 1, func(*drawer) int { return 1 }
	d.fill(n, h, nil)
}

// sharing has workloads that others with the same labels count for, although these carry no constraint, or another.
func sharing(d *drawer, n int) {
	d.pool(d.ways()...)
	h := d.habit()
	h.replicas = func(d *drawer) int { return d.between(3, 30) }
	tiny, canaries := d.between(20, 100), d.between(0, 60)
	d.fill(n*9/10, h, func(p *world.Pod, replicas int) {
		d.constrain(p, replicas)
		if d.chance(tiny) {
			d.beside(*p, "job", request(10, 16), 1)
		}
		if d.chance(canaries) {
			d.beside(*p, "canary", d.size(h), d.between(1, max(replicas/4, 1)))
		}
	})
}

// beside adds pods with the workload's labels that do not carry its constraints.
func (d *drawer) beside(p world.Pod, name string, requests amount.List, replicas int) {
	p.Name, p.Requests, p.Spread, p.PodTerms = p.Name+"-"+name, requests, nil, nil
	d.wait(p, replicas)
}

// upstream is drawn as the peer draws its benchmark: pods that are spread select a label that need not be their own.
func upstream(d *drawer, n int) {
	d.pool(label.Is(label.CapacityType, label.OnDemand))
	letter := func() label.Requirement { return label.Is("my-label", pick(d, "a", "b", "c", "d", "e", "f", "g")) }
	for i := range n {
		p := d.app(request(pick(d, int64(100), 250, 500, 1000, 1500), pick(d, int64(100), 256, 512, 1024, 2048, 4096)))
		p.Labels = map[string]string{"my-label": letter().Values[0]}
		company := world.PodTerm{Selector: world.Selector{Some: true, Set: label.SetOf(label.Is("my-affinity", pick(d, "a", "b", "c", "d", "e", "f", "g")))}, Namespaces: []string{"default"}}
		switch i % 6 {
		case 1, 2:
			p.Spread = []world.Spread{{Key: []string{label.Zone, label.Hostname}[i%6-1], MaxSkew: 1, Selector: world.Selector{Some: true, Set: label.SetOf(letter())}}}
		case 3, 4:
			company.Key = []string{label.Zone, label.Hostname}[i%6-3]
			p.Labels, p.PodTerms = map[string]string{"my-affinity": company.Selector.Set[0].Values[0]}, []world.PodTerm{company}
		case 5:
			p.Labels = map[string]string{"app": "nginx"}
			p.PodTerms = []world.PodTerm{{Anti: true, Key: label.Hostname, Selector: of(&p), Namespaces: []string{"default"}}}
		}
		d.wait(p, 1)
	}
}
