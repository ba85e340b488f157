package inventory

import (
	"testing"

	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/internal/catalog"
)

// Prices of spot that cannot be true are not believed, whether or not the price
// of on-demand is known.
func TestGuard(t *testing.T) {
	shelf := &Shelf{
		Types: []catalog.Type{
			{Name: "m5.large", Family: "m5", Category: "m", VCPUs: 2},
			{Name: "m5.24xlarge", Family: "m5", Category: "m", VCPUs: 96},
			{Name: "x2gd.large", Family: "x2gd", Category: "x", VCPUs: 2},
			{Name: "x8aedz.large", Family: "x8aedz", Category: "x", VCPUs: 2},
			{Name: "x8aedz.24xlarge", Family: "x8aedz", Category: "x", VCPUs: 96},
			{Name: "q1.large", Family: "q1", Category: "q", VCPUs: 2},
		},
		OnDemand: map[string]catalog.Price{"m5.large": {Micro: 96_000}, "x2gd.large": {Micro: 167_000}},
	}
	tests := map[string]struct {
		why   string
		typ   string
		micro money.Micro
		want  bool
	}{
		"Usual":         {"A third of on-demand is what spot costs.", "m5.large", 32_000, true},
		"Absurd":        {"Less than a fiftieth of on-demand.", "m5.large", 1_000, false},
		"OfFamily":      {"Its own price is not known, that of a core of its family is.", "m5.24xlarge", 1_500_000, true},
		"NotOfFamily":   {"A cent for 96 cores.", "m5.24xlarge", 10_000, false},
		"OfCategory":    {"No price of its family is known; another family of its kind has one.", "x8aedz.24xlarge", 3_000_000, true},
		"NotOfCategory": {"The same cent for everything.", "x8aedz.24xlarge", 10_000, false},
		"SmallOfThem":   {"Nor for the smallest.", "x8aedz.large", 10_000, false},
		"Alone":         {"There is nothing to compare with.", "q1.large", 30_000, false},
		"Unknown":       {"The region does not have the type.", "z9.large", 30_000, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := newGuard(shelf).believes(tc.typ, tc.micro); got != tc.want {
				t.Errorf("%s %s for %d is believed: %t", tc.why, tc.typ, tc.micro, got)
			}
		})
	}
}
