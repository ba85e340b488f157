package refuse

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/fit"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/market"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/packing"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
)

// shapeWhy says which demands of the pod, alone or together, no type of the pool's machines satisfies.
func (k *refuser) shapeWhy(p *market.Pool, x *packing.Pod) *reason.Why {
	why := &reason.Why{ // in the words of Karpenter, which people look for
		Code:   reason.NoShape,
		Detail: "no instance type satisfied resources " + resourcesText(x.Pod.Requests) + " and requirements " + k.demandText(p, x),
	}
	if len(p.Types) == 0 {
		why.Causes = append(why.Causes, emptyWhy(p))
		return why
	}
	same := asked{p.Types[0], x.Class} // pools that are alike have the same types
	if _, known := k.ofTypes[same]; !known {
		k.ofTypes[same] = k.typeWhys(p, x)
	}
	why.Causes = k.ofTypes[same]
	return why
}

// typeWhys says which demands of the pod, alone or together, no type of those that the pool may buy satisfies.
func (k *refuser) typeWhys(p *market.Pool, x *packing.Pod) []*reason.Why {
	var out []*reason.Why
	full := k.fullWhy(p, x)
	labelled, large := 0, 0
	for _, t := range p.Types {
		if market.Fits(x.Class.Need, t.Room) {
			large++
		}
		for i := t.First; i < t.Last; i++ {
			if x.Class.Demands.Offers.Has(i) {
				labelled++
				break
			}
		}
	}
	if labelled == 0 {
		if rules := k.ruleWhys(p, x); len(rules) > 0 {
			out = append(out, rules...)
		} else {
			out = append(out, requirementWhys(p, x)...)
		}
	}
	switch {
	case full != nil:
		out = append(out, full)
	case large == 0:
		out = append(out, k.sizeWhys(p, x, labelled > 0)...)
	case labelled > 0:
		out = append(out, k.sizeWhys(p, x, true)...)
	}
	return out
}

// ruleWhys is what rules of package fit that every machine is asked for have against all that the pool can buy.
func (k *refuser) ruleWhys(p *market.Pool, x *packing.Pod) []*reason.Why {
	var out []*reason.Why
	for _, r := range k.Market.Rules.Uncompiled(x.Pod) {
		if why := k.againstAll(r, p, x.Pod); why != nil {
			out = append(out, why)
		}
	}
	return out
}

// againstAll is what the rule has against the first of the pool's machines; nil if it has nothing against one of them.
func (k *refuser) againstAll(r *fit.Rule, p *market.Pool, pod *world.Pod) *reason.Why {
	var first *reason.Why
	bare := false // the machine that the refusal names has no devices, of which the pod may want some
	for _, t := range p.Types {
		for i := t.First; i < t.Last; i++ {
			why := r.Objection(pod, k.Market.At(i))
			if why == nil {
				return nil
			}
			if first == nil || bare && len(k.Market.At(i).Devices) > 0 {
				first, bare = why, len(k.Market.At(i).Devices) == 0
				first.Subject = t.Shape.Name
			}
		}
	}
	return first
}

// fullWhy says that daemon sets leave no room on any type that has the right labels; nil if there are others.
func (k *refuser) fullWhy(p *market.Pool, x *packing.Pod) *reason.Why {
	var largest *market.Type
	for _, t := range p.Types {
		switch {
		case !k.Market.Stands(t, x.Class.Demands.Signature):
		case !t.Full:
			return nil
		case largest == nil || t.Short.Name == largest.Short.Name && t.Short.Has > largest.Short.Has:
			largest = t
		}
	}
	if largest == nil {
		return nil
	}
	return &reason.Why{
		Code: reason.Resource, Subject: largest.Shape.Name,
		Detail: "daemon sets alone: " + fit.ShortText(largest.Short.Name, largest.Short.Wants, largest.Short.Has),
		Hint:   "let the pool buy larger types, or the daemon sets ask for less",
	}
}

