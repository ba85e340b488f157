package observe_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/internal/observe"
)

// Every part of a demand is written to a claim, also what is excluded together with a bound (D-6).
func TestRequirementsAreWrittenWhole(t *testing.T) {
	const key = "karpenter.k8s.aws/instance-cpu"
	made := func(op label.Op, values ...string) label.Requirement {
		r, err := label.New(key, op, values...)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for name, tc := range map[string]struct {
		why  string
		of   label.Requirement
		want []string
	}{
		"Bound":   {"A bound says of itself that the label is there.", made(label.Gt, "3"), []string{"Gte [4]"}},
		"Between": {"Two bounds are two.", made(label.Gt, "3").Meet(made(label.Lt, "9")), []string{"Gte [4]", "Lte [8]"}},
		"But":     {"What is excluded is written beside them.", made(label.NotIn, "8").Meet(made(label.Gt, "3")).Meet(made(label.Lt, "9")), []string{"NotIn [8]", "Gte [4]", "Lte [8]"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, r := range observe.Requirements(label.SetOf(tc.of)) {
				got = append(got, fmt.Sprintf("%s %v", r.Operator, r.Values))
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("%s\n%v, want %v", tc.why, got, tc.want)
			}
		})
	}
}
