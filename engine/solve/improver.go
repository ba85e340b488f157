package solve

import "slices"

// improver makes a solution cheaper by emptying a few hosts and filling again what was on them: first into free room elsewhere,
// then onto new hosts at slightly different prices. What is not dearer is kept.
type improver struct {
	model     *model
	packer    *packer
	prices    *pricing
	value     []float64 // undisturbed
	nodes     []node    // each once
	free      []int64   // of each node, dims numbers
	waste     []float64 // of each node: what it costs beyond what it holds is worth
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
	nodes []node
	free  [][]int64 // of the nodes
}

// sized is a class and how large one item of it is.
type sized struct {
	class int32
	part  float64
}

// reserve takes n items of a class from the free room, or gives them back when n is negative.
func (v *improver) reserve(free []int64, c int32, n int) {
	for d, need := range v.model.classes[c].need {
		free[d] -= need * int64(n)
	}
}

func (v *improver) freeOf(n int) []int64 { return v.free[n*v.model.dims : (n+1)*v.model.dims] }

// absorb puts what fits into free room of the nodes that stay, large items first.
func (v *improver) absorb() {
	from := v.dice.below(len(v.nodes))
	for _, c := range v.classes {
		class := &v.model.classes[c]
		v.packer.occupancy.put(v.model, c, 0)
		for i := 0; i < len(v.nodes) && v.packer.remaining[c] > 0; i++ {
			n := from + i
			if n >= len(v.nodes) {
				n -= len(v.nodes)
			}
			free := v.freeOf(n)
			if !fits(class.need, free) || !class.takers.Has(int(v.nodes[n].host)) || slices.Contains(v.emptied, n) {
				continue
			}
			if z := v.addable(n, c); z > 0 {
				v.place(n, c, z)
				v.packer.remaining[c] -= z
				v.journal = append(v.journal, move{n, c, z})
			}
		}
		v.packer.occupancy.take(v.model, c, 0)
		v.packer.steps += len(v.nodes) / 4
	}
}

// addable is how many of the class, which is in the occupancy alone, the node could take of those to be placed.
func (v *improver) addable(n int, c int32) int {
	class := &v.model.classes[c]
	limit := min(v.packer.remaining[c], class.cap)
	for _, it := range v.nodes[n].items {
		if it.class == c {
			limit = min(limit, class.cap-it.count)
		}
	}
	if class.constrained {
		limit = v.packer.occupancy.besides(v.model, c, limit, v.nodes[n].items)
	}
	return times(class.need, v.freeOf(n), limit)
}

// place puts n items of a class on a node, or takes them away when n is negative.
func (v *improver) place(at int, c int32, n int) {
	v.reserve(v.freeOf(at), c, n)
	v.waste[at] -= float64(v.value[c] * float64(n))
	items := v.nodes[at].items
	for i := range items {
		if items[i].class == c {
			if items[i].count += n; items[i].count == 0 {
				v.nodes[at].items = slices.Delete(items, i, i+1)
			}
			return
		}
	}
	v.nodes[at].items = append(items, portion{c, n})
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
	return scramble(uint64(*d))
}

// below returns a number from 0 to n-1.
func (d *dice) below(n int) int { return int(d.next()>>33) % n }

// unit returns a number from 0 to 1.
func (d *dice) unit() float64 { return float64(d.next()>>11) / (1 << 53) }
