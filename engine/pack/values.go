package pack

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/label"
)

// varied reports whether the pool's minValues can be kept by a machine of the
// offer with the pod added to the bin, or on a machine of its own if the bin is
// nil. Under BestEffort they always can.
func (k *Packer) varied(offer int, b *bin, x *waiting) bool {
	return !k.market.offers[offer].machine.pool.least || k.options.MinValuesPolicy == BestEffort || len(k.lacks(offer, b, x)) == 0
}

// lacks are the requirements whose minValues such a machine would not keep.
func (k *Packer) lacks(offer int, b *bin, x *waiting) []label.Requirement {
	p := k.market.offers[offer].machine.pool
	hosts := k.hosts(p, b, x)
	k.alike(hosts, offer, x != nil && x.class.pinned)
	hosts, _, _ = k.onOneMenu(hosts, offer)
	return k.lacking(p, hosts)
}

// alike drops what cannot be on one menu with the offer: a reservation is asked
// for by itself, limits book no more than what is planned, and if pods care for
// their domain all has to be in the same.
func (k *Packer) alike(hosts set, offer int, pinned bool) {
	planned := &k.market.offers[offer]
	for i := range hosts.all {
		o := &k.market.offers[i]
		if o.quota != planned.quota || pinned && o.tuple != planned.tuple || !planned.machine.books(o.machine) {
			hosts.drop(i)
		}
	}
}

// hosts are the offers of the pool that would host the pod and what is on the bin.
func (k *Packer) hosts(p *pool, b *bin, x *waiting) set {
	allowed := slices.Clone(p.offers)
	used := make([]int64, len(k.market.dims))
	if b != nil {
		copy(allowed, b.allowed)
		copy(used, b.used)
	}
	need := make([]int64, len(k.market.dims))
	if x != nil {
		allowed.keep(x.class.offers)
		need = x.class.need
	}
	for _, t := range p.types {
		if fitsBoth(need, used, t.room) {
			continue
		}
		for i := t.first; i < t.last; i++ {
			allowed.drop(i)
		}
	}
	return allowed
}

// lacking are the requirements of the pool for which the offers have fewer
// distinct values than minValues wants, with the number there is.
func (k *Packer) lacking(p *pool, offers set) []label.Requirement {
	var out []label.Requirement
	for _, r := range p.Requirements {
		if r.Least == 0 {
			continue
		}
		var values []string
		for i := range offers.all {
			if len(values) >= r.Least {
				break
			}
			for _, v := range k.values(i, r.Key) {
				if r.Has(v) && !slices.Contains(values, v) {
					values = append(values, v)
				}
			}
		}
		if len(values) < r.Least {
			r.Least = len(values)
			out = append(out, r)
		}
	}
	return out
}

// values are what a node of the offer may have as the label.
func (k *Packer) values(offer int, key string) []string {
	o := &k.market.offers[offer]
	switch key {
	case label.InstanceType:
		return []string{o.machine.shape.Name}
	case label.Zone:
		return []string{o.Zone}
	case label.CapacityType:
		return []string{o.CapacityType}
	}
	if r, ok := o.machine.label(key); ok {
		return r.Values
	}
	if v, ok := o.Labels[key]; ok {
		return []string{v}
	}
	if v, ok := o.machine.pool.fixed(key); ok {
		return []string{v}
	}
	return nil
}

// diverse reports whether whatever fits the type fits enough others for its pool's minValues.
func (k *Packer) diverse(t *machine) bool {
	p := t.pool
	if !p.least || k.options.MinValuesPolicy == BestEffort {
		return true
	}
	if t.diverse == 0 {
		like := newSet(len(k.market.offers))
		for _, o := range p.types {
			if fits(t.room, o.room) && t.books(o) {
				for i := o.first; i < o.last; i++ {
					like.add(i)
				}
			}
		}
		t.diverse = 1
		if len(k.lacking(p, like)) > 0 {
			t.diverse = -1
		}
	}
	return t.diverse > 0
}
