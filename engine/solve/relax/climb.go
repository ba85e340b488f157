package relax

// climb looks for the best shares by mirror ascent: pour every aggregate onto its cheapest kinds, see what runs out there first, and
// shift the share of the price towards that.

// keep notes the shares as the best there are; restore goes back to them.
func (f *Relaxation) keep() {
	b := &f.scratch.best
	b.share, b.capPrice, b.budgetPrice = append(b.share[:0], f.share...), append(b.capPrice[:0], f.capPrice...), append(b.budgetPrice[:0], f.BudgetPrice...)
}

func (f *Relaxation) restore() {
	copy(f.share, f.scratch.best.share)
	copy(f.capPrice, f.scratch.best.capPrice)
	copy(f.BudgetPrice, f.scratch.best.budgetPrice)
}

// MaxHostExcess is how much dearer a host may be than the cheapest, for some class, to be looked at by the search.
const MaxHostExcess = 0.12

// Ascend looks for the best shares from where they are: on all kinds, then on those that are not much dearer than the cheapest for
// something, and on all again, lest one of the others undercut them.
func (f *Relaxation) Ascend() {
	f.Climb(25, 0.6, 0.1)
	g := f.Narrow(MaxHostExcess)
	g.Climb(70, 0.3, 0.05)
	for _, n := range g.Considered {
		copy(f.share[int(n)*f.Width:][:f.Width], g.share[int(n)*f.Width:][:f.Width])
	}
	copy(f.capPrice, g.capPrice)
	copy(f.BudgetPrice, g.BudgetPrice)
	f.Steps = g.Steps
	f.Climb(16, 0.1, 0.02)
}

// maxRoundsWithoutGain is how many rounds without a gain there are before steps get smaller.
const maxRoundsWithoutGain = 4

// Climb improves the shares by at most rounds rounds, beginning with steps of the given rate and items spread over kinds within the
// band. A step goes by what was poured in all rounds since the best, the late ones more than the early: what is cheapest in one round
// is too dear in the next, and by one round alone the shares would swing to and fro.
func (f *Relaxation) Climb(rounds int, rate, band float64) {
	unit, used, trend := f.scratch.unit, f.scratch.used, f.scratch.trend
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
		} else if stale++; stale >= maxRoundsWithoutGain {
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

// pourAll pours all aggregates and returns what they are worth, less what the budgets are.
func (f *Relaxation) pourAll(band float64) float64 {
	clear(f.scratch.used)
	value := 0.0
	for l := range f.aggregates {
		if f.aggregates[l].pieces > 0 {
			value += f.pour(&f.aggregates[l], band)
		}
	}
	for b, budgetPrice := range f.BudgetPrice {
		value -= float64(budgetPrice * float64(f.budgets[b]))
	}
	return value
}

// pour spreads an aggregate over its cheapest kinds, all within the band around the cheapest, and returns what it is worth.
func (f *Relaxation) pour(l *aggregate, band float64) float64 {
	f.Steps += len(l.kinds)
	cost := f.costs(f.scratch.unit, l.load, l.pieces, l.caps, l.kinds)
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
		row := f.scratch.used[int(l.kinds[i])*f.Width:][:f.Width]
		for d, load := range l.load {
			row[d] += float64(part * load)
		}
		for _, k := range l.caps {
			row[f.Model.Dims+int(k)] += float64(part * l.pieces)
		}
	}
	return least
}

