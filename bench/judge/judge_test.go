package judge_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/tenon-sh/tenon/bench/judge"
	"github.com/tenon-sh/tenon/bench/market"
	"github.com/tenon-sh/tenon/bench/outcome"
	"github.com/tenon-sh/tenon/bench/scenario"
	"github.com/tenon-sh/tenon/internal/kube"
	"github.com/tenon-sh/tenon/test/oracle"
)

// TestVerdicts holds that what may be is accepted, and what may not is found,
// pod by pod.
func TestVerdicts(t *testing.T) {
	scheduler, err := oracle.Converse(t.Context(), t.Output())
	if errors.Is(err, kube.ErrMissing) && os.Getenv("CI") == "" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(scheduler.End)
	catalog, err := market.Load()
	if err != nil {
		t.Fatal(err)
	}
	s, _ := scenario.Find("zone-apart")
	in := s.Make(catalog, 3, 1) // three replicas, one a zone
	node := func(zone int, pods ...string) outcome.Node {
		return outcome.Node{Pool: "general", Type: "m5.4xlarge", Zone: market.Zones()[zone], CapacityType: "on-demand", Pods: pods}
	}
	const a, b, c = "default/app-00000-0", "default/app-00000-1", "default/app-00000-2"
	tests := map[string]struct {
		why      string
		new      []outcome.Node
		refused  map[string]string
		wrong    string // pods, by their last letter
		possible string
	}{
		"Right":    {why: "One a zone is what they want.", new: []outcome.Node{node(0, a), node(1, b), node(2, c)}},
		"Together": {why: "Two share a zone: one of them cannot be bound.", new: []outcome.Node{node(0, a), node(1, b, c)}, wrong: "2"},
		"Refused":  {why: "A machine in the third zone would take it.", new: []outcome.Node{node(0, a), node(1, b)}, refused: map[string]string{c: "no"}, possible: "2"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			v, err := judge.Outcome(scheduler, in, catalog, outcome.Outcome{New: tc.new, Refused: tc.refused}, true)
			if err != nil {
				t.Fatal(err)
			}
			if got := lasts(v.Wrong); got != tc.wrong {
				t.Errorf("%s\nwrong %q: pods %q, want %q", tc.why, v.Wrong, got, tc.wrong)
			}
			if got := lasts(v.Possible); got != tc.possible {
				t.Errorf("%s\npossible: pods %q, want %q", tc.why, got, tc.possible)
			}
			if len(v.Legal)+len(v.Wrong) != 3-len(tc.refused) {
				t.Errorf("%d may be where they are, %d not, of %d", len(v.Legal), len(v.Wrong), 3-len(tc.refused))
			}
		})
	}
}

// lasts are the last letters of the pods that lines begin with, each once.
func lasts(lines []string) string {
	var out strings.Builder
	for _, l := range lines {
		pod, _, _ := strings.Cut(l, " ")
		if last := pod[len(pod)-1:]; !strings.Contains(out.String(), last) {
			out.WriteString(last)
		}
	}
	return out.String()
}
