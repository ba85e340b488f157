package solve

import (
	"cmp"
	"slices"
)

// The fluid relaxation lets items be poured: a host may hold a third of an item and a plan may open a third of a host.
// Its dual splits the price of every host into shares, one for each thing that can run out on it: a dimension, or a cap on how many
// items of a group it may hold. A share makes a price per unit, unit prices make the price of an item on that host, and an item is
// worth its price on the host where it is cheapest. However the shares are chosen, no plan costs less than all items together are
// worth, because no host can hold items worth more than its price. So every choice proves a bound, and a good choice prices items well.
//
// climb looks for the best shares by mirror ascent: pour every class onto its cheapest host, see what runs out there first, and shift
// the share of the price towards that.

// lump is classes that the relaxation cannot tell apart but by amount: equal proportions, equal hosts, equal caps.
type lump struct {
	load   []float64 // what all of them need
	pieces float64   // how many they are
	takers []int32
	caps   []int32
}

// limit is a cap in the relaxation: at most cap of some classes on one host.
type limit struct {
	cap   float64
	class int32 // the class whose own cap it is, or -1
	row   int32 // the group it is, or -1
}

// fluid is the relaxation and the best shares found.
type fluid struct {
	m      *model
	price  []float64 // of each host
	lumps  []lump
	lumpOf []int32 // the lump of each class
	limits []limit
	capsOf [][]int32 // the limits of each class
	share  []float64 // for each host the share of each dimension, then of each limit
	fee    []float64 // what each limit is charged, for one item, on all hosts alike, before the rest of the price is shared
	reach  [][]bool  // for each limit, the hosts that members of it can go to
	toll   []float64 // what one unit of each budget is worth
	width  int
	steps  int
}

// maxLimits is how many caps the relaxation heeds. More would only make the bound tighter.
const maxLimits = 250

func newFluid(m *model, charge int64) *fluid {
	f := &fluid{m: m, capsOf: make([][]int32, len(m.classes)), toll: make([]float64, len(m.budgets))}
	for _, h := range m.hosts {
		f.price = append(f.price, float64(h.price+charge))
	}
	f.addLimits()
	f.width = m.dims + len(f.limits)
	f.addLumps()
	counts := make([]int, len(m.classes))
	for c := range counts {
		counts[c] = m.classes[c].count
	}
	f.weigh(counts)
	f.evenShares()
	return f
}

// addLimits finds the caps that could bind: there are more items than the cap, and some host could hold more.
func (f *fluid) addLimits() {
	most := f.m.mostRoom(allHosts(f.m))
	type candidate struct {
		limit
		tight   float64 // how many hosts the cap demands
		members []int32
	}
	var found []candidate
	for c := range f.m.classes {
		k := &f.m.classes[c]
		if k.count > k.cap && times(k.need, most, k.cap+1) > k.cap {
			found = append(found, candidate{limit{float64(k.cap), int32(c), -1}, float64(k.count) / float64(k.cap), []int32{int32(c)}})
		}
	}
	for r := range f.m.rows {
		total := 0
		for _, c := range f.m.rows[r].members {
			total += f.m.classes[c].count
		}
		found = append(found, candidate{limit{float64(f.m.rows[r].cap), -1, int32(r)}, float64(total) / float64(f.m.rows[r].cap), f.m.rows[r].members})
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return -cmp.Compare(a.tight, b.tight) })
	for _, k := range found[:min(len(found), maxLimits)] {
		for _, c := range k.members {
			f.capsOf[c] = append(f.capsOf[c], int32(len(f.limits)))
		}
		f.limits = append(f.limits, k.limit)
		reach := make([]bool, len(f.m.hosts))
		for _, c := range k.members {
			f.m.classes[c].takers.each(func(h int) { reach[h] = true })
		}
		f.reach = append(f.reach, reach)
	}
	f.fee = make([]float64, len(f.limits))
}

func allHosts(m *model) []int32 {
	all := make([]int32, len(m.hosts))
	for i := range all {
		all[i] = int32(i)
	}
	return all
}

// addLumps gathers the classes: those of one lump go to the same hosts under the same caps and need things in nearly the same proportion.
func (f *fluid) addLumps() {
	type key struct {
		hosts, caps, direction uint64
	}
	index := make(map[key]int)
	scale := make([]float64, f.m.dims)
	for d, room := range f.m.mostRoom(allHosts(f.m)) {
		scale[d] = 1 / float64(max(room, 1))
	}
	for c := range f.m.classes {
		k := &f.m.classes[c]
		id := key{hash64(k.takers), hash32(f.capsOf[c]), direction(k.need, scale)}
		at, known := index[id]
		if !known {
			at = len(f.lumps)
			index[id] = at
			f.lumps = append(f.lumps, lump{load: make([]float64, f.m.dims), caps: f.capsOf[c]})
			k.takers.each(func(h int) { f.lumps[at].takers = append(f.lumps[at].takers, int32(h)) })
		}
		f.lumpOf = append(f.lumpOf, int32(at))
	}
}

