package relax

import "slices"

// Shares become prices per unit, and these say what a load costs, what items are worth, and which kinds of hosts matter.

// kindPrice is the price of a host of the kind with what its draws on budgets are worth.
func (f *Relaxation) kindPrice(n int32) float64 {
	p := f.price[n]
	for _, d := range f.Kinds.All[n].Draws {
		p += float64(f.BudgetPrice[d.Budget] * float64(d.Amount))
	}
	return p
}

// Shares writes the shares of a kind's price: cap prices first, of which no more than most of the price is left to cap prices, then the rest as shared.
func (f *Relaxation) Shares(n int32, price float64, out []float64) {
	capCost := 0.0
	for l, capPrice := range f.capPrice {
		if capPrice > 0 && f.Limits[l].reach[n] {
			capCost += float64(capPrice * f.Limits[l].Cap)
		}
	}
	share := f.share[int(n)*f.Width:][:f.Width]
	if capCost == 0 || price <= 0 {
		copy(out, share)
		return
	}
	scale := 1.0
	if capCost > 0.9*price {
		scale = 0.9 * price / capCost
	}
	rest := 1 - float64(capCost*scale)/price
	for d, s := range share {
		out[d] = s * rest
	}
	for l, capPrice := range f.capPrice {
		if capPrice > 0 && f.Limits[l].reach[n] {
			out[f.Model.Dims+l] += float64(capPrice*scale*f.Limits[l].Cap) / price
		}
	}
}

// unitPrices turns shares into prices per unit of each dimension and limit on each kind.
func (f *Relaxation) unitPrices(unit []float64) {
	share, kinds := f.scratch.share, len(f.Kinds.All)
	for _, n := range f.Considered {
		price := f.kindPrice(n)
		f.Shares(n, price, share)
		for d, size := range f.sizes(n) {
			unit[d*kinds+int(n)] = share[d] * price / size
		}
	}
}

// sizes are what a host of the kind has of each dimension and allows of each limit.
func (f *Relaxation) sizes(n int32) []float64 { return f.size[int(n)*f.Width:][:f.Width] }

// costs returns what a load, of so many pieces under some caps, costs on each of the given kinds, in their order.
func (f *Relaxation) costs(unit, load []float64, pieces float64, caps, on []int32) []float64 {
	out, kinds := f.scratch.cost[:len(on)], len(f.Kinds.All)
	clear(out)
	for d, amount := range load {
		if amount == 0 {
			continue
		}
		price := unit[d*kinds:][:kinds]
		for i, n := range on {
			out[i] += float64(amount * price[n])
		}
	}
	for _, c := range caps {
		price := unit[(f.Model.Dims+int(c))*kinds:][:kinds]
		for i, n := range on {
			out[i] += float64(pieces * price[n])
		}
	}
	return out
}

// lowest is the least of the costs, of which there is one, none of them not a number: slices.Min looks for these, which takes its time.
func lowest(costs []float64) float64 {
	least := costs[0]
	for _, c := range costs[1:] {
		if c < least {
			least = c
		}
	}
	return least
}

// values returns what one item of each class is worth at the given unit prices; 0 for those of which nothing is left.
func (f *Relaxation) values(unit []float64) []float64 {
	value := make([]float64, len(f.Model.Classes))
	for c := range f.Model.Classes {
		l := &f.aggregates[f.aggregateOf[c]]
		if l.pieces == 0 {
			continue
		}
		for d, n := range f.Model.Classes[c].Need {
			f.scratch.need[d] = float64(n)
		}
		f.Steps += len(l.kinds)
		value[c] = lowest(f.costs(unit, f.scratch.need, 1, l.caps, l.kinds))
	}
	return value
}

// near marks the kinds on which some aggregate costs little more than on its cheapest.
func (f *Relaxation) near(unit []float64, loose float64) []bool {
	used := make([]bool, len(f.Kinds.All))
	for i := range f.aggregates {
		l := &f.aggregates[i]
		if l.pieces == 0 {
			continue
		}
		cost := f.costs(unit, l.load, l.pieces, l.caps, l.kinds)
		top := float64(lowest(cost)*(1+loose)) + 1e-9
		for k, c := range cost {
			if c <= top {
				used[l.kinds[k]] = true
			}
		}
	}
	return used
}

// Narrow returns a relaxation that can go its own way and looks only at the kinds
// that are within the loose part of the cheapest for some class.
func (f *Relaxation) Narrow(loose float64) *Relaxation {
	g := f.Clone()
	f.unitPrices(f.scratch.unit)
	used := f.near(f.scratch.unit, loose)
	f.corners(used)
	drop := func(n int32) bool { return !used[n] }
	g.Considered = slices.DeleteFunc(slices.Clone(f.Considered), drop)
	narrowed := make(map[*int32][]int32)
	for l := range g.aggregates {
		set := f.aggregates[l].kinds
		if narrowed[&set[0]] == nil {
			narrowed[&set[0]] = slices.DeleteFunc(slices.Clone(set), drop)
		}
		g.aggregates[l].kinds = narrowed[&set[0]]
	}
	return g
}

// corners marks the kinds that sell some dimension cheapest: whatever the mix of what is left in the end, one of them suits it.
func (f *Relaxation) corners(used []bool) {
	for d := range f.Model.Dims {
		least := -1.0
		for n := range used {
			if room := f.Kinds.All[n].Room[d]; room > 0 {
				if each := f.price[n] / float64(room); least < 0 || each < least {
					least = each
				}
			}
		}
		for n := range used {
			if room := f.Kinds.All[n].Room[d]; room > 0 && f.price[n]/float64(room) <= least*1.03 {
				used[n] = true
			}
		}
	}
}

// Considering returns the relaxation, at the same prices, such that it looks at these kinds.
func (f *Relaxation) Considering(kinds []int32) *Relaxation {
	g := *f
	g.Considered = kinds
	return &g
}
