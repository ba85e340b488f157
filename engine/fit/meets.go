package fit

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
)

// Has reports whether the place's labels satisfy the set, or may still come to.
func (at *Place) Has(s label.Set) bool {
	for i := range s {
		if !at.satisfies(s[i]) {
			return false
		}
	}
	return true
}

// Meets reports whether the place satisfies a node affinity term. A term that asks for nothing accepts nothing.
func (at *Place) Meets(t world.NodeTerm) bool {
	if len(t.Labels) == 0 && t.Name == nil {
		return false
	}
	return at.named(t.Name) && at.Has(t.Labels)
}

func (at *Place) named(r *label.Requirement) bool {
	switch {
	case r == nil:
		return true
	case at.Planned:
		return r.Not
	}
	return r.Has(at.Name)
}

func (at *Place) satisfies(r label.Requirement) bool {
	if v, ok := at.Labels[r.Key]; ok {
		return r.Has(v)
	}
	o, open := at.Open.Find(r.Key)
	switch {
	case !open:
		return r.Negative()
	case at.Sealed:
		return !o.Not && (o.Present || r.Negative()) && !slices.ContainsFunc(o.Values, func(v string) bool { return !r.Has(v) })
	}
	return o.Meets(r) || !o.Present && r.Negative()
}
