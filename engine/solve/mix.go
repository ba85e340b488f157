package solve

import (
	"cmp"
	"math"
	"slices"
)

// The greedy search fills one host after the other and gives each the best of what is left: small items that would fit
// anywhere are used up early, and hosts that two kinds of items should share are filled with one of them. So there is
// another start: the hosts of the relaxation's mix are opened at once, and every item, the large ones first, goes to the host
// whose free room points the same way. What is left over is placed by the greedy search.

// mixture is that start.
type mixture struct {
	model  *model
	packer *packer
	near   *relaxation
	hosts  []int32   // of each open host
	free   []int64   // of each open host, dims numbers
	weight []float64 // of each host of the model and dimension, how scarce it is there
	nodes  []node
	ranked []rated // open hosts, by position
}

// rated is an open host and how well it suits.
type rated struct {
	score float64
	host  int32
}

// mixRounds is how many rounds of pouring the mix is the mean of.
const mixRounds = 30

// mix is the start from the mix of hosts of the relaxation, which looks at those that are near; the greedy search, which places what is
// left over, looks at hosts that are dearer than the cheapest by up to the loose part. It is nil if the mix opens no host, or so many that it would take more than most steps.
func (k *packer) mix(near *relaxation, loose float64, most int) *solution {
	m := k.model
	x := &mixture{model: m, packer: k, near: near}
	f := near.clone()
	poured := f.mean(mixRounds)
	x.weigh(f)
	x.open(f, poured)
	if len(x.hosts) == 0 || len(x.hosts)*len(m.classes) > most {
		return nil
	}
	copy(k.remaining, m.counts())
	budgets := slices.Clone(m.budgets)
	x.nodes = make([]node, len(x.hosts))
	for i, h := range x.hosts {
		x.nodes[i] = node{host: h, times: 1}
	}
	for _, c := range x.order() {
		x.place(c)
	}
	x.nodes = slices.DeleteFunc(x.nodes, func(n node) bool { return len(n.items) == 0 })
	for i := range x.nodes {
		if overdrawn(m.hosts[x.nodes[i].host].draws, budgets, 1) {
			return nil
		}
		m.refund(&x.nodes[i], budgets, -1)
	}
	return k.complete(near, loose, x.nodes, budgets)
}

// weigh says how scarce each dimension is on each host: the share of its price.
func (x *mixture) weigh(f *relaxation) {
	m, scarcity := x.model, f.scarcity()
	x.weight = make([]float64, len(m.hosts)*m.dims)
	for h := range m.hosts {
		for d, share := range scarcity[int(f.kinds.of[h])*m.dims:][:m.dims] {
			x.weight[h*m.dims+d] = share + 0.02
		}
	}
}

// open opens as many hosts as were poured full, rounded down.
func (x *mixture) open(f *relaxation, poured []float64) {
	m := x.model
	byKind := make([][]int32, len(f.kinds.all))
	for h := range m.hosts {
		byKind[f.kinds.of[h]] = append(byKind[f.kinds.of[h]], int32(h))
	}
	want := x.demand()
	for _, n := range f.considered {
		hosts, sum := f.opened(n, poured), 0.0
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
				x.free = append(x.free, m.hosts[h].room...)
			}
		}
	}
}

// demand is how much of the worth of all items each host of a kind is wanted for: what can go to several is wanted of all alike.
func (x *mixture) demand() []float64 {
	m := x.model
	out := make([]float64, len(m.hosts))
	p := x.near.prices(1e9)
	for c := range m.classes {
		n := 0
		m.classes[c].takers.each(func(int) { n++ })
		each := float64(p.value[c]*float64(m.classes[c].count)) / float64(max(n, 1))
		m.classes[c].takers.each(func(h int) { out[h] += each })
	}
	return out
}

// order is the classes, the largest first.
func (x *mixture) order() []int32 {
	m := x.model
	most := m.mostRoom(allHosts(m))
	size := make([]float64, len(m.classes))
	for c := range m.classes {
		for d, n := range m.classes[c].need {
			size[c] = max(size[c], float64(n)/float64(max(most[d], 1)))
		}
	}
	all := allClasses(m)
	slices.SortStableFunc(all, func(a, b int32) int { return cmp.Compare(size[b], size[a]) })
	return all
}

// place puts the items of a class onto the open hosts, as far as they fit: each where it points the same way as the free
// room. Of many items several are placed at a time, on several of the best hosts.
func (x *mixture) place(c int32) {
	m, k := x.model, x.packer
	class := &m.classes[c]
	each := max(class.count/max(len(x.hosts), 1), 1)
	k.occupancy.put(m, c, 0)
	for k.remaining[c] > 0 && x.rank(c) {
		for _, r := range x.ranked[:min(len(x.ranked), 1+k.remaining[c]/each/atATime)] {
			n := x.addable(int(r.host), c, min(each, k.remaining[c]))
			k.remaining[c] -= n
			for d, need := range class.need {
				x.free[int(r.host)*m.dims+d] -= need * int64(n)
			}
			x.add(int(r.host), c, n)
		}
	}
	k.occupancy.take(m, c, 0)
}

// atATime is in how many turns about half of the items of a class are placed.
const atATime = 8

// rank ranks the open hosts that take an item of the class, the best first, and reports whether there are any.
func (x *mixture) rank(c int32) bool {
	m := x.model
	class := &m.classes[c]
	x.ranked = x.ranked[:0]
	x.packer.steps += len(x.hosts)
	for i, h := range x.hosts {
		free := x.free[i*m.dims:][:m.dims]
		if class.takers.Has(int(h)) && fits(class.need, free) && x.addable(i, c, 1) > 0 {
			x.ranked = append(x.ranked, rated{x.score(h, class.need, free), int32(i)})
		}
	}
	slices.SortFunc(x.ranked, func(a, b rated) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.host, b.host)) })
	return len(x.ranked) > 0
}

// score is how well a need points the way of the free room.
func (x *mixture) score(h int32, need, free []int64) float64 {
	m := x.model
	room, weight := m.hosts[h].room, x.weight[int(h)*m.dims:][:m.dims]
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
	class := &m.classes[c]
	limit = min(limit, class.cap)
	for _, it := range x.nodes[i].items {
		if it.class == c {
			limit = min(limit, class.cap-it.count)
		}
	}
	if class.constrained {
		limit = x.packer.occupancy.besides(m, c, limit, x.nodes[i].items)
	}
	return times(class.need, x.free[i*m.dims:][:m.dims], limit)
}

// add puts n items of a class on the open host.
func (x *mixture) add(i int, c int32, n int) {
	items := x.nodes[i].items
	for j := range items {
		if items[j].class == c {
			items[j].count += n
			return
		}
	}
	x.nodes[i].items = append(items, portion{c, n})
}
