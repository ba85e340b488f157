package explain

import (
	"testing"

	"github.com/tenon-sh/tenon/engine/reason"
)

// A line begins with the pod's own fault, then with the nearest pool, and the advice is about that.
func TestBriefly(t *testing.T) {
	far := &reason.Why{Code: reason.NoShape, Subject: "NodePool far", Causes: []*reason.Why{
		{Code: reason.Taint, Detail: "team=a:NoSchedule", Hint: "tolerate it"}, {Code: reason.Label, Detail: "arch In [arm64]", Hint: "open arm64"}, {Code: reason.Resource, Detail: "cpu wants 9"},
	}}
	near := &reason.Why{Code: reason.Limit, Subject: "NodePool near", Detail: "cpu 10 of 10 used", Hint: "raise limits.cpu"}
	unit := &reason.Why{Code: reason.UnitMixUp, Subject: "cpu", Detail: "asks for 1073741 cores", Hint: "write thousandths of a core with an m"}
	node := &reason.Why{Code: reason.Resource, Subject: "2 nodes", Detail: "cpu wants 9, has 1", Hint: "smaller requests"}
	for name, tc := range map[string]struct {
		causes       []*reason.Why
		line, advice string
	}{
		"Nearest":  {[]*reason.Why{far, near, node}, "NodePool near: cpu 10 of 10 used; NodePool far: team=a:NoSchedule, arch In [arm64], cpu wants 9", "raise limits.cpu"},
		"OwnFault": {[]*reason.Why{far, unit, node}, "cpu: asks for 1073741 cores; NodePool far: team=a:NoSchedule, arch In [arm64], cpu wants 9", "write thousandths of a core with an m"},
		"NoPool":   {[]*reason.Why{node}, "cpu wants 9, has 1", "smaller requests"},
		"Nothing":  {nil, "no place", ""},
	} {
		t.Run(name, func(t *testing.T) {
			why := &reason.Why{Code: reason.NoPlace, Causes: tc.causes}
			if name == "Nothing" {
				why.Detail = "no place"
			}
			if got := Briefly(why); got != tc.line {
				t.Errorf("it says %q, want %q", got, tc.line)
			}
			if got := Advice(why); got != tc.advice {
				t.Errorf("it advises %q, want %q", got, tc.advice)
			}
		})
	}
	if Advice(nil) != "" {
		t.Error("there is advice against nothing")
	}
}
