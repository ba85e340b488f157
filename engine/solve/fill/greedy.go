package fill

import (
	"cmp"
	"slices"

	"github.com/tenon-sh/tenon/engine/solve/model"
	"github.com/tenon-sh/tenon/engine/solve/problem"
	"github.com/tenon-sh/tenon/engine/solve/relax"
)

// Greedy places the counted classes by opening, again and again, the host that gives most for its price.
// Budgets are what is left of each; they are drawn from. What cannot be placed is left in k.rem.
func (k *Packer) Greedy(p *relax.Pricing, st Style, classes []int32, budgets []int64) []model.Node {
	var nodes []model.Node
	var capped []int32
	if st.CapShare > 0 {
		capped = k.capped(classes)
	}
	for h := range k.ratio {
		k.ratio[h] = 1e300
	}
	worth := k.begin(p, classes)
	again := float64(worth * st.Reprice)
	for {
		h := k.bestHost(p, st, capped, budgets, worth)
		if h < 0 {
			return nodes
		}
		n := k.repeats(k.Model.Hosts[h].Draws, budgets)
		for _, it := range k.trial.items {
			k.Remaining[it.Class] -= it.Count * n
		}
		for _, d := range k.Model.Hosts[h].Draws {
			budgets[d.Budget] -= d.Amount * int64(n)
		}
		nodes = append(nodes, model.Node{Host: h, Times: n, Items: slices.Clone(k.trial.items)})
		worth -= float64(k.trial.worth * float64(n))
		if st.Reprice > 0 && worth < again {
			p.Renew(k.Remaining, budgets, st.Excess)
			worth = k.begin(p, classes)
			again = float64(worth * st.Reprice)
		}
	}
}

// begin prepares for a new pricing and returns what everything that is left is worth.
func (k *Packer) begin(p *relax.Pricing, classes []int32) float64 {
	for _, h := range p.Hosts {
		most := k.view(h, p, classes) / (float64(k.Model.Hosts[h].Price+k.Model.Charge) + 1)
		k.ratio[h] = min(float64(k.ratio[h]*maxScoreGain), most+1e-6)
	}
	worth := 0.0
	for _, c := range classes {
		worth += float64(p.Value[c] * float64(k.Remaining[c]))
	}
	return worth
}

// maxScoreGain is how much better a host may look at new prices than it did at the old ones.
const maxScoreGain = 1.02

// capped lists the classes of which more than one host may be needed for all items, because of a cap.
func (k *Packer) capped(classes []int32) (out []int32) {
	for _, c := range classes {
		if class := &k.Model.Classes[c]; class.Cap < k.Remaining[c] || len(class.Groups) > 0 {
			out = append(out, c)
		}
	}
	return out
}

// demands counts, for each host, the hosts that the caps of the capped classes it could take demand.
// Classes that the same hosts can take demand the same of all of these: it is counted for each set of hosts once.
func (k *Packer) demands(p *relax.Pricing, capped []int32) {
	clear(k.capDemand.groups)
	clear(k.capDemand.sets)
	for _, c := range capped {
		class := &k.Model.Classes[c]
		n := float64(k.Remaining[c]) / float64(class.Cap)
		for _, r := range class.Groups {
			k.capDemand.groups[r] += float64(k.Remaining[c]) / float64(k.Model.Groups[r].Limit)
			n = max(n, k.capDemand.groups[r])
		}
		k.capDemand.sets[class.TakerSet] = max(k.capDemand.sets[class.TakerSet], n)
	}
	k.capDemand.order = k.capDemand.order[:0]
	for s, n := range k.capDemand.sets {
		if n > 1 {
			k.capDemand.order = append(k.capDemand.order, int32(s)) //nolint:gosec // sets are few
		}
	}
	slices.SortFunc(k.capDemand.order, func(a, b int32) int { return cmp.Compare(k.capDemand.sets[b], k.capDemand.sets[a]) })
	for _, h := range p.Hosts {
		k.capDemand.hosts[h] = 0
		for _, s := range k.capDemand.order {
			if k.Model.TakerSets[s].Has(int(h)) {
				k.capDemand.hosts[h] = k.capDemand.sets[s] // others demand no more of it
				break
			}
		}
	}
}

// bestHost leaves in k.trial the filling with the best ratio of worth to price. Hosts that are too large where caps demand many are left out as long as there are others.
func (k *Packer) bestHost(p *relax.Pricing, st Style, capped []int32, budgets []int64, worth float64) int32 {
	if st.CapShare == 0 {
		return k.bestOf(p, st, budgets, worth, -1)
	}
	k.demands(p, capped)
	if h := k.bestOf(p, st, budgets, worth, st.CapShare*worth); h >= 0 {
		return h
	}
	return k.bestOf(p, st, budgets, worth, -1)
}

// bestOf is bestHost among hosts whose price times the number of hosts demanded is at most the given limit; below 0 is no limit.
// A host's ratio rarely grows while items get fewer, so only hosts that were better last time are looked at again.
func (k *Packer) bestOf(p *relax.Pricing, st Style, budgets []int64, worth, limit float64) int32 {
	for _, h := range p.Hosts {
		k.fresh[h] = model.Overdrawn(k.Model.Hosts[h].Draws, budgets, 1) || limit >= 0 && float64(k.Model.Hosts[h].Price)*k.capDemand.hosts[h] > limit
		k.open[h] = !k.fresh[h]
	}
	best := int32(-1) // the host of the filling that is kept
	for {
		h := int32(-1)
		for _, other := range p.Hosts {
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
			k.ratio[h] = (k.trial.worth + 1e-6) / (float64(k.Model.Hosts[h].Price+k.Model.Charge) + 1)
		}
		if best < 0 || k.ratio[h] > k.ratio[best] || k.ratio[h] == k.ratio[best] && h < best {
			best = h
			k.trial, k.kept = k.kept, k.trial
		}
	}
}

// repeats is how many hosts get what the trial holds: half of what is possible,
// so that the mix is looked at again while there is still something to mix.
func (k *Packer) repeats(draws []problem.Draw, budgets []int64) int {
	n := int(^uint32(0) >> 1)
	for _, it := range k.trial.items {
		n = min(n, k.Remaining[it.Class]/it.Count)
	}
	return model.Affordable(draws, budgets, max(n/2, 1))
}

// Complete has the greedy search place what is left beside some hosts, on hosts that are dearer than the cheapest by up to the loose part.
func (k *Packer) Complete(near *relax.Relaxation, loose float64, nodes []model.Node, budgets []int64) *model.Solution {
	if slices.ContainsFunc(k.Remaining, func(n int) bool { return n > 0 }) {
		p := near.Clone()
		p.Weigh(k.Remaining, budgets)
		p.Climb(8, 0.2, 0.02)
		nodes = append(nodes, k.Greedy(p.Prices(loose), Style{FairShare: 1, DetourWeight: .5, Reprice: .9, Excess: .1}, model.AllClasses(k.Model), budgets)...)
	}
	out := &model.Solution{Nodes: nodes, Left: slices.Clone(k.Remaining)}
	for i := range out.Nodes {
		k.Model.Downsize(&out.Nodes[i], budgets)
	}
	return out
}
