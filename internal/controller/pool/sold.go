package pool

import (
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
)

// Unsold says why a pool can have no type of machine at all, whatever is to be
// had of it now; empty if there is one, or if it is not known what is sold.
func Unsold(w *world.World, p *world.Pool) string {
	c := w.Catalog(p.Template)
	if c == nil || len(c.Shapes) == 0 || sold(c, p.Requirements) {
		return ""
	}
	var alone []string
	for _, r := range p.Requirements {
		if !sold(c, label.SetOf(r)) {
			alone = append(alone, r.String())
		}
	}
	if len(alone) == 0 {
		return "requirements filtered out all instance types: each can be met, and no type meets all of them"
	}
	return "requirements filtered out all instance types: none meets " + strings.Join(alone, ", nor ")
}

// sold reports whether some type of a catalogue meets requirements.
func sold(c *world.Catalog, want label.Set) bool {
	anything := func(string) bool { return true } // a label that shapes do not speak of is the pool's to set
	return slices.ContainsFunc(c.Shapes, func(s world.Shape) bool {
		return s.Labels.Compatible(want, anything) && allows(want, label.InstanceType, s.Name) && slices.ContainsFunc(s.Offers, func(o world.Offer) bool {
			return allows(want, label.Zone, o.Zone) && allows(want, label.CapacityType, o.CapacityType)
		})
	})
}

func allows(s label.Set, key, value string) bool {
	r, ok := s.Find(key)
	return !ok || r.Has(value)
}
