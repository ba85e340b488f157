package label_test

import (
	"strings"
	"testing"

	"github.com/tenon-sh/tenon/engine/label"
)

func requirement(t *testing.T, key string, op label.Op, values ...string) label.Requirement {
	t.Helper()
	r, err := label.New(key, op, values...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// On which keys what a machine offers does not do: where no value is both offered and wanted, unless both may be absent, and where
// nothing is said of a label that has to be there, unless it may still become anything.
func TestWhatClashes(t *testing.T) {
	r := func(op label.Op, values ...string) label.Requirement { return requirement(t, "k", op, values...) }
	maybe := r(label.In, "a", "b")
	maybe.Present = false
	free := func(key string) bool { return key == "k" }
	for name, tc := range map[string]struct {
		why    string
		offers label.Set
		wants  label.Requirement
		free   func(string) bool
		says   string // empty: it does
	}{
		"Same":         {"One value is both offered and wanted.", label.Set{r(label.In, "a", "b")}, r(label.In, "b", "c"), nil, ""},
		"Other":        {"None is.", label.Set{r(label.In, "a")}, r(label.In, "b"), nil, "k In [b] not in k In [a]"},
		"Unknown":      {"Nothing is said of it.", nil, r(label.In, "a"), nil, "k In [a], but the label is not defined there"},
		"OtherKey":     {"Something is said of others.", label.SetOf(label.Is("j", "a"), label.Is("l", "a")), r(label.In, "a"), nil, "k In [a], but the label is not defined there"},
		"Free":         {"It may still become anything.", nil, r(label.In, "a"), free, ""},
		"FreeOther":    {"Another may.", nil, requirement(t, "j", label.In, "a"), free, "j In [a], but the label is not defined there"},
		"FreeSaid":     {"What is said counts, whatever else may become anything.", label.Set{r(label.In, "a")}, r(label.In, "b"), free, "k In [b] not in k In [a]"},
		"Absent":       {"It is to be absent.", nil, r(label.DoesNotExist), nil, ""},
		"AbsentFree":   {"Absence is not given up for it.", nil, r(label.DoesNotExist), free, ""},
		"NotThat":      {"Absence is none of the values.", nil, r(label.NotIn, "a"), nil, ""},
		"NotThere":     {"It is to be absent and is not.", label.Set{r(label.In, "a")}, r(label.DoesNotExist), nil, "k DoesNotExist not in k In [a]"},
		"BothAbsent":   {"It is never there, and is to be absent.", label.Set{r(label.DoesNotExist)}, r(label.DoesNotExist), nil, ""},
		"NeverThere":   {"It is never there.", label.Set{r(label.DoesNotExist)}, r(label.Exists), nil, "k Exists not in k DoesNotExist"},
		"NeverNotThat": {"What is never there is none of the values.", label.Set{r(label.DoesNotExist)}, r(label.NotIn, "a"), nil, ""},
		"MaybeAbsent":  {"It may be one of two values, or absent.", label.Set{maybe}, r(label.DoesNotExist), nil, "k DoesNotExist not in k In [a b]"},
		"Above":        {"Some number above one is below five.", label.Set{r(label.Gt, "1")}, r(label.Lt, "5"), nil, ""},
		"AboveAny":     {"Some number is above one.", label.Set{r(label.Exists)}, r(label.Gt, "1"), nil, ""},
		"BelowAny":     {"Some number is below one.", label.Set{r(label.Exists)}, r(label.Lt, "1"), nil, ""},
		"Apart":        {"No number is above five and below one.", label.Set{r(label.Gt, "5")}, r(label.Lt, "1"), nil, "k <=0 not in k >=6"},
		"Tight":        {"One number is both.", label.Set{r(label.Gte, "5")}, r(label.Lte, "5"), nil, ""},
		"Tighter":      {"The tighter of two bounds counts.", label.Set{r(label.Gt, "1").Meet(r(label.Gt, "7"))}, r(label.Lt, "5"), nil, "k <=4 not in k >=8"},
		"OtherThan":    {"There are other values.", label.Set{r(label.NotIn, "a")}, r(label.NotIn, "b"), nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var said []string
			for _, c := range tc.offers.Clashes(label.Set{tc.wants}, tc.free) {
				said = append(said, c.String())
			}
			if got := strings.Join(said, "; "); got != tc.says {
				t.Errorf("it says %q, want %q: %s", got, tc.says, tc.why)
			}
			if got := tc.offers.Compatible(label.Set{tc.wants}, tc.free); got != (tc.says == "") {
				t.Errorf("compatible: %t: %s", got, tc.why)
			}
		})
	}
}

// Every key of a set is found, none besides, and what is left without some is the rest.
func TestKeysOfSets(t *testing.T) {
	keys := []string{"b", "d", "f", "h", "j"}
	var s label.Set
	for _, k := range keys {
		s = s.And(label.Is(k, k))
	}
	for _, k := range keys {
		if r, ok := s.Find(k); !ok || !r.Has(k) {
			t.Errorf("%s is found as %v, %t", k, r, ok)
		}
	}
	for _, k := range []string{"a", "c", "e", "g", "i", "k"} {
		if r, ok := s.Find(k); ok || r.Key != "" {
			t.Errorf("%s is found as %v", k, r)
		}
	}
	if got := s.Without("d", "x", "j").String(); got != "b In [b], f In [f], h In [h]" || len(s) != len(keys) {
		t.Errorf("without d and j it is %s, and it was %s", got, s)
	}
}

// What nothing satisfies is a label that has to be there and has no value left; where it may be absent that does.
func TestImpossible(t *testing.T) {
	for name, tc := range map[string]struct {
		r                    label.Requirement
		impossible, negative bool
	}{
		"Absent": {label.Requirement{Key: "k"}, false, true}, "None": {label.Requirement{Key: "k", Present: true}, true, false}, "Some": {label.Is("k", "a"), false, false},
		"Maybe": {label.Requirement{Key: "k", Values: []string{"a"}}, false, false}, "Not": {label.Requirement{Key: "k", Not: true, Values: []string{"a"}}, false, true}, "Any": {label.Any("k"), false, false},
	} {
		if tc.r.Impossible() != tc.impossible || tc.r.Negative() != tc.negative {
			t.Errorf("%s: impossible %t, does without the label %t", name, tc.r.Impossible(), tc.r.Negative())
		}
	}
}
