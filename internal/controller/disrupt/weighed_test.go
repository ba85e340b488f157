package disrupt_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/tools/record"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/controller/disrupt"
	"github.com/tenon-sh/tenon/internal/loop"
	"github.com/tenon-sh/tenon/internal/metric"
)

// What consolidation proposes, what balanced pools think of it and what is taken back is told as Karpenter tells it.
func TestConsolidationIsTold(t *testing.T) {
	for name, tc := range map[string]struct {
		why         string
		make        func(*simulation)
		pods        []string
		told        []string
		counts      map[string]float64 // of series of moves, by decision and policy
		bound, held float64            // prices an hour after the last decision
		scores      uint64
	}{
		"Several": {
			why: "Three nodes go for one that is cheaper.", pods: []string{"500m", "500m", "500m"},
			told: []string{
				"Normal ConsolidationCandidate Consolidation candidate: replace: [n1] (part of 3-node consolidation) (savings: $1.10)",
				"Normal ConsolidationCandidate Consolidation candidate: replace: [n2] (part of 3-node consolidation) (savings: $1.10)",
				"Normal ConsolidationCandidate Consolidation candidate: replace: [n3] (part of 3-node consolidation) (savings: $1.10)",
			},
			counts: map[string]float64{"approved p WhenEmptyOrUnderutilized": 1}, bound: 0.1,
		},
		"Balanced": {
			why: "One goes for a cheaper one; it disrupts all of the pool and saves three quarters of its cost.", pods: []string{"500m"},
			make: func(b *simulation) { b.policy(v1.Balanced) },
			told: []string{
				"Normal ConsolidationApproved score 0.75 >= threshold 0.50 (k: 2, savings 75.0%, disruption 100.0%)",
				"Normal ConsolidationCandidate Consolidation candidate: replace: [n1] -> [1 replacement] (savings: $0.30)",
			},
			counts: map[string]float64{"approved p Balanced": 1}, scores: 1, bound: 0.1,
		},
		"HeldUp": {
			why: "The budget lets none go: what that would save is told.", pods: []string{"500m"},
			make: func(b *simulation) { b.budgets("0") }, counts: map[string]float64{}, bound: 0.1, held: 0.3,
		},
		"TakenBack": {
			why: "A pod comes to forbid it when what was bought has just been launched; the event of that is not lost (D-16).", pods: []string{"500m"},
			make: func(b *simulation) { b.late = func() { b.late = func() { b.forbid("web-1") } } },
			told: []string{
				"Normal ConsolidationCandidate Consolidation candidate: replace: [n1] -> [1 replacement] (savings: $0.30)",
				"Normal ConsolidationRejected Consolidation rejected: replace: [n1] -> [1 replacement], reason: churn (savings: $0.30)",
			},
			counts: map[string]float64{"approved p WhenEmptyOrUnderutilized": 1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newSimulation(t, tc.pods...)
				heard := record.NewFakeRecorder(100)
				b.events = loop.NewEvents(clock.Wall, heard)
				registry := prometheus.NewPedanticRegistry()
				var err error
				if b.metrics, err = metric.New(registry, nil); err != nil {
					t.Fatal(err)
				}
				if tc.make != nil {
					tc.make(b)
				}
				time.Sleep(time.Minute)
				b.live(b.store, 2*time.Minute, disrupt.Moving{})
				var told []string
				for len(heard.Events) > 0 {
					if e := <-heard.Events; strings.HasPrefix(e, "Normal Consolidation") {
						told = append(told, e)
					}
				}
				slices.Sort(told)
				if diff := cmp.Diff(tc.told, slices.Compact(told)); diff != "" {
					t.Errorf("%s -want +got\n%s", tc.why, diff)
				}
				if got, want := hourly(t, registry, metric.ConsolidationBound), map[string]float64{"": tc.bound}; !maps.Equal(got, want) {
					t.Errorf("%s the bound is %v, want %v", tc.why, got, want)
				}
				if got, want := hourly(t, registry, metric.ConsolidationSavings), map[string]float64{"now": 0, "held": tc.held}; !maps.Equal(got, want) {
					t.Errorf("%s after all has begun moves save %v, want %v", tc.why, got, want)
				}
				counts, scores := counted(t, registry)
				if diff := cmp.Diff(tc.counts, counts); diff != "" || scores != tc.scores {
					t.Errorf("%s %d scores, want %d; moves -want +got\n%s", tc.why, scores, tc.scores, diff)
				}
			})
		})
	}
}

