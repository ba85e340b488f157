package market

import (
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
)

// Charge takes n machines of the offer off limits and reservations.
func (m *Market) Charge(offer int, n int) {
	o := &m.Offers[offer]
	o.Type.Pool.book(o.Type, int64(n))
	if o.Quota >= 0 {
		m.Quotas[o.Quota].Left -= n
	}
}

// OnSale reports whether limits and reservations leave room for one more of the offer.
func (m *Market) OnSale(offer int) bool {
	o := &m.Offers[offer]
	return (o.Quota < 0 || m.Quotas[o.Quota].Left > 0) && o.Type.Pool.Within(o.Type)
}

// covers reports whether what t counts against the limits of its pool covers what other would.
func (t *Type) covers(other *Type) bool {
	for _, e := range t.Pool.Left {
		if other.Counts(e.Name) > t.Counts(e.Name) {
			return false
		}
	}
	return true
}

// usages is what each pool's machines count against its limits: those that
// run, that are on their way, and that are going until they are gone.
func usages(w *world.World) map[world.PoolID]amount.List {
	sums := map[world.PoolID]*amount.Total{}
	for _, m := range w.Places() {
		id := m.Pool()
		if id.Name == "" || m.Claim != nil && m.Claim.Failed && m.Node == nil {
			continue
		}
		if sums[id] == nil {
			sums[id] = &amount.Total{}
		}
		Count(sums[id], Capacity(m))
	}
	out := make(map[world.PoolID]amount.List, len(sums))
	for id, sum := range sums {
		out[id] = sum.List()
	}
	return out
}

// Capacity is what a machine counts. A node reports devices only once their
// plugin runs, so until it is complete what was bought counts at least.
func Capacity(m *world.Place) amount.List {
	var bought amount.List
	if c := m.Claim; c != nil {
		bought = c.Capacity
		if len(bought) == 0 {
			bought = c.Booked
		}
	}
	switch n := m.Node; {
	case n == nil:
		return bought
	case m.Claim == nil && len(n.Capacity) == 0:
		return n.Allocatable
	case m.Whole() && len(n.Capacity) > 0:
		return n.Capacity
	default:
		return n.Capacity.Max(bought)
	}
}

// Count adds what a machine of this capacity counts against limits.
func Count(sum *amount.Total, capacity amount.List) {
	sum.Add(capacity)
	sum.Add(amount.List{{Name: amount.Nodes, Value: amount.Unit}})
	for _, e := range capacity {
		if isGPU(e.Name) && e.Value > 0 {
			sum.Add(amount.List{{Name: amount.GPU, Value: e.Value}})
		}
	}
}

func isGPU(resource string) bool {
	domain, name, _ := strings.Cut(resource, "/")
	return name == "gpu" || strings.HasPrefix(domain, "gpu.")
}

// remaining is the room under the limits; a resource without a limit is not in it.
func remaining(limits, used amount.List) amount.List {
	out := make(amount.List, 0, len(limits))
	for _, e := range limits {
		out = append(out, amount.Entry{Name: e.Name, Value: amount.Plus(e.Value, -used.Value(e.Name))})
	}
	return out
}

// Within reports whether the limits leave room for one more machine of this capacity.
func (p *Pool) Within(t *Type) bool {
	_, over := p.Over(t)
	return !over
}

// Over returns the first limit that one more machine would overshoot.
func (p *Pool) Over(t *Type) (amount.Shortage, bool) {
	for _, e := range p.Left {
		if v := t.Counts(e.Name); v > e.Value {
			return amount.Shortage{Name: e.Name, Wants: v, Has: e.Value}, true
		}
	}
	return amount.Shortage{}, false
}

// Counts is how much of a limited resource a machine of the type counts.
func (t *Type) Counts(name string) int64 {
	switch name {
	case amount.Nodes:
		return amount.Unit
	case amount.GPU:
		sum := int64(0)
		for _, e := range t.Shape.Capacity {
			if isGPU(e.Name) {
				sum = amount.Plus(sum, e.Value)
			}
		}
		return sum
	}
	return t.Shape.Capacity.Value(name)
}

// book takes n machines of the type off the limits; n below zero gives them back.
func (p *Pool) book(t *Type, n int64) {
	if len(p.Left) == 0 {
		return
	}
	left := slices.Clone(p.Left)
	for i := range left {
		left[i].Value = amount.Plus(left[i].Value, -n*t.Counts(left[i].Name))
	}
	p.Left = left
}

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
