package solve

import (
	"cmp"
	"math/bits"
	"slices"
)

// The relaxation opens parts of hosts. Where some items can go to few hosts, and these are worth little to others, that is much too
// little: a pod that only one pool takes, and that fills three quarters of its smallest machine, needs all of it. So such items are
// taken together, with the hosts that they can go to, as a block, and it is proven by itself what they cost there.
//
// Others may come onto the hosts of a block as well, but what they are worth is known, and so is a price for each unit of room at
// which none of them is worth more than its place: what they can bear of the host's price is no more than these prices come to for
// the room that the block leaves them. The rest of the host's price is to be borne by the block, and so is what it takes of the room.
// In whole items that is a problem of its own, of few classes, for which other proofs do well.
//
// Blocks that have no host in common can be added: what a plan costs is the price of the hosts of each block, less what others there
// are worth, and what all others are worth.

// block is items that can go to no other hosts than these.
type block struct {
	kinds   []int32
	classes []int32
	cost    sum128 // what they cost at least
	gain    uint64 // how much more that is than what they are worth, in micro-dollars
}

const (
	maxBlocks    = 96         // how many are looked at
	blockSteps   = 20_000_000 // bound on the counted work for all of them
	blockGrain   = 1 << 10    // in how many parts the price of a host is divided between a block and others
	blockClimb   = 60         // rounds of the ascent of a block
	leastOfPrice = 50         // a block bears at least one part in so many of the price of some host
	blockShift   = 36         // parts of prices are summed in so many bits
)

// boundApart is a bound for which hosts are told apart by what they take, and items are taken by themselves that can go to few of them.
func (m *model) boundApart(placed []int, charge int64) int64 {
	f := newRelaxation(m, m.kindsApart(), charge)
	f.ascend()
	f.climb(100, 0.2, 0.02)
	bound, _ := f.boundByPrices(placed)
	return f.boundByBlocks(placed, bound)
}

// boundByBlocks is the bound of so many of each class with blocks taken by themselves; at least the given bound, which the relaxation's own
// prices prove.
func (f *relaxation) boundByBlocks(placed []int, bound int64) int64 {
	p := newProof(f)
	worth := p.worth()
	var found []block
	limit := f.steps + blockSteps
	for _, b := range f.blocks(placed) {
		if f.steps > limit {
			break
		}
		if evaluate(&b, p, placed, worth) {
			found = append(found, b)
		}
	}
	slices.SortStableFunc(found, func(a, b block) int { return cmp.Compare(b.gain, a.gain) })
	taken, blocked := make([]bool, len(f.kinds.all)), make([]bool, len(f.model.classes))
	var sum sum128
	for _, b := range found {
		if slices.ContainsFunc(b.kinds, func(n int32) bool { return taken[n] }) {
			continue
		}
		for _, n := range b.kinds {
			taken[n] = true
		}
		for _, c := range b.classes {
			blocked[c] = true
		}
		sum.plus(b.cost)
	}
	for c, n := range placed {
		if !blocked[c] {
			sum.add(int64(n), worth[c])
		}
	}
	return max(bound, sum.micros(p.budgets()))
}

// blocks are the sets of kinds that some class can go to, and the classes that can go nowhere else: those that are worth most first.
func (f *relaxation) blocks(placed []int) []block {
	var out []block
	in := make([]bool, len(f.kinds.all))
	for at, set := range f.kinds.sets {
		if len(set) == len(f.kinds.all) {
			continue
		}
		for _, n := range set {
			in[n] = true
		}
		within := make([]bool, len(f.kinds.sets))
		for i, other := range f.kinds.sets {
			within[i] = i == at || !slices.ContainsFunc(other, func(n int32) bool { return !in[n] })
		}
		b := block{kinds: set}
		for c, n := range placed {
			if n > 0 && within[f.kinds.setOf[c]] {
				b.classes = append(b.classes, int32(c))
			}
		}
		for _, n := range set {
			in[n] = false
		}
		if len(b.classes) > 0 {
			out = append(out, b)
		}
	}
	slices.SortStableFunc(out, func(a, b block) int { return cmp.Compare(len(a.kinds), len(b.kinds)) })
	return out[:min(len(out), maxBlocks)]
}

// evaluate works out what the block costs at least, and reports whether that is more than what it is worth.
func evaluate(b *block, p *proof, placed []int, worth []int64) bool {
	f := p.relaxation
	inside := make([]bool, len(f.model.classes))
	for _, c := range b.classes {
		inside[c] = true
	}
	var worths sum128
	for _, c := range b.classes {
		worths.add(int64(placed[c]), worth[c])
	}
	x := &division{relaxation: f, block: b, placed: placed, inside: inside, prices: p, worth: worth}
	for _, set := range f.kinds.sets {
		x.reach = append(x.reach, slices.ContainsFunc(set, func(n int32) bool {
			_, ok := slices.BinarySearch(b.kinds, n)
			return ok
		}))
	}
	for _, outside := range [][]int64{nil, x.outside()} {
		cost, ok := x.cost(outside)
		if gain := cost.above(worths); ok && gain > b.gain {
			b.cost, b.gain = cost, gain
		}
	}
	return b.gain > 0
}

// division divides the prices of a block's hosts between the block and others.
type division struct {
	relaxation *relaxation
	block      *block
	placed     []int
	inside     []bool // the classes of the block
	reach      []bool // the sets of kinds that have some of the block
	prices     *proof
	worth      []int64
}

