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

func TestParse(t *testing.T) {
	for text, want := range map[string]money.Micro{"0.0960000000": 96_000, " 1.5 ": 1_500_000, "0": 0} {
		if got, ok := money.Parse(text); got != want || !ok {
			t.Errorf("%q is %d, %t; want %d", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "much", "-0.1", "NaN", "1e7"} {
		if got, ok := money.Parse(text); got != 0 || ok {
			t.Errorf("%q is read as %d", text, got)
		}
	}
}

func TestShares(t *testing.T) {
	for what, c := range map[string]struct{ got, want money.Micro }{
		"three times":           {money.Micro(7).Times(3), 21},
		"a share, cut off":      {money.Micro(199).Part(1, 100), 1},
		"two thirds":            {money.Micro(10).Part(2, 3), 6},
		"two thirds, up":        {money.Micro(10).PartUp(2, 3), 7},
		"a share, rounded up":   {money.Micro(101).PartUp(1, 100), 2},
		"a whole share":         {money.Micro(200).PartUp(1, 100), 2},
		"a factor":              {money.Micro(96_000).Scale(0.7), 67_200},
		"a factor, rounded":     {money.Micro(3).Scale(0.5), 2},
		"a share of a negative": {money.Micro(-199).Part(1, 100), -1},
	} {
		if c.got != c.want {
			t.Errorf("%s is %d, want %d", what, c.got, c.want)
		}
	}
}

func TestText(t *testing.T) {
	for currency, want := range map[string]string{"": "$0.0960", "USD": "$0.0960", "CNY/h": "0.0960 CNY"} {
		if got := money.Micro(96_000).Text(currency); got != want {
			t.Errorf("in %q it is %q, want %q", currency, got, want)
		}
	}
	for got, want := range map[string]string{
		money.Micro(96_000).PerHour("CNY/h"): "0.0960 CNY/h",
		money.Micro(96_000).Decimal():        "0.096000",
		money.Micro(1_234_567).Fixed(2):      "1.23",
		money.Hundred.Fixed(0):               "100",
	} {
		if got != want {
			t.Errorf("it is %q, want %q", got, want)
		}
	}
}
