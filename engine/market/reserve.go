package market

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
)

// reserve takes off the reservations what claims that are not launched yet will
// draw from them. Which one that will be is not known where several would do, so
// each of them counts as drawn from.
func (m *Market) reserve(places []*world.Place) {
	for _, p := range places {
		c := p.Claim
		if c == nil || c.Launched || c.Failed || c.Deleting {
			continue
		}
		if kind, ok := c.Requirements.Find(label.CapacityType); !ok || !slices.Equal(kind.Values, []string{label.Reserved}) || kind.Not {
			continue
		}
		drawn := make([]bool, len(m.Quotas))
		for i := range m.Offers {
			o := &m.Offers[i]
			if o.Quota >= 0 && !drawn[o.Quota] && draws(c, o) {
				drawn[o.Quota] = true
				m.Quotas[o.Quota].Left = max(m.Quotas[o.Quota].Left-1, 0)
			}
		}
	}
}

// draws reports whether the claim may become a machine of the offer.
func draws(c *world.Claim, o *Offer) bool {
	for key, v := range map[string]string{label.InstanceType: o.Type.Shape.Name, label.Zone: o.Zone} {
		if r, ok := c.Requirements.Find(key); ok && !r.Has(v) {
			return false
		}
	}
	return c.Template == o.Type.Pool.Template
}
