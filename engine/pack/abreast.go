package pack

import "github.com/tenon-sh/tenon/engine/solve"

// Pods that are to be spread over zones do best on many machines of a zone, few on each. Only as many of them as the skew allows can be
// nominated for one machine at the same time; until they are bound, the places of the others go to whoever comes first, and others
// have to be bought.

// skew is how many pods of the class can be nominated for one machine at the
// same time; 0 if that is any number, or if nobody nominates pods.
func (k *Packer) skew(c *class) int {
	if !c.measured {
		c.measured = true
		if s, ok := k.ledger.Simple(c.subject); ok && s.Split != nil && !s.Split.Alone && k.options.Nominated && len(k.reachable(c)) > 1 {
			c.skew = s.Split.MaxSkew
		}
	}
	return c.skew
}

// abreast is how many of the lot's pods one machine should hold: as many as can be nominated for it
// at the same time, or their share of twice as many machines as the answer has, if that is more. 0 is any number.
func (k *Packer) abreast(l *lot, lots []*lot, a solve.Answer, hosts []int) int {
	skew := k.skew(l.class)
	if skew == 0 {
		return 0
	}
	pods, machines := 0, 0
	for _, other := range lots {
		if other.class == l.class {
			pods += len(other.pods)
		}
	}
	for _, n := range a.Nodes {
		if l.class.offers.has(hosts[n.Host]) {
			machines += n.Times
		}
	}
	machines = max(2*machines, 1)
	return max(skew, (pods+machines-1)/machines)
}

// displaced is what it costs that others may take places in the answer: as much as to buy them anew.
func (k *Packer) displaced(a solve.Answer, lots []*lot) int64 {
	sum := int64(0)
	each := map[int]int64{}
	for _, n := range a.Nodes {
		for _, it := range n.Items {
			l := lots[it.Item]
			skew := k.skew(l.class)
			if skew == 0 || it.Count <= skew {
				continue
			}
			if each[it.Item] == 0 {
				each[it.Item] = k.unit(l.class, l.offers, len(l.pods)) / 1000
			}
			sum += int64(n.Times) * int64(it.Count-skew) * each[it.Item]
		}
	}
	return sum
}

// exposed is the same for the machines that are planned.
func (k *Packer) exposed() int64 {
	sum := int64(0)
	each := map[*class]int64{}
	for _, b := range k.new {
		on := map[*class]int{}
		for _, x := range b.pods {
			c := x.class
			skew := k.skew(c)
			if on[c]++; skew == 0 || on[c] <= skew {
				continue
			}
			if each[c] == 0 {
				each[c] = k.unit(c, c.offers, len(c.pods)) / 1000
			}
			sum += each[c]
		}
	}
	return sum
}

// regretted is what the wishes are worth that the answer does not honour.
func (k *Packer) regretted(a solve.Answer, lots []*lot) int64 {
	sum := int64(0)
	for _, n := range a.Nodes {
		for _, it := range n.Items {
			if w := lots[it.Item].wish; w.PerHost > 0 {
				sum += int64(n.Times) * int64(max(it.Count-w.PerHost, 0)) * k.options.regret(w.Weight)
			}
		}
	}
	return sum
}
