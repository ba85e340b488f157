// Package block proves bounds for items that few hosts take: these are taken by themselves, with their hosts.
//
// It is for bounds that a person waits for; no plan depends on it.
package block

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/tenon-sh/tenon/engine/solve/model"
	"github.com/tenon-sh/tenon/engine/solve/pattern"
	"github.com/tenon-sh/tenon/engine/solve/problem"
	"github.com/tenon-sh/tenon/engine/solve/proof"
	"github.com/tenon-sh/tenon/engine/solve/relax"
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
	cost    proof.Sum128 // what they cost at least
	gain    uint64       // how much more that is than what they are worth, in micro-dollars
}

const (
	maxBlocks    = 96         // how many are looked at
	blockSteps   = 20_000_000 // bound on the counted work for all of them
	blockGrain   = 1 << 10    // in how many parts the price of a host is divided between a block and others
	blockClimb   = 60         // rounds of the ascent of a block
	leastOfPrice = 50         // a block bears at least one part in so many of the price of some host
	blockShift   = 36         // parts of prices are summed in so many bits
)

// Bound is a bound for which hosts are told apart by what they take, and items are taken by themselves that can go to few of them.
func Bound(m *model.Model, placed []int, charge int64) int64 {
	f := relax.New(m, relax.KindsApart(m), charge)
	f.Ascend()
	f.Climb(100, 0.2, 0.02)
	bound, _ := proof.Bound(f, placed)
	return boundByBlocks(f, placed, bound)
}

// boundByBlocks is the bound of so many of each class with blocks taken by themselves; at least the given bound, which the relaxation's own
// prices prove.
func boundByBlocks(f *relax.Relaxation, placed []int, bound int64) int64 {
	p := proof.New(f)
	worth := p.Worth()
	var found []block
	limit := f.Steps + blockSteps
	for _, b := range blocks(f, placed) {
		if f.Steps > limit {
			break
		}
		if evaluate(&b, p, placed, worth) {
			found = append(found, b)
		}
	}
	slices.SortStableFunc(found, func(a, b block) int { return cmp.Compare(b.gain, a.gain) })
	taken, blocked := make([]bool, len(f.Kinds.All)), make([]bool, len(f.Model.Classes))
	var sum proof.Sum128
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
		sum.Plus(b.cost)
	}
	for c, n := range placed {
		if !blocked[c] {
			sum.Add(int64(n), worth[c])
		}
	}
	return max(bound, sum.Micros(p.Budgets()))
}

