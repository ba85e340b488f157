package pack

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/market"
)

// barter has the pod go to another machine of its zone, for pods that come from there
// and that are welcome, and reports whether it does. Where what is asked in return is larger, other
// pods go with it.
func (k *Packer) barter(x *waiting, to *bin, welcome func(*waiting) bool) bool {
	here, there := slices.Clone(x.bin.free), slices.Clone(to.free)
	move(x.class.need, here, there)
	if whole(there) {
		k.swap([]*waiting{x}, nil, to)
		return true
	}
	anybody := func(*waiting) bool { return true }
	var last *class
	for _, y := range to.pods {
		if y.class == last {
			continue
		}
		if last = y.class; !welcome(y) || !k.moves(y, x.bin, nil) {
			continue
		}
		out, back := []*waiting{x}, []*waiting{y}
		h, t := slices.Clone(here), slices.Clone(there)
		move(y.class.need, t, h)
		out = k.relieve(x.bin, to, h, t, out, anybody)
		back = k.relieve(to, x.bin, t, h, back, welcome)
		if whole(h) && whole(t) {
			k.swap(out, back, to)
			return true
		}
	}
	return false
}

// relieve adds pods to those that leave a machine which would be too full, as long as they fit on the other.
func (k *Packer) relieve(from, to *bin, here, there []int64, gone []*waiting, welcome func(*waiting) bool) []*waiting {
	if whole(here) {
		return gone
	}
	pods := slices.Clone(from.pods)
	slices.SortStableFunc(pods, func(a, b *waiting) int { return slices.Compare(b.class.need, a.class.need) })
	for _, y := range pods {
		if k.steps++; !helps(y.class.need, here) || !market.Fits(y.class.need, there) || slices.Contains(gone, y) || !welcome(y) || !k.moves(y, to, gone) {
			continue
		}
		move(y.class.need, here, there)
		if gone = append(gone, y); whole(here) {
			break
		}
	}
	return gone
}

// moves reports whether the machine is one for the pod, room aside, and, together with those
// that come as well, would not have a larger heap of its class than the pod's own machine keeps.
func (k *Packer) moves(y *waiting, to *bin, others []*waiting) bool {
	if y.held || !k.settled(y.class) || !k.takes(to, y) {
		return false
	}
	most, n := heap(y.class), like(to.pods, y.class)+like(others, y.class)
	return most == 0 || n < max(most, like(y.bin.pods, y.class)-1)
}

// takes reports whether the machine is one for the pod, room aside.
func (k *Packer) takes(b *bin, x *waiting) bool {
	stands, n := x.class.sig.Offers, b.offer
	if b.machine != nil {
		stands, n = k.stands(x.class.sig), b.number
	}
	return stands.Has(n) && k.ledger.Allows(x.class.subject, b.node, k.wide()...) && (b.machine != nil || k.varied(b.offer, b, x))
}

// swap has pods of one machine change places with those of another.
func (k *Packer) swap(out, back []*waiting, to *bin) {
	from := out[0].bin
	for _, y := range slices.Concat(out, back) {
		k.quit(y)
	}
	for _, y := range back {
		k.join(from, y)
	}
	for _, y := range out {
		k.join(to, y)
	}
}

// like is how many of the pods are of the class.
func like(pods []*waiting, c *class) int {
	n := 0
	for _, x := range pods {
		if x.class == c {
			n++
		}
	}
	return n
}

// move takes what a pod needs off one machine and onto another.
func move(need, off, onto []int64) {
	for i, n := range need {
		off[i] += n
		onto[i] -= n
	}
}

// whole reports whether nothing is lacking.
func whole(free []int64) bool {
	return !slices.ContainsFunc(free, func(n int64) bool { return n < 0 })
}

// helps reports whether the need is of what is lacking.
func helps(need, free []int64) bool {
	for i, n := range need {
		if n > 0 && free[i] < 0 {
			return true
		}
	}
	return false
}
