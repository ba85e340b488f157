package solve

// climb looks for the best shares by mirror ascent: pour every lump onto its cheapest kinds, see what runs out there first, and
// shift the share of the price towards that.

// desk is room to work on.
type desk struct {
	unit   []float64 // for each dimension and limit the price of one unit on each kind
	used   []float64 // what is poured onto each kind of each dimension and limit
	trend  []float64 // the same over the last rounds
	share  []float64 // for each dimension and limit of one kind
	cost   []float64 // of something on the kinds that can take it, in their order
	need   []float64 // of one item
	opened []float64 // hosts of each kind
	best   shares
}

// shares are how prices are divided.
type shares struct {
	share, fee, toll []float64
}

func newDesk(kinds, width, dims int) *desk {
	return &desk{
		unit: make([]float64, kinds*width), used: make([]float64, kinds*width), trend: make([]float64, kinds*width), share: make([]float64, width),
		cost: make([]float64, kinds), need: make([]float64, dims), opened: make([]float64, kinds),
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
	f.climb(25, 0.6, 0.1)
	g := f.narrow(nearby)
	g.climb(70, 0.3, 0.05)
	for _, n := range g.look {
		copy(f.share[int(n)*f.width:][:f.width], g.share[int(n)*f.width:][:f.width])
	}
	copy(f.fee, g.fee)
	copy(f.toll, g.toll)
	f.steps = g.steps
	f.climb(16, 0.1, 0.02)
}

// patience is how many rounds without a gain there are before steps get smaller.
const patience = 4

// climb improves the shares by at most rounds rounds, beginning with steps of the given rate and items spread over kinds within the
// band. A step goes by what was poured in all rounds since the best, the late ones more than the early: what is cheapest in one round
// is too dear in the next, and by one round alone the shares would swing to and fro.
func (f *fluid) climb(rounds int, rate, band float64) {
	unit, used, trend := f.work.unit, f.work.used, f.work.trend
	f.keep()
	best := -1.0
	stale, swing := 0, 0.0
	for range rounds {
		f.unitPrices(unit)
		value := f.pourAll(band)
		if value > best {
			if value > float64(best*1.0002) {
				stale = 0
			}
			best = value
			f.keep()
		} else if stale++; stale >= patience {
			stale, swing = 0, 0
			rate *= 0.6
			band = max(float64(band*0.6), 0.002)
			f.restore()
			if rate < 0.004 {
				break
			}
			continue
		}
		for i, u := range used {
			trend[i] = float64(swing*trend[i]) + float64((1-swing)*u)
		}
		swing = 0.5
		f.shift(trend, rate)
	}
	f.restore()
}

// pourAll pours all lumps and returns what they are worth, less what the budgets are.
func (f *fluid) pourAll(band float64) float64 {
	clear(f.work.used)
	value := 0.0
	for l := range f.lumps {
		if f.lumps[l].pieces > 0 {
			value += f.pour(&f.lumps[l], band)
		}
	}
	for b, toll := range f.toll {
		value -= float64(toll * float64(f.m.budgets[b]))
	}
	return value
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

// pour spreads a lump over its cheapest kinds, all within the band around the cheapest, and returns what it is worth.
func (f *fluid) pour(l *lump, band float64) float64 {
	f.steps += len(l.takers)
	cost := f.costs(f.work.unit, l.load, l.pieces, l.caps, l.takers)
	least := lowest(cost)
	top := float64(least*(1+band)) + 1e-9
	sum := 0.0
	for _, c := range cost {
		if c < top {
			sum += float64((top - c) * (top - c))
		}
	}
	for i, c := range cost {
		if c >= top {
			continue
		}
		part := float64((top-c)*(top-c)) / sum
		row := f.work.used[int(l.takers[i])*f.width:][:f.width]
		for d, load := range l.load {
			row[d] += float64(part * load)
		}
		for _, k := range l.caps {
			row[f.m.dims+int(k)] += float64(part * l.pieces)
		}
	}
	return least
}

// shift moves the shares of each kind towards what runs out first when so much is poured, and the tolls towards budgets that are overdrawn.
func (f *fluid) shift(poured []float64, rate float64) {
	opened, hosts := f.work.opened, f.work.share // hosts that would be needed if only this could run out
	clear(opened)
	for _, n := range f.look {
		row := poured[int(n)*f.width:][:f.width]
		share := f.share[int(n)*f.width:][:f.width]
		top, mean := 0.0, 0.0
		for d, size := range f.sizes(n) {
			hosts[d] = row[d] / size
			top = max(top, hosts[d])
			mean += float64(hosts[d] * share[d])
		}
		if top == 0 {
			continue
		}
		for d, u := range hosts {
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
	for l := range f.limits {
		pieces := f.limits[l].pieces
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
		if most := max(pieces, room); most > 0 {
			step := rate * 0.1 * least / f.limits[l].cap * (pieces - room) / most
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
