package pack

import (
	"cmp"
	"maps"
	"slices"

	"github.com/tenon-sh/tenon/engine/world"
)

// A recluse keeps away from others by zone, or another domain beyond the
// machine, and these others, who have no such term themselves, go wherever there
// is room: soon they are in every zone and leave none to it, or it is in every
// zone first and leaves none to them. Nobody can tell beforehand whether that
// happens, so it is seen to afterwards: where one or the other found no place the
// pods are packed again, and recluses choose theirs first, close together.

// seclude packs again with recluses first if some, or some they keep away from,
// have no place. The result counts only if more get one and nobody loses the one he had.
func (k *Packer) seclude(m manner) *Packer {
	if !slices.ContainsFunc(k.left, func(x *waiting) bool { return k.recluse(x) || k.ledger.Shunned(x.class.subject) }) {
		return k
	}
	m.secluded = true
	if e := pack(k.world, k.options, m); e.spares(k) && !e.unfair() {
		return e
	}
	return k
}

// recluse reports whether the pod keeps away from others by domain, and nothing else makes it depend on where others go.
func (k *Packer) recluse(x *waiting) bool {
	_, _, ok := k.ledger.Shuns(x.class.subject)
	return ok && x.class.rank == 1
}

// spares reports whether fewer pods are left than there are in other, and none that are not.
func (k *Packer) spares(other *Packer) bool {
	left := map[world.Key]bool{}
	for _, x := range other.left {
		left[x.pod.Key] = true
	}
	return len(k.left) < len(other.left) && !slices.ContainsFunc(k.left, func(x *waiting) bool { return !left[x.pod.Key] })
}

// settleRecluses gives the recluses their places, before anybody else has one.
func (k *Packer) settleRecluses() {
	k.loose = true
	var rest []*waiting
	for c, pods := range runs(k.left) {
		if k.recluse(pods[0]) {
			pods = k.settleApart(c, pods)
		}
		rest = append(rest, pods...)
	}
	k.left = rest
}

// settleApart gives the pods of a class places in as few domains as will do, and returns those without one.
func (k *Packer) settleApart(c *class, pods []*waiting) (rest []*waiting) {
	group, key, _ := k.ledger.Shuns(c.subject)
	domains := k.retreats(c, group, key, len(pods))
	for i, x := range pods {
		slices.SortStableFunc(domains, func(a, b string) int { return cmp.Compare(k.ledger.Keepers(group, b), k.ledger.Keepers(group, a)) })
		if !slices.ContainsFunc(domains, func(d string) bool { return k.putIn(x, key, d, len(pods)-i) }) {
			rest = append(rest, x)
		}
	}
	return rest
}

// retreats are the domains in which the class may find machines. Those come first that fewest of the group depend on, then the cheapest.
func (k *Packer) retreats(c *class, group int32, key string, pods int) []string {
	depend := map[string]int{}
	for _, y := range k.classes {
		if names, _ := k.market.ByDomain(y.offers, key); y.subject.In(group) && len(names) == 1 {
			depend[names[0]] += len(y.pods)
		}
	}
	cost := map[string]int64{}
	_, sets := k.market.ByDomain(c.offers, key)
	for d, offers := range sets {
		cost[d] = k.unit(c, offers, pods)
	}
	for d := range k.thereByDomain(c, key) {
		cost[d] = 0
	}
	return slices.SortedFunc(maps.Keys(cost), func(a, b string) int {
		return cmp.Or(cmp.Compare(depend[a], depend[b]), cmp.Compare(cost[a], cost[b]), cmp.Compare(a, b))
	})
}

// putIn finds a place for the pod in a domain of the key.
func (k *Packer) putIn(x *waiting, key, domain string, remaining int) bool {
	c := x.class
	there := func(b *bin) bool { return b.place.Labels[key] == domain }
	b := k.among(k.old, x, &c.tried, there)
	if b == nil {
		b = k.among(k.new, x, &c.triedOn, func(b *bin) bool { return there(b) && k.ledger.Modest(c.subject, b.node) })
	}
	if b == nil {
		in := level{}
		for _, r := range k.reachable(c) {
			if k.market.DomainOf(r, key) == domain {
				in = append(in, k.market.Offers[r].Tuple)
			}
		}
		b = k.obtain(x, remaining, in)
	}
	if b == nil {
		return false
	}
	k.join(b, x)
	return true
}