// blocks are the sets of kinds that some class can go to, and the classes that can go nowhere else: those that are worth most first.
func blocks(f *relax.Relaxation, placed []int) []block {
	var out []block
	in := make([]bool, len(f.Kinds.All))
	for at, set := range f.Kinds.Sets {
		if len(set) == len(f.Kinds.All) {
			continue
		}
		for _, n := range set {
			in[n] = true
		}
		within := make([]bool, len(f.Kinds.Sets))
		for i, other := range f.Kinds.Sets {
			within[i] = i == at || !slices.ContainsFunc(other, func(n int32) bool { return !in[n] })
		}
		b := block{kinds: set}
		for c, n := range placed {
			if n > 0 && within[f.Kinds.SetOf[c]] {
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
func evaluate(b *block, p *proof.Proof, placed []int, worth []int64) bool {
	f := p.Relaxation
	inside := make([]bool, len(f.Model.Classes))
	for _, c := range b.classes {
		inside[c] = true
	}
	var worths proof.Sum128
	for _, c := range b.classes {
		worths.Add(int64(placed[c]), worth[c])
	}
	x := &division{relaxation: f, block: b, placed: placed, inside: inside, prices: p, worth: worth}
	for _, set := range f.Kinds.Sets {
		x.reach = append(x.reach, slices.ContainsFunc(set, func(n int32) bool {
			_, ok := slices.BinarySearch(b.kinds, n)
			return ok
		}))
	}
	for _, outside := range [][]int64{nil, x.outside()} {
		cost, ok := x.cost(outside)
		if gain := cost.Above(worths); ok && gain > b.gain {
			b.cost, b.gain = cost, gain
		}
	}
	return b.gain > 0
}

// division divides the prices of a block's hosts between the block and others.
type division struct {
	relaxation *relax.Relaxation
	block      *block
	placed     []int
	inside     []bool // the classes of the block
	reach      []bool // the sets of kinds that have some of the block
	prices     *proof.Proof
	worth      []int64
}

// cost is what the block costs at least where others are reckoned at the given prices for units of room, or, where those come to more
// than the host or there are none, at those of the host itself; false if the block bears next to nothing.
func (x *division) cost(outside []int64) (cost proof.Sum128, ok bool) {
	f, b := x.relaxation, x.block
	p := problem.Problem{Hosts: make([]problem.Host, len(b.kinds)), Unproven: true}
	least := make([]int64, len(b.classes)) // what one item of each class takes of the room that others would fill
	for i := range least {
		least[i] = model.Huge
	}
	for i, n := range b.kinds {
		price := x.prices.Price(&f.Kinds.All[n])
		unit, rest := outside, int64(-1)
		if outside != nil {
			rest = price - x.full(n, unit)
		}
		if rest < 0 {
			unit = x.scaled(x.prices.Unit(n), n)
			rest = price - x.full(n, unit)
		}
		ok = ok || rest > price/leastOfPrice
		p.Hosts[i] = problem.Host{Room: f.Kinds.All[n].Room, Price: rest >> proof.MoneyBits}
		for j, c := range b.classes {
			if _, takes := slices.BinarySearch(f.Kinds.Takers(int(c)), n); takes {
				least[j] = min(least[j], x.prices.Load(c, unit))
			}
		}
	}
	if !ok {
		return cost, false
	}
	b.items(f, x.placed, &p)
	proven, steps := leastCost(p)
	f.Steps += steps + len(b.kinds)*len(b.classes)
	cost.Add(1<<proof.MoneyBits, proven)
	for j, c := range b.classes {
		cost.Add(int64(x.placed[c]), least[j])
	}
	return cost, true
}

// full is what the room of a host of the kind comes to; huge if that is more.
func (x *division) full(n int32, unit []int64) int64 {
	sum := int64(0)
	for d, u := range unit {
		sum = model.Plus(sum, model.Product(u, int(x.prices.Size(n, d))))
	}
	return sum
}

// scaled is the part of prices for units of room that others need which the kind takes, so that none of them is worth more than its
// place; nil if no part is enough. A kind below 0 stands for all of the block.
func (x *division) scaled(row []int64, n int32) []int64 {
	f, part := x.relaxation, int64(0)
	for c := range f.Model.Classes {
		f.Steps++
		if x.inside[c] || x.worth[c] == 0 || !x.takes(c, n) {
			continue
		}
		load := x.prices.Load(int32(c), row)
		hi, lo := bits.Mul64(uint64(x.worth[c]), blockGrain)
		if load <= 0 || hi >= uint64(load) {
			return nil
		}
		q, rest := bits.Div64(hi, lo, uint64(load))
		if rest > 0 {
			q++
		}
		if part = max(part, int64(min(q, model.Huge))); part > blockGrain {
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
	takers := x.relaxation.Kinds.Takers(c)
	if n >= 0 {
		_, ok := slices.BinarySearch(takers, n)
		return ok
	}
	return x.reach[x.relaxation.Kinds.SetOf[c]]
}

// outside is the prices of some kind beyond the block at which others are worth no more than their place, such that the hosts of the
// block come to least; nil if there are none.
func (x *division) outside() []int64 {
	f := x.relaxation
	var best []int64
	var least proof.Sum128
	for n := range f.Kinds.All {
		if _, own := slices.BinarySearch(x.block.kinds, int32(n)); own {
			continue
		}
		unit := x.scaled(x.prices.Unit(int32(n)), -1)
		if unit == nil {
			continue
		}
		var sum proof.Sum128
		f.Steps += len(x.block.kinds)
		for _, own := range x.block.kinds {
			sum.Add(1, min(x.full(own, unit)/max(x.prices.Price(&f.Kinds.All[own])>>blockShift, 1), model.Huge))
		}
		if best == nil || sum.Above(least) == 0 && least.Above(sum) > 0 {
			best, least = unit, sum
		}
	}
	return best
}

// leastCost is what placing all items costs at least, and the counted work.
func leastCost(p problem.Problem) (least int64, steps int) {
	m := model.Compile(p)
	if len(m.Classes) == 0 {
		return 0, 0
	}
	f := relax.New(m, relax.KindsOf(m), 0)
	f.Ascend()
	f.Climb(blockClimb, 0.2, 0.02)
	placed := m.Counts()
	bound, worth := proof.Bound(f, placed)
	least = pattern.Bound(f, placed, bound, worth, pattern.Incumbent{})
	return least, f.Steps
}

// items writes the block's classes, and what its caps, groups and conflicts say of them, as items.
func (b *block) items(f *relax.Relaxation, placed []int, p *problem.Problem) {
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
		k := &f.Model.Classes[c]
		hosts := problem.NewBits(len(b.kinds))
		for _, n := range f.Kinds.Takers(int(c)) {
			hosts.Set(position[n])
		}
		p.Items = append(p.Items, problem.Item{Count: placed[c], Need: k.Need, PerHost: k.Cap, Hosts: hosts, Conflicts: within(k.Conflicts)})
	}
	for _, r := range f.Model.Groups {
		if members := within(r.Members); len(members) > 1 {
			p.Groups = append(p.Groups, problem.Group{Members: members, Cap: r.Limit})
		}
	}
}
