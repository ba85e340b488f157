package label_test

import (
	"strings"
	"testing"

	"github.com/tenon-sh/tenon/engine/label"
)

// Whatever a requirement says, it is read or refused with words, and what two
// of them leave is what both have.
func FuzzRequirement(f *testing.F) {
	for _, seed := range [][5]string{
		{"In", "a,b", "NotIn", "b", "a"},
		{"Gt", "3", "Lt", "9", "5"},
		{"Exists", "", "DoesNotExist", "", ""},
		{"Gt", "9223372036854775807", "Gte", "-9223372036854775808", "0"},
		{"Lt", "-9223372036854775808", "In", "", "x"},
		{"Gt", "x", "Lte", "07", "7"},
		{"In", "1,02,+3", "Gte", "2", "+3"},
		{"in", "a", "", "b", "\xff"},
	} {
		f.Add(seed[0], seed[1], seed[2], seed[3], seed[4])
	}
	f.Fuzz(func(t *testing.T, op1, values1, op2, values2, value string) {
		read := func(op, values string) (label.Requirement, bool) {
			var all []string
			if values != "" {
				all = strings.Split(values, ",")
			}
			r, err := label.New("key", label.Op(op), all...)
			if err != nil && err.Error() == "" {
				t.Error("refused without a word")
			}
			return r, err == nil
		}
		a, ok1 := read(op1, values1)
		b, ok2 := read(op2, values2)
		if !ok1 || !ok2 {
			return
		}
		for _, v := range append(strings.Split(values1, ","), value, "", "0") {
			both := a.Has(v) && b.Has(v)
			if meet := a.Meet(b); meet.Has(v) != both || b.Meet(a).Has(v) != both {
				t.Errorf("%q: %v has it %v, %v has it %v, and what they leave %v", v, a, a.Has(v), b, b.Has(v), meet)
			}
			if both && !a.Meets(b) {
				t.Errorf("%v and %v both have %q, and are said not to meet", a, b, v)
			}
		}
	})
}
