package menu

import (
	"fmt"
	"slices"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/fit"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/market"
	"github.com/tenon-sh/tenon/engine/packing"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
)

// Expected is the offer that the bin's machine is expected to be.
func (k *Writer) Expected(b *packing.Bin) int {
	if !k.booksLargest(b) {
		return b.Offer
	}
	hosts, _, _ := k.menuOffers(b)
	return k.sold(b, hosts)
}

// booksLargest reports whether the bin is of a pool that books the largest type of its menus.
func (k *Writer) booksLargest(b *packing.Bin) bool {
	p := k.Market.Offers[b.Offer].Type.Pool
	return p.HasMinValues && len(p.Limits) > 0
}

// Ask writes the bin as a machine to be bought.
func (k *Writer) Ask(b *packing.Bin) plan.Ask {
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
	a.Charge = p.Levy
	for _, x := range b.Pods {
		a.Pods = append(a.Pods, x.Pod.Key)
		a.Requests = a.Requests.Plus(x.Pod.Requests)
	}
	slices.SortFunc(a.Pods, world.Key.Compare)
	a.Drivers = b.Place.Drivers()
	a.Menu = k.menu(b, hosts, &a)
	a.Requirements = k.requirements(b, a.Menu, zones, kinds)
	a.Labels = k.labels(b)
	k.explainChoice(b, &a)
	return a
}

// sold is the offer that the bin's machine is expected to be. That is the one
// the packing planned, but for pools with minValues and limits: these book the
// largest type of the menu, so that whatever is sold stays within them, and the
// cloud takes the cheapest.
func (k *Writer) sold(b *packing.Bin, hosts market.Set) int {
	planned := &k.Market.Offers[b.Offer]
	best := b.Offer
	if !k.booksLargest(b) {
		return best
	}
	for i := range hosts.All {
		o := &k.Market.Offers[i]
		if o.DomainSet == planned.DomainSet && o.Expected < k.Market.Offers[best].Expected && packing.RegretOf(k.Packing, b, i) <= packing.RegretOf(k.Packing, b, b.Offer) {
			best = i
		}
	}
	return best
}

// menuOffers are the offers among which the cloud may choose.
func (k *Writer) menuOffers(b *packing.Bin) (hosts market.Set, zones, kinds []string) {
	hosts = k.Hosting(b)
	k.Market.KeepAlike(hosts, b.Offer, nil)
	return k.Market.OnOneMenu(hosts, b.Offer)
}

// requirements is what the claim demands: the pool's own, the menu, and where and how it may be bought.
func (k *Writer) requirements(b *packing.Bin, menu []plan.Choice, zones, kinds []string) label.Set {
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
	for _, key := range p.Cut {
		s = s.And(label.Is(key, o.Labels[key]))
	}
	return s
}

// labels are those of the node that the pool or its pods settle.
func (k *Writer) labels(b *packing.Bin) map[string]string {
	o := &k.Market.Offers[b.Offer]
	p := o.Type.Pool
	out := map[string]string{fit.PoolLabel(p.ID): p.ID.Name}
	for key, v := range p.Labels {
		out[key] = v
	}
	for _, key := range p.Cut {
		out[key] = o.Labels[key]
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
func (k *Writer) explainChoice(b *packing.Bin, a *plan.Ask) {
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

// maxLeftOutRatio is how many times as much as what is planned a type may cost to be worth a word.
const maxLeftOutRatio = 3

// leftOut says which exotic types would host the pods of the bin at a like price
// and are not asked for; empty if there are none.
func (k *Writer) leftOut(b *packing.Bin) string {
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
		if t.First != t.From || t.Cheapest > maxLeftOutRatio*planned.Expected || !market.Fits(b.Used, t.Room) || slices.ContainsFunc(signatures, func(s *packing.Demands) bool { return !k.Market.Stands(t, s.Signature) }) {
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
