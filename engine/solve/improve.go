package solve

import (
	"cmp"
	"slices"
)

// improver makes a solution cheaper by emptying a few hosts and filling again what was on them: first into free room elsewhere,
// then onto new hosts at slightly different prices. What is not dearer is kept.
type improver struct {
	m       *model
	k       *packer
	p       *pricing
	value   []float64 // undisturbed
	nodes   []node    // each once
	free    []int64   // of each node, dims numbers
	waste   []float64 // of each node: what it costs beyond what it holds is worth
	budgets []int64
	dice    dice

	ruined  []int // positions in nodes, rising
	classes []int32
	journal []move
	hosts   []int32 // all that may be tried
	some    []int32 // those tried in this step
}

// move is n items of a class put into free room of a node.
type move struct {
	node  int
	class int32
	n     int
}

// maxUnrolled is how many hosts are worked on; those that waste least are left alone beyond it.
const maxUnrolled = 3000

// A search that finds little has looked long enough: each window, a part of the steps and some changes tried, has to save a part of
// the cost.
const (
	savingWindows = 10
	savingShare   = 4000
)

// smallItemCount is a number of items for which few hosts are opened. These have to suit the items in size, so that hosts come into
// question that are dearer for it.
const smallItemCount = 100

// changes is how many are tried at least in a window: more where there are few items, which costs little time.
func (m *model) changes() int {
	if m.items() <= 3*smallItemCount {
		return 150
	}
	return 60
}

// improve works on s until the packer has counted so many steps in all, a window has saved little, or enough says that it is.
func (k *packer) improve(s *solution, p *pricing, budgets []int64, limit int, enough func(goal int64) bool) *solution {
	v := &improver{m: k.m, k: k, p: p, value: slices.Clone(p.value), budgets: budgets, dice: 1, hosts: p.hosts}
	frozen := v.unroll(s)
	clear(k.rem)
	goal, window, changes := k.m.goal(s), (limit-k.steps)/savingWindows, k.m.changes()
	before, until, tried := goal, k.steps+window, 0
	for k.steps < limit && len(v.nodes) > 0 && !enough(goal) {
		goal -= v.step()
		if tried++; k.steps < until || tried < changes {
			continue
		}
		if before-goal < goal/savingShare {
			break
		}
		before, until, tried = goal, k.steps+window, 0
	}
	return &solution{nodes: append(frozen, v.nodes...), left: slices.Clone(s.left)}
}

// unroll makes single nodes of patterns, the most wasteful first, and returns the patterns that are left alone.
func (v *improver) unroll(s *solution) []node {
	patterns := slices.Clone(s.nodes)
	slices.SortStableFunc(patterns, func(a, b node) int { return -cmp.Compare(v.wasteOf(&a), v.wasteOf(&b)) })
	var frozen []node
	for _, n := range patterns {
		single := min(n.times, maxUnrolled-len(v.nodes))
		for range single {
			v.push(node{host: n.host, times: 1, items: slices.Clone(n.items)})
		}
		if n.times -= single; n.times > 0 {
			frozen = append(frozen, n)
		}
	}
	return frozen
}

func (v *improver) wasteOf(n *node) float64 {
	waste := float64(v.m.hosts[n.host].price + v.m.charge)
	for _, it := range n.items {
		waste -= float64(v.value[it.class] * float64(it.n))
	}
	return waste
}

// push adds a node.
func (v *improver) push(n node) {
	v.nodes = append(v.nodes, n)
	v.waste = append(v.waste, v.wasteOf(&n))
	at := len(v.free)
	v.free = append(v.free, v.m.hosts[n.host].room...)
	for _, it := range n.items {
		v.book(v.free[at:], it.class, it.n)
	}
}

// book takes n items of a class from the free room, or gives them back when n is negative.
func (v *improver) book(free []int64, c int32, n int) {
	for d, need := range v.m.classes[c].need {
		free[d] -= need * int64(n)
	}
}

func (v *improver) freeOf(n int) []int64 { return v.free[n*v.m.dims : (n+1)*v.m.dims] }

// step tries one change and returns what it saved.
func (v *improver) step() int64 {
	v.choose()
	before := v.lift()
	v.k.steps += 1000 + len(v.nodes)
	v.journal = v.journal[:0]
	if v.dice.below(2) == 0 {
		v.absorb()
	}
	kept := slices.Clone(v.budgets)
	fresh, after, ok := v.refill(before)
	if !ok || after > before || after == before && len(v.journal) == 0 && v.dice.below(4) > 0 {
		v.undo()
		copy(v.budgets, kept)
		for _, n := range v.ruined {
			v.m.refund(&v.nodes[n], v.budgets, -1)
		}
		return 0
	}
	for i := len(v.ruined) - 1; i >= 0; i-- {
		v.remove(v.ruined[i])
	}
	for _, n := range fresh {
		v.push(n)
	}
	return before - after
}

