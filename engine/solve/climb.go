package solve

// climb looks for the best shares by mirror ascent: pour every lump onto its cheapest kinds, see what runs out there first, and
// shift the share of the price towards that.

// desk is room to work on.
type desk struct {
	unit   []float64 // for each kind the price of one unit of each dimension and limit
	used   []float64 // hosts of each kind that would be needed if only this could run out
	cost   []float64 // of a lump on each kind
	opened []float64 // hosts of each kind
	best   shares
}

// shares are how prices are divided.
type shares struct {
	share, fee, toll []float64
}

func newDesk(kinds, width int) *desk {
	return &desk{
		unit: make([]float64, kinds*width), used: make([]float64, kinds*width),
		cost: make([]float64, kinds), opened: make([]float64, kinds),
	}
}

// keep notes the shares as the best there are; restore goes back to them.
func (f *fluid) keep() {
	b := &f.work.best
	b.share, b.fee, b.toll = append(b.share[:0], f.share...), append(b.fee[:0], f.fee...), append(b.toll[:0], f.toll...)
}

func (f *fluid) restore() {
	copy(f.share, f.work.best.share)
	copy(f.fee, f.work.best.fee)
	copy(f.toll, f.work.best.toll)
}

// ascend looks for the best shares from where they are: on all kinds, then on those that are not much dearer than the cheapest for
// something, and on all again, lest one of the others undercut them.
func (f *fluid) ascend() {
	f.climb(40, 0.6, 0.1)
	g := f.narrow(nearby)
	g.climb(110, 0.3, 0.05)
	for _, n := range g.look {
		copy(f.share[int(n)*f.width:][:f.width], g.share[int(n)*f.width:][:f.width])
	}
	copy(f.fee, g.fee)
	copy(f.toll, g.toll)
	f.steps = g.steps
	f.climb(20, 0.1, 0.02)
}

// climb improves the shares by at most rounds rounds, beginning with steps of the given rate and items spread over kinds within the band.
func (f *fluid) climb(rounds int, rate, band float64) {
	unit, used := f.work.unit, f.work.used
	f.keep()
	best := -1.0
	stale := 0
	for range rounds {
		f.unitPrices(unit)
		clear(used)
		value := 0.0
		for l := range f.lumps {
			if f.lumps[l].pieces > 0 {
				value += f.pour(&f.lumps[l], band)
			}
		}
		for b, toll := range f.toll {
			value -= float64(toll * float64(f.m.budgets[b]))
		}
		if value > best {
			if value > float64(best*1.0002) {
				stale = 0
			}
			best = value
			f.keep()
		} else if stale++; stale >= 4 {
			stale = 0
			rate *= 0.6
			band = max(float64(band*0.6), 0.002)
			f.restore()
			if rate < 0.004 {
				break
			}
			continue
		}
		f.shift(used, rate)
	}
	f.restore()
}

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

// unitPrices turns shares into prices per unit of each dimension and limit of each kind.
func (f *fluid) unitPrices(unit []float64) {
	for _, n := range f.look {
		price := f.kindPrice(n)
		row := unit[int(n)*f.width:][:f.width]
		f.shares(n, price, row)
		for d, room := range f.kinds.all[n].room {
			row[d] *= price / float64(max(room, 1))
		}
		for l := range f.limits {
			row[f.m.dims+l] *= price / f.limits[l].cap
		}
	}
}

// pour spreads a lump over its cheapest kinds, all within the band around the cheapest, and returns what it is worth.
func (f *fluid) pour(l *lump, band float64) float64 {
	f.steps += len(l.takers)
	cost, least := f.work.cost, -1.0
	for _, n := range l.takers {
		c := f.lumpCost(l, f.work.unit[int(n)*f.width:])
		cost[n] = c
		if least < 0 || c < least {
			least = c
		}
	}
	top := float64(least*(1+band)) + 1e-9
	sum := 0.0
	for _, n := range l.takers {
		if cost[n] < top {
			w := (top - cost[n]) / (top - least)
			sum += float64(w * w)
		}
	}
	for _, n := range l.takers {
		if cost[n] >= top {
			continue
		}
		w := (top - cost[n]) / (top - least)
		w = float64(w*w) / sum
		row := f.work.used[int(n)*f.width:][:f.width]
		room := f.kinds.all[n].room
		for d, load := range l.load {
			if load > 0 {
				row[d] += float64(w*load) / float64(room[d])
			}
		}
		for _, k := range l.caps {
			row[f.m.dims+int(k)] += float64(w*l.pieces) / f.limits[k].cap
		}
	}
	return least
}

func (f *fluid) lumpCost(l *lump, unit []float64) float64 {
	c := 0.0
	for d, n := range l.load {
		c += float64(n * unit[d])
	}
	for _, k := range l.caps {
		c += float64(l.pieces * unit[f.m.dims+int(k)])
	}
	return c
}