// emptyWhy says why the pool has nothing to buy whatever the pod.
func emptyWhy(p *market.Pool) *reason.Why {
	if len(p.Catalog.Shapes) == 0 {
		return &reason.Why{Code: reason.NoOffer, Detail: "the catalogue is empty"}
	}
	for _, r := range p.Requirements {
		if !p.Known[r.Key] || slices.ContainsFunc(p.Catalog.Shapes, func(s world.Shape) bool { return shapeMeets(&s, r) }) {
			continue
		}
		why := &reason.Why{Code: reason.NoOffer, Detail: fmt.Sprintf("none of %d types has %s, as the pool requires", len(p.Catalog.Shapes), r), Hint: "correct or widen the pool's requirement"}
		offered := offeredValues(p, r.Key)
		if r.Key == label.Zone {
			offered = zones(p)
		}
		if meant := meantHint(r, offered); meant != "" {
			why.Hint = meant
		} else if !r.Not && len(r.Values) > 0 && len(offered) > 0 && len(offered) <= maxListedValues {
			why.Hint = useHint(offered) + " in the pool's requirement"
		}
		return why
	}
	return &reason.Why{
		Code: reason.NoOffer, Detail: fmt.Sprintf("none of %d types meets the pool's own requirements %s, or is available now", len(p.Catalog.Shapes), p.Requirements),
		Hint: "widen the pool's requirements",
	}
}

// shapeMeets reports whether some machine of the shape can have what a requirement demands.
func shapeMeets(s *world.Shape, r label.Requirement) bool {
	switch r.Key {
	case label.Zone:
		return slices.ContainsFunc(s.Offers, func(o world.Offer) bool { return r.Has(o.Zone) })
	case label.CapacityType:
		return slices.ContainsFunc(s.Offers, func(o world.Offer) bool { return r.Has(o.CapacityType) })
	}
	l, ok := s.Labels.Find(r.Key)
	return !ok || l.Meets(r) || l.Negative() && r.Negative()
}

// zones are the zones in which the catalogue has offers, sorted.
func zones(p *market.Pool) []string {
	var out []string
	for i := range p.Catalog.Shapes {
		for _, o := range p.Catalog.Shapes[i].Offers {
			if !slices.Contains(out, o.Zone) {
				out = append(out, o.Zone)
			}
		}
	}
	slices.Sort(out)
	return out
}

