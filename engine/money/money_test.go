package money_test

import (
	"math"
	"testing"

	"github.com/tenon-sh/tenon/engine/money"
)

func TestOf(t *testing.T) {
	tests := map[string]struct {
		why   string
		units float64
		want  money.Micro
		not   bool
	}{
		"Usual":    {"", 0.096, 96_000, false},
		"Nearest":  {"What a float cannot hold is not cut off.", 0.0157, 15_700, false},
		"Half":     {"", 0.0000005, 1, false},
		"Nothing":  {"Reserved machines cost nothing more.", 0, 0, false},
		"Most":     {"", 1_000_000, 1_000_000_000_000, false},
		"TooMuch":  {"", 1_000_000.1, 0, true},
		"Negative": {"", -0.1, 0, true},
		"NaN":      {"", math.NaN(), 0, true},
		"Infinite": {"", math.Inf(1), 0, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, ok := money.Of(tc.units)
			if got != tc.want || ok == tc.not {
				t.Errorf("%v is %d, %t; want %d: %s", tc.units, got, ok, tc.want, tc.why)
			}
		})
	}
	// Every price of four digits comes back as it was written.
	for n := range money.Micro(100_000) {
		if got, _ := money.Of((n * 100).Units()); got != n*100 {
			t.Fatalf("%d comes back as %d", n*100, got)
		}
	}
}

func TestText(t *testing.T) {
	for currency, want := range map[string]string{"": "$0.0960", "USD": "$0.0960", "CNY/h": "0.0960 CNY"} {
		if got := money.Micro(96_000).Text(currency); got != want {
			t.Errorf("in %q it is %q, want %q", currency, got, want)
		}
	}
}
