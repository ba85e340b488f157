package improve

import (
	"cmp"
	"math"
	"slices"

	"github.com/tenon-sh/tenon/engine/solve/model"
)

// Opening one host after the other leaves to the last what the others did not take, and it stands half empty. Of a few hosts that were
// emptied all can be chosen at once instead: so many that have room enough together and cost less, whatever each of them is worth by
// itself. What does not fit when they are filled goes into free room elsewhere.

// maxRegrouped is how many emptied hosts are chosen again together at most.
const maxRegrouped = 4

// regroup places what is left on hosts chosen together, and returns them and what they cost; not ok if it found none that cost less.
func (v *improver) regroup(before int64) ([]model.Node, int64, bool) {
	g := &v.joint
	if !v.together(before) {
		return nil, 0, false
	}
	g.left = g.left[:0]
	for _, c := range v.classes {
		g.left = append(g.left, v.packer.Remaining[c])
	}
	v.rank()
	mark := len(v.journal)
	for range groupings {
		pair := v.roomier(g.pairs[v.groupDice.below(len(g.pairs))], g.pairs[v.groupDice.below(len(g.pairs))])
		hosts := append(g.hosts[:len(g.hosts):len(g.hosts)], pair[0])
		if pair[1] >= 0 {
			hosts = append(hosts, pair[1])
		}
		if out, after, ok := v.filled(hosts); ok {
			return out, after, true
		}
		v.undo(mark)
		for i, c := range v.classes {
			v.packer.Remaining[c] = g.left[i]
		}
	}
	return nil, 0, false
}

// roomier is the dearer of two pairs: it saves less, and has more room to spare.
func (v *improver) roomier(a, b [2]int32) [2]int32 {
	cost := func(pair [2]int32) int64 {
		sum := v.model.Hosts[pair[0]].Price + v.model.Charge
		if pair[1] >= 0 {
			sum += v.model.Hosts[pair[1]].Price + v.model.Charge
		}
		return sum
	}
	if cost(b) > cost(a) {
		return b
	}
	return a
}

// groupings is how many pairs are tried for hosts that were emptied.
const groupings = 4

// filled places what is left on the hosts, and in free room elsewhere, and returns those that are needed and what they cost; not
// ok if something is left over, or budgets do not allow it.
func (v *improver) filled(hosts []int32) (out []model.Node, after int64, ok bool) {
	nodes := v.pour(hosts)
	left := func(c int32) bool { return v.packer.Remaining[c] > 0 }
	if slices.ContainsFunc(v.classes, left) {
		v.absorb()
	}
	if slices.ContainsFunc(v.classes, left) {
		return nil, 0, false
	}
	for i := range nodes {
		n := &nodes[i]
		if len(n.Items) == 0 {
			continue
		}
		if model.Overdrawn(v.model.Hosts[n.Host].Draws, v.budgets, 1) {
			for k := range out {
				v.model.Refund(&out[k], v.budgets, 1)
			}
			return nil, 0, false
		}
		v.model.Refund(n, v.budgets, -1)
		v.model.Downsize(n, v.budgets)
		after += v.model.Hosts[n.Host].Price + v.model.Charge
		out = append(out, model.Node{Host: n.Host, Times: 1, Items: slices.Clone(n.Items)})
	}
	return out, after, true
}

// together chooses hosts that have room for what is left and cost less than before: some like those that were emptied, and two of
// all that there are. It reports whether there are any.
func (v *improver) together(before int64) bool {
	g, m := &v.joint, v.model
	g.need, g.rest, g.hosts = g.need[:0], g.rest[:0], g.hosts[:0]
	for range m.Dims {
		g.need = append(g.need, 0)
	}
	for _, c := range v.classes {
		for d, n := range m.Classes[c].Need {
			g.need[d] += n * int64(v.packer.Remaining[c])
		}
	}
	g.rest = append(g.rest, g.need...)
	most := before
	for n := v.groupDice.below(len(v.emptied)); len(g.hosts) < len(v.emptied)-2; n++ {
		h := v.nodes[v.emptied[n%len(v.emptied)]].Host
		g.hosts = append(g.hosts, h)
		most -= m.Hosts[h].Price + m.Charge
		for d, room := range m.Hosts[h].Room {
			g.rest[d] -= room
		}
	}
	v.pairUp(most)
	return len(g.pairs) > 0
}