// The log says how many pods move when a drifted node is replaced, and the metric
// how many drifted nodes wait for their turn meanwhile.
func TestDriftIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newSimulation(t, "3", "7", "7")
		b.policy(v1.WhenEmpty)
		b.budgets("1")
		b.slow = true // what is bought is not launched, so that the first goes on waiting for it
		b.drift("n1", "n2", "n3")
		var lines []string
		b.log = funcr.New(func(_, line string) { lines = append(lines, line) }, funcr.Options{})
		registry := prometheus.NewPedanticRegistry()
		var err error
		if b.metrics, err = metric.New(registry, nil); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		b.live(b.store, 4*time.Minute, disrupt.Moving{})
		lines = slices.DeleteFunc(lines, func(line string) bool { return !strings.Contains(line, `"msg"="disrupting node(s)"`) })
		if len(lines) != 1 || !strings.Contains(lines[0], `"pod-count"=1 `) {
			t.Errorf("the log has %d commands, want one of one pod: %q", len(lines), lines)
		}
		const want = 2
		if got := eligible(t, registry)["drifted"]; got != want {
			t.Errorf("%v drifted nodes may be replaced, want the %d that wait", got, want)
		}
	})
}

// A node that was to be replaced and stays, because what was bought for it does not come, says so at once.
func TestStayingIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newSimulation(t, "3")
		b.policy(v1.WhenEmpty)
		b.slow = true // what is bought is not launched
		b.drift("n1")
		heard := record.NewFakeRecorder(100)
		b.events = loop.NewEvents(clock.Wall, heard)
		time.Sleep(time.Minute)
		b.live(b.store, 12*time.Minute, disrupt.Moving{})
		var told []string
		for len(heard.Events) > 0 {
			if e := <-heard.Events; strings.Contains(e, "DisruptionBlocked") {
				told = append(told, e)
			}
		}
		const want = " and stays: "
		if len(told) != 2 || !strings.Contains(told[0], want) || !strings.Contains(told[0], "within 10 minutes") {
			t.Errorf("the events on the node and its claim are %q", told)
		}
	})
}

// hourly are the values of a metric by its label.
func hourly(t *testing.T, registry prometheus.Gatherer, name string) map[string]float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() != name {
				continue
			}
			by := ""
			for _, l := range m.GetLabel() {
				by = l.GetValue()
			}
			out[by] = m.GetGauge().GetValue()
		}
	}
	return out
}

// eligible is how many nodes might be given back, by reason.
func eligible(t *testing.T, registry prometheus.Gatherer) map[string]float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == metric.DisruptionEligibleNodes {
				out[m.GetLabel()[0].GetValue()] = m.GetGauge().GetValue()
			}
		}
	}
	return out
}

// counted are the moves that were counted, by decision, pool and policy, and how many scores.
func counted(t *testing.T, registry prometheus.Gatherer) (moves map[string]float64, scores uint64) {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	moves = map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			var labels []string
			for _, l := range m.GetLabel() {
				labels = append(labels, l.GetValue())
			}
			switch f.GetName() {
			case metric.ConsolidationMoves:
				moves[strings.Join(labels, " ")] = m.GetCounter().GetValue()
			case metric.ConsolidationScore:
				scores += m.GetHistogram().GetSampleCount()
			}
		}
	}
	return moves, scores
}
