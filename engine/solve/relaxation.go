package solve

import (
	"cmp"
	"slices"
)

// The relaxation lets items be poured: a host may hold a third of an item and a plan may open a third of a host.
// Its dual splits the price of every host into shares, one for each thing that can run out on it: a dimension, or a cap on how many
// items of a group it may hold. A share makes a price per unit, unit prices make the price of an item on that host, and an item is
// worth its price on the host where it is cheapest. However the shares are chosen, no plan costs less than all items together are
// worth, because no host can hold items worth more than its price. So every choice proves a bound, and a good choice prices items well.
//
// Hosts of equal room, price and draws, such as one type in several zones, are of one kind and share their prices: the relaxation
// pretends that an item which may go to one of them may go to all.

// aggregate is classes that the relaxation cannot tell apart but by amount: nearly equal proportions, equal kinds, equal caps.
type aggregate struct {
	load   []float64 // what all of them need
	pieces float64   // how many they are
	kinds  []int32   // kinds
	caps   []int32
}

// limit is a cap in the relaxation: at most cap of some classes on one host.
type limit struct {
	cap     float64
	members []int32
	reach   []bool  // the kinds that members of it can go to
	pieces  float64 // how many its members are
}

// relaxation is the relaxation and the best shares found.
type relaxation struct {
	model       *model
	kinds       *kinds
	considered  []int32   // the kinds that are looked at
	charge      int64     // for each host, beside its price
	price       []float64 // of each kind, with the charge
	aggregates  []aggregate
	aggregateOf []int32 // the aggregate of each class
	limits      []limit
	capsOf      [][]int32 // the limits of each class
	share       []float64 // for each kind the share of each dimension, then of each limit
	capPrice    []float64 // what each limit is charged, for one item, on all hosts alike, before the rest of the price is shared
	budgetPrice []float64 // what one unit of each budget is worth
	size        []float64 // for each kind what a host has of each dimension, then what it allows of each limit
	width       int
	steps       int
	scratch     *workspace
}

// maxLimits is how many caps the relaxation heeds: those that demand most hosts. Where these have enough, so have most others,
// and more would only make the bound a little tighter.
const maxLimits = 8

func newRelaxation(m *model, kinds *kinds, charge int64) *relaxation {
	f := &relaxation{model: m, kinds: kinds, charge: charge, capsOf: make([][]int32, len(m.classes)), budgetPrice: make([]float64, len(m.budgets))}
	for n, h := range f.kinds.all {
		f.considered = append(f.considered, int32(n))
		f.price = append(f.price, float64(h.price+charge))
	}
	f.addLimits()
	f.width = m.dims + len(f.limits)
	f.scratch = newWorkspace(len(f.kinds.all), f.width, m.dims)
	f.addSizes()
	f.addAggregates()
	f.weigh(m.counts())
	f.evenShares()
	return f
}

// addLimits finds the caps that could bind: there are more items than the cap, and some host could hold more.
func (f *relaxation) addLimits() {
	most := f.model.mostRoom(allHosts(f.model))
	type candidate struct {
		limit
		tight float64 // how many hosts the cap demands
	}
	var found []candidate
	add := func(limit int, members ...int32) {
		total := 0
		for _, c := range members {
			total += f.model.classes[c].count
		}
		x := candidate{tight: float64(total) / float64(limit)}
		x.cap, x.members = float64(limit), members
		found = append(found, x)
	}
	for c := range f.model.classes {
		k := &f.model.classes[c]
		if k.count > k.cap && times(k.need, most, k.cap+1) > k.cap {
			add(k.cap, int32(c))
		}
	}
	for _, r := range f.model.groups {
		add(r.limit, r.members...)
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return -cmp.Compare(a.tight, b.tight) })
	for _, x := range found[:min(len(found), maxLimits)] {
		x.reach = make([]bool, len(f.kinds.all))
		for _, c := range x.members {
			f.capsOf[c] = append(f.capsOf[c], int32(len(f.limits)))
			for _, n := range f.kinds.takers(int(c)) {
				x.reach[n] = true
			}
		}
		f.limits = append(f.limits, x.limit)
	}
	f.capPrice = make([]float64, len(f.limits))
}

// addSizes notes what each kind has and allows.
func (f *relaxation) addSizes() {
	f.size = make([]float64, 0, len(f.kinds.all)*f.width)
	for n := range f.kinds.all {
		for _, room := range f.kinds.all[n].room {
			f.size = append(f.size, float64(max(room, 1)))
		}
		for l := range f.limits {
			f.size = append(f.size, f.limits[l].cap)
		}
	}
}

