package label_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tenon-sh/tenon/engine/enginetest/chance"
	"github.com/tenon-sh/tenon/engine/label"
)

// values is every value a label has in these tests; "" stands for absence.
var values = []string{"", "a", "b", "c", "1", "5", "9", "-3"}

func requirements() *rapid.Generator[label.Requirement] {
	return rapid.Custom(func(t *rapid.T) label.Requirement {
		op := rapid.SampledFrom([]label.Op{label.In, label.NotIn, label.Exists, label.DoesNotExist, label.Gt, label.Lt, label.Gte, label.Lte}).Draw(t, "op")
		var vs []string
		switch op {
		case label.In:
			vs = rapid.SliceOfN(rapid.SampledFrom(values[1:]), 1, 4).Draw(t, "values")
		case label.NotIn:
			vs = rapid.SliceOfN(rapid.SampledFrom(values[1:]), 0, 4).Draw(t, "values")
		case label.Gt, label.Lt, label.Gte, label.Lte:
			vs = []string{fmt.Sprint(rapid.IntRange(-4, 10).Draw(t, "n"))}
		case label.Exists, label.DoesNotExist:
		}
		r, err := label.New("k", op, vs...)
		if err != nil {
			t.Fatal(err)
		}
		return r
	})
}

// holds says whether a place whose label has the value, or lacks it, satisfies r.
func holds(r label.Requirement, value string) bool {
	if value == "" {
		return label.Set{r}.Match(nil)
	}
	return label.Set{r}.Match(map[string]string{"k": value})
}

// What satisfies the meeting of two is what satisfies both: for every value and for absence.
func TestMeet(t *testing.T) {
	chance.Check(t, func(t *rapid.T) {
		a, b := requirements().Draw(t, "a"), requirements().Draw(t, "b")
		both := a.Meet(b)
		for _, v := range values {
			if got, want := holds(both, v), holds(a, v) && holds(b, v); got != want {
				t.Errorf("(%v) meet (%v) = %v: value %q satisfies it: %t, both: %t", a, b, both, v, got, want)
			}
		}
		if diff := cmp.Diff(both, b.Meet(a)); diff != "" {
			t.Errorf("Meet depends on order:\n%s", diff)
		}
		if both.Impossible() && a.Meets(b) {
			t.Errorf("(%v) and (%v) are said to meet, but nothing satisfies both", a, b)
		}
	})
}

// A node whose labels are all known can take what Match says; Clashes agrees with it.
func TestClashesAgreesWithMatch(t *testing.T) {
	chance.Check(t, func(t *rapid.T) {
		want := label.Set{requirements().Draw(t, "want")}
		labels := map[string]string{}
		if v := rapid.SampledFrom(values).Draw(t, "value"); v != "" {
			labels["k"] = v
		}
		offer := label.Exactly(labels)
		clashes := offer.Clashes(want, nil)
		if got := len(clashes) == 0; got != want.Match(labels) || got != offer.Compatible(want, nil) {
			t.Errorf("want %v, labels %v: clashes %v, match %t, compatible %t", want, labels, clashes, want.Match(labels), offer.Compatible(want, nil))
		}
	})
}

func TestText(t *testing.T) {
	gt, _ := label.New("gen", label.Gt, "2")
	many := label.Is("t", "a", "b", "c", "d", "e", "f", "g")
	tests := map[string]struct{ got, want string }{
		"In":     {label.Is("zone", "b", "a", "b").String(), "zone In [a b]"},
		"Long":   {many.String(), "t In [a b c d e and 2 others]"},
		"Bound":  {gt.String(), "gen >=3"},
		"Absent": {label.Requirement{Key: "x"}.String(), "x DoesNotExist"},
		"Clash": {
			label.SetOf(label.Is("zone", "a")).Clashes(label.SetOf(label.Is("zone", "b")), nil)[0].String(),
			"zone In [b] not in zone In [a]",
		},
		"Unknown": {
			label.Set{}.Clashes(label.SetOf(label.Is("team", "x")), nil)[0].String(),
			"team In [x], but the label is not defined there",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if tc.got != tc.want {
				t.Errorf("got %q, want %q", tc.got, tc.want)
			}
		})
	}
}
