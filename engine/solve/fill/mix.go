package fill

import (
	"cmp"
	"math"
	"slices"

	"github.com/tenon-sh/tenon/engine/solve/model"
	"github.com/tenon-sh/tenon/engine/solve/relax"
)

// The greedy search fills one host after the other and gives each the best of what is left: small items that would fit
// anywhere are used up early, and hosts that two kinds of items should share are filled with one of them. So there is
// another start: the hosts of the relaxation's mix are opened at once, and every item, the large ones first, goes to the host
// whose free room points the same way. What is left over is placed by the greedy search.

// mixture is that start.
type mixture struct {
	model  *model.Model
	packer *Packer
	near   *relax.Relaxation
	hosts  []int32   // of each open host
	free   []int64   // of each open host, dims numbers
	weight []float64 // of each host of the model and dimension, how scarce it is there
	nodes  []model.Node
	ranked []rated // open hosts, by position
}

// rated is an open host and how well it suits.
type rated struct {
	score float64
	host  int32
}

// mixRounds is how many rounds of pouring the mix is the mean of.
const mixRounds = 30

// Mix is the start from the mix of hosts of the relaxation, which looks at those that are near; the greedy search, which places what is
// left over, looks at hosts that are dearer than the cheapest by up to the loose part. It is nil if the mix opens no host, or so many that it would take more than most steps.
func (k *Packer) Mix(near *relax.Relaxation, loose float64, most int) *model.Solution {
	m := k.Model
	x := &mixture{model: m, packer: k, near: near}
	f := near.Clone()
	poured := f.Mean(mixRounds)
	x.weigh(f)
	x.open(f, poured)
	if len(x.hosts) == 0 || len(x.hosts)*len(m.Classes) > most {
		return nil
	}
	copy(k.Remaining, m.Counts())
	budgets := slices.Clone(m.Budgets)
	x.nodes = make([]model.Node, len(x.hosts))
	for i, h := range x.hosts {
		x.nodes[i] = model.Node{Host: h, Times: 1}
	}
	for _, c := range x.order() {
		x.place(c)
	}
	x.nodes = slices.DeleteFunc(x.nodes, func(n model.Node) bool { return len(n.Items) == 0 })
	for i := range x.nodes {
		if model.Overdrawn(m.Hosts[x.nodes[i].Host].Draws, budgets, 1) {
			return nil
		}
		m.Refund(&x.nodes[i], budgets, -1)
	}
	return k.Complete(near, loose, x.nodes, budgets)
}

// weigh says how scarce each dimension is on each host: the share of its price.
func (x *mixture) weigh(f *relax.Relaxation) {
	m, scarcity := x.model, f.Scarcity()
	x.weight = make([]float64, len(m.Hosts)*m.Dims)
	for h := range m.Hosts {
		for d, share := range scarcity[int(f.Kinds.Of[h])*m.Dims:][:m.Dims] {
			x.weight[h*m.Dims+d] = share + 0.02
		}
	}
}

// open opens as many hosts as were poured full, rounded down.
func (x *mixture) open(f *relax.Relaxation, poured []float64) {
	m := x.model
	byKind := make([][]int32, len(f.Kinds.All))
	for h := range m.Hosts {
		byKind[f.Kinds.Of[h]] = append(byKind[f.Kinds.Of[h]], int32(h))
	}
	want := x.demand()
	for _, n := range f.Considered {
		hosts, sum := f.Opened(n, poured), 0.0
		for _, h := range byKind[n] {
			sum += want[h]
		}
		carry := 0.0
		for _, h := range byKind[n] {
			part := carry
			if sum > 0 {
				part += float64(hosts * want[h] / sum)
			}
			whole := math.Floor(part + 1e-9)
			carry = part - whole
			for range int(whole) {
				x.hosts = append(x.hosts, h)
				x.free = append(x.free, m.Hosts[h].Room...)
			}
		}
	}
}

