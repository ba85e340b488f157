package amount_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/enginetest/chance"
)

func TestParse(t *testing.T) {
	tests := map[string]struct {
		why  string
		want int64
		bad  bool
	}{
		"1":                    {why: "A plain number is whole units.", want: 1000},
		"250m":                 {why: "Thousandths.", want: 250},
		"1.5":                  {why: "Decimals.", want: 1500},
		".5":                   {why: "A leading point is allowed.", want: 500},
		"100n":                 {why: "Finer than a thousandth rounds up.", want: 1},
		"1Ki":                  {why: "Binary suffix.", want: 1024_000},
		"256M":                 {why: "Decimal suffix.", want: 256_000_000_000},
		"1e3":                  {why: "Exponent.", want: 1_000_000},
		"2E":                   {why: "E alone is exa, and saturates in thousandths.", want: math.MaxInt64},
		"-1":                   {why: "A sign; the caller refuses it.", want: -1000},
		"99999999999999999999": {why: "Too large saturates.", want: math.MaxInt64},
		"":                     {why: "Nothing is not a quantity.", bad: true},
		"abc":                  {why: "Nor are letters.", bad: true},
		"1.2.3":                {why: "One point only.", bad: true},
		"1 Gi":                 {why: "No blanks.", bad: true},
		"--1":                  {why: "One sign only.", bad: true},
		"1e999":                {why: "An exponent beyond sense is refused, not computed.", bad: true},
		"1Xi":                  {why: "Unknown suffix.", bad: true},
	}
	for in, tc := range tests {
		t.Run(in, func(t *testing.T) {
			got, err := amount.Parse(in)
			if (err != nil) != tc.bad || got != tc.want && !tc.bad {
				t.Errorf("%s\nParse(%q) = %d, %v; want %d, error %t", tc.why, in, got, err, tc.want, tc.bad)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"1", "250m", "1.5Gi", "1e3", "-1", "", "1e", "٣", "1.m"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v, err := amount.Parse(s)
		if err != nil || v == math.MaxInt64 || v == -math.MaxInt64 {
			return
		}
		back, err := amount.Parse(amount.Text(amount.Memory, v))
		if err != nil || back != v {
			t.Errorf("%q is %d, written %q, read as %d, %v", s, v, amount.Text(amount.Memory, v), back, err)
		}
	})
}

func lists() *rapid.Generator[amount.List] {
	return rapid.Custom(func(t *rapid.T) amount.List {
		return amount.Of(rapid.SliceOf(rapid.Custom(func(t *rapid.T) amount.Entry {
			return amount.Entry{Name: rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "name"), Value: rapid.Int64().Draw(t, "value")}
		})).Draw(t, "entries")...)
	})
}

func TestLaws(t *testing.T) {
	chance.Check(t, func(t *rapid.T) {
		a, b := lists().Draw(t, "a"), lists().Draw(t, "b")
		if diff := cmp.Diff(a.Plus(b), b.Plus(a)); diff != "" {
			t.Errorf("Plus depends on order:\n%s", diff)
		}
		if !a.Fits(a.Max(b)) || !a.Min(b).Fits(a.Floor()) {
			t.Errorf("a %v, b %v: a must fit max %v, min %v must fit a", a, b, a.Max(b), a.Min(b))
		}
		if s, short := a.Short(b); short != !a.Fits(b) || short && (a.Value(s.Name) != s.Wants || b.Value(s.Name) != s.Has || s.Wants <= s.Has) {
			t.Errorf("shortage %+v of %v in %v", s, a, b)
		}
	})
}

// A total is the sum, whatever the order and the names, and shares nothing with what it gave away.
func TestTotal(t *testing.T) {
	a, b := amount.Of(amount.Entry{Name: "x", Value: 1}, amount.Entry{Name: "z", Value: math.MaxInt64}), amount.Of(amount.Entry{Name: "y", Value: 2}, amount.Entry{Name: "z", Value: 3})
	var sum amount.Total
	sum.Add(b)
	first := sum.List()
	sum.Add(a)
	sum.Add(nil)
	if diff := cmp.Diff(a.Plus(b), sum.List()); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if diff := cmp.Diff(b, first); diff != "" {
		t.Errorf("what was given away has changed: -want +got\n%s", diff)
	}
}

// People read amounts that they could have written themselves.
func TestText(t *testing.T) {
	tests := map[string]struct {
		why, name    string
		value        int64
		text, atMost string
	}{
		"TooLarge": {why: "What cannot be counted is not shown as a number.", name: amount.Memory, value: math.MaxInt64, text: "more than 9.2P", atMost: "more than 9.2P"},
		"Fraction": {why: "A thousandth of a byte is more than anybody wants to know of a machine.", name: amount.Memory, value: 1459617791900, text: "1459617791900m", atMost: "1425407Ki"},
		"Slip":     {why: "A slip of the pen stays one.", name: amount.Memory, value: 100, text: "100m", atMost: "100m"},
		"Cores":    {why: "Hundreds of cores are not read in thousandths.", name: amount.CPU, value: 382970, text: "382970m", atMost: "382.97"},
		"Core":     {why: "Parts of one core are.", name: amount.CPU, value: 930, text: "930m", atMost: "930m"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if text, atMost := amount.Text(tc.name, tc.value), amount.AtMost(tc.name, tc.value); text != tc.text || atMost != tc.atMost {
				t.Errorf("%s\n%q and at most %q, want %q and %q", tc.why, text, atMost, tc.text, tc.atMost)
			}
		})
	}
	saturated := amount.Of(amount.Entry{Name: amount.CPU, Value: math.MaxInt64})
	if back, err := amount.ParseMap(saturated.Map()); err != nil || back.Value(amount.CPU) != math.MaxInt64 {
		t.Errorf("what programs read stays a quantity: %v is read as %v, %v", saturated.Map(), back, err)
	}
}
