package whatif

import (
	"math"
	"slices"

	"github.com/tenon-sh/tenon/engine/market"
	"github.com/tenon-sh/tenon/engine/packing"
)

// Order is machines in the order in which they are offered pods. It knows of
// blocks of them what is free there at most, so that those are passed over in
// which a pod finds no room, or no better place than it has.
type Order struct {
	cluster  *Cluster
	machines []int
	position []int32 // of each machine of the cluster; below 0: it is not among them
	read     int     // how many of the cluster's changes the tree knows
	next     int     // where in the order the next pod begins to look
	tree     *tree   // nil until it is needed
}

// Order returns an order of machines.
func (y *Cluster) Order(machines []int) *Order {
	o := &Order{cluster: y, machines: machines, position: make([]int32, len(y.k.Existing))}
	for i := range o.position {
		o.position[i] = -1
	}
	for n, i := range machines {
		o.position[i] = int32(n) //nolint:gosec // there are not that many machines
	}
	return o
}

// Has reports whether a machine is among them.
func (o *Order) Has(i int) bool { return o.position[i] >= 0 }

// Len is how many there are.
func (o *Order) Len() int { return len(o.machines) }

// Append adds a machine at the end.
func (o *Order) Append(i int) {
	o.position[i] = int32(len(o.machines)) //nolint:gosec // as above
	o.machines = append(o.machines, i)
	switch {
	case o.tree == nil:
	case len(o.machines) > o.tree.leaves*blockSize:
		o.tree = nil
	default:
		o.tree.renew(o, (len(o.machines)-1)/blockSize)
	}
}

// Cut leaves the first n.
func (o *Order) Cut(n int) {
	if n == len(o.machines) {
		return
	}
	for _, i := range o.machines[n:] {
		o.position[i] = -1
	}
	o.machines, o.tree, o.next = o.machines[:n], nil, 0
}

// Without returns the order without some machines.
func (o *Order) Without(some func(i int) bool) *Order {
	return o.cluster.Order(slices.DeleteFunc(slices.Clone(o.machines), some))
}

// renew has the tree know what was done to machines since it looked last.
func (o *Order) renew() {
	changed := o.cluster.changed[o.read:]
	o.read = len(o.cluster.changed)
	if o.tree == nil {
		o.tree = grow(o)
		return
	}
	last := -1
	for _, i := range changed {
		if at := int(o.position[i]); at >= 0 && at/blockSize != last {
			last = at / blockSize
			o.tree.renew(o, last)
		}
	}
}

// blockSize is how many machines one leaf of the tree stands for: so many are looked at faster than found one by one.
const blockSize = 8

// tree has, of ever larger blocks of an order, what is free at most on one
// machine, told apart by what is scarcest there. Node 1 is the root, those below node n are 2n and 2n+1.
type tree struct {
	leaves int
	dims   int
	usual  int
	kinds  int       // of scarceness: one for each usual dimension, or one alone
	free   []int64   // of each node and kind, dims numbers; none of the kind: below 0
	slack  []float64 // of each node and kind, for each usual dimension how much more there is than of what is scarcest, at most
}

func grow(o *Order) *tree {
	t := &tree{leaves: 1, dims: len(o.cluster.k.Market.Dims), usual: len(o.cluster.usual)}
	for t.leaves*blockSize < len(o.machines) {
		t.leaves *= 2
	}
	t.kinds = max(t.usual, 1)
	t.free = make([]int64, 2*t.leaves*t.kinds*t.dims)
	t.slack = make([]float64, 2*t.leaves*t.kinds*t.usual)
	for b := range t.leaves {
		t.look(o, b)
	}
	for node := t.leaves - 1; node > 0; node-- {
		t.join(node)
	}
	return t
}

// renew looks at a block again.
func (t *tree) renew(o *Order, block int) {
	t.look(o, block)
	for node := (t.leaves + block) / 2; node > 0; node /= 2 {
		t.join(node)
	}
}

