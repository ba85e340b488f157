package pack

import (
	"github.com/tenon-sh/tenon/engine/market"
)

// fillOld puts whole classes onto the machines that are there or on their way, as
// long as what has room takes them.
func (k *Packer) fillOld() {
	k.placeCrowds(false)
	var rest []*waiting
	for c, pods := range runs(k.left) {
		if c.plain && !k.choosy(c) {
			rest = append(rest, k.fillPlain(c, pods)...)
			continue
		}
		if _, _, crowd := k.crowded(c); crowd {
			rest = append(rest, pods...)
			continue
		}
		for i, x := range pods {
			b := k.among(k.old, x, &c.tried, nil)
			if b == nil {
				if c.subject.Indifferent() {
					rest = append(rest, pods[i:]...)
					break
				}
				rest = append(rest, x)
				continue
			}
			k.join(b, x)
		}
	}
	k.left = rest
}

// fillPlain puts as many of the pods as fit onto each machine in turn, and returns the rest.
func (k *Packer) fillPlain(c *class, pods []*waiting) []*waiting {
	for i := range k.stands(c.sig).All {
		if len(pods) == 0 {
			break
		}
		k.steps++
		b := k.old[i]
		if !market.Fits(c.need, b.free) {
			continue
		}
		n := min(market.Times(c.need, b.free), len(pods))
		k.joinAll(b, c, pods[:n])
		pods = pods[n:]
	}
	c.tried = len(k.old)
	return pods
}

// joinAll puts several pods of a class onto a bin that is known to take them.
func (k *Packer) joinAll(b *bin, c *class, pods []*waiting) {
	if len(pods) == 0 {
		return
	}
	if special(c.pod) {
		for _, x := range pods {
			k.join(b, x)
		}
		return
	}
	k.join(b, pods[0])
	for _, x := range pods[1:] {
		x.bin = b
		b.pods = append(b.pods, x)
		k.ledger.Put(c.subject, b.node)
	}
	for i, n := range c.need {
		b.free[i] -= n * int64(len(pods)-1)
		if b.machine == nil {
			b.used[i] += n * int64(len(pods)-1)
		}
	}
}
