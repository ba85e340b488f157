package packing

import (
	"fmt"
	"slices"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/fit"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/market"
)

// Accepts reports whether a pod may go to the bin as it is. Spread over the keys
// in but is taken for granted.
func (k *Packing) Accepts(b *Bin, x *Pod, but ...string) bool {
	k.Steps++
	c := x.Class
	if b.Closed || b.Away || !market.Fits(c.Need, b.Free) {
		return false
	}
	if b.Machine != nil {
		if !k.Stands(c.Demands).Has(b.Number) {
			return false
		}
	} else if !c.Demands.Offers.Has(b.Offer) || !k.Settles(b, c) || !k.KeepsMinValues(b.Offer, b, x) {
		return false
	}
	return c.Plain || k.Ledger.Allows(c.PodInfo, b.Node, but...) && fit.FillsBesideRoom(x.Pod, b.Place)
}

// Settles reports whether labels of the bin that only its pods settle can still be what the class demands.
func (k *Packing) Settles(b *Bin, c *Class) bool {
	return !c.Demands.Open || fit.Stands(c.Pod, b.Place)
}

// Stands are the machines there or on their way that meet the signature.
func (k *Packing) Stands(s *Demands) market.Set {
	if s.stands == nil {
		s.stands = market.NewSet(len(k.Existing))
		for i, b := range k.Existing {
			if fit.Stands(s.Pod, b.Place) {
				s.stands.Add(i)
			}
		}
	}
	return s.stands
}

// Join puts the pod on the bin.
func (k *Packing) Join(b *Bin, x *Pod) {
	note(k, joined, b, x)
	x.Bin = b
	b.Pods = append(b.Pods, x)
	c := x.Class
	for i, n := range c.Need {
		b.Free[i] = amount.Plus(b.Free[i], -n) // a pod that is nominated may ask for more than can be counted
		if b.Machine == nil {
			b.Used[i] += n
		}
	}
	if c.Special {
		b.Place.Take(x.Pod)
	}
	k.Ledger.Put(c.PodInfo, b.Node)
	if b.Machine != nil {
		return
	}
	b.Allowed.Intersect(c.Offers)
	if c.Pinned && (!b.Pinned || k.wantsMenu(b.Offer)) {
		b.Pinned = true
		b.Allowed.Intersect(k.alike(c, b.Offer))
	}
	if c.Demands.Open {
		b.Place.Narrow(c.Pod)
	}
}

// Leave takes the pod off its bin, and forgets which bins were too full for others.
func (k *Packing) Leave(x *Pod) {
	k.Detach(x)
	k.Full.Forget()
}

// Detach takes the pod off its bin. Classes that know the bin as too full go on to, until Leave or Undo has them forget it.
func (k *Packing) Detach(x *Pod) {
	b := x.Bin
	note(k, left, b, x)
	x.Bin = nil
	b.Pods = slices.DeleteFunc(b.Pods, func(y *Pod) bool { return y == x })
	k.Ledger.Take(x.Class.PodInfo, b.Node)
	for i, n := range x.Class.Need {
		b.Free[i] += n
		if b.Machine == nil {
			b.Used[i] -= n
		}
	}
	if !x.Class.Special {
		return
	}
	if b.Machine != nil {
		at := fit.Of(k.World, b.Machine)
		b.Place.TakenAs(&at)
	} else {
		b.Place.TakenAs(k.Market.At(b.Offer))
	}
	for _, y := range b.Pods {
		b.Place.Take(y.Pod)
	}
}

// Buy opens a bin for an offer.
func (k *Packing) Buy(offer int) *Bin {
	o := &k.Market.Offers[offer]
	at := k.Market.At(offer).Copy()
	at.Name = nextName(k, o.Type.Pool)
	b := &Bin{
		Place: at, Offer: offer, Number: len(k.Planned), Used: make([]int64, len(k.Market.Dims)),
		Free: slices.Clone(o.Type.Room), Allowed: k.Market.Choice(offer),
	}
	at.Labels = withHostname(at.Labels, at.Name)
	b.Node = k.Ledger.Enter(at)
	k.Market.Charge(offer, 1)
	k.Planned = append(k.Planned, b)
	note(k, bought, b, nil)
	return b
}

// Drop gives back a bin that holds no pods.
func (k *Packing) Drop(b *Bin) {
	note(k, dropped, b, nil)
	drop(k, b)
	k.Full.ForgetPlanned(0)
}

// Turn makes the bin one of another offer in the same domains.
func (k *Packing) Turn(b *Bin, offer int) {
	note(k, turned, b, nil)
	become(k, b, offer)
}

func become(k *Packing, b *Bin, offer int) {
	k.Market.Charge(b.Offer, -1)
	k.Market.Charge(offer, 1)
	b.Offer = offer
	room := k.Market.Offers[offer].Type.Room
	for i := range b.Free {
		b.Free[i] = room[i] - b.Used[i]
	}
	k.Full.ForgetPlanned(b.Number)
	at, was := k.Market.At(offer), *b.Place
	*b.Place = *at
	b.Place.Name, b.Place.Free = was.Name, was.Free
	b.Place.TakenAs(&was)
	b.Place.Labels = withHostname(at.Labels, was.Name)
	for _, x := range b.Pods {
		if x.Class.Demands.Open {
			b.Place.Narrow(x.Class.Pod)
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

// JoinAll puts several pods of a class onto a bin that is known to take them.
func (k *Packing) JoinAll(b *Bin, c *Class, pods []*Pod) {
	if len(pods) == 0 {
		return
	}
	if c.Special || k.marks > 0 {
		for _, x := range pods {
			k.Join(b, x)
		}
		return
	}
	k.Join(b, pods[0])
	for _, x := range pods[1:] {
		x.Bin = b
		b.Pods = append(b.Pods, x)
		k.Ledger.Put(c.PodInfo, b.Node)
	}
	for i, n := range c.Need {
		b.Free[i] -= n * int64(len(pods)-1)
		if b.Machine == nil {
			b.Used[i] += n * int64(len(pods)-1)
		}
	}
}

// nextName is the placeholder of the next machine of the pool.
func nextName(k *Packing, p *market.Pool) string {
	for {
		p.Named++
		name := fmt.Sprintf("%s-%d", p.ID.Name, p.Named)
		if k.taken[name] || k.World.Place(name) != nil {
			continue
		}
		k.taken[name] = true
		return name
	}
}

// MoveTo makes the machine, which holds no pods, one of an offer that may be in other domains.
func (k *Packing) MoveTo(b *Bin, offer int) {
	note(k, moved, b, nil)
	k.Ledger.Leave(b.Node)
	become(k, b, offer)
	b.Allowed, b.Pinned = k.Market.Choice(offer), false
	b.Place.TakenAs(k.Market.At(offer))
	b.Node = k.Ledger.Enter(b.Place)
}

// Remove takes the pod off its bin, and gives the bin back if it is planned and empty.
func (k *Packing) Remove(x *Pod) {
	b := x.Bin
	k.Leave(x)
	if b.Machine == nil && len(b.Pods) == 0 {
		k.Drop(b)
	}
}