// offeredValues are the values that shapes of the catalogue have of a label, sorted.
func offeredValues(p *market.Pool, key string) []string {
	var out []string
	for i := range p.Catalog.Shapes {
		if l, ok := p.Catalog.Shapes[i].Labels.Find(key); ok && !l.Not {
			out = append(out, l.Values...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// maxListedValues is how many values a hint lists at most.
const maxListedValues = 8

// requirementWhys names the demands on labels that no type of the pool meets.
func requirementWhys(p *market.Pool, x *packing.Pod) []*reason.Why {
	var out []*reason.Why
	test := func(r label.Requirement, volume string) {
		values := map[string]bool{}
		for _, t := range p.Types {
			for i := range t.Shape.Offers {
				o := &t.Shape.Offers[i]
				switch r.Key {
				case label.Zone:
					values[o.Zone] = values[o.Zone] || !o.Gone
				case label.CapacityType:
					values[o.CapacityType] = values[o.CapacityType] || !o.Gone
				}
			}
			if l, ok := t.Label(r.Key); ok && !l.Not {
				for _, v := range l.Values {
					values[v] = true
				}
			} else if r.Key == label.InstanceType {
				values[t.Shape.Name] = true
			}
		}
		var offered []string
		for v := range values {
			if r.Has(v) {
				return
			}
			offered = append(offered, v)
		}
		if r.Negative() {
			return
		}
		slices.Sort(offered)
		c := label.Clash{Want: r, Offer: label.Is(r.Key, offered...), Unknown: len(offered) == 0}
		why := &reason.Why{Code: reason.Label, Detail: c.String(), Hint: meantHint(r, offered)}
		if why.Hint == "" && len(offered) > 0 && len(offered) <= maxListedValues {
			why.Hint = useHint(offered)
		}
		if volume != "" {
			why.Code, why.Detail, why.Hint = reason.Volume, volume+": "+why.Detail, ""
		}
		out = append(out, why)
	}
	for _, d := range fit.Demands(x.Pod) {
		terms, volume := d.Alternatives(), ""
		if len(terms) > 1 {
			continue
		}
		if d.Volume != nil {
			volume = d.Volume.ID
		}
		for _, r := range terms[0].Labels {
			test(r, volume)
		}
	}
	if len(out) == 0 {
		out = append(out, &reason.Why{Code: reason.Label, Detail: fmt.Sprintf("each demand is met by some of %d types, but no type on sale meets all", len(p.Types))})
	}
	return out
}

// sizeWhys names the resources of which even the largest type, among those with the right labels if there are any, has too little.
func (k *refuser) sizeWhys(p *market.Pool, x *packing.Pod, labelled bool) []*reason.Why {
	var out []*reason.Why
	for d, name := range k.Market.Dims {
		most := int64(0)
		largest := ""
		for _, t := range p.Types {
			if t.Full || labelled && !k.Market.Stands(t, x.Class.Demands.Signature) {
				continue
			}
			if t.Room[d] > most || largest == "" {
				most, largest = max(t.Room[d], 0), t.Shape.Name
			}
		}
		switch need := x.Class.Need[d]; {
		case need <= most:
		case d >= k.Counters.First:
			out = append(out, k.Counters.Why(d, need, most))
		default:
			out = append(out, sizeWhy(p, shortage{name, need, most, largest}, x))
		}
	}
	if len(out) == 0 {
		out = append(out, &reason.Why{Code: reason.Resource, Detail: "each resource is there on some type, but not all on one"})
	}
	return out
}

// A shortage is a resource of which a pod needs more than the type with the most of it has.
type shortage struct {
	name       string
	need, most int64
	largest    string
}

// sizeWhy says that a pod needs more of a resource than the largest type of the
// pool has, and what of the catalogue has enough.
func sizeWhy(p *market.Pool, of shortage, x *packing.Pod) *reason.Why {
	name, need, most := of.name, of.need, of.most
	why := &reason.Why{Code: reason.Resource, Subject: of.largest, Detail: fit.ShortText(name, need, most) + ", the most of any that would do otherwise"}
	enough, cheapest, some := "", money.Micro(0), false
	_, there := amount.Against(name, need, most)
	runs := p.Requirements.Meet(x.Pod.NodeSelector)
	for i := range p.Catalog.Shapes {
		s := &p.Catalog.Shapes[i]
		room := s.Room(name)
		some = some || room > 0
		if slices.ContainsFunc(runs, func(r label.Requirement) bool { return (r.Key == label.Arch || r.Key == label.OS) && !shapeMeets(s, r) }) {
			continue // a machine on which the pod does not run
		}
		for _, o := range s.Offers {
			if room >= need && !o.Gone && (enough == "" || o.Price < cheapest) {
				enough, cheapest = s.Name, o.Price
			}
		}
	}
	switch {
	case most > 0 && enough == "":
		why.Hint = "ask for at most " + there + ": no type is large enough"
	case most > 0:
		why.Hint = "ask for at most " + there + ", or let the pool buy larger types"
	case !some:
		why.Subject, why.Detail = "", fit.ShortText(name, need, 0)
		why.Hint = "no type is known to have " + name
		if meant := label.Meant(name, resources(p)); meant != "" {
			why.Hint = "did you mean " + meant + "?"
		}
	default:
		why.Subject, why.Detail = "", fit.ShortText(name, need, 0)+", on every type that would do otherwise"
		why.Hint = "let the pool buy types with " + name
		if enough != "" {
			why.Hint += ", such as " + enough
		}
	}
	return why
}

// resources are the names of all that shapes of the catalogue have, sorted.
func resources(p *market.Pool) []string {
	var out []string
	for i := range p.Catalog.Shapes {
		for _, e := range p.Catalog.Shapes[i].Capacity {
			out = append(out, e.Name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// demandText writes what the pool and the pod together demand.
func (k *refuser) demandText(p *market.Pool, x *packing.Pod) string {
	s := p.Requirements.And(label.Is(fit.PoolLabel(p.ID), p.ID.Name))
	for _, d := range fit.Demands(x.Pod) {
		if terms := d.Alternatives(); d.Volume == nil && len(terms) == 1 {
			s = s.Meet(terms[0].Labels)
		}
	}
	return s.String()
}

// resourcesText writes requests as {"cpu":"1","memory":"256Mi"}.
func resourcesText(l amount.List) string {
	parts := make([]string, len(l))
	for i, e := range l {
		parts[i] = fmt.Sprintf("%q:%q", e.Name, amount.Text(e.Name, e.Value))
	}
	return "{" + strings.Join(parts, ",") + "}"
}
