package supply

import (
	"maps"
	"slices"
	"time"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
)

// kept is a catalogue, and when it goes unless it is asked for.
type kept struct {
	value world.Catalog
	until time.Time
}

// share puts parts of catalogues that are kept in the place of their equals in shapes.
func share(shapes []world.Shape, last map[world.TemplateID]kept) {
	done := map[*world.Shape]bool{} // lists that were looked through, by their first shape
	for _, id := range slices.Sorted(maps.Keys(last)) {
		models := last[id].value.Shapes
		if len(models) == 0 || done[&models[0]] {
			continue
		}
		done[&models[0]] = true
		shareWith(shapes, models)
	}
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
	return maps.Equal(a.Labels, b.Labels) && a.Zone == b.Zone && a.CapacityType == b.CapacityType && a.Price == b.Price && a.Synthetic == b.Synthetic && a.Unpriced == b.Unpriced &&
		a.Overlaid == b.Overlaid && a.Gone == b.Gone && a.Refused == b.Refused && a.Reservation == b.Reservation && a.Count == b.Count
}
