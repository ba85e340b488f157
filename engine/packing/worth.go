package packing

import (
	"fmt"

	"github.com/tenon-sh/tenon/engine/fit"
	"github.com/tenon-sh/tenon/engine/market"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/spread"
	"github.com/tenon-sh/tenon/engine/spread/terms"
	"github.com/tenon-sh/tenon/engine/world"
)

// HasWishes reports whether it matters to pods of the class which of several places they get.
func (k *Packing) HasWishes(c *Class) bool {
	return k.Options.PreferencePolicy != Ignore && (len(c.Wishes) > 0 || c.PodInfo.Wishes())
}

// RegretOn is the weight of soft demands that the bin would not meet.
func (k *Packing) RegretOn(c *Class, b *Bin) int {
	sum := terms.SoftSpread*softTaints(c.Pod, b.Place.Taints) + k.Ledger.Regret(c.PodInfo, b.Node)
	for _, w := range c.Wishes {
		if !b.Place.Meets(w.term) {
			sum += w.weight
		}
	}
	return sum
}

// softTaints counts the PreferNoSchedule taints that the pod does not tolerate.
func softTaints(p *world.Pod, taints []world.Taint) int {
	n := 0
	for _, t := range taints {
		if t.Effect == world.PreferNoSchedule && !fit.Tolerated(p.Tolerations, t) {
			n++
		}
	}
	return n
}

// Regret is the weight of the soft demands on the machine that it would not meet.
func (c *Class) Regret(k *Packing, offer int) int {
	sum := 0
	if k.Options.PreferencePolicy == Ignore {
		return 0
	}
	p := k.Market.Offers[offer].Type.Pool
	if p.SoftTaints > 0 {
		sum += terms.SoftSpread * softTaints(c.Pod, p.Taints)
	}
	if len(c.Wishes) == 0 {
		return sum
	}
	at := k.Market.At(offer)
	for _, w := range c.Wishes {
		if !at.Meets(w.term) {
			sum += w.weight
		}
	}
	return sum
}

// RegretOf is the weight of the soft demands of the bin's pods that the offer would not meet.
func RegretOf(k *Packing, b *Bin, offer int) int {
	sum := 0
	for _, x := range b.Pods {
		if len(x.Class.Wishes) > 0 {
			sum += x.Class.Regret(k, offer)
		}
	}
	return sum
}

// Lost is the weight of the soft terms that the pod has to do without; lost is called with each.
func Lost(k *Packing, b *Bin, x *Pod, lost func(weight int, loss plan.Loss)) int {
	sum := 0
	at := standing(k, b)
	lose := func(weight int, of spread.Soft, term func() string) {
		sum += weight
		if lost != nil {
			lost(weight, plan.Loss{Pod: x.Pod.Key, Term: term(), Of: of})
		}
	}
	for _, w := range x.Class.Wishes {
		if !at.Meets(w.term) {
			lose(w.weight, spread.Soft{Kind: spread.SoftNodeTerm, At: w.at}, func() string { return fmt.Sprintf("nodeAffinity preferred[%d]: %s", w.at, w.term.Labels) })
		}
	}
	for _, t := range at.Taints {
		if t.Effect == world.PreferNoSchedule && !fit.Tolerated(x.Pod.Tolerations, t) {
			lose(terms.SoftSpread, spread.Soft{}, func() string { return "taint " + fit.TaintText(t) })
		}
	}
	if x.Class.PodInfo.Wishes() {
		for _, l := range k.Ledger.Losses(x.Class.PodInfo, b.Node) {
			lose(l.Weight, l.Of, func() string { return l.Term })
		}
	}
	return sum
}

// UnitCost is about the least that one of n pods of the class costs on the offers, in thousandths of a millionth.
func UnitCost(k *Packing, c *Class, offers market.Set, n int) int64 {
	least := int64(-1)
	var last *market.Type // many offers are of one type
	pods := 0
	for i := range offers.All {
		o := &k.Market.Offers[i]
		if o.Type != last {
			last, pods = o.Type, min(n, market.Times(c.Need, o.Type.Room))
		}
		if cost := int64((o.Weighs + k.Market.Every).Part(1000, int64(pods))); least < 0 || cost < least {
			least = cost
		}
	}
	return least
}

// Price is what the planned machines cost.
func Price(k *Packing) money.Micro {
	sum := money.Micro(0)
	for _, b := range k.Planned {
		sum += k.Market.Offers[b.Offer].Expected
	}
	return sum
}

// Weight is what the planned machines cost with the charge for each.
func Weight(k *Packing) money.Micro {
	sum := k.Market.Every.Times(len(k.Planned))
	for _, b := range k.Planned {
		sum += k.Market.Offers[b.Offer].Weighs
	}
	return sum
}

// Spend is what the planned machines cost, with the charge for each and what is given up.
func Spend(k *Packing) money.Micro {
	sum := Weight(k)
	if k.Options.PreferencePolicy == Ignore {
		return sum
	}
	for _, bins := range [][]*Bin{k.Existing, k.Planned} {
		for _, b := range bins {
			for _, x := range b.Pods {
				sum += k.Options.Regret(Lost(k, b, x, nil))
			}
		}
	}
	return sum
}

// standing is the place of the bin as the plan counts on it.
func standing(k *Packing, b *Bin) *fit.Place {
	if b.Machine != nil {
		return b.Place
	}
	return k.Market.At(b.Offer)
}