// choose picks the nodes to empty: wasteful ones more often, and few more often than many.
func (v *improver) choose() {
	v.ruined = v.ruined[:0]
	want := min(2+v.dice.below(3)+v.dice.below(3), len(v.nodes))
	for tries := 0; len(v.ruined) < want && tries < 4*want; tries++ {
		n := v.dice.below(len(v.nodes))
		for range v.dice.below(4) {
			if other := v.dice.below(len(v.nodes)); v.waste[other] > v.waste[n] {
				n = other
			}
		}
		if at, found := slices.BinarySearch(v.ruined, n); !found {
			v.ruined = slices.Insert(v.ruined, at, n)
		}
	}
}

// lift counts what is on the chosen nodes as to be placed, and returns what these cost.
func (v *improver) lift() int64 {
	v.classes = v.classes[:0]
	goal := int64(0)
	for _, n := range v.ruined {
		goal += v.m.hosts[v.nodes[n].host].price + v.m.charge
		v.m.refund(&v.nodes[n], v.budgets, 1)
		for _, it := range v.nodes[n].items {
			if v.k.rem[it.class] == 0 {
				v.classes = append(v.classes, it.class)
			}
			v.k.rem[it.class] += it.n
		}
	}
	slices.Sort(v.classes)
	return goal
}

// absorb puts what fits into free room of the nodes that stay, large items first.
func (v *improver) absorb() {
	from := v.dice.below(len(v.nodes))
	for _, c := range v.classes {
		class := &v.m.classes[c]
		v.k.floor.put(v.m, c, 0)
		for i := 0; i < len(v.nodes) && v.k.rem[c] > 0; i++ {
			n := from + i
			if n >= len(v.nodes) {
				n -= len(v.nodes)
			}
			free := v.freeOf(n)
			if !fits(class.need, free) || !class.takers.Has(int(v.nodes[n].host)) || slices.Contains(v.ruined, n) {
				continue
			}
			if z := v.addable(n, c); z > 0 {
				v.give(n, c, z)
				v.k.rem[c] -= z
				v.journal = append(v.journal, move{n, c, z})
			}
		}
		v.k.floor.take(v.m, c, 0)
		v.k.steps += len(v.nodes) / 4
	}
}

// addable is how many of the class, which is on the floor alone, the node could take of those to be placed.
func (v *improver) addable(n int, c int32) int {
	class := &v.m.classes[c]
	limit := min(v.k.rem[c], class.cap)
	for _, it := range v.nodes[n].items {
		if it.class == c {
			limit = min(limit, class.cap-it.n)
		}
	}
	if class.bound {
		limit = v.k.floor.besides(v.m, c, limit, v.nodes[n].items)
	}
	return times(class.need, v.freeOf(n), limit)
}

// give puts n items of a class on a node, or takes them away when n is negative.
func (v *improver) give(at int, c int32, n int) {
	v.book(v.freeOf(at), c, n)
	v.waste[at] -= float64(v.value[c] * float64(n))
	items := v.nodes[at].items
	for i := range items {
		if items[i].class == c {
			if items[i].n += n; items[i].n == 0 {
				v.nodes[at].items = slices.Delete(items, i, i+1)
			}
			return
		}
	}
	v.nodes[at].items = append(items, share{c, n})
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
func (v *improver) refill(before int64) ([]node, int64, bool) {
	p := *v.p
	p.value = v.p.value
	p.hosts = v.sample()
	noise := 0.02 * float64(v.dice.below(6))
	for _, c := range v.classes {
		p.value[c] = v.value[c] * (1 + float64(noise*(v.dice.unit()-0.5)))
	}
	st := style{slack: float64(v.dice.below(2)), pull: float64(v.dice.below(5)) / 2}
	fresh := v.k.greedy(&p, st, v.classes, v.budgets)
	for _, c := range v.classes {
		p.value[c] = v.value[c]
	}
	after, ok := int64(0), true
	for _, c := range v.classes {
		if v.k.rem[c] > 0 {
			ok = false
		}
		v.k.rem[c] = 0
	}
	var out []node
	for i := range fresh {
		v.m.downsize(&fresh[i], v.budgets)
		after += (v.m.hosts[fresh[i].host].price + v.m.charge) * int64(fresh[i].times)
		for range fresh[i].times {
			out = append(out, node{host: fresh[i].host, times: 1, items: slices.Clone(fresh[i].items)})
		}
	}
	return out, after, ok
}

// undo takes back what was absorbed.
func (v *improver) undo() {
	for i := len(v.journal) - 1; i >= 0; i-- {
		j := v.journal[i]
		v.give(j.node, j.class, -j.n)
	}
}

// remove drops a node; the last one takes its position.
func (v *improver) remove(n int) {
	last := len(v.nodes) - 1
	v.nodes[n], v.waste[n] = v.nodes[last], v.waste[last]
	copy(v.freeOf(n), v.freeOf(last))
	v.nodes, v.waste, v.free = v.nodes[:last], v.waste[:last], v.free[:last*v.m.dims]
}

// dice is a small generator of numbers that look random and are the same every time.
type dice uint64

func (d *dice) next() uint64 {
	*d += 0x9e3779b97f4a7c15
	return mix(uint64(*d))
}

// below returns a number from 0 to n-1.
func (d *dice) below(n int) int { return int(d.next()>>33) % n }

// unit returns a number from 0 to 1.
func (d *dice) unit() float64 { return float64(d.next()>>11) / (1 << 53) }
