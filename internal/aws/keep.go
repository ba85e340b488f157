package aws

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/clock"
)

// unasked is how long a catalogue is kept that is not asked for. One that is in
// use is asked for every few minutes.
const unasked = 30 * time.Minute

// catalogs keeps the last catalogue of each template, and no other. A catalogue
// is large, so templates share all of it that does not differ: where their
// versions are the same, the shapes themselves, and else the parts that are equal.
type catalogs struct {
	now clock.Now

	mu   sync.Mutex
	last map[world.TemplateID]kept[world.Catalog]
}

// find returns the shapes of a version, whichever template they were made for.
// The lock is held.
func (c *catalogs) find(version string) ([]world.Shape, bool) {
	for _, k := range c.last {
		if k.value.Version == version {
			return k.value.Shapes, true
		}
	}
	return nil, false
}

// keep notes a template's catalogue. The lock is held.
func (c *catalogs) keep(out world.Catalog) {
	if out.Template == "" {
		return // it is no pool's
	}
	c.last[out.Template] = kept[world.Catalog]{out, c.now().Add(unasked)}
}

// share puts parts of catalogues that are kept in the place of their equals in
// shapes. The lock is held.
func (c *catalogs) share(shapes []world.Shape) {
	done := map[*world.Shape]bool{} // lists that were looked through, by their first shape
	for _, id := range slices.Sorted(maps.Keys(c.last)) {
		models := c.last[id].value.Shapes
		if len(models) == 0 || done[&models[0]] {
			continue
		}
		done[&models[0]] = true
		shareWith(shapes, models)
	}
}

// drop forgets a template's catalogue.
func (c *catalogs) drop(id world.TemplateID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.last, id)
}

// sweep forgets what has not been asked for.
func (c *catalogs) sweep() {
	c.mu.Lock()
	defer c.mu.Unlock()
	maps.DeleteFunc(c.last, func(_ world.TemplateID, k kept[world.Catalog]) bool { return !c.now().Before(k.until) })
}

// shareWith puts parts of models in the place of their equals in shapes. Both are sorted by name.
func shareWith(shapes, models []world.Shape) {
	k := 0
	for i := range shapes {
		s := &shapes[i]
		for k < len(models) && models[k].Name < s.Name {
			k++
		}
		if k == len(models) {
			return
		}
		m := &models[k]
		if m.Name != s.Name {
			continue
		}
		s.Labels = oneOf(s.Labels, m.Labels, sameLabel)
		s.Offers = oneOf(s.Offers, m.Offers, sameOffer)
		s.Capacity = oneOf(s.Capacity, m.Capacity, equal)
		s.Overhead = oneOf(s.Overhead, m.Overhead, equal)
		s.VolumeLimits = oneOf(s.VolumeLimits, m.VolumeLimits, equal)
	}
}

// oneOf is the model's list if both are equal, and else the own.
func oneOf[L ~[]E, E any](own, model L, same func(a, b E) bool) L {
	switch {
	case len(own) != len(model) || len(own) == 0 || &own[0] == &model[0]: // shared already
		return own
	case slices.EqualFunc(own, model, same):
		return model
	}
	return own
}

func equal[E comparable](a, b E) bool { return a == b }

// sameLabel reports whether labels of shapes are equal; these have no bounds.
func sameLabel(a, b label.Requirement) bool {
	return a.Key == b.Key && a.Not == b.Not && a.Present == b.Present && a.Least == b.Least &&
		a.Min == b.Min && a.Max == b.Max && slices.Equal(a.Values, b.Values)
}

func sameOffer(a, b world.Offer) bool {
	return maps.Equal(a.Labels, b.Labels) && a.Zone == b.Zone && a.CapacityType == b.CapacityType && a.Price == b.Price && a.Synthetic == b.Synthetic &&
		a.Overlaid == b.Overlaid && a.Gone == b.Gone && a.Refused == b.Refused && a.Reservation == b.Reservation && a.Count == b.Count
}

// Drop forgets what was kept for a template that nothing uses any more.
func (d *Driver) Drop(id world.TemplateID) { d.catalogs.drop(id) }
