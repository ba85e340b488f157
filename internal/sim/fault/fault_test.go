package fault_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-sh/tenon/internal/sim/fault"
)

func TestRules(t *testing.T) {
	cases := map[string]struct {
		why   string
		rules []fault.Rule
		calls []string
		want  []string
	}{
		"OnceOnly": {
			why:   "A rule with a number of times is used up.",
			rules: []fault.Rule{{Service: "ec2", Action: "Describe*", Kind: fault.Throttle, Times: 2}},
			calls: []string{"DescribeImages", "CreateFleet", "DescribeSubnets", "DescribeImages"},
			want:  []string{"throttle", "", "throttle", ""},
		},
		"AfterAWhile": {
			why:   "The n-th call can be hit, so that a test can crash anywhere.",
			rules: []fault.Rule{{Action: "CreateFleet", Kind: fault.Lose, Skip: 1, Times: 1}},
			calls: []string{"CreateFleet", "CreateFleet", "CreateFleet"},
			want:  []string{"", "lose", ""},
		},
		"Both": {
			why:   "Rules add up: a call can be late and refused.",
			rules: []fault.Rule{{Kind: fault.Delay, Seconds: 1}, {Service: "ec2", Kind: fault.Deny}},
			calls: []string{"CreateFleet"},
			want:  []string{"1s deny"},
		},
		"OthersPass": {
			why:   "A rule for one caller leaves the rest alone.",
			rules: []fault.Rule{{Caller: "controller", Kind: fault.Drop}},
			calls: []string{"CreateFleet"},
			want:  []string{""},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var r fault.Rules
			for _, rule := range c.rules {
				r.Add(rule)
			}
			var got []string
			for _, action := range c.calls {
				got = append(got, words(r.On("ec2", action, "reader")))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s -want +got\n%s", c.why, diff)
			}
		})
	}
}

func words(e fault.Effect) string {
	out := ""
	if e.Delay > 0 {
		out = e.Delay.Truncate(time.Second).String() + " "
	}
	switch {
	case e.Refuse != nil:
		return out + string(e.Refuse.Kind)
	case e.Lose:
		return out + "lose"
	case e.Drop:
		return out + "drop"
	default:
		return out
	}
}
