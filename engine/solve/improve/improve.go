// Package improve makes a solution cheaper: a few hosts are emptied and what was on them is placed again, as long as that pays.
//
// What is not dearer is kept. It draws which hosts to empty from numbers that are the same every time.
//
//	improver.go  a solution of which hosts are emptied, and how items come into free room
//	regroup.go   a few hosts at once for what was on others, so that the last of them does not stand half empty
//	improve.go   empty, fill again at slightly different prices, keep what is not dearer; as long as that pays
package improve

import (
	"cmp"
	"slices"

	"github.com/tenon-sh/tenon/engine/solve/fill"
	"github.com/tenon-sh/tenon/engine/solve/model"
	"github.com/tenon-sh/tenon/engine/solve/relax"
)

// maxUnrolled is how many hosts are worked on; those that waste least are left alone beyond it.
const maxUnrolled = 3000

// A search that finds little has looked long enough: of some windows in a row, each a part of the steps and some changes tried, one has
// to save a part of the cost. What saves most are rare changes, so that one window by itself says little.
const (
	savingWindows = 10
	savingShare   = 4000
)

// changes is how many are tried at least in a window: more where there are few items, which costs little time.
func changes(items int) int {
	if items <= 3*model.SmallItemCount {
		return 150
	}
	return 60
}

// Run works on s until the packer has counted so many steps in all, or as many windows in a row have saved little as the patience is with what
// the solution costs; without any it is good enough.
func Run(k *fill.Packer, s *model.Solution, p *relax.Pricing, limit int, patience func(goal int64) int) *model.Solution {
	v := &improver{model: k.Model, packer: k, prices: p, value: slices.Clone(p.Value), budgets: k.Model.Drawn(s), dice: 1, groupDice: 1, hosts: p.Hosts}
	frozen := v.unroll(s)
	clear(k.Remaining)
	goal, window, changes := k.Model.Goal(s), (limit-k.Steps)/savingWindows, changes(k.Model.ItemCount())
	before, until, tried := goal, k.Steps+window, 0
	idle := 0 // windows in a row that saved little
	for k.Steps < limit && len(v.nodes) > 0 && patience(goal) > 0 {
		goal -= v.step()
		if tried++; k.Steps < until || tried < changes {
			continue
		}
		if before-goal >= goal/savingShare {
			idle = 0
		} else if idle++; idle >= patience(goal) {
			break
		}
		before, until, tried = goal, k.Steps+window, 0
	}
	return &model.Solution{Nodes: append(frozen, v.nodes...), Left: slices.Clone(s.Left)}
}

// unroll makes single nodes of patterns, the most wasteful first, and returns the patterns that are left alone.
func (v *improver) unroll(s *model.Solution) []model.Node {
	patterns := slices.Clone(s.Nodes)
	slices.SortStableFunc(patterns, func(a, b model.Node) int { return -cmp.Compare(v.wasteOf(&a), v.wasteOf(&b)) })
	var frozen []model.Node
	for _, n := range patterns {
		single := min(n.Times, maxUnrolled-len(v.nodes))
		for range single {
			v.push(model.Node{Host: n.Host, Times: 1, Items: slices.Clone(n.Items)})
		}
		if n.Times -= single; n.Times > 0 {
			frozen = append(frozen, n)
		}
	}
	return frozen
}

func (v *improver) wasteOf(n *model.Node) float64 {
	waste := float64(v.model.Hosts[n.Host].Price + v.model.Charge)
	for _, it := range n.Items {
		waste -= float64(v.value[it.Class] * float64(it.Count))
	}
	return waste
}

// push adds a node.
func (v *improver) push(n model.Node) {
	v.nodes = append(v.nodes, n)
	v.waste = append(v.waste, v.wasteOf(&n))
	at := len(v.free)
	v.free = append(v.free, v.model.Hosts[n.Host].Room...)
	for _, it := range n.Items {
		v.reserve(v.free[at:], it.Class, it.Count)
	}
}

// step tries one change and returns what it saved.
func (v *improver) step() int64 {
	v.choose()
	before := v.unload()
	v.packer.Steps += 200 + len(v.nodes)
	v.journal = v.journal[:0]
	if v.dice.below(2) == 0 {
		v.absorb()
	}
	kept := slices.Clone(v.budgets)
	fresh, after, ok := v.replace(before)
	if !ok || after > before || after == before && len(v.journal) == 0 && v.dice.below(4) > 0 {
		v.undo(0)
		copy(v.budgets, kept)
		for _, n := range v.emptied {
			v.model.Refund(&v.nodes[n], v.budgets, -1)
		}
		return 0
	}
	for i := len(v.emptied) - 1; i >= 0; i-- {
		v.remove(v.emptied[i])
	}
	for _, n := range fresh {
		v.push(n)
	}
	return before - after
}

// replace places what is left on new hosts and returns them and what they cost.
func (v *improver) replace(before int64) ([]model.Node, int64, bool) {
	from, way := v.packer.Steps, &v.ways[v.way()]
	way.halve()
	var fresh []model.Node
	var after int64
	var ok bool
	if way == &v.ways[regrouping] {
		fresh, after, ok = v.regroup(before)
		for _, c := range v.classes {
			v.packer.Remaining[c] = 0
		}
	} else {
		v.packer.Steps += stepsOfRefill
		fresh, after, ok = v.refill(before)
	}
	way.steps += float64(v.packer.Steps - from)
	if ok {
		way.saved += float64(max(before-after, 0))
	}
	return fresh, after, ok
}

