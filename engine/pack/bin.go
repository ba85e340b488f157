package pack

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/fit"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/market"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
)

// bin is a machine that pods are put on.
type bin struct {
	machine *world.Place // nil for a planned one
	place   *fit.Place
	node    int // number in the ledger
	free    []int64
	pods    []*waiting
	shut    bool // it takes nobody

	// Of a planned one.
	offer   int
	used    []int64
	allowed market.Set // offers that stand for all its pods
	pinned  bool
	number  int
}

func sameName(e amount.Entry, name string) bool { return e.Name == name }

// accepts reports whether a pod may go to the bin as it is. Spread over the keys
// in but is taken for granted.
func (k *Packer) accepts(b *bin, x *waiting, but ...string) bool {
	k.steps++
	c := x.class
	if b.shut || !market.Fits(c.need, b.free) {
		return false
	}
	if b.machine != nil {
		if !k.stands(c.sig).Has(b.number) {
			return false
		}
	} else if !c.sig.Offers.Has(b.offer) || !k.opens(b, c) || !k.varied(b.offer, b, x) {
		return false
	}
	return c.plain || k.ledger.Allows(c.subject, b.node, but...) && extras(x.pod, b.place)
}

// extras are the rules on what is not counted as room.
func extras(p *world.Pod, at *fit.Place) bool {
	return fit.Ports(p, at) == nil && fit.Attach(p, at) == nil
}

// opens reports whether labels of the bin that only its pods settle can still be what the class demands.
func (k *Packer) opens(b *bin, c *class) bool {
	return !c.sig.Open || fit.Stands(c.pod, b.place)
}

// stands are the machines there or on their way that meet the signature.
func (k *Packer) stands(s *demands) market.Set {
	if s.stands == nil {
		s.stands = market.NewSet(len(k.old))
		for i, b := range k.old {
			if fit.Stands(s.Pod, b.place) {
				s.stands.Add(i)
			}
		}
	}
	return s.stands
}

// join puts the pod on the bin.
func (k *Packer) join(b *bin, x *waiting) {
	x.bin = b
	b.pods = append(b.pods, x)
	c := x.class
	for i, n := range c.need {
		b.free[i] = amount.Plus(b.free[i], -n) // who holds a promise may ask for more than can be counted
		if b.machine == nil {
			b.used[i] += n
		}
	}
	if special(x.pod) {
		b.place.Put(&world.Pod{Ports: x.pod.Ports, Volumes: x.pod.Volumes})
	}
	k.ledger.Put(c.subject, b.node)
	if b.machine != nil {
		return
	}
	b.allowed.Intersect(c.offers)
	if c.pinned && !b.pinned {
		b.pinned = true
		k.pin(b)
	}
	if c.sig.Open {
		b.place.Narrow(c.pod)
	}
}

// pin leaves only offers in the topology domains the bin is in.
func (k *Packer) pin(b *bin) {
	tuple := k.market.Offers[b.offer].Tuple
	for i := range b.allowed.All {
		if k.market.Offers[i].Tuple != tuple {
			b.allowed.Drop(i)
		}
	}
}

// quit takes the pod off its bin, and forgets which bins were too full for others.
func (k *Packer) quit(x *waiting) {
	k.unload(x)
	for _, c := range k.classes {
		c.tried, c.triedOn = 0, 0
	}
}

// unload takes the pod off its bin.
func (k *Packer) unload(x *waiting) {
	b := x.bin
	x.bin = nil
	b.pods = slices.DeleteFunc(b.pods, func(y *waiting) bool { return y == x })
	k.ledger.Take(x.class.subject, b.node)
	for i, n := range x.class.need {
		b.free[i] += n
		if b.machine == nil {
			b.used[i] -= n
		}
	}
	if !special(x.pod) {
		return
	}
	b.place.Ports, b.place.Attached = nil, nil
	if b.machine != nil {
		at := fit.Of(k.world, b.machine)
		b.place.Ports, b.place.Attached = at.Ports, at.Attached
	} else {
		b.place.Ports = k.market.Offers[b.offer].Type.Ports
	}
	for _, y := range b.pods {
		b.place.Put(&world.Pod{Ports: y.pod.Ports, Volumes: y.pod.Volumes})
	}
}

// buy opens a bin for an offer.
func (k *Packer) buy(offer int) *bin {
	o := &k.market.Offers[offer]
	at := k.market.At(offer).Copy()
	at.Name = k.name(o.Type.Pool)
	b := &bin{
		place: at, offer: offer, number: len(k.new), used: make([]int64, len(k.market.Dims)),
		free: slices.Clone(o.Type.Room), allowed: k.market.Choice(offer),
	}
	at.Labels = withHostname(at.Labels, at.Name)
	b.node = k.ledger.Enter(at)
	k.market.Charge(offer, 1)
	k.new = append(k.new, b)
	return b
}

// drop gives back a bin that holds no pods.
func (k *Packer) drop(b *bin) {
	k.ledger.Leave(b.node)
	k.market.Charge(b.offer, -1)
	k.new = slices.DeleteFunc(k.new, func(x *bin) bool { return x == b })
	for i, x := range k.new {
		x.number = i
	}
	for _, c := range k.classes {
		c.triedOn = 0
	}
}

// turn makes the bin one of another offer in the same domains.
func (k *Packer) turn(b *bin, offer int) {
	k.market.Charge(b.offer, -1)
	k.market.Charge(offer, 1)
	b.offer = offer
	room := k.market.Offers[offer].Type.Room
	for i := range b.free {
		b.free[i] = room[i] - b.used[i]
	}
	for _, c := range k.classes {
		c.triedOn = min(c.triedOn, b.number)
	}
	at := k.market.At(offer)
	b.place.Limits, b.place.Open = at.Limits, at.Open
	b.place.Labels = withHostname(at.Labels, b.place.Name)
	for _, x := range b.pods {
		if x.class.sig.Open {
			b.place.Narrow(x.class.pod)
		}
	}
}

func withHostname(labels map[string]string, name string) map[string]string {
	out := make(map[string]string, len(labels)+1)
	for k, v := range labels {
		out[k] = v
	}
	out[label.Hostname] = name
	return out
}

// objections is everything that a bin has against the pod.
func (k *Packer) objections(b *bin, x *waiting) []*reason.Why {
	at := *b.place
	at.Free = nil
	for i, d := range k.market.Dims {
		at.Free = append(at.Free, amount.Entry{Name: d, Value: b.free[i]})
	}
	out := append(fit.Objections(x.pod, &at), k.ledger.Objections(x.class.subject, b.node, b.place.Name)...)
	if b.machine == nil && !k.varied(b.offer, b, x) {
		out = append(out, &reason.Why{Code: reason.MinValues, Subject: b.place.Name, Detail: "with this pod too few types would do"})
	}
	return out
}
