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
	const most, largest money.Micro = 1_000_000_000_000, math.MaxInt64 // that is read, and that is counted
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
		"a negative, up":        {money.Micro(-199).PartUp(1, 100), -1},
		"half a negative, up":   {money.Micro(-1).PartUp(1, 2), 0},
		"half, up":              {money.Micro(1).PartUp(1, 2), 1},
		"a negative share":      {money.Micro(10).Part(-2, 3), -6},
		"of negative parts":     {money.Micro(10).PartUp(2, -3), -6},
		"twice negative":        {money.Micro(-10).PartUp(-2, 3), 7},

		"dear, a thousandfold": {(1_000_000 * most).Part(1000, 1001), 999_000_999_000_999_000},
		"dear, up":             {(1_000_000 * most).PartUp(1000, 1001), 999_000_999_000_999_001},
		"the most, whole":      {largest.Part(math.MaxInt64, math.MaxInt64), largest},
		"the most, a bit less": {largest.Part(math.MaxInt64-1, math.MaxInt64), largest - 1},
		"the most, nearly up":  {largest.PartUp(math.MaxInt64-1, math.MaxInt64), largest - 1},
		"just countable":       {money.Micro(1<<62).Part(math.MaxInt64, 1<<62), largest},
		"just not countable":   {money.Micro(1<<62).Part(1<<32, 1<<31), largest},
		"more, up":             {largest.PartUp(2, 1), largest},
		"the most, negative":   {(-largest).Part(1, 1), -largest},
		"the most, and a rest": {money.Micro(1<<32-1).PartUp(1<<32+1, 2), largest},
		"far more":             {largest.Part(math.MaxInt64, 1), largest},
		"far less":             {(-largest).Part(math.MaxInt64, 1), math.MinInt64},
		"half of the least":    {money.Micro(math.MinInt64).Part(1, 2), -1 << 62},
		"all of the least":     {money.Micro(math.MinInt64).PartUp(1, 1), math.MinInt64},
		"too often":            {money.Micro(1 << 40).Times(1 << 23), largest},
		"as often as can be":   {money.Micro(1 << 40).Times(1<<23 - 1), 1<<63 - 1<<40},
		"a loss, too often":    {money.Micro(-1 << 40).Times(1 << 24), math.MinInt64},
		"a factor too large":   {most.Scale(1e10), largest},
		"a loss times that":    {(-most).Scale(1e10), math.MinInt64},
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
