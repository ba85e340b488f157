package solve

import (
	"cmp"
	"slices"
)

// pricing is how one start of the greedy search sees the world.
type pricing struct {
	value []float64 // what placing one item of each class is worth
	unit  []float64 // for each host the price of one unit of each dimension, which says what is dear on it
	width int       // of a row of unit
	hosts []int32   // the hosts to consider
	slack float64   // no host takes more than slack times its fair share of a class; 0 is no such rule
}

// packer fills hosts one by one. Its buffers live as long as the model.
type packer struct {
	m     *model
	rem   []int
	free  []int64
	floor floor
	order [][]int32 // for each host, the classes by how well they pay there
	ratio []float64
	fresh []bool
	least []int64 // the smallest need of any class that is left, dimension by dimension
	trial filling
	steps int
}

// filling is what one host would hold and what that is worth.
type filling struct {
	items []share
	worth float64
}

func newPacker(m *model) *packer {
	k := &packer{m: m, rem: make([]int, len(m.classes)), free: make([]int64, m.dims), least: make([]int64, m.dims)}
	k.floor.init(m)
	k.order = make([][]int32, len(m.hosts))
	k.ratio = make([]float64, len(m.hosts))
	k.fresh = make([]bool, len(m.hosts))
	return k
}

// density is what a class pays on a host for each unit of what is dear there.
type density struct {
	pays  float64
	class int32
}

// sortOrders prepares, for each host to consider, the order in which classes are tried.
func (k *packer) sortOrders(p *pricing, classes []int32) {
	var row []density
	for _, h := range p.hosts {
		row = row[:0]
		unit := p.unit[int(h)*p.width:]
		for _, c := range classes {
			if !k.m.classes[c].takers.Has(int(h)) {
				continue
			}
			cost := 1e-9
			for d, n := range k.m.classes[c].need {
				cost += float64(float64(n) * unit[d])
			}
			row = append(row, density{p.value[c] / cost, c})
		}
		slices.SortFunc(row, func(a, b density) int {
			return cmp.Or(-cmp.Compare(a.pays, b.pays), cmp.Compare(a.class, b.class))
		})
		k.order[h] = k.order[h][:0]
		for _, d := range row {
			k.order[h] = append(k.order[h], d.class)
		}
		k.steps += len(row)
	}
}

// greedy places the counted classes by opening, again and again, the host that gives most for its price.
// Budgets are what is left of each; they are drawn from. What cannot be placed is left in k.rem.
func (k *packer) greedy(p *pricing, classes []int32, budgets []int64) []node {
	k.sortOrders(p, classes)
	var nodes []node
	worth := 0.0
	for _, c := range classes {
		worth += float64(p.value[c] * float64(k.rem[c]))
	}
	k.leastNeeds(classes)
	for _, h := range p.hosts {
		k.ratio[h] = 1e300
	}
	opened := 0
	for {
		for _, h := range p.hosts {
			k.fresh[h] = false
		}
		h := k.bestHost(p, budgets, worth)
		if h < 0 {
			return nodes
		}
		n := k.repeats(k.m.hosts[h].draws, budgets)
		for _, it := range k.trial.items {
			k.rem[it.class] -= it.n * n
		}
		for _, d := range k.m.hosts[h].draws {
			budgets[d.Budget] -= d.Amount * int64(n)
		}
		worth -= float64(k.trial.worth * float64(n))
		nodes = append(nodes, node{host: h, times: n, items: slices.Clone(k.trial.items)})
		if opened++; opened%32 == 0 {
			k.leastNeeds(classes)
		}
	}
}

// bestHost leaves in k.trial the filling with the best ratio of worth to price, looking anew only at hosts that were better last time.
func (k *packer) bestHost(p *pricing, budgets []int64, worth float64) int32 {
	var best filling
	best.items = k.trial.items[:0]
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
			k.fill(h, p, worth)
			return h
		}
		k.fresh[h] = true
		k.ratio[h] = 0
		if overdrawn(k.m.hosts[h].draws, budgets, 1) {
			continue
		}
		k.fill(h, p, worth)
		k.ratio[h] = k.trial.worth / (float64(k.m.hosts[h].price+k.m.charge) + 1)
	}
}

