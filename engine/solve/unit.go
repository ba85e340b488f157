package solve

import "slices"

// Shares become prices per unit, and these say what a load costs, what items are worth, and which kinds of hosts matter.

// kindPrice is the price of a host of the kind with what its draws on budgets are worth.
func (f *fluid) kindPrice(n int32) float64 {
	p := f.price[n]
	for _, d := range f.kinds.all[n].draws {
		p += float64(f.toll[d.Budget] * float64(d.Amount))
	}
	return p
}

// shares writes the shares of a kind's price: fees first, of which no more than most of the price is left to fees, then the rest as shared.
func (f *fluid) shares(n int32, price float64, out []float64) {
	fees := 0.0
	for l, fee := range f.fee {
		if fee > 0 && f.limits[l].reach[n] {
			fees += float64(fee * f.limits[l].cap)
		}
	}
	share := f.share[int(n)*f.width:][:f.width]
	if fees == 0 || price <= 0 {
		copy(out, share)
		return
	}
	scale := 1.0
	if fees > 0.9*price {
		scale = 0.9 * price / fees
	}
	rest := 1 - float64(fees*scale)/price
	for d, s := range share {
		out[d] = s * rest
	}
	for l, fee := range f.fee {
		if fee > 0 && f.limits[l].reach[n] {
			out[f.m.dims+l] += float64(fee*scale*f.limits[l].cap) / price
		}
	}
}

// unitPrices turns shares into prices per unit of each dimension and limit on each kind.
func (f *fluid) unitPrices(unit []float64) {
	share, kinds := f.work.share, len(f.kinds.all)
	for _, n := range f.look {
		price := f.kindPrice(n)
		f.shares(n, price, share)
		for d, size := range f.sizes(n) {
			unit[d*kinds+int(n)] = share[d] * price / size
		}
	}
}

// sizes are what a host of the kind has of each dimension and allows of each limit.
func (f *fluid) sizes(n int32) []float64 { return f.size[int(n)*f.width:][:f.width] }

// costs returns what a load, of so many pieces under some caps, costs on each of the given kinds, in their order.
func (f *fluid) costs(unit, load []float64, pieces float64, caps, on []int32) []float64 {
	out, kinds := f.work.cost[:len(on)], len(f.kinds.all)
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
		price := unit[(f.m.dims+int(c))*kinds:][:kinds]
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
func (f *fluid) values(unit []float64) []float64 {
	value := make([]float64, len(f.m.classes))
	for c := range f.m.classes {
		l := &f.lumps[f.lumpOf[c]]
		if l.pieces == 0 {
			continue
		}
		for d, n := range f.m.classes[c].need {
			f.work.need[d] = float64(n)
		}
		f.steps += len(l.takers)
		value[c] = lowest(f.costs(unit, f.work.need, 1, l.caps, l.takers))
	}
	return value
}

// near marks the kinds on which some lump costs little more than on its cheapest.
func (f *fluid) near(unit []float64, loose float64) []bool {
	used := make([]bool, len(f.kinds.all))
	for i := range f.lumps {
		l := &f.lumps[i]
		if l.pieces == 0 {
			continue
		}
		cost := f.costs(unit, l.load, l.pieces, l.caps, l.takers)
		top := float64(lowest(cost)*(1+loose)) + 1e-9
		for k, c := range cost {
			if c <= top {
				used[l.takers[k]] = true
			}
		}
	}
	return used
}

// narrow returns a relaxation that can go its own way and looks only at the kinds
// that are within the loose part of the cheapest for some class.
func (f *fluid) narrow(loose float64) *fluid {
	g := f.clone()
	f.unitPrices(f.work.unit)
	used := f.near(f.work.unit, loose)
	f.corners(used)
	drop := func(n int32) bool { return !used[n] }
	g.look = slices.DeleteFunc(slices.Clone(f.look), drop)
	narrowed := make(map[*int32][]int32)
	for l := range g.lumps {
		set := f.lumps[l].takers
		if narrowed[&set[0]] == nil {
			narrowed[&set[0]] = slices.DeleteFunc(slices.Clone(set), drop)
		}
		g.lumps[l].takers = narrowed[&set[0]]
	}
	return g
}

// corners marks the kinds that sell some dimension cheapest: whatever the mix of what is left in the end, one of them suits it.
func (f *fluid) corners(used []bool) {
	for d := range f.m.dims {
		least := -1.0
		for n := range used {
			if room := f.kinds.all[n].room[d]; room > 0 {
				if each := f.price[n] / float64(room); least < 0 || each < least {
					least = each
				}
			}
		}
		for n := range used {
			if room := f.kinds.all[n].room[d]; room > 0 && f.price[n]/float64(room) <= least*1.03 {
				used[n] = true
			}
		}
	}
}

// lookingAt returns the relaxation, at the same prices, such that it looks at these kinds.
func (f *fluid) lookingAt(kinds []int32) *fluid {
	g := *f
	g.look = kinds
	return &g
}
