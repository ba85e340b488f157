package observe

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tenon-sh/tenon/api/karpenter/v1alpha1"
	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
)

// Overlay corrects what is known of the machines that a pool may buy.
type Overlay struct {
	Name         string
	Weight       int32
	Requirements label.Set
	Price        func(int64) int64 // what a price becomes, in millionths; nil leaves it
	Capacity     amount.List       // what machines have besides
}

// NodeOverlay reads a NodeOverlay, and says what of it cannot be read.
func NodeOverlay(o *v1alpha1.NodeOverlay) (Overlay, error) {
	out := Overlay{Name: o.Name, Capacity: Amounts(o.Spec.Capacity)}
	if o.Spec.Weight != nil {
		out.Weight = *o.Spec.Weight
	}
	for i, r := range o.Spec.Requirements {
		q, err := label.New(r.Key, label.Op(r.Operator), r.Values...)
		if err != nil {
			return out, fmt.Errorf("spec.requirements[%d]: %w", i, err)
		}
		out.Requirements = out.Requirements.And(q)
	}
	var err error
	switch {
	case o.Spec.Price != nil && o.Spec.PriceAdjustment != nil:
		return out, fmt.Errorf("spec: price and priceAdjustment exclude each other")
	case o.Spec.Price != nil:
		out.Price, err = priceOf(*o.Spec.Price)
	case o.Spec.PriceAdjustment != nil:
		out.Price, err = adjustmentOf(*o.Spec.PriceAdjustment)
	}
	return out, err
}

func priceOf(text string) (func(int64) int64, error) {
	units, err := strconv.ParseFloat(text, 64)
	if err != nil || units < 0 || units > 1e6 {
		return nil, fmt.Errorf("spec.price: %q is no price: write units an hour, such as 0.25", text)
	}
	fixed := int64(math.Round(units * 1e6))
	return func(int64) int64 { return fixed }, nil
}

// adjustmentOf reads "+0.1", "-0.1", "+10%" or "-10%". No price falls below zero.
func adjustmentOf(text string) (func(int64) int64, error) {
	share := strings.HasSuffix(text, "%")
	by, err := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
	if err != nil || !strings.HasPrefix(text, "+") && !strings.HasPrefix(text, "-") || math.Abs(by) > 1e6 {
		return nil, fmt.Errorf("spec.priceAdjustment: %q is no adjustment: write +0.1, -0.1, +10%% or -10%%", text)
	}
	if share {
		return func(p int64) int64 { return max(int64(math.Round(float64(p)*(1+by/100))), 0) }, nil
	}
	plus := int64(math.Round(by * 1e6))
	return func(p int64) int64 { return max(amount.Plus(p, plus), 0) }, nil
}

// Overlaid returns the catalogue as a pool sees it. The heavier overlay is the
// first to set a price or a resource, of equals the later name; others fill gaps.
func Overlaid(c world.Catalog, pool world.Pool, overlays []Overlay) world.Catalog {
	order := slices.Clone(overlays)
	slices.SortFunc(order, func(a, b Overlay) int { return cmp.Or(cmp.Compare(b.Weight, a.Weight), cmp.Compare(b.Name, a.Name)) })
	about := label.Exactly(pool.Labels).Meet(label.SetOf(label.Is(label.NodePool, pool.ID.Name)))
	out := c
	out.Shapes = slices.Clone(c.Shapes)
	for i := range out.Shapes {
		s := &out.Shapes[i]
		s.Offers = slices.Clone(s.Offers)
		priced := make([]bool, len(s.Offers))
		for _, o := range order {
			o.apply(s, about, priced)
		}
	}
	return out
}

func (o Overlay) apply(s *world.Shape, pool label.Set, priced []bool) {
	matched := false
	for i := range s.Offers {
		offer := &s.Offers[i]
		is := pool.Meet(s.Labels.Without(label.Zone, label.CapacityType)).Meet(label.Exactly(offer.Labels)).
			Meet(label.SetOf(label.Is(label.Zone, offer.Zone), label.Is(label.CapacityType, offer.CapacityType)))
		if !is.Compatible(o.Requirements, nil) {
			continue
		}
		matched = true
		if o.Price != nil && !priced[i] {
			offer.Price, priced[i] = o.Price(offer.Price), true
		}
	}
	if !matched {
		return
	}
	for _, e := range o.Capacity {
		if _, has := s.Capacity.Find(e.Name); !has {
			s.Capacity = s.Capacity.With(e.Name, e.Value)
		}
	}
}
