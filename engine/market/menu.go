package market

import (
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/engine/label"
)

// OnOneMenu returns those of the hosts that can be asked for together with the
// planned offer: every shape is sold, or not at all, in all the zones and ways
// that the ask names. If zones differ in what may be bought there, it keeps to the one planned.
func (m *Market) OnOneMenu(all Set, offer int) (hosts Set, zones, kinds []string) {
	hosts = slices.Clone(all)
	planned := &m.Offers[offer]
	for i := planned.Type.From; i < planned.Type.To; i++ {
		if o := &m.Offers[i]; hosts.Has(i) {
			zones, kinds = append(zones, o.Zone), append(kinds, o.CapacityType)
		}
	}
	slices.Sort(zones)
	slices.Sort(kinds)
	zones, kinds = slices.Compact(zones), slices.Compact(kinds)
	m.keepOffered(hosts, planned, zones, kinds)
	if !hosts.Has(offer) {
		hosts = all
		zones, kinds = []string{planned.Zone}, []string{planned.CapacityType}
		m.keepOffered(hosts, planned, zones, kinds)
	}
	return hosts, zones, kinds
}

// keepOffered drops what the ask does not name, and every shape that is sold, in one of its zones and ways, by an offer that is not among the hosts.
// Of the planned offer's pool it names only what has the same labels by which offers are cut. Where a reservation is
// planned another one of the same shape is no reason against it: each does for the pods.
func (m *Market) keepOffered(hosts Set, planned *Offer, zones, kinds []string) {
	named := m.named(zones, kinds)
	unfit := slices.Clone(named)
	unfit.Subtract(hosts)
	var last *Type
	for i := range unfit.All {
		if m.beside(&m.Offers[i], planned) {
			continue
		}
		if t := m.Offers[i].Type; t != last && (t.Pool != planned.Type.Pool || planned.sameCut(&m.Offers[i])) {
			for n := t.From; n < t.To; n++ {
				hosts.Drop(n)
			}
			last = t
		}
	}
	hosts.Intersect(named)
}

// beside reports whether an offer is of another reservation than the planned one, for the same shape in the same place.
func (*Market) beside(o, planned *Offer) bool {
	return o.Quota >= 0 && planned.Quota >= 0 && o.Quota != planned.Quota && o.Type == planned.Type && o.Zone == planned.Zone
}

// named returns all that is sold in one of the zones in one of the ways.
func (m *Market) named(zones, kinds []string) Set {
	key := strings.Join(zones, ",") + " " + strings.Join(kinds, ",")
	out, known := m.byNames[key]
	if known {
		return out
	}
	out = NewSet(len(m.Offers))
	for i := range m.Offers {
		if o := &m.Offers[i]; slices.Contains(zones, o.Zone) && slices.Contains(kinds, o.CapacityType) {
			out.Add(i)
		}
	}
	m.byNames[key] = out
	return out
}

// KeepAlike drops what cannot be on one menu with the offer: a reservation is asked
// for by itself, limits book no more than what is planned, labels by which offers
// are cut have one value, and if pods care for their domain all has to be among those in the same; nil: they do not.
func (m *Market) KeepAlike(hosts Set, offer int, among Set) {
	planned := &m.Offers[offer]
	for i := range hosts.All {
		o := &m.Offers[i]
		if o.Quota != planned.Quota || among != nil && !among.Has(i) || !planned.Type.covers(o.Type) || !planned.sameCut(o) {
			hosts.Drop(i)
		}
	}
}

// Lacking are the requirements of the pool for which the offers have fewer
// distinct values than minValues wants, with the number there is.
func (m *Market) Lacking(p *Pool, offers Set) []label.Requirement {
	var out []label.Requirement
	for _, r := range p.Requirements {
		if r.Least == 0 {
			continue
		}
		var values []string
		for i := range offers.All {
			if len(values) >= r.Least {
				break
			}
			for _, v := range m.Values(i, r.Key) {
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

// Values are what a node of the offer may have as the label.
func (m *Market) Values(offer int, key string) []string {
	o := &m.Offers[offer]
	switch key {
	case label.InstanceType:
		return []string{o.Type.Shape.Name}
	case label.Zone:
		return []string{o.Zone}
	case label.CapacityType:
		return []string{o.CapacityType}
	}
	if r, ok := o.Type.Label(key); ok {
		return r.Values
	}
	if v, ok := o.Labels[key]; ok {
		return []string{v}
	}
	if v, ok := o.Type.Pool.Fixed(key); ok {
		return []string{v}
	}
	return nil
}

// Varied reports whether whatever fits the type fits enough others for its pool's minValues.
func (m *Market) Varied(t *Type) bool {
	p := t.Pool
	if !p.HasMinValues || m.Options.LowerMinValues {
		return true
	}
	if t.variety == 0 {
		like := NewSet(len(m.Offers))
		for _, o := range p.Types {
			if Fits(t.Room, o.Room) && t.covers(o) {
				for i := o.First; i < o.Last; i++ {
					like.Add(i)
				}
			}
		}
		t.variety = 1
		if len(m.Lacking(p, like)) > 0 {
			t.variety = -1
		}
	}
	return t.variety > 0
}
