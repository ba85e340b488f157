package improve

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/solve/fill"
	"github.com/tenon-sh/tenon/engine/solve/model"
	"github.com/tenon-sh/tenon/engine/solve/relax"
)

// improver makes a solution cheaper by emptying a few hosts and filling again what was on them: first into free room elsewhere,
// then onto new hosts at slightly different prices. What is not dearer is kept.
type improver struct {
	model     *model.Model
	packer    *fill.Packer
	prices    *relax.Pricing
	value     []float64    // undisturbed
	nodes     []model.Node // each once
	free      []int64      // of each node, dims numbers
	waste     []float64    // of each node: what it costs beyond what it holds is worth
	budgets   []int64
	dice      dice
	groupDice dice // for what is done by regrouping

	emptied []int // positions in nodes, rising
	classes []int32
	journal []move
	hosts   []int32 // all that may be tried
	some    []int32 // those tried in this step
	joint   jointHosts
	ways    [ways]effect
}

// move is n items of a class put into free room of a node.
type move struct {
	node  int
	class int32
	n     int
}

// The ways to place what is left on new hosts.
const (
	refilling  = iota // one host after the other
	regrouping        // hosts that are chosen together
	ways
)

// effect is what a way has cost and saved lately.
type effect struct {
	steps, saved float64
	tried        int
}

// jointHosts is room on hosts that are chosen together.
type jointHosts struct {
	need  []int64 // what is to be placed
	rest  []int64 // what pairs have to have room for
	scale []float64
	hosts []int32    // that are as before
	pairs [][2]int32 // of which one is to be beside them
	left  []int      // of each class to be placed
	order []sized
	nodes []model.Node
	free  [][]int64 // of the nodes
}

// sized is a class and how large one item of it is.
type sized struct {
	class int32
	part  float64
}

// reserve takes n items of a class from the free room, or gives them back when n is negative.
func (v *improver) reserve(free []int64, c int32, n int) {
	for d, need := range v.model.Classes[c].Need {
		free[d] -= need * int64(n)
	}
}

func (v *improver) freeOf(n int) []int64 { return v.free[n*v.model.Dims : (n+1)*v.model.Dims] }

// absorb puts what fits into free room of the nodes that stay, large items first.
func (v *improver) absorb() {
	from := v.dice.below(len(v.nodes))
	for _, c := range v.classes {
		class := &v.model.Classes[c]
		v.packer.Occupancy.Put(v.model, c, 0)
		for i := 0; i < len(v.nodes) && v.packer.Remaining[c] > 0; i++ {
			n := from + i
			if n >= len(v.nodes) {
				n -= len(v.nodes)
			}
			free := v.freeOf(n)
			if !model.Fits(class.Need, free) || !class.Takers.Has(int(v.nodes[n].Host)) || slices.Contains(v.emptied, n) {
				continue
			}
			if z := v.addable(n, c); z > 0 {
				v.place(n, c, z)
				v.packer.Remaining[c] -= z
				v.journal = append(v.journal, move{n, c, z})
			}
		}
		v.packer.Occupancy.Take(v.model, c, 0)
		v.packer.Steps += len(v.nodes) / 4
	}
}

// addable is how many of the class, which is in the occupancy alone, the node could take of those to be placed.
func (v *improver) addable(n int, c int32) int {
	class := &v.model.Classes[c]
	limit := min(v.packer.Remaining[c], class.Cap)
	for _, it := range v.nodes[n].Items {
		if it.Class == c {
			limit = min(limit, class.Cap-it.Count)
		}
	}
	if class.Constrained {
		limit = v.packer.Occupancy.Besides(v.model, c, limit, v.nodes[n].Items)
	}
	return model.Times(class.Need, v.freeOf(n), limit)
}

// place puts n items of a class on a node, or takes them away when n is negative.
func (v *improver) place(at int, c int32, n int) {
	v.reserve(v.freeOf(at), c, n)
	v.waste[at] -= float64(v.value[c] * float64(n))
	items := v.nodes[at].Items
	for i := range items {
		if items[i].Class == c {
			if items[i].Count += n; items[i].Count == 0 {
				v.nodes[at].Items = slices.Delete(items, i, i+1)
			}
			return
		}
	}
	v.nodes[at].Items = append(items, model.Portion{Class: c, Count: n})
}

// undo takes back what was absorbed since there were so many moves.
func (v *improver) undo(mark int) {
	for i := len(v.journal) - 1; i >= mark; i-- {
		j := v.journal[i]
		v.place(j.node, j.class, -j.n)
	}
	v.journal = v.journal[:mark]
}

// dice is a small generator of numbers that look random and are the same every time.
type dice uint64

func (d *dice) next() uint64 {
	*d += 0x9e3779b97f4a7c15
	return model.Scramble(uint64(*d))
}

// below returns a number from 0 to n-1.
func (d *dice) below(n int) int { return int(d.next()>>33) % n }

// unit returns a number from 0 to 1.
func (d *dice) unit() float64 { return float64(d.next()>>11) / (1 << 53) }