// addAggregates gathers the classes: those of one aggregate go to the same kinds under the same caps and need things in nearly the same proportion.
func (f *relaxation) addAggregates() {
	type key struct {
		kinds           int32
		caps, direction uint64
	}
	index := make(map[key]int32)
	scale := make([]float64, f.model.dims)
	for d, room := range f.model.mostRoom(allHosts(f.model)) {
		scale[d] = 1 / float64(max(room, 1))
	}
	f.aggregateOf = make([]int32, len(f.model.classes))
	for c := range f.model.classes {
		id := key{f.kinds.setOf[c], hash32(f.capsOf[c]), direction(f.model.classes[c].need, scale, coarsely)}
		at, known := index[id]
		if !known {
			at = int32(len(f.aggregates))
			index[id] = at
			f.aggregates = append(f.aggregates, aggregate{load: make([]float64, f.model.dims), caps: f.capsOf[c], kinds: f.kinds.takers(c)})
		}
		f.aggregateOf[c] = at
	}
}

// weigh makes the relaxation one of so many of each class.
func (f *relaxation) weigh(counts []int) {
	for l := range f.aggregates {
		f.aggregates[l].pieces = 0
		clear(f.aggregates[l].load)
	}
	for l := range f.limits {
		f.limits[l].pieces = 0
	}
	for c, n := range counts {
		if n == 0 {
			continue
		}
		for _, l := range f.capsOf[c] {
			f.limits[l].pieces += float64(n)
		}
		l := &f.aggregates[f.aggregateOf[c]]
		l.pieces += float64(n)
		for d, need := range f.model.classes[c].need {
			l.load[d] += float64(float64(need) * float64(n))
		}
	}
}

// coarsely is how finely the relaxation tells proportions of needs apart: those of one aggregate differ by some percent.
const coarsely = 8

// direction names the proportions of a need: those of two needs of one name differ by a part of the grain.
func direction(need []int64, scale []float64, grain float64) uint64 {
	sum := 0.0
	for d, n := range need {
		sum += float64(float64(n) * scale[d])
	}
	hash := uint64(1)
	if sum == 0 {
		return hash
	}
	for d, n := range need {
		hash = scramble(hash ^ uint64(float64(float64(n)*scale[d])/sum*grain))
	}
	return hash
}

func hash32(words []int32) uint64 {
	h := uint64(len(words)) + 0x9e3779b97f4a7c15
	for _, w := range words {
		h = scramble(h ^ uint64(w))
	}
	return h
}

// evenShares starts with the dimensions equal and the limits small.
func (f *relaxation) evenShares() {
	f.share = make([]float64, len(f.kinds.all)*f.width)
	for n := range f.kinds.all {
		row := f.share[n*f.width : (n+1)*f.width]
		for d := range row {
			row[d] = 1
			if d >= f.model.dims {
				row[d] = 0.3 / float64(len(f.limits))
			} else if f.kinds.all[n].room[d] == 0 {
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

// clone returns a relaxation that can go its own way.
func (f *relaxation) clone() *relaxation {
	g := *f
	g.share = slices.Clone(f.share)
	g.budgetPrice = slices.Clone(f.budgetPrice)
	g.capPrice = slices.Clone(f.capPrice)
	g.aggregates = slices.Clone(f.aggregates)
	for l := range g.aggregates {
		g.aggregates[l].load = slices.Clone(f.aggregates[l].load)
	}
	g.limits = slices.Clone(f.limits)
	return &g
}

// workspace is room to work on.
type workspace struct {
	unit   []float64 // for each dimension and limit the price of one unit on each kind
	used   []float64 // what is poured onto each kind of each dimension and limit
	trend  []float64 // the same over the last rounds
	share  []float64 // for each dimension and limit of one kind
	cost   []float64 // of something on the kinds that can take it, in their order
	need   []float64 // of one item
	opened []float64 // hosts of each kind
	best   priceShares
}

// priceShares are how prices are divided.
type priceShares struct {
	share, capPrice, budgetPrice []float64
}

func newWorkspace(kinds, width, dims int) *workspace {
	return &workspace{
		unit: make([]float64, kinds*width), used: make([]float64, kinds*width), trend: make([]float64, kinds*width), share: make([]float64, width),
		cost: make([]float64, kinds), need: make([]float64, dims), opened: make([]float64, kinds),
	}
}
