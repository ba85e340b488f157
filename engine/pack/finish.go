package pack

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/fit"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/market"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/spread"
	"github.com/tenon-sh/tenon/engine/world"
)

// longest is the length of a menu that the seller of machines accepts.
const longest = 60

// finish turns the packing into a plan.
func (k *Packer) finish() {
	p := &k.plan
	p.World, p.At, p.Charge = k.world.Digest(), k.world.At(), k.options.charge()
	if c := k.world.Currencies(); len(c) > 0 {
		p.Currency = c[0]
	}
	for _, b := range k.new {
		ask := k.ask(b)
		p.Cost += ask.Price
		p.New = append(p.New, ask)
	}
	for _, b := range k.old {
		k.fill(b)
	}
	slices.SortFunc(p.New, func(a, b plan.Ask) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(p.Filled, func(a, b plan.Fill) int {
		return cmp.Or(strings.Compare(a.Node, b.Node), strings.Compare(a.Claim, b.Claim))
	})
	k.refuseLeft()
	slices.SortFunc(p.Refused, func(a, b plan.Refusal) int { return compareKey(a.Pod, b.Pod) })
	k.losses()
	if len(p.Refused) > 0 {
		p.Again = k.backoffs.Next()
	}
	p.Steps = k.steps
}

func compareKey(a, b world.Key) int {
	return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
}

// trimAll makes every planned machine as cheap as its pods let it be, and one of
// two where that is cheaper. It reports whether that changed any.
func (k *Packer) trimAll() bool {
	changed := false
	for _, b := range k.new {
		was := b.offer
		k.trim(b)
		changed = changed || b.offer != was
	}
	return k.gather() || changed
}

// trim makes the bin the cheapest machine that holds its pods.
func (k *Packer) trim(b *bin) {
	best := b.offer
	k.market.Charge(b.offer, -1)
	hosts := k.hosting(b)
	for i := range hosts.All {
		if k.market.Offers[i].Tuple == k.market.Offers[b.offer].Tuple && k.market.CompareOffer(i, best) < 0 && k.options.regret(k.offerRegret(b, i)-k.offerRegret(b, best)) <= k.market.Offers[best].Expected-k.market.Offers[i].Expected && k.market.OnSale(i) && k.varied(i, b, nil) {
			best = i
		}
	}
	k.market.Charge(b.offer, 1)
	if best != b.offer {
		k.turn(b, best)
	}
}

// offerRegret is the weight of the soft demands of the bin's pods that the offer would not meet.
func (k *Packer) offerRegret(b *bin, offer int) int {
	sum := 0
	for _, x := range b.pods {
		if len(x.class.wishes) > 0 {
			sum += x.class.regret(k, offer)
		}
	}
	return sum
}

// hosting are the offers, in the same domains if that matters, that can host all pods of the bin.
func (k *Packer) hosting(b *bin) market.Set {
	hosts := k.hosts(k.market.Offers[b.offer].Type.Pool, b, nil)
	special := slices.ContainsFunc(b.pods, func(x *waiting) bool { return !k.tallies.Cover(x.pod) })
	for i := range hosts.All {
		if special && !k.carries(b, i) {
			hosts.Drop(i)
		}
	}
	return hosts
}

// carries reports whether ports and attachments of the bin's pods can be had on the offer.
func (k *Packer) carries(b *bin, offer int) bool {
	at := k.market.At(offer).Copy()
	for _, x := range b.pods {
		if !extras(x.pod, at) {
			return false
		}
		at.Put(&world.Pod{Ports: x.pod.Ports, Volumes: x.pod.Volumes})
	}
	return true
}

// ask writes the bin as a machine to be bought.
func (k *Packer) ask(b *bin) plan.Ask {
	booked := k.market.Offers[b.offer].Type
	hosts, zones, kinds := k.menuOffers(b)
	o := &k.market.Offers[k.sold(b, hosts)]
	p := booked.Pool
	a := plan.Ask{
		Name: b.place.Name, Pool: p.ID, Template: p.Template, Shape: o.Type.Shape.Name,
		Zone: o.Zone, CapacityType: o.CapacityType, Price: o.Pays, Synthetic: o.Synthetic, Reservation: o.Reservation,
		Taints: p.Taints, Startup: p.StartupTaints, Booked: booked.Shape.Capacity, Requests: booked.Daemon,
	}
	if o.Expected != o.Pays {
		a.Expected, a.Refused = o.Expected, o.Refused
	}
	for _, x := range b.pods {
		a.Pods = append(a.Pods, x.pod.Key)
		a.Requests = a.Requests.Plus(x.pod.Requests)
	}
	slices.SortFunc(a.Pods, compareKey)
	a.Menu = k.menu(b, hosts, &a)
	a.Requirements = k.requirements(b, a.Menu, zones, kinds)
	a.Labels = k.labels(b)
	k.explainChoice(b, &a)
	return a
}

// sold is the offer that the bin's machine is expected to be. That is the one
// the packing planned, but for pools with minValues and limits: these book the
// largest type of the menu, so that whatever is sold stays within them, and the
// seller takes the cheapest.
func (k *Packer) sold(b *bin, hosts market.Set) int {
	planned := &k.market.Offers[b.offer]
	best := b.offer
	if p := planned.Type.Pool; !p.HasMinValues || len(p.Limits) == 0 {
		return best
	}
	for i := range hosts.All {
		o := &k.market.Offers[i]
		if o.Tuple == planned.Tuple && o.Expected < k.market.Offers[best].Expected && k.offerRegret(b, i) <= k.offerRegret(b, b.offer) {
			best = i
		}
	}
	return best
}

// menuOffers are the offers among which the seller may choose.
func (k *Packer) menuOffers(b *bin) (hosts market.Set, zones, kinds []string) {
	hosts = k.hosting(b)
	k.market.KeepAlike(hosts, b.offer, false)
	return k.market.OnOneMenu(hosts, b.offer)
}

// menu lists the shapes among the hosts, cheapest first, as many as are taken.
func (k *Packer) menu(b *bin, hosts market.Set, a *plan.Ask) []plan.Choice {
	p := k.market.Offers[b.offer].Type.Pool
	var menu []dish
	planned := dish{}
	for _, t := range p.ByPrice {
		if t.First != t.From {
			continue
		}
		on := false
		for i := t.From; i < t.To; i++ {
			o := &k.market.Offers[i]
			switch {
			case !hosts.Has(i):
			case !on:
				menu, on = append(menu, dish{t, o.Expected, o.Pays}), true
			case o.Expected < menu[len(menu)-1].price:
				menu[len(menu)-1] = dish{t, o.Expected, o.Pays}
			}
		}
		if on && t.Shape == k.market.Offers[b.offer].Type.Shape {
			planned = menu[len(menu)-1]
		}
	}
	slices.SortFunc(menu, cheaper) // zones may differ in price
	if n := banded(menu); n < len(menu) {
		menu = withDish(k.shorten(p, menu, n), planned)
	}
	out := make([]plan.Choice, len(menu))
	for i, d := range menu {
		out[i] = plan.Choice{Shape: d.machine.Shape.Name, Price: d.pays}
	}
	if p.HasMinValues {
		a.Relaxed = len(k.market.Lacking(p, k.served(menu, hosts))) > 0
	}
	return out
}

// withDish is the menu with what is planned, however much others cost less.
func withDish(menu []dish, planned dish) []dish {
	if slices.Contains(menu, planned) {
		return menu
	}
	menu = append(slices.Clone(menu[:min(len(menu), longest-1)]), planned)
	slices.SortFunc(menu, cheaper)
	return menu
}

// dish is a shape on a menu at the prices of its cheapest offer there.
type dish struct {
	machine     *market.Type
	price, pays int64
}

func cheaper(a, b dish) int {
	return cmp.Or(cmp.Compare(a.price, b.price), cmp.Compare(a.machine.Rank, b.machine.Rank))
}

// served are the hosts that the menu names.
func (k *Packer) served(menu []dish, hosts market.Set) market.Set {
	out := market.NewSet(len(k.market.Offers))
	for _, d := range menu {
		for i := d.machine.From; i < d.machine.To; i++ {
			if hosts.Has(i) {
				out.Add(i)
			}
		}
	}
	return out
}

// A menu needs enough shapes that one of them is always to be had, and none that costs much more: it takes what
// is within the first of these percentages of the cheapest, then the next, until it has enough.
const enough = 15

// banded is how many of the cheapest dishes are wanted.
func banded(menu []dish) int {
	n := 0
	for _, percent := range []int64{115, 130, 150, 200, 300} {
		for n < len(menu) && menu[n].price <= menu[0].price*percent/100 {
			n++
		}
		if n >= enough {
			return min(n, longest)
		}
	}
	return n
}

// shorten cuts the menu to n dishes: the cheapest, but first for every
// requirement with minValues the cheapest of as many values as it wants.
func (k *Packer) shorten(p *market.Pool, menu []dish, n int) []dish {
	if !p.HasMinValues {
		return menu[:n]
	}
	var head, rest []dish
	wanted := map[string][]string{}
	for _, d := range menu {
		fresh := false
		for _, r := range p.Requirements {
			seen := wanted[r.Key]
			if len(seen) >= r.Least {
				continue
			}
			for _, v := range k.market.Values(d.machine.First, r.Key) {
				if r.Has(v) && !slices.Contains(seen, v) {
					wanted[r.Key] = append(wanted[r.Key], v)
					fresh = true
				}
			}
		}
		if fresh {
			head = append(head, d)
		} else {
			rest = append(rest, d)
		}
	}
	out := append(head, rest...)[:min(max(n, len(head)), longest)]
	slices.SortFunc(out, cheaper)
	return out
}

// requirements is what the claim demands: the pool's own, the menu, and where and how it may be bought.
func (k *Packer) requirements(b *bin, menu []plan.Choice, zones, kinds []string) label.Set {
	o := &k.market.Offers[b.offer]
	p := o.Type.Pool
	names := make([]string, len(menu))
	for i, c := range menu {
		names[i] = c.Shape
	}
	s := p.Requirements.Meet(b.place.Open)
	for _, r := range b.place.Open {
		s = s.And(r)
	}
	s = s.And(label.Is(fit.PoolLabel(p.ID), p.ID.Name)).And(label.Is(label.InstanceType, names...)).
		And(label.Is(label.Zone, zones...)).And(label.Is(label.CapacityType, kinds...))
	return s
}

// labels are those of the node that the pool or its pods settle.
func (k *Packer) labels(b *bin) map[string]string {
	p := k.market.Offers[b.offer].Type.Pool
	out := map[string]string{fit.PoolLabel(p.ID): p.ID.Name}
	for key, v := range p.Labels {
		out[key] = v
	}
	for _, q := range p.Open {
		if v, ok := b.place.Labels[q.Key]; ok {
			out[q.Key] = v
		} else if r, ok := b.place.Open.Find(q.Key); ok && r.Op() == label.In {
			out[q.Key] = r.Values[0]
		}
	}
	return out
}

// explainChoice says what leaves no room for something cheaper, and what would have been next.
func (k *Packer) explainChoice(b *bin, a *plan.Ask) {
	planned := &k.market.Offers[b.offer]
	a.Why.LeftOut = k.leftOut(b)
	for _, c := range a.Menu {
		if c.Shape != a.Shape {
			a.Why.RunnerUp, a.Why.RunnerUpPrice = c.Shape, c.Price
			break
		}
	}
	var below *market.Offer
	for i := range b.allowed.All {
		o := &k.market.Offers[i]
		if o.Expected < planned.Expected && (below == nil || o.Expected > below.Expected) && !market.Fits(b.used, o.Type.Room) {
			below = o
		}
	}
	if below == nil {
		return
	}
	for i, d := range k.market.Dims {
		if b.used[i] > below.Type.Room[i] {
			a.Why.Binds = fmt.Sprintf("%s (%s of %s; %s has %s)", d, amount.Text(d, b.used[i]), amount.Text(d, planned.Type.Room[i]),
				below.Type.Shape.Name, amount.Text(d, max(below.Type.Room[i], 0)))
			return
		}
	}
}

// fill writes the pods that go to a machine that is there or on its way.
func (k *Packer) fill(b *bin) {
	if len(b.pods) == 0 {
		return
	}
	f := plan.Fill{}
	if b.machine.Node != nil {
		f.Node = b.machine.Node.Name
	}
	if b.machine.Claim != nil {
		f.Claim = b.machine.Claim.Name
	}
	var held []world.Key
	for _, x := range b.pods {
		if x.held {
			held = append(held, x.pod.Key)
			continue
		}
		f.Pods = append(f.Pods, x.pod.Key)
	}
	if len(f.Pods) > 0 {
		slices.SortFunc(f.Pods, compareKey)
		k.plan.Filled = append(k.plan.Filled, f)
	}
	if len(held) > 0 {
		slices.SortFunc(held, compareKey)
		k.plan.Held = append(k.plan.Held, plan.Fill{Node: f.Node, Claim: f.Claim, Pods: held})
	}
}

// losses records every soft term that was not honoured.
func (k *Packer) losses() {
	if k.options.PreferencePolicy == Ignore {
		return
	}
	for _, bins := range [][]*bin{k.old, k.new} {
		for _, b := range bins {
			for _, x := range b.pods {
				k.lose(b, x)
			}
		}
	}
	slices.SortFunc(k.plan.GivenUp, func(a, b plan.Loss) int {
		return cmp.Or(compareKey(a.Pod, b.Pod), strings.Compare(a.Term, b.Term))
	})
}

func (k *Packer) lose(b *bin, x *waiting) {
	k.lost(b, x, func(weight int, term string) {
		k.plan.GivenUp = append(k.plan.GivenUp, plan.Loss{
			Pod: x.pod.Key, Term: term,
			Why: fmt.Sprintf("weight %d: worth less than what honouring it costs", weight),
		})
	})
}

// lost is the weight of the soft terms that the pod has to do without; tell hears of each.
func (k *Packer) lost(b *bin, x *waiting, tell func(weight int, term string)) int {
	sum := 0
	at := k.standing(b)
	lose := func(weight int, term func() string) {
		sum += weight
		if tell != nil {
			tell(weight, term())
		}
	}
	for _, w := range x.class.wishes {
		if !at.Meets(w.term) {
			lose(w.weight, func() string { return fmt.Sprintf("nodeAffinity preferred[%d]: %s", w.at, w.term.Labels) })
		}
	}
	for _, t := range at.Taints {
		if t.Effect == world.PreferNoSchedule && !fit.Tolerated(x.pod.Tolerations, t) {
			lose(spread.SoftSpread, func() string { return "taint " + fit.TaintText(t) })
		}
	}
	if x.class.subject.Wishes() {
		for _, l := range k.ledger.Losses(x.class.subject, b.node) {
			lose(l.Weight, func() string { return l.Term })
		}
	}
	return sum
}

// standing is the place of the bin as the plan counts on it.
func (k *Packer) standing(b *bin) *fit.Place {
	if b.machine != nil {
		return b.place
	}
	return k.market.At(b.offer)
}

// name is the placeholder of the next machine of the pool.
func (k *Packer) name(p *market.Pool) string {
	for {
		p.Named++
		name := fmt.Sprintf("%s-%d", p.ID.Name, p.Named)
		if k.taken[name] {
			continue
		}
		k.taken[name] = true
		return name
	}
}