// pairUp lists the single hosts and the pairs that have room for the rest and cost less than most.
func (v *improver) pairUp(most int64) {
	g, m := &v.joint, v.model
	g.pairs = g.pairs[:0]
	for i, a := range v.hosts {
		room, price := m.Hosts[a].Room, m.Hosts[a].Price+m.Charge
		if price >= most {
			continue
		}
		if model.Fits(g.rest, room) {
			g.pairs = append(g.pairs, [2]int32{a, -1})
			continue
		}
		v.packer.Steps += len(v.hosts) / 64
	next:
		for _, b := range v.hosts[i:] {
			if price+m.Hosts[b].Price+m.Charge >= most {
				continue
			}
			for d, need := range g.rest {
				if room[d]+m.Hosts[b].Room[d] < need {
					continue next
				}
			}
			g.pairs = append(g.pairs, [2]int32{a, b})
		}
	}
}

// rank orders what is to be placed: items first that are large beside all of it.
func (v *improver) rank() {
	g := &v.joint
	g.scale, g.order = g.scale[:0], g.order[:0]
	for _, n := range g.need {
		g.scale = append(g.scale, 1/float64(max(n, 1)))
	}
	for _, c := range v.classes {
		g.order = append(g.order, sized{c, v.part(c)})
	}
	slices.SortStableFunc(g.order, func(a, b sized) int { return cmp.Compare(b.part, a.part) })
}

// empty opens the hosts, with nothing on them. The nodes are good until others are opened.
func (v *improver) empty(hosts []int32) []model.Node {
	g := &v.joint
	for len(g.nodes) < len(hosts) {
		g.nodes, g.free = append(g.nodes, model.Node{Times: 1}), append(g.free, make([]int64, v.model.Dims))
	}
	for i, h := range hosts {
		g.nodes[i].Host, g.nodes[i].Items = h, g.nodes[i].Items[:0]
		copy(g.free[i], v.model.Hosts[h].Room)
	}
	return g.nodes[:len(hosts)]
}

// pour fills the hosts, large items first, each where it points the way of the free room.
func (v *improver) pour(hosts []int32) []model.Node {
	g, m, nodes := &v.joint, v.model, v.empty(hosts)
	for _, s := range g.order {
		c := s.class
		class := &m.Classes[c]
		v.packer.Occupancy.Put(m, c, 0)
		each := max(v.packer.Remaining[c]/4, 1)
		for v.packer.Remaining[c] > 0 {
			best, top, fill := -1, -1.0, 0
			for i := range nodes {
				if !class.Takers.Has(int(nodes[i].Host)) || !model.Fits(class.Need, g.free[i]) {
					continue
				}
				limit := min(v.packer.Remaining[c], class.Cap, each)
				if it := last(nodes[i].Items); it.Class == c {
					limit = min(limit, class.Cap-it.Count)
				}
				if class.Constrained {
					limit = v.packer.Occupancy.Besides(m, c, limit, nodes[i].Items)
				}
				if n := model.Times(class.Need, g.free[i], limit); n > 0 {
					if score := v.along(class.Need, g.free[i]); score > top {
						best, top, fill = i, score, n
					}
				}
			}
			if best < 0 {
				break
			}
			v.packer.Remaining[c] -= fill
			for d, need := range class.Need {
				g.free[best][d] -= need * int64(fill)
			}
			addTo(&nodes[best], c, fill)
			v.packer.Steps += len(nodes)
		}
		v.packer.Occupancy.Take(m, c, 0)
	}
	return nodes
}

// part is how large an item is beside all that is to be placed.
func (v *improver) part(c int32) float64 {
	out := 0.0
	for d, n := range v.model.Classes[c].Need {
		out = max(out, float64(n)*v.joint.scale[d])
	}
	return out
}

// along is how well a need points the way of free room.
func (v *improver) along(need, free []int64) float64 {
	along, length := 0.0, 0.0
	for d, n := range need {
		f := float64(float64(free[d]) * v.joint.scale[d])
		along += float64(float64(n) * v.joint.scale[d] * f)
		length += float64(f * f)
	}
	return along / math.Sqrt(length+1e-30)
}

// addTo puts n items of a class on a node, which has none but those that came last.
func addTo(n *model.Node, c int32, count int) {
	if last(n.Items).Class == c {
		n.Items[len(n.Items)-1].Count += count
		return
	}
	n.Items = append(n.Items, model.Portion{Class: c, Count: count})
}

// last is the last of the items; of no class if there are none.
func last(items []model.Portion) model.Portion {
	if len(items) == 0 {
		return model.Portion{Class: -1}
	}
	return items[len(items)-1]
}