// fill fills one host in the order of what pays: first no class beyond slack times its fair share, then whatever still fits.
func (k *packer) fill(h int32, p *pricing, worth float64) {
	host := &k.m.hosts[h]
	copy(k.free, host.room)
	k.trial.items, k.trial.worth = k.trial.items[:0], 0
	fair := 0.0
	if p.slack > 0 && worth > 0 {
		fair = p.slack * float64(host.price+k.m.charge) / worth
	}
	if fair > 0 && fair < 1 {
		k.pass(h, p, fair)
	}
	k.pass(h, p, 1)
	k.floor.unload(k.m, k.trial.items)
}

// pass adds to the trial what fits, at most the fair part of what is left of each class.
func (k *packer) pass(h int32, p *pricing, fair float64) {
	order := k.order[h]
	dead := 0
	for at, c := range order {
		n := k.rem[c]
		if n == 0 {
			dead++
			continue
		}
		class := &k.m.classes[c]
		if !fits(class.need, k.free) {
			continue
		}
		if fair < 1 {
			n = int(float64(float64(n)*fair)) + 1
		}
		had := -1
		limit := min(n, class.cap, k.rem[c])
		if fair >= 1 && p.slack > 0 {
			if had = k.held(c); had >= 0 {
				limit = min(limit, class.cap-k.trial.items[had].n, k.rem[c]-k.trial.items[had].n)
			}
		}
		limit = times(class.need, k.free, k.floor.allowed(k.m, c, limit))
		if limit <= 0 {
			continue
		}
		for d, need := range class.need {
			k.free[d] -= need * int64(limit)
		}
		if had >= 0 {
			k.trial.items[had].n += limit
			for _, r := range class.rows {
				k.floor.rows[r] += limit
			}
		} else {
			k.trial.items = append(k.trial.items, share{c, limit})
			k.floor.put(k.m, c, limit)
		}
		k.trial.worth += float64(p.value[c] * float64(limit))
		if k.full() {
			k.steps += at
			return
		}
	}
	k.steps += len(order)
	if dead > len(order)/4 {
		k.order[h] = slices.DeleteFunc(order, func(c int32) bool { return k.rem[c] == 0 })
	}
}

// held finds the class among what the trial holds already.
func (k *packer) held(c int32) int {
	for i := range k.trial.items {
		if k.trial.items[i].class == c {
			return i
		}
	}
	return -1
}

// full reports whether nothing that is left could fit any more.
func (k *packer) full() bool {
	for d, n := range k.least {
		if n > k.free[d] {
			return true
		}
	}
	return false
}

func (k *packer) leastNeeds(classes []int32) {
	for d := range k.least {
		k.least[d] = huge
	}
	for _, c := range classes {
		if k.rem[c] == 0 {
			continue
		}
		for d, n := range k.m.classes[c].need {
			k.least[d] = min(k.least[d], n)
		}
	}
}

// repeats is how many hosts get what the trial holds: as many as possible where classes are exhausted by it, else half of that,
// so that the mix is looked at again while there is still something to mix.
func (k *packer) repeats(draws []Draw, budgets []int64) int {
	n := int(^uint32(0) >> 1)
	for _, it := range k.trial.items {
		n = min(n, k.rem[it.class]/it.n)
	}
	return affordable(draws, budgets, max(n/2, 1))
}

// downsize gives a node the cheapest host that takes what is on it.
func (m *model) downsize(n *node, budgets []int64) {
	used := make([]int64, m.dims)
	for _, it := range n.items {
		for d, need := range m.classes[it.class].need {
			used[d] += need * int64(it.n)
		}
	}
	for h := range m.hosts {
		if int32(h) == n.host || m.hosts[h].price >= m.hosts[n.host].price {
			return
		}
		if !fits(used, m.hosts[h].room) || !m.takesAll(int32(h), n.items) {
			continue
		}
		if m.rationed {
			m.refund(n, budgets, 1)
			if overdrawn(m.hosts[h].draws, budgets, int64(n.times)) {
				m.refund(n, budgets, -1)
				continue
			}
			n.host = int32(h)
			m.refund(n, budgets, -1)
			return
		}
		n.host = int32(h)
		return
	}
}

// refund gives back sign times what the node draws.
func (m *model) refund(n *node, budgets []int64, sign int64) {
	for _, d := range m.hosts[n.host].draws {
		budgets[d.Budget] += sign * d.Amount * int64(n.times)
	}
}

func (m *model) takesAll(h int32, items []share) bool {
	for _, it := range items {
		if !m.classes[it.class].takers.Has(int(h)) {
			return false
		}
	}
	return true
}