// stepsOfRefill is what refilling counts beside what it looks at.
const stepsOfRefill = 800

// way is the way to be taken: most often the one that saved more for its steps lately.
func (v *improver) way() int {
	a, b := &v.ways[refilling], &v.ways[regrouping]
	if n := len(v.emptied); n < 2 || n > maxRegrouped || a.tried < memory || v.model.Shared {
		return refilling
	}
	if v.groupDice.below(3) == 0 {
		return v.groupDice.below(ways)
	}
	if a.saved*b.steps > b.saved*a.steps {
		return refilling
	}
	return regrouping
}

// halve has what was long ago count less.
func (e *effect) halve() {
	if e.tried++; e.tried%memory == 0 {
		e.steps, e.saved = e.steps/2, e.saved/2
	}
}

// memory is after how many trials what was before counts half.
const memory = 20

// unrelated is of how many times nodes to empty are picked once without asking whether one could take what is on another.
const unrelated = 4

// choose picks the nodes to empty: wasteful ones more often, and few more often than many. Where not all items are welcome everywhere,
// such as those that have to be in one zone, they are most often such that one of two could take all that is on the other: what is on
// nodes of different zones is not put together again.
func (v *improver) choose() {
	v.emptied = v.emptied[:0]
	want := min(2+v.dice.below(3)+v.dice.below(3), len(v.nodes))
	related := v.model.Selective && v.dice.below(unrelated) > 0
	for tries := 0; len(v.emptied) < want && tries < 4*want; tries++ {
		n := v.dice.below(len(v.nodes))
		for range v.dice.below(4) {
			if other := v.dice.below(len(v.nodes)); v.waste[other] > v.waste[n] {
				n = other
			}
		}
		if related && len(v.emptied) > 0 && tries < 3*want && !v.related(v.emptied[0], n) {
			continue
		}
		if at, found := slices.BinarySearch(v.emptied, n); !found {
			v.emptied = slices.Insert(v.emptied, at, n)
		}
	}
}

// related reports whether one of two nodes could take each item that is on the other.
func (v *improver) related(a, b int) bool {
	x, y := &v.nodes[a], &v.nodes[b]
	return v.model.TakesAll(x.Host, y.Items) || v.model.TakesAll(y.Host, x.Items)
}

// unload counts what is on the chosen nodes as to be placed, and returns what these cost.
func (v *improver) unload() int64 {
	v.classes = v.classes[:0]
	goal := int64(0)
	for _, n := range v.emptied {
		goal += v.model.Hosts[v.nodes[n].Host].Price + v.model.Charge
		v.model.Refund(&v.nodes[n], v.budgets, 1)
		for _, it := range v.nodes[n].Items {
			if v.packer.Remaining[it.Class] == 0 {
				v.classes = append(v.classes, it.Class)
			}
			v.packer.Remaining[it.Class] += it.Count
		}
	}
	slices.Sort(v.classes)
	return goal
}

// hostsPerTrial is of how many hosts one is tried in a step: many steps that look at a few find more than few that look at all.
const hostsPerTrial = 3

// sample draws the hosts to be tried.
func (v *improver) sample() []int32 {
	v.some = v.some[:0]
	for _, h := range v.hosts {
		if v.dice.below(hostsPerTrial) == 0 {
			v.some = append(v.some, h)
		}
	}
	return v.some
}

// refill places what is left on new hosts and returns them and what they cost.
func (v *improver) refill(before int64) ([]model.Node, int64, bool) {
	p := *v.prices
	p.Value = v.prices.Value
	p.Hosts = v.sample()
	noise := 0.02 * float64(v.dice.below(6))
	for _, c := range v.classes {
		p.Value[c] = v.value[c] * (1 + float64(noise*(v.dice.unit()-0.5)))
	}
	st := fill.Style{FairShare: float64(v.dice.below(2)), DetourWeight: float64(v.dice.below(5)) / 2}
	fresh := v.packer.Greedy(&p, st, v.classes, v.budgets)
	for _, c := range v.classes {
		p.Value[c] = v.value[c]
	}
	after, ok := int64(0), true
	for _, c := range v.classes {
		if v.packer.Remaining[c] > 0 {
			ok = false
		}
		v.packer.Remaining[c] = 0
	}
	var out []model.Node
	for i := range fresh {
		v.model.Downsize(&fresh[i], v.budgets)
		after += (v.model.Hosts[fresh[i].Host].Price + v.model.Charge) * int64(fresh[i].Times)
		for range fresh[i].Times {
			out = append(out, model.Node{Host: fresh[i].Host, Times: 1, Items: slices.Clone(fresh[i].Items)})
		}
	}
	return out, after, ok
}

// remove drops a node; the last one takes its position.
func (v *improver) remove(n int) {
	last := len(v.nodes) - 1
	v.nodes[n], v.waste[n] = v.nodes[last], v.waste[last]
	copy(v.freeOf(n), v.freeOf(last))
	v.nodes, v.waste, v.free = v.nodes[:last], v.waste[:last], v.free[:last*v.model.Dims]
}