// shift moves the shares of each kind towards what runs out first when so much is poured, and the budget prices towards budgets that are overdrawn.
func (f *Relaxation) shift(poured []float64, rate float64) {
	opened, hosts := f.scratch.opened, f.scratch.share // hosts that would be needed if only this could run out
	clear(opened)
	for _, n := range f.Considered {
		row := poured[int(n)*f.Width:][:f.Width]
		share := f.share[int(n)*f.Width:][:f.Width]
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
	f.shiftCapPrices(opened, rate)
	f.shiftBudgetPrices(opened, rate)
}

// shiftCapPrices raises the cap prices of limits that demand more hosts than are opened and lowers the others.
// No cap price need be above the price of the cheapest host, for opening that satisfies the limit.
func (f *Relaxation) shiftCapPrices(opened []float64, rate float64) {
	if len(f.Limits) == 0 {
		return
	}
	for l := range f.Limits {
		pieces := f.Limits[l].pieces
		room, least := 0.0, 0.0
		for _, n := range f.Considered {
			if !f.Limits[l].reach[n] {
				continue
			}
			if least == 0 {
				least = f.price[n] // kinds stand in order of price
			}
			room += opened[n]
		}
		room *= f.Limits[l].Cap
		if most := max(pieces, room); most > 0 {
			step := rate * 0.1 * least / f.Limits[l].Cap * (pieces - room) / most
			f.capPrice[l] = min(max(0, f.capPrice[l]+step), least/f.Limits[l].Cap)
		}
	}
}

// shiftBudgetPrices raises the budget prices of budgets that are overdrawn and lowers the others.
func (f *Relaxation) shiftBudgetPrices(opened []float64, rate float64) {
	if len(f.BudgetPrice) == 0 {
		return
	}
	drawn, weight := make([]float64, len(f.BudgetPrice)), make([]float64, len(f.BudgetPrice))
	for _, n := range f.Considered {
		for _, d := range f.Kinds.All[n].Draws {
			drawn[d.Budget] += float64(opened[n] * float64(d.Amount))
			weight[d.Budget] += float64(opened[n] * (f.price[n] + 1000))
		}
	}
	for b, budget := range f.budgets {
		if drawn[b] == 0 {
			f.BudgetPrice[b] *= 1 - rate/2
			continue
		}
		over := (drawn[b] - float64(budget)) / max(drawn[b], float64(budget))
		f.BudgetPrice[b] = max(f.BudgetPrice[b]+float64(rate*0.5*over*max(weight[b]/drawn[b], f.BudgetPrice[b])), 0)
	}
}

// Value is what all items together are worth at the prices as they stand.
func (f *Relaxation) Value() float64 {
	f.unitPrices(f.scratch.unit)
	worth := f.values(f.scratch.unit)
	sum := 0.0
	for c, w := range worth {
		sum += float64(w * float64(f.Model.Classes[c].Count))
	}
	for b, budgetPrice := range f.BudgetPrice {
		sum -= float64(budgetPrice * float64(f.budgets[b]))
	}
	return sum
}

// Uncharged returns the relaxation without the charge, at the best prices found from those as they stand.
func (f *Relaxation) Uncharged() *Relaxation {
	g := New(f.Model, f.Kinds, 0)
	copy(g.share, f.share)
	copy(g.BudgetPrice, f.BudgetPrice)
	for l, capPrice := range f.capPrice {
		g.capPrice[l] = max(capPrice-float64(f.Charge)/g.Limits[l].Cap, 0)
	}
	g.Climb(100, 0.2, 0.02)
	return g
}

// CapCost is what all cap prices come to.
func (f *Relaxation) CapCost() float64 {
	capCost := 0.0
	for _, l := range f.aggregates {
		for _, k := range l.caps {
			capCost += float64(l.pieces * f.capPrice[k])
		}
	}
	return capCost
}

// Mean is what is poured onto each kind over so many rounds around the best shares: each round by itself is one-sided.
func (f *Relaxation) Mean(rounds int) []float64 {
	sum, trend := make([]float64, len(f.scratch.used)), f.scratch.trend
	clear(trend)
	swing := 0.0
	for range rounds {
		f.unitPrices(f.scratch.unit)
		f.pourAll(0.01)
		for i, u := range f.scratch.used {
			sum[i] += u / float64(rounds)
			trend[i] = float64(swing*trend[i]) + float64((1-swing)*u)
		}
		swing = 0.5
		f.shift(trend, 0.02)
	}
	return sum
}

// Scarcity is the share of a host's price that each dimension has, for each kind and dimension.
func (f *Relaxation) Scarcity() []float64 {
	kinds := len(f.Kinds.All)
	f.unitPrices(f.scratch.unit)
	out := make([]float64, 0, kinds*f.Model.Dims)
	for n := range f.Kinds.All {
		price := f.kindPrice(int32(n)) + 1
		for d, room := range f.Kinds.All[n].Room {
			out = append(out, f.scratch.unit[d*kinds+n]*float64(room)/price)
		}
	}
	return out
}

// Opened is how many hosts of a kind are full when so much is poured.
func (f *Relaxation) Opened(n int32, poured []float64) float64 {
	row, share := poured[int(n)*f.Width:][:f.Width], f.share[int(n)*f.Width:][:f.Width]
	hosts := 0.0
	for d, size := range f.sizes(n) {
		hosts += float64(row[d] / size * share[d])
	}
	return hosts
}