// demand is how much of the worth of all items each host of a kind is wanted for: what can go to several is wanted of all alike.
func (x *mixture) demand() []float64 {
	m := x.model
	out := make([]float64, len(m.Hosts))
	p := x.near.Prices(1e9)
	for c := range m.Classes {
		n := 0
		m.Classes[c].Takers.Each(func(int) { n++ })
		each := float64(p.Value[c]*float64(m.Classes[c].Count)) / float64(max(n, 1))
		m.Classes[c].Takers.Each(func(h int) { out[h] += each })
	}
	return out
}

// order is the classes, the largest first.
func (x *mixture) order() []int32 {
	m := x.model
	most := m.MostRoom(model.AllHosts(m))
	size := make([]float64, len(m.Classes))
	for c := range m.Classes {
		for d, n := range m.Classes[c].Need {
			size[c] = max(size[c], float64(n)/float64(max(most[d], 1)))
		}
	}
	all := model.AllClasses(m)
	slices.SortStableFunc(all, func(a, b int32) int { return cmp.Compare(size[b], size[a]) })
	return all
}

// place puts the items of a class onto the open hosts, as far as they fit: each where it points the same way as the free
// room. Of many items several are placed at a time, on several of the best hosts.
func (x *mixture) place(c int32) {
	m, k := x.model, x.packer
	class := &m.Classes[c]
	each := max(class.Count/max(len(x.hosts), 1), 1)
	k.Occupancy.Put(m, c, 0)
	for k.Remaining[c] > 0 && x.rank(c) {
		for _, r := range x.ranked[:min(len(x.ranked), 1+k.Remaining[c]/each/atATime)] {
			n := x.addable(int(r.host), c, min(each, k.Remaining[c]))
			k.Remaining[c] -= n
			for d, need := range class.Need {
				x.free[int(r.host)*m.Dims+d] -= need * int64(n)
			}
			x.add(int(r.host), c, n)
		}
	}
	k.Occupancy.Take(m, c, 0)
}

// atATime is in how many turns about half of the items of a class are placed.
const atATime = 8

// rank ranks the open hosts that take an item of the class, the best first, and reports whether there are any.
func (x *mixture) rank(c int32) bool {
	m := x.model
	class := &m.Classes[c]
	x.ranked = x.ranked[:0]
	x.packer.Steps += len(x.hosts)
	for i, h := range x.hosts {
		free := x.free[i*m.Dims:][:m.Dims]
		if class.Takers.Has(int(h)) && model.Fits(class.Need, free) && x.addable(i, c, 1) > 0 {
			x.ranked = append(x.ranked, rated{x.score(h, class.Need, free), int32(i)})
		}
	}
	slices.SortFunc(x.ranked, func(a, b rated) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.host, b.host)) })
	return len(x.ranked) > 0
}

// score is how well a need points the way of the free room.
func (x *mixture) score(h int32, need, free []int64) float64 {
	m := x.model
	room, weight := m.Hosts[h].Room, x.weight[int(h)*m.Dims:][:m.Dims]
	along, length, size := 0.0, 0.0, 0.0
	for d, n := range need {
		a, f := float64(n)/float64(max(room[d], 1)), float64(free[d])/float64(max(room[d], 1))
		along += float64(weight[d] * a * f)
		length += float64(weight[d] * f * f)
		size += float64(weight[d] * a * a)
	}
	return along / math.Sqrt(float64(length*size)+1e-30)
}

// addable is how many of the class, which is in the occupancy alone, the open host can take, at most limit.
func (x *mixture) addable(i int, c int32, limit int) int {
	m := x.model
	class := &m.Classes[c]
	limit = min(limit, class.Cap)
	for _, it := range x.nodes[i].Items {
		if it.Class == c {
			limit = min(limit, class.Cap-it.Count)
		}
	}
	if class.Constrained {
		limit = x.packer.Occupancy.Besides(m, c, limit, x.nodes[i].Items)
	}
	return model.Times(class.Need, x.free[i*m.Dims:][:m.Dims], limit)
}

// add puts n items of a class on the open host.
func (x *mixture) add(i int, c int32, n int) {
	items := x.nodes[i].Items
	for j := range items {
		if items[j].Class == c {
			items[j].Count += n
			return
		}
	}
	x.nodes[i].Items = append(items, model.Portion{Class: c, Count: n})
}
