package pack

import (
	"slices"
)

// mostLured bounds how many pods are moved for the sake of others.
const mostLured = 500

// lure makes room for a pod that wants the company of others on the very
// machine, where every machine that has it is full: one of these others moves to
// a new machine, and the pod follows it there.
func (k *Packer) lure(x *waiting, remaining int) bool {
	if !x.class.clings || k.lured >= mostLured {
		return false
	}
	y := k.company(x)
	if y == nil {
		return false
	}
	k.lured++
	offer, _ := k.cheapest(y, 1, nil)
	if offer < 0 {
		return false
	}
	from := y.bin
	k.quit(y)
	b := k.buy(offer)
	k.join(b, y)
	if k.put(x, remaining) {
		return true
	}
	k.quit(y)
	k.drop(b)
	k.join(from, y)
	return false
}

// company returns the smallest pod on a planned machine that x wants to be with,
// that goes anywhere, and that nobody there is with for want of others.
func (k *Packer) company(x *waiting) *waiting {
	var best *waiting
	for _, b := range k.new {
		if len(b.pods) < 2 {
			continue
		}
		for _, y := range b.pods {
			k.steps++
			if y.class.subject.Indifferent() && k.ledger.Draws(x.class.subject, y.class.subject) && (best == nil || y.less(best)) && !k.wanted(b, y) {
				best = y
			}
		}
	}
	return best
}

// wanted reports whether a pod on the bin is there for the company of y and of nobody else.
func (k *Packer) wanted(b *bin, y *waiting) bool {
	return slices.ContainsFunc(b.pods, func(z *waiting) bool {
		return z.class.clings && k.ledger.Draws(z.class.subject, y.class.subject) &&
			!slices.ContainsFunc(b.pods, func(o *waiting) bool { return o != y && o != z && k.ledger.Draws(z.class.subject, o.class.subject) })
	})
}

// less reports whether y needs less than other of what comes first among the dimensions.
func (y *waiting) less(other *waiting) bool {
	for i, n := range y.class.need {
		if n != other.class.need[i] {
			return n < other.class.need[i]
		}
	}
	return false
}
