package label_test

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-sh/tenon/engine/label"
)

func made(t *testing.T, key string, op label.Op, values ...string) label.Requirement {
	t.Helper()
	r, err := label.New(key, op, values...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Which values satisfy an operator, as the API has it; "" is absence.
func TestOperators(t *testing.T) {
	least, most := fmt.Sprint(int64(math.MinInt64)), fmt.Sprint(int64(math.MaxInt64))
	tests := map[string]struct {
		why    string
		op     label.Op
		values []string
		want   []string
		text   string
	}{
		"In":           {"One of the values.", label.In, []string{"4", "a"}, []string{"4", "a"}, "k In [4 a]"},
		"NotIn":        {"Any other, and absence.", label.NotIn, []string{"4", "a"}, []string{"", "3", "5", "b"}, "k NotIn [4 a]"},
		"Exists":       {"Whatever it is.", label.Exists, nil, []string{"3", "4", "5", "a", "b"}, "k Exists"},
		"DoesNotExist": {"Absence alone.", label.DoesNotExist, nil, []string{""}, "k DoesNotExist"},
		"Gt":           {"Four is not more than four.", label.Gt, []string{"4"}, []string{"5"}, "k >=5"},
		"Gte":          {"But as much.", label.Gte, []string{"4"}, []string{"4", "5"}, "k >=4"},
		"Lt":           {"Four is not less than four.", label.Lt, []string{"4"}, []string{"3"}, "k <=3"},
		"Lte":          {"But as little.", label.Lte, []string{"4"}, []string{"3", "4"}, "k <=4"},
		"GtAll":        {"Nothing is more than the most.", label.Gt, []string{most}, nil, "k DoesNotExist"},
		"LtAll":        {"Nothing is less than the least.", label.Lt, []string{least}, nil, "k DoesNotExist"},
		"GtNearlyAll":  {"The least is no edge from above.", label.Gt, []string{least}, []string{"3", "4", "5"}, "k >=-9223372036854775807"},
		"LtNearlyAll":  {"Nor the most from below.", label.Lt, []string{most}, []string{"3", "4", "5"}, "k <=9223372036854775806"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := made(t, "k", tc.op, tc.values...)
			var got []string
			for _, v := range []string{"", "3", "4", "5", "a", "b"} {
				if holds(r, v) {
					got = append(got, v)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n-want +got\n%s", tc.why, diff)
			}
			if r.String() != tc.text {
				t.Errorf("%s It is written %q, want %q", tc.why, r, tc.text)
			}
			if r.Negative() != slices.Contains(tc.want, "") {
				t.Errorf("%s Negative is %t", tc.why, r.Negative())
			}
		})
	}
}

// Bounds that touch meet in one value; others meet in none.
func TestBoundsMeet(t *testing.T) {
	least := made(t, "k", label.Gte, "4")
	for _, tc := range []struct {
		why  string
		most label.Requirement
		want bool
	}{
		{"Five is on both sides.", made(t, "k", label.Lte, "5"), true},
		{"Four is.", made(t, "k", label.Lte, "4"), true},
		{"Nothing is.", made(t, "k", label.Lte, "3"), false},
	} {
		if least.Meets(tc.most) != tc.want || tc.most.Meets(least) != tc.want || least.Meet(tc.most).Impossible() == tc.want {
			t.Errorf("%s Meets is %t, Meet %v", tc.why, !tc.want, least.Meet(tc.most))
		}
	}
	both := least.Meet(made(t, "k", label.Gte, "6"))
	if both.String() != "k >=6" || made(t, "k", label.Lte, "6").Meet(made(t, "k", label.Lte, "4")).String() != "k <=4" {
		t.Errorf("of two bounds the tighter counts, got %v", both)
	}
}

// Two sets meet key by key, as if the requirements of one were added to the other.
func TestSetsMeet(t *testing.T) {
	sets := []label.Set{
		nil, label.SetOf(label.Is("a", "1")), label.SetOf(label.Is("b", "1", "2")), label.SetOf(label.Is("a", "2"), label.Is("c", "1")),
		label.SetOf(label.Is("a", "1", "3"), label.Is("b", "2"), label.Is("d", "4")),
	}
	for _, a := range sets {
		for _, b := range sets {
			want := label.Set{}
			for _, r := range slices.Concat(a, b) {
				want = want.And(r)
			}
			if diff := cmp.Diff(want, a.Meet(b)); diff != "" {
				t.Errorf("%v meets %v: -want +got\n%s", a, b, diff)
			}
		}
	}
}

// No two requirements that differ have one identity.
func TestIdentities(t *testing.T) {
	all := []label.Requirement{
		label.Is("k", "a"), label.Is("k", "b"), label.Is("k", "a", "b"), label.Is("ka", "a"), label.Any("k"),
		made(t, "k", label.Gte, "4"), made(t, "k", label.Gte, "5"), made(t, "k", label.Lte, "4"), made(t, "k", label.Lte, "5"),
		made(t, "k", label.Gte, "4").Meet(made(t, "k", label.Lte, "5")), made(t, "k", label.NotIn, "a"), made(t, "k", label.DoesNotExist),
	}
	for i, a := range all {
		for j, b := range all {
			if same := bytes.Equal(a.AppendIdentity(nil), b.AppendIdentity(nil)); same != (i == j) {
				t.Errorf("(%v) and (%v) have one identity: %t", a, b, same)
			}
		}
	}
}

// Long lists are cut where that saves something.
func TestLongLists(t *testing.T) {
	values := []string{"a", "b", "c", "d", "e", "f", "g"}
	for n, want := range map[int]string{5: "k In [a b c d e]", 6: "k In [a b c d e f]", 7: "k In [a b c d e and 2 others]"} {
		if got := label.Is("k", values[:n]...).String(); got != want {
			t.Errorf("%d values are written %q, want %q", n, got, want)
		}
	}
}

// A slip is a letter that is wrong, left out, too many, or has changed places with its neighbour.
func TestNear(t *testing.T) {
	for _, tc := range []struct {
		why  string
		a, b string
		want bool
	}{
		{"Nothing differs but capitals.", "zone", "ZONE", true},
		{"A letter is wrong.", "zone", "zome", true},
		{"A letter is left out.", "zone", "zon", true},
		{"A letter is too many.", "zone", "zoone", true},
		{"Neighbours changed places.", "zone", "znoe", true},
		{"The first two did.", "zone", "ozne", true},
		{"A short word may have one slip.", "zone", "zame", false},
		{"So may one of five letters.", "zones", "zamas", false},
		{"A word of six letters may have two.", "region", "rigian", true},
		{"But not three.", "region", "rigiut", false},
		{"A word of three letters none.", "cpu", "gpu", false},
		{"Two pairs of neighbours are two slips.", "region", "ergino", true},
		{"Three are three.", "region", "erigno", false},
		{"One of two neighbours moved on, and another came after it.", "zone", "oxne", false},
		{"One of two neighbours moved on, and another came before it.", "zone", "xzne", false},
	} {
		if got := label.Near(tc.a, tc.b); got != tc.want {
			t.Errorf("%s Near(%q, %q) is %t", tc.why, tc.a, tc.b, got)
		}
	}
}