// cost is what the block costs at least where others are reckoned at the given prices for units of room, or, where those come to more
// than the host or there are none, at those of the host itself; false if the block bears next to nothing.
func (x *division) cost(outside []int64) (cost sum128, ok bool) {
	f, b := x.relaxation, x.block
	p := Problem{Hosts: make([]Host, len(b.kinds)), Unproven: true}
	least := make([]int64, len(b.classes)) // what one item of each class takes of the room that others would fill
	for i := range least {
		least[i] = huge
	}
	for i, n := range b.kinds {
		price := x.prices.price(&f.kinds.all[n])
		unit, rest := outside, int64(-1)
		if outside != nil {
			rest = price - x.full(n, unit)
		}
		if rest < 0 {
			unit = x.scaled(x.prices.unit(n), n)
			rest = price - x.full(n, unit)
		}
		ok = ok || rest > price/leastOfPrice
		p.Hosts[i] = Host{Room: f.kinds.all[n].room, Price: rest >> moneyBits}
		for j, c := range b.classes {
			if _, takes := slices.BinarySearch(f.kinds.takers(int(c)), n); takes {
				least[j] = min(least[j], x.prices.load(c, unit))
			}
		}
	}
	if !ok {
		return cost, false
	}
	b.items(f, x.placed, &p)
	proven, steps := leastCost(p)
	f.steps += steps + len(b.kinds)*len(b.classes)
	cost.add(1<<moneyBits, proven)
	for j, c := range b.classes {
		cost.add(int64(x.placed[c]), least[j])
	}
	return cost, true
}

// full is what the room of a host of the kind comes to; huge if that is more.
func (x *division) full(n int32, unit []int64) int64 {
	sum := int64(0)
	for d, u := range unit {
		sum = plus(sum, product(u, int(x.prices.size(n, d))))
	}
	return sum
}

// scaled is the part of prices for units of room that others need which the kind takes, so that none of them is worth more than its
// place; nil if no part is enough. A kind below 0 stands for all of the block.
func (x *division) scaled(row []int64, n int32) []int64 {
	f, part := x.relaxation, int64(0)
	for c := range f.model.classes {
		f.steps++
		if x.inside[c] || x.worth[c] == 0 || !x.takes(c, n) {
			continue
		}
		load := x.prices.load(int32(c), row)
		hi, lo := bits.Mul64(uint64(x.worth[c]), blockGrain)
		if load <= 0 || hi >= uint64(load) {
			return nil
		}
		q, rest := bits.Div64(hi, lo, uint64(load))
		if rest > 0 {
			q++
		}
		if part = max(part, int64(min(q, huge))); part > blockGrain {
			return nil
		}
	}
	out := make([]int64, len(row))
	for d, u := range row {
		out[d] = u/blockGrain*part + (u%blockGrain*part+blockGrain-1)/blockGrain
	}
	return out
}

// takes reports whether the kind, or some kind of the block if it is below 0, takes the class.
func (x *division) takes(c int, n int32) bool {
	takers := x.relaxation.kinds.takers(c)
	if n >= 0 {
		_, ok := slices.BinarySearch(takers, n)
		return ok
	}
	return x.reach[x.relaxation.kinds.setOf[c]]
}

// outside is the prices of some kind beyond the block at which others are worth no more than their place, such that the hosts of the
// block come to least; nil if there are none.
func (x *division) outside() []int64 {
	f := x.relaxation
	var best []int64
	var least sum128
	for n := range f.kinds.all {
		if _, own := slices.BinarySearch(x.block.kinds, int32(n)); own {
			continue
		}
		unit := x.scaled(x.prices.unit(int32(n)), -1)
		if unit == nil {
			continue
		}
		var sum sum128
		f.steps += len(x.block.kinds)
		for _, own := range x.block.kinds {
			sum.add(1, min(x.full(own, unit)/max(x.prices.price(&f.kinds.all[own])>>blockShift, 1), huge))
		}
		if best == nil || sum.above(least) == 0 && least.above(sum) > 0 {
			best, least = unit, sum
		}
	}
	return best
}

// leastCost is what placing all items costs at least, and the counted work.
func leastCost(p Problem) (least int64, steps int) {
	m := compile(p)
	if len(m.classes) == 0 {
		return 0, 0
	}
	f := newRelaxation(m, m.kinds(), 0)
	f.ascend()
	f.climb(blockClimb, 0.2, 0.02)
	placed := m.counts()
	bound, worth := f.boundByPrices(placed)
	least = f.boundByPatterns(placed, bound, worth, incumbent{})
	return least, f.steps
}

// items writes the block's classes, and what its caps, groups and conflicts say of them, as items.
func (b *block) items(f *relaxation, placed []int, p *Problem) {
	at := make(map[int32]int, len(b.classes))
	for j, c := range b.classes {
		at[c] = j
	}
	position := make(map[int32]int, len(b.kinds))
	for i, n := range b.kinds {
		position[n] = i
	}
	within := func(all []int32) (some []int) {
		for _, c := range all {
			if j, ok := at[c]; ok {
				some = append(some, j)
			}
		}
		return some
	}
	for _, c := range b.classes {
		k := &f.model.classes[c]
		hosts := NewBits(len(b.kinds))
		for _, n := range f.kinds.takers(int(c)) {
			hosts.Set(position[n])
		}
		p.Items = append(p.Items, Item{Count: placed[c], Need: k.need, PerHost: k.cap, Hosts: hosts, Conflicts: within(k.conflicts)})
	}
	for _, r := range f.model.groups {
		if members := within(r.members); len(members) > 1 {
			p.Groups = append(p.Groups, Group{members, r.limit})
		}
	}
}
