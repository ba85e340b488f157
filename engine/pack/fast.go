package pack

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/solve"
	"github.com/tenon-sh/tenon/engine/spread"
)

// lot is pods of one class that go to the same kind of machines: all of it, or its share of one domain.
type lot struct {
	class  *class
	name   string
	simple spread.Simple
	wish   spread.Wish
	offers set
	pods   []*waiting
	placed int
	told   bool // it might have been placed in other domains, or on other offers
}

// fillOld puts whole classes onto the machines that are there or on their way, as
// long as what has room takes them.
func (k *Packer) fillOld() {
	var rest []*waiting
	for from := 0; from < len(k.left); {
		c := k.left[from].class
		to := from
		for to < len(k.left) && k.left[to].class == c {
			to++
		}
		pods := k.left[from:to]
		from = to
		if c.plain && !k.choosy(c) {
			rest = append(rest, k.fillPlain(c, pods)...)
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
	for i := range k.stands(c.sig).all {
		if len(pods) == 0 {
			break
		}
		k.steps++
		b := k.old[i]
		if !fits(c.need, b.free) {
			continue
		}
		n := min(times(c.need, b.free), len(pods))
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

// search buys machines for whole classes at once, tier by tier; what it cannot
// prove to be right, or not place, stays for the exact tier.
func (k *Packer) search() {
	lots, rest := k.lots()
	proof := k.newProof(lots)
	for _, tier := range k.market.tiers {
		if len(lots) == 0 {
			break
		}
		var back []*waiting
		lots, back = k.searchTier(tier, lots, proof)
		rest = append(rest, back...)
	}
	for _, l := range lots {
		rest = append(rest, l.pods...)
	}
	k.left = rest
	if !k.loose {
		k.plan.Bound = k.least(proof)
	}
}

// lots divides the pods that are left into those that can be handled as lots, and the rest.
func (k *Packer) lots() (lots []*lot, rest []*waiting) {
	for from := 0; from < len(k.left); {
		c := k.left[from].class
		to := from
		for to < len(k.left) && k.left[to].class == c {
			to++
		}
		pods := slices.Clone(k.left[from:to])
		from = to
		l, ok := k.lot(c, pods)
		switch {
		case !ok:
			rest = append(rest, pods...)
		case l.simple.Split != nil:
			divided, left := k.divide(l, l.simple.Split)
			lots, rest = append(lots, divided...), append(rest, left...)
		case l.wish.Split != nil:
			lots = append(lots, k.divideSoftly(l)...)
		default:
			lots = append(lots, l)
		}
	}
	return lots, rest
}

// lot returns the pods as a lot; false if they have to be looked at one by one.
func (k *Packer) lot(c *class, pods []*waiting) (*lot, bool) {
	l := &lot{class: c, name: c.pod.String(), pods: pods, offers: slices.Clone(c.offers)}
	if c.sig.open || attaches(c.pod) || len(c.pod.Ports) > 0 {
		return nil, false
	}
	var ok bool
	if l.simple, ok = k.ledger.Simple(c.subject); !ok {
		return nil, false
	}
	if !c.subject.Indifferent() {
		for _, r := range k.reachable(c) {
			if !k.ledger.Accepts(c.subject, k.market.at(r)) {
				k.without(l.offers, k.market.offers[r].tuple)
			}
		}
	}
	if l.simple.Home != "" && !k.settle(l, l.simple.Home) {
		return nil, false
	}
	if k.options.PreferencePolicy != Ignore {
		k.prefer(l)
		l.wish = k.ledger.Wish(c.subject)
		if h := l.wish.Home; h != "" && l.simple.Home == "" && l.simple.Split == nil {
			k.settle(l, h)
		}
	}
	return l, !l.offers.empty()
}

// without drops the offers of a tuple of domains.
func (k *Packer) without(offers set, tuple int) {
	for i := range offers.all {
		if k.market.offers[i].tuple == tuple {
			offers.drop(i)
		}
	}
}

// domain is the value that nodes of the offer have for a topology key.
func (k *Packer) domain(offer int, key string) string {
	if key == label.Zone {
		return k.market.offers[offer].Zone
	}
	return k.market.at(offer).Labels[key]
}

// byDomain divides the offers by their domain of a key.
func (k *Packer) byDomain(offers set, key string) (names []string, sets map[string]set) {
	sets = map[string]set{}
	for i := range offers.all {
		d := k.domain(i, key)
		if d == "" {
			continue
		}
		if sets[d] == nil {
			sets[d] = newSet(len(k.market.offers))
			names = append(names, d)
		}
		sets[d].add(i)
	}
	slices.Sort(names)
	return names, sets
}

// settle chooses the domain in which the lot costs least, for pods that want to be together.
func (k *Packer) settle(l *lot, key string) bool {
	names, sets := k.byDomain(l.offers, key)
	best, least := "", int64(0)
	for _, d := range names {
		if cost := k.unit(l.class, sets[d], len(l.pods)); best == "" || cost < least {
			best, least = d, cost
		}
	}
	if best != "" {
		l.offers = sets[best]
		l.told = l.told || len(names) > 1
	}
	return best != ""
}

// unit is about the least that one of n pods of the class costs on the offers, in thousandths of a millionth.
func (k *Packer) unit(c *class, offers set, n int) int64 {
	least := int64(-1)
	for i := range offers.all {
		o := &k.market.offers[i]
		if cost := (o.price + k.options.charge()) * 1000 / int64(min(n, times(c.need, o.machine.room))); least < 0 || cost < least {
			least = cost
		}
	}
	return least
}

// prefer keeps the lot to the offers with the least regret, if that costs less than the regret is worth.
func (k *Packer) prefer(l *lot) {
	if k.options.PreferencePolicy == Ignore || len(l.class.wishes) == 0 && !k.softPools() {
		return
	}
	byRegret := map[int]set{}
	var regrets []int
	for i := range l.offers.all {
		r := l.class.regret(k, i)
		if byRegret[r] == nil {
			byRegret[r] = newSet(len(k.market.offers))
			regrets = append(regrets, r)
		}
		byRegret[r].add(i)
	}
	if len(regrets) < 2 {
		return
	}
	slices.Sort(regrets)
	best, least := -1, int64(0)
	for _, r := range regrets {
		cost := k.unit(l.class, byRegret[r], len(l.pods)) + 1000*k.options.regret(r)
		if best < 0 || cost < least {
			best, least = r, cost
		}
	}
	for _, r := range regrets {
		if r > best {
			l.told = true
			for i := range byRegret[r].all {
				l.offers.drop(i)
			}
		}
	}
}

func (k *Packer) softPools() bool {
	return slices.ContainsFunc(k.market.pools, func(p *pool) bool { return p.soft > 0 })
}

// divide shares the lot's pods among the domains they can reach, the emptiest
// first, as far as the skew allows. What it does not allow is returned.
func (k *Packer) divide(l *lot, split *spread.Split) (out []*lot, left []*waiting) {
	names, sets := k.byDomain(l.offers, split.Key)
	there := k.thereByDomain(l.class, split.Key)
	for d := range there {
		if sets[d] == nil {
			names = append(names, d)
		}
	}
	slices.Sort(names)
	counts := split.Counts
	share := map[string]int{}
	placed, from := 0, 0
	for ; placed < len(l.pods); placed++ {
		best := ""
		for _, d := range names {
			if best == "" || counts[d] < counts[best] {
				best = d
			}
		}
		if best == "" || !allows(split, best) {
			break
		}
		if b := k.roomIn(there, best, l.pods[from], split.Key); b != nil {
			k.join(b, l.pods[from])
			from++
		} else if sets[best] == nil {
			names = slices.DeleteFunc(names, func(d string) bool { return d == best })
			placed--
			continue
		} else {
			share[best]++
		}
		counts[best]++
	}
	for _, d := range names {
		if share[d] == 0 {
			continue
		}
		part := *l
		part.name, part.offers, part.pods = l.name+" "+d, sets[d], l.pods[from:from+share[d]]
		part.told = l.told || len(names) > 1
		out = append(out, &part)
		from += share[d]
	}
	return out, l.pods[placed:]
}

// thereByDomain returns the machines that are there or on their way and stand for the class, by domain.
func (k *Packer) thereByDomain(c *class, key string) map[string][]*bin {
	out := map[string][]*bin{}
	for i := range k.stands(c.sig).all {
		b := k.old[i]
		if d := b.place.Labels[key]; d != "" && fits(c.need, b.free) {
			out[d] = append(out[d], b)
		}
	}
	return out
}

// roomIn returns a machine of the domain that takes the pod, given that its
// class will be spread over the domains of the key as it should be.
func (k *Packer) roomIn(there map[string][]*bin, d string, x *waiting, key string) *bin {
	for len(there[d]) > 0 {
		b := there[d][0]
		if k.accepts(b, x, key) {
			return b
		}
		there[d] = there[d][1:]
	}
	return nil
}

// divideSoftly shares the lot's pods among the domains in which they cost no more than the spread is worth to them.
func (k *Packer) divideSoftly(l *lot) []*lot {
	names, sets := k.byDomain(l.offers, l.wish.Split.Key)
	least := k.unit(l.class, l.offers, len(l.pods))
	for _, d := range names {
		if k.unit(l.class, sets[d], len(l.pods))-least > 1000*k.options.regret(l.wish.Weight) {
			for i := range sets[d].all {
				l.offers.drop(i)
			}
			l.told = true
		}
	}
	split := *l.wish.Split
	split.MaxSkew, split.MinDomains = len(l.pods)+1, 0
	out, left := k.divide(l, &split)
	if len(left) > 0 {
		rest := *l
		rest.pods = left
		out = append(out, &rest)
	}
	return out
}

// allows reports whether one more pod may go to domain d.
func allows(s *spread.Split, d string) bool {
	if s.Alone {
		return s.Counts[d] == 0
	}
	known, least := len(s.Counts), s.Counts[d]
	if _, ok := s.Counts[d]; !ok {
		known++
	}
	for _, n := range s.Counts {
		least = min(least, n)
	}
	if known < s.MinDomains {
		least = 0
	}
	return s.Counts[d]+1-least <= s.MaxSkew
}

// searchTier buys from the pools of one tier for the lots they can host, and
// returns what is left, and what came back.
func (k *Packer) searchTier(tier []*pool, lots []*lot, proof *proof) (out []*lot, back []*waiting) {
	p, hosts := k.problem(tier, k.diverse)
	var in []*lot
	pods := 0
	for _, l := range lots {
		b := among(l.offers, hosts)
		if b == nil {
			out = append(out, l)
			continue
		}
		in = append(in, l)
		pods += len(l.pods)
		p.Items = append(p.Items, solve.Item{
			Name: l.name, Rank: -int(l.class.pod.Priority), Count: len(l.pods), Need: l.class.need, PerHost: l.simple.PerHost, Hosts: b,
		})
	}
	if len(in) == 0 {
		return out, nil
	}
	k.groups(&p, in)
	if p.Steps == 0 {
		p.Steps = min(max(pods*stepsPerPod, leastSteps), solve.DefaultSteps)
	}
	a := k.solveWishes(p, in)
	k.steps += a.Steps
	back = k.buyAll(a, in, hosts)
	proof.add(a)
	for _, l := range in {
		if len(l.pods) > 0 {
			out = append(out, l)
		}
	}
	return out, back
}

// The search for a few pods is shorter than that for many.
const (
	stepsPerPod = 2_000
	leastSteps  = 200_000
)

// among returns which of the hosts are offers of the set; nil if none is.
func among(offers set, hosts []int) solve.Bits {
	b, some := solve.NewBits(len(hosts)), false
	for h, offer := range hosts {
		if offers.has(offer) {
			b.Set(h)
			some = true
		}
	}
	if !some {
		return nil
	}
	return b
}

// solveWishes solves the problem twice if lots wish to have few of their pods on
// one machine, and takes the wishes if what they cost more is worth it.
func (k *Packer) solveWishes(p solve.Problem, lots []*lot) solve.Answer {
	free := solve.Solve(p)
	wished := p
	wished.Items = slices.Clone(p.Items)
	some := false
	for i, l := range lots {
		if n := l.wish.PerHost; n > 0 && (p.Items[i].PerHost == 0 || n < p.Items[i].PerHost) {
			wished.Items[i].PerHost = n
			some = true
		}
	}
	if !some {
		return free
	}
	kept := solve.Solve(wished)
	kept.Steps += free.Steps
	lost := int64(0)
	for _, n := range free.Nodes {
		for _, it := range n.Items {
			if w := lots[it.Item].wish; w.PerHost > 0 {
				lost += int64(n.Times) * int64(max(it.Count-w.PerHost, 0)) * k.options.regret(w.Weight)
			}
		}
	}
	if len(kept.Left) <= len(free.Left) && k.spent(kept)-k.spent(free) <= lost {
		return kept
	}
	free.Steps = kept.Steps
	return free
}

// spent is the answer's cost with the charge for each node.
func (k *Packer) spent(a solve.Answer) int64 {
	sum := a.Cost
	for _, n := range a.Nodes {
		sum += int64(n.Times) * k.options.charge()
	}
	return sum
}

// problem is the tier's offers, and its limits and reservations as budgets.
func (k *Packer) problem(tier []*pool, only func(*machine) bool) (p solve.Problem, hosts []int) {
	p.Charge, p.Steps = k.options.charge(), k.options.Steps
	quotas := map[int]int{}
	for _, pl := range tier {
		first := len(p.Budgets)
		for _, e := range pl.left {
			p.Budgets = append(p.Budgets, max(e.Value, 0))
		}
		for i := range pl.offers.all {
			o := &k.market.offers[i]
			if !k.onSale(i) || !only(o.machine) {
				continue
			}
			h := solve.Host{Name: o.name(), Room: o.machine.room, Price: o.price}
			for j, e := range pl.left {
				if n := o.machine.counts(e.Name); n > 0 {
					h.Draws = append(h.Draws, solve.Draw{Budget: first + j, Amount: n})
				}
			}
			if o.quota >= 0 {
				b, ok := quotas[o.quota]
				if !ok {
					b = len(p.Budgets)
					quotas[o.quota] = b
					p.Budgets = append(p.Budgets, int64(k.market.quotas[o.quota].left))
				}
				h.Draws = append(h.Draws, solve.Draw{Budget: b, Amount: 1})
			}
			p.Hosts = append(p.Hosts, h)
			hosts = append(hosts, i)
		}
	}
	return p, hosts
}

// name tells offers apart and orders those of equal price: later pools first.
func (o *offer) name() string {
	return fmt.Sprintf("%06d %s %s %s %s", o.machine.pool.number, o.machine.shape.Name, o.Zone, o.CapacityType, o.Reservation)
}

// groups writes what lots may not share on one machine.
func (k *Packer) groups(p *solve.Problem, lots []*lot) {
	owners, shunned, shares := map[int32][]int{}, map[int32][]int{}, map[spread.Share][]int{}
	for i, l := range lots {
		for _, g := range l.simple.Owns {
			owners[g] = append(owners[g], i)
		}
		for _, g := range l.simple.Shunned {
			shunned[g] = append(shunned[g], i)
		}
		for _, s := range l.simple.Shared {
			shares[s] = append(shares[s], i)
		}
	}
	for _, s := range sortedKeys(shares, func(a, b spread.Share) int { return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Cap, b.Cap)) }) {
		if len(shares[s]) > 1 {
			p.Groups = append(p.Groups, solve.Group{Members: shares[s], Cap: s.Cap})
		}
	}
	for _, g := range sortedKeys(owners, cmp.Compare[int32]) {
		if slices.Equal(owners[g], shunned[g]) {
			if len(owners[g]) > 1 {
				p.Groups = append(p.Groups, solve.Group{Members: owners[g], Cap: 1})
			}
			continue
		}
		for _, i := range owners[g] {
			for _, j := range shunned[g] {
				if i != j {
					p.Items[i].Conflicts = append(p.Items[i].Conflicts, j)
				}
			}
		}
	}
}

func sortedKeys[K comparable, V any](m map[K]V, compare func(a, b K) int) []K {
	out := make([]K, 0, len(m))
	for key := range m {
		out = append(out, key)
	}
	slices.SortFunc(out, compare)
	return out
}

// buyAll opens the machines of the answer and puts the lots' pods on them. It
// returns the pods of machines that would not keep their pool's minValues.
func (k *Packer) buyAll(a solve.Answer, lots []*lot, hosts []int) (back []*waiting) {
	for _, n := range a.Nodes {
		for range n.Times {
			b := k.buy(hosts[n.Host])
			for _, it := range n.Items {
				l := lots[it.Item]
				k.joinAll(b, l.class, l.pods[:it.Count])
				for _, x := range l.pods[:it.Count] {
					x.proven = true
				}
				l.pods = l.pods[it.Count:]
				l.placed += it.Count
			}
			if !k.varied(b.offer, b, nil) {
				back = append(back, b.pods...)
				for _, x := range slices.Clone(b.pods) {
					k.quit(x)
				}
				k.drop(b)
			}
		}
	}
	return back
}

// ordered are the resources, the ones that matter most first.
func ordered(names []string) []string {
	slices.SortFunc(names, func(a, b string) int {
		rank := func(s string) int { return slices.Index([]string{amount.Memory, amount.CPU}, s) }
		return cmp.Or(cmp.Compare(rank(b), rank(a)), cmp.Compare(a, b))
	})
	return names
}
