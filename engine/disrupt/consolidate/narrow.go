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
	zones, _ := a.Requirements.Find(label.Zone)
	sh := b.shapes(a)[shape]
	if sh == nil {
		return 0, 0
	}
	for _, o := range sh.Offers {
		if o.Gone || o.CapacityType != a.CapacityType || !zones.Has(o.Zone) {
			continue
		}
		if least == 0 || o.Price < least {
			least = o.Price
		}
		most = max(most, o.Price)
	}
	return least, most
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
			if r.Key == label.InstanceType {
				values[c.Shape] = true
			} else if l, ok := b.shapes(&a)[c.Shape].Labels.Find(r.Key); ok && !l.Not {
				for _, v := range l.Values {
					values[v] = values[v] || r.Has(v)
				}
			} else if l, ok := a.Requirements.Find(r.Key); ok && !l.Not {
				for _, v := range l.Values {
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
