package solve

import "slices"

// packer fills hosts one by one. Its buffers live as long as the model.
type packer struct {
	m      *model
	rem    []int // of each class, how many are to be placed
	floor  floor
	lanes  []lane
	ratio  []float64 // of each host, what it would hold for its price when last looked at
	fresh  []bool    // that was just now
	steps  int
	demand []float64
	anyhow bool
	last   int32 // the host that the trial is of

	trial filling // of the host looked at now
	free  []int64
	part  []float64
	on    []int
	slots []slot
}

func newPacker(m *model) *packer {
	k := &packer{
		m:      m,
		rem:    make([]int, len(m.classes)),
		lanes:  make([]lane, len(m.hosts)),
		ratio:  make([]float64, len(m.hosts)),
		fresh:  make([]bool, len(m.hosts)),
		free:   make([]int64, m.dims),
		part:   make([]float64, m.dims),
		demand: make([]float64, len(m.hosts)),
		on:     make([]int, len(m.classes)),
	}
	k.floor.init(m)
	return k
}

// greedy places the counted classes by opening, again and again, the host that gives most for its price.
// Budgets are what is left of each; they are drawn from. What cannot be placed is left in k.rem.
func (k *packer) greedy(p *pricing, st style, classes []int32, budgets []int64) []node {
	var nodes []node
	start := k.begin(p, classes)
	worth := start
	k.anyhow = false
	k.demands(p, classes)
	for {
		h := k.bestHost(p, st, budgets, worth)
		if h < 0 && st.crowd > 0 && !k.anyhow {
			k.anyhow = true
			for _, h := range p.hosts {
				k.ratio[h] = 1e300
			}
			continue
		}
		if h < 0 {
			return nodes
		}
		k.anyhow = false
		if st.crowd > 0 {
			k.demands(p, classes)
			for _, h := range p.hosts {
				if k.ratio[h] == 0 {
					k.ratio[h] = 1e300
				}
			}
		}
		n := k.repeats(k.m.hosts[h].draws, budgets)
		for _, it := range k.trial.items {
			k.rem[it.class] -= it.n * n
		}
		for _, d := range k.m.hosts[h].draws {
			budgets[d.Budget] -= d.Amount * int64(n)
		}
		nodes = append(nodes, node{host: h, times: n, items: slices.Clone(k.trial.items)})
		worth -= float64(k.trial.worth * float64(n))
		if worth < float64(st.again*start) {
			p.renew(k.rem, st.loose)
			start = k.begin(p, classes)
			worth = start
		}
	}
}

// begin prepares for a new pricing and returns what everything that is left is worth.
func (k *packer) begin(p *pricing, classes []int32) float64 {
	for _, h := range p.hosts {
		k.sortLane(h, p, classes)
		k.ratio[h] = 1e300
	}
	worth := 0.0
	for _, c := range classes {
		worth += float64(p.value[c] * float64(k.rem[c]))
	}
	return worth
}

// demands finds for each host how many hosts the caps of the classes it could take demand.
func (k *packer) demands(p *pricing, classes []int32) {
	rows := make([]float64, len(k.m.rows))
	clear(k.demand)
	for _, c := range classes {
		class := &k.m.classes[c]
		n := float64(k.rem[c]) / float64(class.cap)
		for _, r := range class.rows {
			rows[r] += float64(k.rem[c]) / float64(k.m.rows[r].cap)
			n = max(n, rows[r])
		}
		if n <= 1 {
			continue
		}
		for _, h := range p.hosts {
			if class.takers.Has(int(h)) {
				k.demand[h] = max(k.demand[h], n)
			}
		}
	}
}

// bestHost leaves in k.trial the filling with the best ratio of worth to price. A host's ratio rarely grows while items get fewer,
// so only hosts that were better last time are looked at anew.
func (k *packer) bestHost(p *pricing, st style, budgets []int64, worth float64) int32 {
	for _, h := range p.hosts {
		k.fresh[h] = false
	}
	for {
		h := int32(-1)
		for _, other := range p.hosts {
			if h < 0 || k.ratio[other] > k.ratio[h] {
				h = other
			}
		}
		if h < 0 || k.ratio[h] <= 0 {
			return -1
		}
		if k.fresh[h] {
			if k.last != h {
				k.fill(h, p, st, worth)
			}
			return h
		}
		k.fresh[h] = true
		k.ratio[h] = 0
		if st.crowd > 0 && k.demand[h] > 1 && float64(k.m.hosts[h].price)*k.demand[h] > st.crowd*worth && !k.anyhow {
			continue
		}
		if overdrawn(k.m.hosts[h].draws, budgets, 1) {
			continue
		}
		k.fill(h, p, st, worth)
		k.last = h
		if len(k.trial.items) > 0 {
			k.ratio[h] = (k.trial.worth + 1e-6) / (float64(k.m.hosts[h].price+k.m.charge) + 1)
		}
	}
}

// repeats is how many hosts get what the trial holds: half of what is possible,
// so that the mix is looked at again while there is still something to mix.
func (k *packer) repeats(draws []Draw, budgets []int64) int {
	n := int(^uint32(0) >> 1)
	for _, it := range k.trial.items {
		n = min(n, k.rem[it.class]/it.n)
	}
	return affordable(draws, budgets, max(n/2, 1))
}