// weigh makes the relaxation one of so many of each class.
func (f *fluid) weigh(counts []int) {
	for l := range f.lumps {
		f.lumps[l].pieces = 0
		clear(f.lumps[l].load)
	}
	for c, n := range counts {
		l := &f.lumps[f.lumpOf[c]]
		l.pieces += float64(n)
		for d, need := range f.m.classes[c].need {
			l.load[d] += float64(float64(need) * float64(n))
		}
	}
}

// direction names the proportions of a need, coarsely: two needs of one name differ by some percent.
func direction(need []int64, scale []float64) uint64 {
	const grain = 32
	sum := 0.0
	for d, n := range need {
		sum += float64(float64(n) * scale[d])
	}
	hash := uint64(1)
	if sum == 0 {
		return hash
	}
	for d, n := range need {
		hash = mix(hash ^ uint64(float64(float64(n)*scale[d])/sum*grain))
	}
	return hash
}

func mix(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}

func hash64(words []uint64) uint64 {
	h := uint64(len(words)) + 0x9e3779b97f4a7c15
	for _, w := range words {
		h = mix(h ^ w)
	}
	return h
}

func hash32(words []int32) uint64 {
	h := uint64(len(words)) + 0x9e3779b97f4a7c15
	for _, w := range words {
		h = mix(h ^ uint64(w))
	}
	return h
}

// evenShares starts with the dimensions equal and the limits small.
func (f *fluid) evenShares() {
	f.share = make([]float64, len(f.m.hosts)*f.width)
	for h := range f.m.hosts {
		row := f.share[h*f.width : (h+1)*f.width]
		for d := range row {
			row[d] = 1
			if d >= f.m.dims {
				row[d] = 0.3 / float64(len(f.limits))
			} else if f.m.hosts[h].room[d] == 0 {
				row[d] = 0
			}
		}
		normalize(row)
	}
}

func normalize(v []float64) {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	if sum == 0 {
		return
	}
	for i := range v {
		v[i] /= sum
	}
}

// hostPrice is the price of a host with what its draws on budgets are worth.
func (f *fluid) hostPrice(h int) float64 {
	p := f.price[h]
	for _, d := range f.m.hosts[h].draws {
		p += float64(f.toll[d.Budget] * float64(d.Amount))
	}
	return p
}

// shares writes the shares of a host's price: fees first, of which no more than most of the price is left to fees, then the rest as shared.
func (f *fluid) shares(h int, price float64, out []float64) {
	fees := 0.0
	for l, fee := range f.fee {
		if fee > 0 && f.reach[l][h] {
			fees += float64(fee * f.limits[l].cap)
		}
	}
	scale := 1.0
	if fees > 0.9*price {
		scale = 0.9 * price / fees
	}
	rest := 1.0
	if fees > 0 && price > 0 {
		rest = 1 - float64(fees*scale)/price
	}
	for d, share := range f.share[h*f.width : (h+1)*f.width] {
		out[d] = share * rest
	}
	if fees == 0 || price <= 0 {
		return
	}
	for l, fee := range f.fee {
		if fee > 0 && f.reach[l][h] {
			out[f.m.dims+l] += float64(fee*scale*f.limits[l].cap) / price
		}
	}
}

// unitPrices turns shares into prices per unit of each dimension and limit of each host.
func (f *fluid) unitPrices(unit []float64) {
	for h := range f.m.hosts {
		price := f.hostPrice(h)
		row := unit[h*f.width : (h+1)*f.width]
		f.shares(h, price, row)
		for d, room := range f.m.hosts[h].room {
			row[d] *= price / float64(max(room, 1))
		}
		for l := range f.limits {
			row[f.m.dims+l] *= price / f.limits[l].cap
		}
	}
}

// climb improves the shares by at most rounds rounds, beginning with steps of the given rate and items spread over hosts within the band.
func (f *fluid) climb(rounds int, rate, band float64) {
	hosts := len(f.m.hosts)
	unit := make([]float64, hosts*f.width)
	used := make([]float64, hosts*f.width) // hosts that would be needed if only this could run out
	cost := make([]float64, hosts)
	best := slices.Clone(f.share)
	bestToll := slices.Clone(f.toll)
	bestFee := slices.Clone(f.fee)
	bestValue := -1.0
	stale := 0
	for range rounds {
		f.unitPrices(unit)
		clear(used)
		value := 0.0
		for l := range f.lumps {
			if f.lumps[l].pieces == 0 {
				continue
			}
			value += f.pour(&f.lumps[l], unit, used, cost, band)
		}
		for b, toll := range f.toll {
			value -= float64(toll * float64(f.m.budgets[b]))
		}
		if value > bestValue {
			if value > float64(bestValue*1.0002) {
				stale = 0
			}
			bestValue = value
			copy(best, f.share)
			copy(bestToll, f.toll)
			copy(bestFee, f.fee)
		} else if stale++; stale >= 4 {
			stale = 0
			rate *= 0.6
			band = max(float64(band*0.6), 0.002)
			copy(f.share, best)
			copy(f.toll, bestToll)
			copy(f.fee, bestFee)
			if rate < 0.004 {
				break
			}
			continue
		}
		f.shift(used, rate)
	}
	copy(f.share, best)
	copy(f.toll, bestToll)
	copy(f.fee, bestFee)
}

