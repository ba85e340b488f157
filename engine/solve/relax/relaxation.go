package relax

import (
	"cmp"
	"slices"

	"github.com/tenon-sh/tenon/engine/solve/model"
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
	kinds  []int32   // that can take them
	caps   []int32
}

// Limit is a cap in the relaxation: at most cap of some classes on one host.
type Limit struct {
	Cap     float64 // at most so many of its members on one host
	members []int32
	reach   []bool  // the kinds that members of it can go to
	pieces  float64 // how many its members are
}

// Relaxation is the relaxation of a model and the shares of prices as they stand. Only the methods of this package change these; others
// read prices, and count their work in Steps.
type Relaxation struct {
	Model       *model.Model // what is relaxed
	Kinds       *Kinds       // its hosts by kind
	Considered  []int32      // the kinds that are looked at
	Charge      int64        // for each host, beside its price
	price       []float64    // of each kind, with the charge
	aggregates  []aggregate
	aggregateOf []int32   // the aggregate of each class
	Limits      []Limit   // the caps that are heeded, those that demand most hosts
	CapsOf      [][]int32 // the limits of each class
	share       []float64 // for each kind the share of each dimension, then of each limit
	capPrice    []float64 // what each limit is charged, for one item, on all hosts alike, before the rest of the price is shared
	BudgetPrice []float64 // what one unit of each budget is worth
	budgets     []int64   // what there is of each
	size        []float64 // for each kind what a host has of each dimension, then what it allows of each limit
	Width       int       // how many dimensions and limits there are
	Steps       int       // the counted work
	scratch     *workspace
}

// maxLimits is how many caps the relaxation heeds: those that demand most hosts. Where these have enough, so have most others,
// and more would only make the bound a little tighter.
const maxLimits = 8

// New returns the relaxation of a model for hosts of these kinds, with a charge for each, at shares that are even.
func New(m *model.Model, kinds *Kinds, charge int64) *Relaxation {
	f := &Relaxation{Model: m, Kinds: kinds, Charge: charge, CapsOf: make([][]int32, len(m.Classes)), BudgetPrice: make([]float64, len(m.Budgets))}
	for n, h := range f.Kinds.All {
		f.Considered = append(f.Considered, int32(n))
		f.price = append(f.price, float64(h.Price+charge))
	}
	f.addLimits()
	f.Width = m.Dims + len(f.Limits)
	f.scratch = newWorkspace(len(f.Kinds.All), f.Width, m.Dims)
	f.addSizes()
	f.addAggregates()
	f.Weigh(m.Counts(), m.Budgets)
	f.evenShares()
	return f
}

// addLimits finds the caps that could bind: there are more items than the cap, and some host could hold more.
func (f *Relaxation) addLimits() {
	most := f.Model.MostRoom(model.AllHosts(f.Model))
	type candidate struct {
		Limit
		tight float64 // how many hosts the cap demands
	}
	var found []candidate
	add := func(limit int, members ...int32) {
		total := 0
		for _, c := range members {
			total += f.Model.Classes[c].Count
		}
		x := candidate{tight: float64(total) / float64(limit)}
		x.Cap, x.members = float64(limit), members
		found = append(found, x)
	}
	for c := range f.Model.Classes {
		k := &f.Model.Classes[c]
		if k.Count > k.Cap && model.Times(k.Need, most, k.Cap+1) > k.Cap {
			add(k.Cap, int32(c))
		}
	}
	for _, r := range f.Model.Groups {
		add(r.Limit, r.Members...)
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return -cmp.Compare(a.tight, b.tight) })
	for _, x := range found[:min(len(found), maxLimits)] {
		x.reach = make([]bool, len(f.Kinds.All))
		for _, c := range x.members {
			f.CapsOf[c] = append(f.CapsOf[c], int32(len(f.Limits)))
			for _, n := range f.Kinds.Takers(int(c)) {
				x.reach[n] = true
			}
		}
		f.Limits = append(f.Limits, x.Limit)
	}
	f.capPrice = make([]float64, len(f.Limits))
}

// addSizes notes what each kind has and allows.
func (f *Relaxation) addSizes() {
	f.size = make([]float64, 0, len(f.Kinds.All)*f.Width)
	for n := range f.Kinds.All {
		for _, room := range f.Kinds.All[n].Room {
			f.size = append(f.size, float64(max(room, 1)))
		}
		for l := range f.Limits {
			f.size = append(f.size, f.Limits[l].Cap)
		}
	}
}

// addAggregates gathers the classes: those of one aggregate go to the same kinds under the same caps and need things in nearly the same proportion.
func (f *Relaxation) addAggregates() {
	type key struct {
		kinds           int32
		caps, direction uint64
	}
	index := make(map[key]int32)
	scale := make([]float64, f.Model.Dims)
	for d, room := range f.Model.MostRoom(model.AllHosts(f.Model)) {
		scale[d] = 1 / float64(max(room, 1))
	}
	f.aggregateOf = make([]int32, len(f.Model.Classes))
	for c := range f.Model.Classes {
		id := key{f.Kinds.SetOf[c], hash32(f.CapsOf[c]), direction(f.Model.Classes[c].Need, scale, coarsely)}
		at, known := index[id]
		if !known {
			at = int32(len(f.aggregates))
			index[id] = at
			f.aggregates = append(f.aggregates, aggregate{load: make([]float64, f.Model.Dims), caps: f.CapsOf[c], kinds: f.Kinds.Takers(c)})
		}
		f.aggregateOf[c] = at
	}
}

// Weigh makes the relaxation one of so many of each class, and of so much of each budget.
func (f *Relaxation) Weigh(counts []int, budgets []int64) {
	f.budgets = slices.Clone(budgets)
	for l := range f.aggregates {
		f.aggregates[l].pieces = 0
		clear(f.aggregates[l].load)
	}
	for l := range f.Limits {
		f.Limits[l].pieces = 0
	}
	for c, n := range counts {
		if n == 0 {
			continue
		}
		for _, l := range f.CapsOf[c] {
			f.Limits[l].pieces += float64(n)
		}
		l := &f.aggregates[f.aggregateOf[c]]
		l.pieces += float64(n)
		for d, need := range f.Model.Classes[c].Need {
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
		hash = model.Scramble(hash ^ uint64(float64(float64(n)*scale[d])/sum*grain))
	}
	return hash
}

func hash32(words []int32) uint64 {
	h := uint64(len(words)) + 0x9e3779b97f4a7c15
	for _, w := range words {
		h = model.Scramble(h ^ uint64(w))
	}
	return h
}

// evenShares starts with the dimensions equal and the limits small.
func (f *Relaxation) evenShares() {
	f.share = make([]float64, len(f.Kinds.All)*f.Width)
	for n := range f.Kinds.All {
		row := f.share[n*f.Width : (n+1)*f.Width]
		for d := range row {
			row[d] = 1
			if d >= f.Model.Dims {
				row[d] = 0.3 / float64(len(f.Limits))
			} else if f.Kinds.All[n].Room[d] == 0 {
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

// Clone returns a relaxation that can go its own way.
func (f *Relaxation) Clone() *Relaxation {
	g := *f
	g.share = slices.Clone(f.share)
	g.BudgetPrice = slices.Clone(f.BudgetPrice)
	g.capPrice = slices.Clone(f.capPrice)
	g.aggregates = slices.Clone(f.aggregates)
	for l := range g.aggregates {
		g.aggregates[l].load = slices.Clone(f.aggregates[l].load)
	}
	g.Limits = slices.Clone(f.Limits)
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
