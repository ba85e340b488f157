package observe

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/tenon-sh/tenon/api/karpenter/v1alpha1"
	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/money"
)

// Overlay corrects what is known of the machines that a pool may buy.
type Overlay struct {
	Name         string
	Weight       int32
	Requirements label.Set
	Price        func(money.Micro) money.Micro // what a price becomes, in millionths; nil leaves it
	Fixed        bool                          // whatever it was: also where no price is known
	Capacity     amount.List                   // what machines have besides, or instead of what is said
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
		out.Fixed = true
	case o.Spec.PriceAdjustment != nil:
		out.Price, err = adjustmentOf(*o.Spec.PriceAdjustment)
	}
	return out, err
}

func priceOf(text string) (func(money.Micro) money.Micro, error) {
	fixed, ok := money.Parse(text)
	if !ok {
		return nil, fmt.Errorf("spec.price: %q is no price: write units an hour, such as 0.25", text)
	}
	return func(money.Micro) money.Micro { return fixed }, nil
}

// adjustmentOf reads "+0.1", "-0.1", "+10%" or "-10%". No price falls below zero.
func adjustmentOf(text string) (func(money.Micro) money.Micro, error) {
	share := strings.HasSuffix(text, "%")
	by, err := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
	size, ok := money.Of(math.Abs(by))
	if err != nil || !ok || !strings.HasPrefix(text, "+") && !strings.HasPrefix(text, "-") {
		return nil, fmt.Errorf("spec.priceAdjustment: %q is no adjustment: write +0.1, -0.1, +10%% or -10%%", text)
	}
	if share {
		return func(p money.Micro) money.Micro { return max(p.Scale(1+by/100), 0) }, nil
	}
	plus := money.Micro(math.Copysign(float64(size), by))
	return func(p money.Micro) money.Micro { return max(amount.Plus(p, plus), 0) }, nil
}