// pour spreads a lump over its cheapest hosts, all within the band around the cheapest, and returns what it is worth.
func (f *fluid) pour(l *lump, unit, used, cost []float64, band float64) float64 {
	f.steps += len(l.takers)
	least := -1.0
	for _, h := range l.takers {
		c := f.lumpCost(l, unit[int(h)*f.width:])
		cost[h] = c
		if least < 0 || c < least {
			least = c
		}
	}
	top := float64(least*(1+band)) + 1e-9
	sum := 0.0
	for _, h := range l.takers {
		if cost[h] < top {
			w := (top - cost[h]) / (top - least)
			sum += float64(w * w)
		}
	}
	for _, h := range l.takers {
		if cost[h] >= top {
			continue
		}
		w := (top - cost[h]) / (top - least)
		w = float64(w*w) / sum
		row := used[int(h)*f.width : (int(h)+1)*f.width]
		for d, n := range l.load {
			if n > 0 {
				row[d] += float64(w*n) / float64(f.m.hosts[h].room[d])
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

// shift moves the shares of each host towards what runs out first, and the tolls towards budgets that are overdrawn.
func (f *fluid) shift(used []float64, rate float64) {
	drawn := make([]float64, len(f.m.budgets))
	weight := make([]float64, len(f.m.budgets))
	opened := make([]float64, len(f.m.hosts))
	for h := range f.m.hosts {
		row := used[h*f.width : (h+1)*f.width]
		share := f.share[h*f.width : (h+1)*f.width]
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
		opened[h] = mean
		for _, d := range f.m.hosts[h].draws {
			drawn[d.Budget] += float64(mean * float64(d.Amount))
			weight[d.Budget] += float64(mean * (f.price[h] + 1000))
		}
	}
	f.shiftFees(opened, rate)
	for b, budget := range f.m.budgets {
		if drawn[b] == 0 {
			f.toll[b] *= 1 - rate/2
			continue
		}
		over := (drawn[b] - float64(budget)) / max(drawn[b], float64(budget))
		f.toll[b] = max(f.toll[b]+float64(rate*0.5*over*max(weight[b]/drawn[b], f.toll[b])), 0)
	}
}

// shiftFees raises the fees of limits that demand more hosts than are opened and lowers the others.
// No fee need be above the price of the cheapest host, for opening that satisfies the limit.
func (f *fluid) shiftFees(opened []float64, rate float64) {
	pieces := make([]float64, len(f.limits))
	for i := range f.lumps {
		for _, l := range f.lumps[i].caps {
			pieces[l] += f.lumps[i].pieces
		}
	}
	for l, reach := range f.reach {
		room, least := 0.0, 0.0
		for h, n := range opened {
			if reach[h] && least == 0 {
				least = f.price[h] // hosts stand in order of price
			}
			if reach[h] {
				room += n
			}
		}
		room *= f.limits[l].cap
		if most := max(pieces[l], room); most > 0 {
			step := rate * 0.1 * least / f.limits[l].cap * (pieces[l] - room) / most
			f.fee[l] = min(max(0, f.fee[l]+step), least/f.limits[l].cap)
		}
	}
}

// values returns what one item of each class is worth at the given unit prices,
// and the hosts that are within the loose part of the cheapest for some class.
func (f *fluid) values(unit []float64, loose float64) (value []float64, hosts []int32) {
	value = make([]float64, len(f.m.classes))
	used := make([]bool, len(f.m.hosts))
	for l := range f.lumps {
		f.near(&f.lumps[l], unit, loose, used)
	}
	for c := range f.m.classes {
		if f.lumps[f.lumpOf[c]].pieces == 0 {
			continue
		}
		k := &f.m.classes[c]
		least := -1.0
		for _, h := range f.lumps[f.lumpOf[c]].takers {
			row := unit[int(h)*f.width : (int(h)+1)*f.width]
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
		f.steps += len(f.m.hosts)
		value[c] = least
	}
	for h, is := range used {
		if is {
			hosts = append(hosts, int32(h))
		}
	}
	return value, hosts
}

// near marks the hosts on which the lump costs little more than on its cheapest.
func (f *fluid) near(l *lump, unit []float64, loose float64, used []bool) {
	if l.pieces == 0 {
		return
	}
	least := -1.0
	for _, h := range l.takers {
		if c := f.lumpCost(l, unit[int(h)*f.width:]); least < 0 || c < least {
			least = c
		}
	}
	for _, h := range l.takers {
		if f.lumpCost(l, unit[int(h)*f.width:]) <= float64(least*(1+loose))+1e-9 {
			used[h] = true
		}
	}
}
