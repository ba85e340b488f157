package solve

import (
	"cmp"
	"slices"
)

// greedy places the counted classes by opening, again and again, the host that gives most for its price.
// Budgets are what is left of each; they are drawn from. What cannot be placed is left in k.rem.
func (k *packer) greedy(p *pricing, st style, classes []int32, budgets []int64) []node {
	var nodes []node
	var capped []int32
	if st.capShare > 0 {
		capped = k.capped(classes)
	}
	for h := range k.ratio {
		k.ratio[h] = 1e300
	}
	worth := k.begin(p, classes)
	again := float64(worth * st.reprice)
	for {
		h := k.bestHost(p, st, capped, budgets, worth)
		if h < 0 {
			return nodes
		}
		n := k.repeats(k.model.hosts[h].draws, budgets)
		for _, it := range k.trial.items {
			k.remaining[it.class] -= it.count * n
		}
		for _, d := range k.model.hosts[h].draws {
			budgets[d.Budget] -= d.Amount * int64(n)
		}
		nodes = append(nodes, node{host: h, times: n, items: slices.Clone(k.trial.items)})
		worth -= float64(k.trial.worth * float64(n))
		if st.reprice > 0 && worth < again {
			p.renew(k.remaining, st.excess)
			worth = k.begin(p, classes)
			again = float64(worth * st.reprice)
		}
	}
}

// begin prepares for a new pricing and returns what everything that is left is worth.
func (k *packer) begin(p *pricing, classes []int32) float64 {
	for _, h := range p.hosts {
		most := k.view(h, p, classes) / (float64(k.model.hosts[h].price+k.model.charge) + 1)
		k.ratio[h] = min(float64(k.ratio[h]*maxScoreGain), most+1e-6)
	}
	worth := 0.0
	for _, c := range classes {
		worth += float64(p.value[c] * float64(k.remaining[c]))
	}
	return worth
}

// maxScoreGain is how much better a host may look at new prices than it did at the old ones.
const maxScoreGain = 1.02

// capped lists the classes of which more than one host may be needed for all items, because of a cap.
func (k *packer) capped(classes []int32) (out []int32) {
	for _, c := range classes {
		if class := &k.model.classes[c]; class.cap < k.remaining[c] || len(class.groups) > 0 {
			out = append(out, c)
		}
	}
	return out
}

// demands counts, for each host, the hosts that the caps of the capped classes it could take demand.
// Classes that the same hosts can take demand the same of all of these: it is counted for each set of hosts once.
func (k *packer) demands(p *pricing, capped []int32) {
	clear(k.capDemand.groups)
	clear(k.capDemand.sets)
	for _, c := range capped {
		class := &k.model.classes[c]
		n := float64(k.remaining[c]) / float64(class.cap)
		for _, r := range class.groups {
			k.capDemand.groups[r] += float64(k.remaining[c]) / float64(k.model.groups[r].limit)
			n = max(n, k.capDemand.groups[r])
		}
		k.capDemand.sets[class.takerSet] = max(k.capDemand.sets[class.takerSet], n)
	}
	k.capDemand.order = k.capDemand.order[:0]
	for s, n := range k.capDemand.sets {
		if n > 1 {
			k.capDemand.order = append(k.capDemand.order, int32(s)) //nolint:gosec // sets are few
		}
	}
	slices.SortFunc(k.capDemand.order, func(a, b int32) int { return cmp.Compare(k.capDemand.sets[b], k.capDemand.sets[a]) })
	for _, h := range p.hosts {
		k.capDemand.hosts[h] = 0
		for _, s := range k.capDemand.order {
			if k.model.takerSets[s].Has(int(h)) {
				k.capDemand.hosts[h] = k.capDemand.sets[s] // others demand no more of it
				break
			}
		}
	}
}

// bestHost leaves in k.trial the filling with the best ratio of worth to price. Hosts that are too large where caps demand many are left out as long as there are others.
func (k *packer) bestHost(p *pricing, st style, capped []int32, budgets []int64, worth float64) int32 {
	if st.capShare == 0 {
		return k.bestOf(p, st, budgets, worth, -1)
	}
	k.demands(p, capped)
	if h := k.bestOf(p, st, budgets, worth, st.capShare*worth); h >= 0 {
		return h
	}
	return k.bestOf(p, st, budgets, worth, -1)
}

// bestOf is bestHost among hosts whose price times the number of hosts demanded is at most the given limit; below 0 is no limit.
// A host's ratio rarely grows while items get fewer, so only hosts that were better last time are looked at again.
func (k *packer) bestOf(p *pricing, st style, budgets []int64, worth, limit float64) int32 {
	for _, h := range p.hosts {
		k.fresh[h] = overdrawn(k.model.hosts[h].draws, budgets, 1) || limit >= 0 && float64(k.model.hosts[h].price)*k.capDemand.hosts[h] > limit
		k.open[h] = !k.fresh[h]
	}
	best := int32(-1) // the host of the filling that is kept
	for {
		h := int32(-1)
		for _, other := range p.hosts {
			if k.open[other] && (h < 0 || k.ratio[other] > k.ratio[h]) {
				h = other
			}
		}
		switch {
		case h < 0 || k.ratio[h] <= 0:
			return -1
		case k.fresh[h]:
			k.trial, k.kept = k.kept, k.trial
			return h
		}
		k.fill(h, p, st, worth)
		k.fresh[h], k.ratio[h] = true, 0
		if len(k.trial.items) > 0 {
			k.ratio[h] = (k.trial.worth + 1e-6) / (float64(k.model.hosts[h].price+k.model.charge) + 1)
		}
		if best < 0 || k.ratio[h] > k.ratio[best] || k.ratio[h] == k.ratio[best] && h < best {
			best = h
			k.trial, k.kept = k.kept, k.trial
		}
	}
}

// repeats is how many hosts get what the trial holds: half of what is possible,
// so that the mix is looked at again while there is still something to mix.
func (k *packer) repeats(draws []Draw, budgets []int64) int {
	n := int(^uint32(0) >> 1)
	for _, it := range k.trial.items {
		n = min(n, k.remaining[it.class]/it.count)
	}
	return affordable(draws, budgets, max(n/2, 1))
}

// complete has the greedy search place what is left beside some hosts, on hosts that are dearer than the cheapest by up to the loose part.
func (k *packer) complete(near *relaxation, loose float64, nodes []node, budgets []int64) *solution {
	if slices.ContainsFunc(k.remaining, func(n int) bool { return n > 0 }) {
		p := near.clone()
		p.weigh(k.remaining)
		p.climb(8, 0.2, 0.02)
		nodes = append(nodes, k.greedy(p.prices(loose), style{fairShare: 1, detourWeight: .5, reprice: .9, excess: .1}, allClasses(k.model), budgets)...)
	}
	out := &solution{nodes: nodes, left: slices.Clone(k.remaining)}
	for i := range out.nodes {
		k.model.downsize(&out.nodes[i], budgets)
	}
	return out
}
