package doctor

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/market"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/aws/examine"
	"github.com/tenon-sh/tenon/internal/cloud"
)

// buyer is a pool and what it buys from.
type buyer struct {
	pool     world.Pool
	template cloud.Template
}

// compare finds what every pool may buy of what its class sells. A class that
// sells nothing is not looked at: what is wrong with it is said of the class.
func compare(ctx context.Context, d examiner, a asked) []examine.Finding {
	var out []examine.Finding
	for _, b := range a.buyers {
		catalog, err := d.Catalog(ctx, b.template)
		if err != nil || len(catalog.Shapes) == 0 {
			continue
		}
		catalog.Template = b.template.ID
		out = append(out, b.find(catalog, a.claims, a.nodes))
	}
	return out
}

// find says what the pool may buy of a catalogue, or why it may buy nothing.
func (b buyer) find(c world.Catalog, claims []world.Claim, nodes []world.Node) examine.Finding {
	check := b.pool.ID.Kind + "/" + b.pool.ID.Name
	available, err := availableTo(b.pool, c, claims, nodes)
	switch {
	case err != nil:
		return examine.Finding{Level: examine.Unclear, Check: check, Says: err.Error()}
	case available.Types > 0:
		best := available.Cheapest
		return examine.Finding{Level: examine.Good, Check: check, Says: fmt.Sprintf("may buy %d of %d types, the cheapest %s (%s) in %s at %s/h",
			available.Types, len(c.Shapes), best.Shape, best.CapacityType, best.Zone, best.Price.Text(c.Currency))}
	case available.Barred > 0:
		return limited(check, b.pool, available)
	}
	if f, ok := b.culprit(check, c); ok {
		return f
	}
	return examine.Finding{
		Level: examine.Bad, Check: check, Says: fmt.Sprintf("none of the %d types of its class meets all its requirements together: %s", len(c.Shapes), b.pool.Requirements),
		Fix: "widen the pool's requirements",
	}
}

// availableTo is what a pool may buy of a catalogue besides the machines that it has.
func availableTo(p world.Pool, c world.Catalog, claims []world.Claim, nodes []world.Node) (market.Availability, error) {
	w := world.NewBuilder()
	p.Template, p.NotReady, p.Replicas, p.Deleting = c.Template, "", nil, false
	if err := w.SetCatalog(c); err != nil {
		return market.Availability{}, err
	}
	if err := w.SetPool(p); err != nil {
		return market.Availability{}, err
	}
	for _, claim := range claims {
		if err := w.SetClaim(claim); err != nil {
			return market.Availability{}, err
		}
	}
	for _, n := range nodes {
		if err := w.SetNode(n); err != nil {
			return market.Availability{}, err
		}
	}
	return market.Available(w.Snapshot(0))[p.ID], nil
}

// limited says which limits leave no room for even the smallest type.
func limited(check string, p world.Pool, s market.Availability) examine.Finding {
	var used []string
	some := false
	for _, l := range p.Limits {
		has := s.Used.Value(l.Name)
		some = some || has > 0
		used = append(used, fmt.Sprintf("%s of %s %s", amount.Text(l.Name, has), amount.Text(l.Name, l.Value), l.Name))
	}
	f := examine.Finding{Level: examine.Bad, Check: check, Says: "its limits leave no room for any type: " + strings.Join(used, ", ") + " are used", Fix: "raise spec.limits"}
	if some {
		f.Level = examine.Warning // it has what it may have
	}
	return f
}

// culprit names the requirement that alone leaves nothing.
func (b buyer) culprit(check string, c world.Catalog) (examine.Finding, bool) {
	for _, r := range b.pool.Requirements {
		r.Least = 0
		alone := b.pool
		alone.Requirements, alone.Limits = label.SetOf(r), nil
		if s, err := availableTo(alone, c, nil, nil); err != nil || s.Types > 0 {
			continue
		}
		has := values(c, r.Key)
		says := fmt.Sprintf("it requires %s, and its class %s %q has nothing of the kind", r, b.template.Class.Kind, b.template.Class.Name)
		if len(has) > 0 {
			says = fmt.Sprintf("it requires %s, and its class %s %q has %s", r, b.template.Class.Kind, b.template.Class.Name, plan.Some(has, false))
		}
		return examine.Finding{Level: examine.Bad, Check: check, Says: says, Fix: fix(r.Key)}, true
	}
	return examine.Finding{}, false
}

// fix is what to do about a requirement that a class does not meet.
func fix(key string) string {
	switch key {
	case label.Zone:
		return "let the class select subnets in that zone, or correct the pool's requirement"
	case label.Arch, label.OS:
		return "let the class select an image for it, or correct the pool's requirement"
	}
	return "correct the pool's requirement, or what the class allows"
}

// values are what machines of a catalogue have for a label, in order.
func values(c world.Catalog, key string) []string {
	seen := map[string]bool{}
	for i := range c.Shapes {
		s := &c.Shapes[i]
		if r, ok := s.Labels.Find(key); ok && !r.Not {
			for _, v := range r.Values {
				seen[v] = true
			}
		}
		for _, o := range s.Offers {
			switch key {
			case label.Zone:
				seen[o.Zone] = true
			case label.CapacityType:
				seen[o.CapacityType] = true
			default:
				seen[o.Labels[key]] = true
			}
		}
	}
	delete(seen, "")
	return slices.Sorted(maps.Keys(seen))
}
