package consolidate

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
)

// binder narrows what asks may become.
type binder struct {
	world  *world.World
	byName map[*world.Catalog]map[string]*world.Shape
}

// limit takes off an ask's menu what may cost more than the limit wherever it
// is bought. If what is planned does in some of its zones, only the zone planned is left.
func (b *binder) limit(a *plan.Ask, limit money.Micro) {
	a.Requirements = a.Requirements.And(label.Is(label.CapacityType, a.CapacityType))
	if _, most := b.span(a, a.Shape); most > limit {
		a.Requirements = a.Requirements.And(label.Is(label.Zone, a.Zone))
	}
	var menu []plan.Choice
	for _, c := range a.Menu {
		if least, most := b.span(a, c.Shape); most > 0 && most <= limit || c.Shape == a.Shape {
			menu = append(menu, plan.Choice{Shape: c.Shape, Price: least})
		}
	}
	slices.SortStableFunc(menu, func(x, y plan.Choice) int { return int(x.Price - y.Price) })
	b.choose(a, menu)
}

// choose makes the menu what the ask demands.
func (b *binder) choose(a *plan.Ask, menu []plan.Choice) {
	names := make([]string, len(menu))
	for i, c := range menu {
		names[i] = c.Shape
	}
	a.Menu, a.Requirements = menu, a.Requirements.And(label.Is(label.InstanceType, names...))
}

// span is the least and the most that a shape costs where the ask may be bought; 0 if it is not sold there.
func (b *binder) span(a *plan.Ask, shape string) (least, most money.Micro) {
	for _, o := range b.offers(a, shape) {
		if least == 0 || o.Price < least {
			least = o.Price
		}
		most = max(most, o.Price)
	}
	return least, most
}

// offers are those of a shape by which the ask may be bought.
func (b *binder) offers(a *plan.Ask, shape string) (out []world.Offer) {
	s := b.shapes(a)[shape]
	if s == nil {
		return nil
	}
	zones, _ := a.Requirements.Find(label.Zone)
	for _, o := range s.Offers {
		if !o.Gone && o.CapacityType == a.CapacityType && zones.Has(o.Zone) {
			out = append(out, o)
		}
	}
	return out
}

// shapes are those of the ask's catalogue, by name.
func (b *binder) shapes(a *plan.Ask) map[string]*world.Shape {
	c := b.world.CatalogFor(a.Pool, a.Template)
	if b.byName[c] == nil {
		b.byName[c] = make(map[string]*world.Shape, len(c.Shapes))
		for i := range c.Shapes {
			b.byName[c][c.Shapes[i].Name] = &c.Shapes[i]
		}
	}
	return b.byName[c]
}

// varied reports whether the ask keeps its pool's minValues, or which requirement it does not keep.
func (b *binder) varied(a plan.Ask) (label.Requirement, bool) {
	if a.Relaxed {
		return label.Requirement{}, true
	}
	for _, r := range b.world.Pool(a.Pool).Requirements {
		if r.Least == 0 {
			continue
		}
		values := map[string]bool{}
		for _, c := range a.Menu {
			for _, v := range b.values(&a, c.Shape, r.Key) {
				if r.Has(v) {
					values[v] = true
				}
			}
		}
		if len(values) < r.Least {
			return r, false
		}
	}
	return label.Requirement{}, true
}

// values are what the ask may have as a label if it becomes the shape. What offers differ in, it has of those
// offers that are left: the shape lists all of them.
func (b *binder) values(a *plan.Ask, shape, key string) (out []string) {
	switch key {
	case label.InstanceType:
		return []string{shape}
	case label.CapacityType:
		return []string{a.CapacityType}
	case label.Zone:
		for _, o := range b.offers(a, shape) {
			out = append(out, o.Zone)
		}
		return out
	}
	for _, o := range b.offers(a, shape) {
		if v, ok := o.Labels[key]; ok {
			out = append(out, v)
		}
	}
	if len(out) > 0 {
		return out
	}
	for _, says := range []label.Set{b.shapes(a)[shape].Labels, a.Requirements} {
		if l, ok := says.Find(key); ok && !l.Not {
			return l.Values
		}
	}
	return nil
}
