package packing

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/device"
	"github.com/tenon-sh/tenon/engine/fit"
	"github.com/tenon-sh/tenon/engine/market"
)

// BestOf returns the bin that takes the pod with the least regret, the first of
// several. For a plain class, bins before from are known to be too full.
func (k *Packing) BestOf(bins []*Bin, x *Pod, from *int, only func(*Bin) bool) *Bin {
	c := x.Class
	choosy := k.HasWishes(c)
	start := 0
	if c.Plain {
		start = min(*from, len(bins))
	}
	var best *Bin
	least := 0
	for i := start; i < len(bins); i++ {
		b := bins[i]
		if !c.Plain && only != nil && !only(b) || !k.Accepts(b, x) {
			if c.Plain && i == *from { // all before it are too full, too
				*from = i + 1
				k.Full.learn(c)
			}
			continue
		}
		if !choosy {
			return b
		}
		if r := k.RegretOn(c, b); best == nil || r < least {
			best, least = b, r
		}
		if least == 0 {
			break
		}
	}
	return best
}

// Reachable returns one offer for each set of domains in which the class can be hosted.
func (k *Packing) Reachable(c *Class) []int {
	if c.Reach == nil {
		others := slices.Clone(c.Offers)
		for i := range c.Offers.All {
			if others.Has(i) {
				c.Reach = append(c.Reach, i)
				others.Subtract(k.Market.InDomainSet(k.Market.Offers[i].DomainSet))
			}
		}
	}
	return c.Reach
}

// Hosting are the offers, in the same domains if that matters, that can host all pods of the bin.
func (k *Packing) Hosting(b *Bin) market.Set {
	hosts := hostsOf(k, k.Market.Offers[b.Offer].Type.Pool, b, nil)
	if !slices.ContainsFunc(b.Pods, func(x *Pod) bool { return !k.Counters.Cover(x.Pod) }) {
		return hosts
	}
	for i := range hosts.All {
		if !carries(k, b, i) || !k.KeepsDevices(b, i) {
			hosts.Drop(i)
		}
	}
	return hosts
}

// KeepsDevices reports whether the bin would have the devices that its pods were given, were it of the offer. Those of
// all types that it may become have to be the same: what was planned for one would be wrong on another.
func (k *Packing) KeepsDevices(b *Bin, offer int) bool {
	return len(b.Place.Served) == 0 || device.Same(b.Place.Devices, k.Market.At(offer).Devices)
}

// Holds is how many pods of the class of x, and no more than most, fit on an empty machine of the offer, so far as devices say.
func (k *Packing) Holds(offer int, x *Pod, most int) int {
	if len(x.Pod.Devices) == 0 {
		return most
	}
	at := k.Market.At(offer).Copy()
	for n, p := range x.Class.Pods[:min(most, len(x.Class.Pods))] { // each has claims of its own
		if !fit.FillsBesideRoom(p, at) {
			return n
		}
		at.Take(p)
	}
	return most
}

// carries reports whether ports and attachments of the bin's pods can be had on the offer.
func carries(k *Packing, b *Bin, offer int) bool {
	at := k.Market.At(offer).Copy()
	for _, x := range b.Pods {
		if !fit.FillsBesideRoom(x.Pod, at) {
			return false
		}
		at.Take(x.Pod)
	}
	return true
}

// ExistingByDomain returns the machines that are there or on their way and stand for the class, by domain.
func (k *Packing) ExistingByDomain(c *Class, key string) map[string][]*Bin {
	out := map[string][]*Bin{}
	for i := range k.Stands(c.Demands).All {
		b := k.Existing[i]
		if b.Closed || b.Away || !market.Fits(c.Need, b.Free) {
			continue
		}
		if d := b.Place.Labels[key]; d != "" {
			out[d] = append(out[d], b)
		}
	}
	return out
}
