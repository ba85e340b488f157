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
	"github.com/tenon-sh/tenon/engine/packing"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
)

// longest is the length of a menu that the seller of machines accepts.
const longest = 60

// finish turns the packing into a plan.
func (k *Packer) finish() plan.Plan {
	p := plan.Plan{World: k.World.Digest(), At: k.World.At(), Charge: k.Options.NodeCharge(), Waiting: k.Waiting, Bound: k.bounds, Steps: k.Steps}
	if c := k.World.Currencies(); len(c) > 0 {
		p.Currency = c[0]
	}
	menus := &menus{k.Packing}
	for _, b := range k.Planned {
		ask := menus.ask(b)
		p.Cost += ask.Price
		p.New = append(p.New, ask)
	}
	for _, b := range k.Existing {
		fill(b, &p)
	}
	slices.SortFunc(p.New, func(a, b plan.Ask) int { return strings.Compare(a.Name, b.Name) })
	byMachine := func(a, b plan.Fill) int {
		return cmp.Or(strings.Compare(a.Node, b.Node), strings.Compare(a.Claim, b.Claim))
	}
	slices.SortFunc(p.Filled, byMachine)
	p.Refused = append(k.refused, refusals(k.Packing)...)
	slices.SortFunc(p.Refused, func(a, b plan.Refusal) int { return a.Pod.Compare(b.Pod) })
	p.GivenUp = losses(k.Packing)
	if len(p.Refused) > 0 {
		p.Again = k.Backoffs.Next()
	}
	return p
}

// trimAll makes every planned machine as cheap as its pods let it be, and one of
// two where that is cheaper. It reports whether that changed any.
func (k *repairer) trimAll() bool {
	changed := false
	for _, b := range k.Planned {
		was := b.Offer
		k.trim(b)
		changed = changed || b.Offer != was
	}
	return k.gather() || changed
}

// trim makes the bin the cheapest machine that holds its pods.
func (k *repairer) trim(b *packing.Bin) {
	best := b.Offer
	k.Market.Charge(b.Offer, -1)
	hosts := k.Hosting(b)
	for i := range hosts.All {
		if k.Market.Offers[i].Tuple == k.Market.Offers[b.Offer].Tuple && k.Market.CompareOffer(i, best) < 0 && k.Options.Regret(k.RegretOf(b, i)-k.RegretOf(b, best)) <= k.Market.Offers[best].Expected-k.Market.Offers[i].Expected && k.Market.OnSale(i) && k.KeepsMinValues(i, b, nil) {
			best = i
		}
	}
	k.Market.Charge(b.Offer, 1)
	if best != b.Offer {
		k.Turn(b, best)
	}
}

// menus writes planned machines as machines to be bought.
type menus struct{ *packing.Packing }

// expected is the offer that the bin's machine is expected to be.
func (k *menus) expected(b *packing.Bin) int {
	hosts, _, _ := k.menuOffers(b)
	return k.sold(b, hosts)
}