// of returns what a node knows of machines of a kind.
func (t *tree) of(node, kind int) (free []int64, slack []float64) {
	at := node*t.kinds + kind
	return t.free[at*t.dims : (at+1)*t.dims : (at+1)*t.dims], t.slack[at*t.usual : (at+1)*t.usual : (at+1)*t.usual]
}

// forget has a node know of no machine.
func (t *tree) forget(node int) {
	for kind := range t.kinds {
		free, slack := t.of(node, kind)
		for d := range free {
			free[d] = math.MinInt64
		}
		for d := range slack {
			slack[d] = math.Inf(-1)
		}
	}
}

// look finds out what is free on the machines of a block.
func (t *tree) look(o *Order, block int) {
	node, y := t.leaves+block, o.cluster
	t.forget(node)
	from := min(block*blockSize, len(o.machines))
	for _, i := range o.machines[from:min(from+blockSize, len(o.machines))] {
		if b := y.k.Existing[i]; b.Closed || b.Away {
			continue
		}
		free := y.freeOn(i)
		kind, least := y.usual.scarcest(free)
		most, slack := t.of(node, kind)
		for d, n := range free {
			most[d] = max(most[d], n)
		}
		for d, s := range y.usual {
			slack[d] = max(slack[d], s.holds(free)-least)
		}
	}
}

// join adds up what the two nodes below one know.
func (t *tree) join(node int) {
	for kind := range t.kinds {
		free, slack := t.of(node, kind)
		left, leftSlack := t.of(2*node, kind)
		right, rightSlack := t.of(2*node+1, kind)
		for d := range free {
			free[d] = max(left[d], right[d])
		}
		for d := range slack {
			slack[d] = max(leftSlack[d], rightSlack[d])
		}
	}
}

// choice looks for the machine that takes a pod with the least regret and, of several, at the least cost.
type choice struct {
	*Order

	pod      *packing.Pod
	asks     []float64 // of what is usual, as a share
	choosy   bool
	from, to int // the part of the order that is looked at
	at       int // the machine found; -1: none
	least    int
	cheapest float64
}

// among looks at the machines of a part of the order.
func (c *choice) among(from, to int) {
	if c.from, c.to = from, to; from < to {
		c.under(1, 0, c.tree.leaves)
	}
}

// under looks at the machines of a node, those first in the order first.
func (c *choice) under(node, from, to int) {
	if to*blockSize <= c.from || from*blockSize >= c.to || c.at >= 0 && c.least == 0 && c.cheapest <= 0 || !c.promises(node) {
		return
	}
	if node >= c.tree.leaves {
		for n := max(from*blockSize, c.from); n < min(to*blockSize, c.to); n++ {
			c.try(n)
		}
		return
	}
	middle := (from + to) / 2
	c.under(2*node, from, middle)
	c.under(2*node+1, middle, to)
}

// promises reports whether a machine of the node may have room for the pod, and take it at less than what was found.
func (c *choice) promises(node int) bool {
	for kind := range c.tree.kinds {
		free, slack := c.tree.of(node, kind)
		if none := len(free) > 0 && free[0] == math.MinInt64; none || !market.Fits(c.pod.Class.Need, free) {
			continue
		}
		if c.choosy || costs(c.asks, slack) < c.cheapest {
			return true
		}
	}
	return false
}

// try looks at one machine.
func (c *choice) try(n int) {
	y, i, need := c.cluster, c.machines[n], c.pod.Class.Need
	free := y.freeOn(i)
	if !market.Fits(need, free) {
		return
	}
	cost := y.usual.cost(c.asks, free)
	if cost >= c.cheapest && !c.choosy || !y.k.Accepts(y.k.Existing[i], c.pod) {
		return
	}
	regret := 0
	if c.choosy {
		regret = y.k.RegretOn(c.pod.Class, y.k.Existing[i])
	}
	if c.at < 0 || regret < c.least || regret == c.least && cost < c.cheapest {
		c.at, c.least, c.cheapest = i, regret, cost
	}
}