// shift moves the shares of each kind towards what runs out first, and the tolls towards budgets that are overdrawn.
func (f *fluid) shift(used []float64, rate float64) {
	opened := f.work.opened
	clear(opened)
	for _, n := range f.look {
		row := used[int(n)*f.width:][:f.width]
		share := f.share[int(n)*f.width:][:f.width]
		top, mean := 0.0, 0.0
		for d, u := range row {
			top = max(top, u)
			mean += float64(u * share[d])
		}
		if top == 0 {
			continue
		}
		for d, u := range row {
			share[d] *= 1 + rate*(u-mean)/top
			if share[d] < 1e-7 && u > 0 {
				share[d] = 1e-7
			}
		}
		normalize(share)
		opened[n] = mean
	}
	f.shiftFees(opened, rate)
	f.shiftTolls(opened, rate)
}

// shiftFees raises the fees of limits that demand more hosts than are opened and lowers the others.
// No fee need be above the price of the cheapest host, for opening that satisfies the limit.
func (f *fluid) shiftFees(opened []float64, rate float64) {
	if len(f.limits) == 0 {
		return
	}
	pieces := make([]float64, len(f.limits))
	for i := range f.lumps {
		for _, l := range f.lumps[i].caps {
			pieces[l] += f.lumps[i].pieces
		}
	}
	for l := range f.limits {
		room, least := 0.0, 0.0
		for _, n := range f.look {
			if !f.limits[l].reach[n] {
				continue
			}
			if least == 0 {
				least = f.price[n] // kinds stand in order of price
			}
			room += opened[n]
		}
		room *= f.limits[l].cap
		if most := max(pieces[l], room); most > 0 {
			step := rate * 0.1 * least / f.limits[l].cap * (pieces[l] - room) / most
			f.fee[l] = min(max(0, f.fee[l]+step), least/f.limits[l].cap)
		}
	}
}

// shiftTolls raises the tolls of budgets that are overdrawn and lowers the others.
func (f *fluid) shiftTolls(opened []float64, rate float64) {
	if len(f.toll) == 0 {
		return
	}
	drawn, weight := make([]float64, len(f.toll)), make([]float64, len(f.toll))
	for _, n := range f.look {
		for _, d := range f.kinds.all[n].draws {
			drawn[d.Budget] += float64(opened[n] * float64(d.Amount))
			weight[d.Budget] += float64(opened[n] * (f.price[n] + 1000))
		}
	}
	for b, budget := range f.m.budgets {
		if drawn[b] == 0 {
			f.toll[b] *= 1 - rate/2
			continue
		}
		over := (drawn[b] - float64(budget)) / max(drawn[b], float64(budget))
		f.toll[b] = max(f.toll[b]+float64(rate*0.5*over*max(weight[b]/drawn[b], f.toll[b])), 0)
	}
}

// value is what all items together are worth at the prices as they stand.
func (f *fluid) value() float64 {
	f.unitPrices(f.work.unit)
	worth := f.values(f.work.unit)
	sum := 0.0
	for c, w := range worth {
		sum += float64(w * float64(f.m.classes[c].count))
	}
	for b, toll := range f.toll {
		sum -= float64(toll * float64(f.m.budgets[b]))
	}
	return sum
}

// values returns what one item of each class is worth at the given unit prices; 0 for those of which nothing is left.
func (f *fluid) values(unit []float64) []float64 {
	value := make([]float64, len(f.m.classes))
	for c := range f.m.classes {
		l := &f.lumps[f.lumpOf[c]]
		if l.pieces == 0 {
			continue
		}
		k := &f.m.classes[c]
		least := -1.0
		f.steps += len(l.takers)
		for _, n := range l.takers {
			row := unit[int(n)*f.width:][:f.width]
			sum := 0.0
			for d, n := range k.need {
				sum += float64(float64(n) * row[d])
			}
			for _, l := range f.capsOf[c] {
				sum += row[f.m.dims+int(l)]
			}
			if least < 0 || sum < least {
				least = sum
			}
		}
		value[c] = least
	}
	return value
}

// near marks the kinds on which some lump costs little more than on its cheapest.
func (f *fluid) near(unit []float64, loose float64) []bool {
	used := make([]bool, len(f.kinds.all))
	cost := f.work.cost
	for i := range f.lumps {
		l := &f.lumps[i]
		if l.pieces == 0 {
			continue
		}
		least := -1.0
		for _, n := range l.takers {
			cost[n] = f.lumpCost(l, unit[int(n)*f.width:])
			if least < 0 || cost[n] < least {
				least = cost[n]
			}
		}
		top := float64(least*(1+loose)) + 1e-9
		for _, n := range l.takers {
			if cost[n] <= top {
				used[n] = true
			}
		}
	}
	return used
}