// ask writes the bin as a machine to be bought.
func (k *menus) ask(b *packing.Bin) plan.Ask {
	booked := k.Market.Offers[b.Offer].Type
	hosts, zones, kinds := k.menuOffers(b)
	o := &k.Market.Offers[k.sold(b, hosts)]
	p := booked.Pool
	a := plan.Ask{
		Name: b.Place.Name, Pool: p.ID, Template: p.Template, Shape: o.Type.Shape.Name,
		Zone: o.Zone, CapacityType: o.CapacityType, Price: o.Pays, Synthetic: o.Synthetic, Reservation: o.Reservation,
		Taints: p.Taints, Startup: p.StartupTaints, Booked: booked.Shape.Capacity, Requests: booked.Daemon,
	}
	if o.Expected != o.Pays {
		a.Expected, a.Refused = o.Expected, o.Refused
	}
	for _, x := range b.Pods {
		a.Pods = append(a.Pods, x.Pod.Key)
		a.Requests = a.Requests.Plus(x.Pod.Requests)
	}
	slices.SortFunc(a.Pods, world.Key.Compare)
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
func (k *menus) sold(b *packing.Bin, hosts market.Set) int {
	planned := &k.Market.Offers[b.Offer]
	best := b.Offer
	if p := planned.Type.Pool; !p.HasMinValues || len(p.Limits) == 0 {
		return best
	}
	for i := range hosts.All {
		o := &k.Market.Offers[i]
		if o.Tuple == planned.Tuple && o.Expected < k.Market.Offers[best].Expected && k.RegretOf(b, i) <= k.RegretOf(b, b.Offer) {
			best = i
		}
	}
	return best
}

// menuOffers are the offers among which the seller may choose.
func (k *menus) menuOffers(b *packing.Bin) (hosts market.Set, zones, kinds []string) {
	hosts = k.Hosting(b)
	k.Market.KeepAlike(hosts, b.Offer, false)
	return k.Market.OnOneMenu(hosts, b.Offer)
}

// menu lists the shapes among the hosts, cheapest first, as many as are taken.
func (k *menus) menu(b *packing.Bin, hosts market.Set, a *plan.Ask) []plan.Choice {
	p := k.Market.Offers[b.Offer].Type.Pool
	var menu []dish
	planned := dish{}
	for _, t := range p.ByPrice {
		if t.First != t.From {
			continue
		}
		on := false
		for i := t.From; i < t.To; i++ {
			o := &k.Market.Offers[i]
			switch {
			case !hosts.Has(i):
			case !on:
				menu, on = append(menu, dish{t, o.Expected, o.Pays}), true
			case o.Expected < menu[len(menu)-1].price:
				menu[len(menu)-1] = dish{t, o.Expected, o.Pays}
			}
		}
		if on && t.Shape == k.Market.Offers[b.Offer].Type.Shape {
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
		a.Relaxed = len(k.Market.Lacking(p, k.served(menu, hosts))) > 0
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
func (k *menus) served(menu []dish, hosts market.Set) market.Set {
	out := market.NewSet(len(k.Market.Offers))
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
func (k *menus) shorten(p *market.Pool, menu []dish, n int) []dish {
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
			for _, v := range k.Market.Values(d.machine.First, r.Key) {
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
func (k *menus) requirements(b *packing.Bin, menu []plan.Choice, zones, kinds []string) label.Set {
	o := &k.Market.Offers[b.Offer]
	p := o.Type.Pool
	names := make([]string, len(menu))
	for i, c := range menu {
		names[i] = c.Shape
	}
	s := p.Requirements.Meet(b.Place.Open)
	for _, r := range b.Place.Open {
		s = s.And(r)
	}
	s = s.And(label.Is(fit.PoolLabel(p.ID), p.ID.Name)).And(label.Is(label.InstanceType, names...)).
		And(label.Is(label.Zone, zones...)).And(label.Is(label.CapacityType, kinds...))
	return s
}

// labels are those of the node that the pool or its pods settle.
func (k *menus) labels(b *packing.Bin) map[string]string {
	p := k.Market.Offers[b.Offer].Type.Pool
	out := map[string]string{fit.PoolLabel(p.ID): p.ID.Name}
	for key, v := range p.Labels {
		out[key] = v
	}
	for _, q := range p.Open {
		if v, ok := b.Place.Labels[q.Key]; ok {
			out[q.Key] = v
		} else if r, ok := b.Place.Open.Find(q.Key); ok && r.Op() == label.In {
			out[q.Key] = r.Values[0]
		}
	}
	return out
}

// explainChoice says what leaves no room for something cheaper, and what would have been next.
func (k *menus) explainChoice(b *packing.Bin, a *plan.Ask) {
	planned := &k.Market.Offers[b.Offer]
	a.Why.LeftOut = k.leftOut(b)
	for _, c := range a.Menu {
		if c.Shape != a.Shape {
			a.Why.RunnerUp, a.Why.RunnerUpPrice = c.Shape, c.Price
			break
		}
	}
	var below *market.Offer
	for i := range b.Allowed.All {
		o := &k.Market.Offers[i]
		if o.Expected < planned.Expected && (below == nil || o.Expected > below.Expected) && !market.Fits(b.Used, o.Type.Room) {
			below = o
		}
	}
	if below == nil {
		return
	}
	for i, d := range k.Market.Dims {
		if b.Used[i] > below.Type.Room[i] {
			a.Why.Binds = fmt.Sprintf("%s (%s of %s; %s has %s)", d, amount.Text(d, b.Used[i]), amount.Text(d, planned.Type.Room[i]),
				below.Type.Shape.Name, amount.Text(d, max(below.Type.Room[i], 0)))
			return
		}
	}
}

// fill writes the pods that go to a machine that is there or on its way.
func fill(b *packing.Bin, p *plan.Plan) {
	if len(b.Pods) == 0 {
		return
	}
	f := plan.Fill{}
	if b.Machine.Node != nil {
		f.Node = b.Machine.Node.Name
	}
	if b.Machine.Claim != nil {
		f.Claim = b.Machine.Claim.Name
	}
	var held []world.Key
	for _, x := range b.Pods {
		if x.Held {
			held = append(held, x.Pod.Key)
			continue
		}
		f.Pods = append(f.Pods, x.Pod.Key)
	}
	if len(f.Pods) > 0 {
		slices.SortFunc(f.Pods, world.Key.Compare)
		p.Filled = append(p.Filled, f)
	}
	if len(held) > 0 {
		slices.SortFunc(held, world.Key.Compare)
		p.Held = append(p.Held, plan.Fill{Node: f.Node, Claim: f.Claim, Pods: held})
	}
}

// losses are the soft terms that are not honoured.
func losses(k *packing.Packing) []plan.Loss {
	if k.Options.PreferencePolicy == packing.Ignore {
		return nil
	}
	var out []plan.Loss
	for _, bins := range [][]*packing.Bin{k.Existing, k.Planned} {
		for _, b := range bins {
			for _, x := range b.Pods {
				k.Lost(b, x, func(weight int, term string) {
					out = append(out, plan.Loss{
						Pod: x.Pod.Key, Term: term,
						Why: fmt.Sprintf("weight %d: worth less than what honouring it costs", weight),
					})
				})
			}
		}
	}
	slices.SortFunc(out, func(a, b plan.Loss) int {
		return cmp.Or(a.Pod.Compare(b.Pod), strings.Compare(a.Term, b.Term))
	})
	return out
}

// dear is how many times as much as what is planned a type may cost to be worth a word.
const dear = 3

// leftOut says which exotic types would host the pods of the bin at a like price
// and are not asked for; empty if there are none.
func (k *menus) leftOut(b *packing.Bin) string {
	if k.Market.Exotics == nil || k.Market.Exotics.Has(b.Offer) {
		return ""
	}
	planned := &k.Market.Offers[b.Offer]
	var signatures []*packing.Demands
	for _, x := range b.Pods {
		if !slices.Contains(signatures, x.Class.Demands) {
			signatures = append(signatures, x.Class.Demands)
		}
	}
	var cheapest *market.Type
	n := 0
	for _, t := range planned.Type.Pool.Exotic {
		if t.First != t.From || t.Cheapest > dear*planned.Expected || !market.Fits(b.Used, t.Room) || slices.ContainsFunc(signatures, func(s *packing.Demands) bool { return !k.Market.Stands(t, s.Signature) }) {
			continue
		}
		if n++; cheapest == nil || t.Cheapest < cheapest.Cheapest {
			cheapest = t
		}
	}
	switch n {
	case 0:
		return ""
	case 1:
		return cheapest.Shape.Name + ": bare metal or with accelerators"
	}
	return fmt.Sprintf("%d types that are bare metal or have accelerators, such as %s", n, cheapest.Shape.Name)
}
