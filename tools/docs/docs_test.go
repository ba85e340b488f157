package main

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/tenon-sh/tenon/internal/metric"
)

var named = regexp.MustCompile(`\b(?:karpenter|operator|tenon)_[a-z_]+`)

// TestShownIsServed has a process count everything once and looks for what the
// dashboard and the alerts ask for among what it serves.
func TestShownIsServed(t *testing.T) {
	code, err := scan("../..", "api", "internal")
	if err != nil {
		t.Fatal(err)
	}
	board, err := dashboard(written(code))
	if err != nil {
		t.Fatal(err)
	}
	groups, err := rules(written(code))
	if err != nil {
		t.Fatal(err)
	}
	served := serve(t)
	asked := map[string]bool{}
	for line := range strings.SplitSeq(board+groups, "\n") {
		if _, expr, ok := strings.Cut(line, "expr"); ok {
			for _, name := range named.FindAllString(expr, -1) {
				asked[name] = true
			}
		}
	}
	if len(asked) < 15 {
		t.Errorf("only %d metrics are asked for: %v", len(asked), slices.Sorted(maps.Keys(asked)))
	}
	for name := range asked {
		if !served[name] {
			t.Errorf("%s is asked for and not served", name)
		}
	}
}

// serve returns the names that a process serves that has counted everything once.
func serve(t *testing.T) map[string]bool {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	set, err := metric.New(registry, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range metric.Table(nil) {
		values := make([]string, len(m.Labels))
		switch {
		case m.PerObject:
			set.Replace(m.Name, []metric.Sample{{Labels: values, Value: 1}})
		case m.Kind == metric.Gauge:
			set.Put(m.Name, 1, values...)
		case m.Kind == metric.Counter:
			set.Add(m.Name, 1, values...)
		default:
			set.Observe(m.Name, 1, values...)
		}
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	served := map[string]bool{}
	for _, f := range families {
		served[f.GetName()] = true
		if f.GetMetric()[0].Histogram != nil {
			served[f.GetName()+"_bucket"], served[f.GetName()+"_count"] = true, true
		}
	}
	return served
}

// TestEveryMetricIsWritten has a metric found that nothing counts any more.
func TestEveryMetricIsWritten(t *testing.T) {
	code, err := scan("../..", "api", "internal")
	if err != nil {
		t.Fatal(err)
	}
	stay := map[string]string{metric.DisruptionTimeouts: "no search ends by time"} // at 0, and docs/reference/metrics.md says why
	is := written(code)
	for _, m := range metric.Table(nil) {
		switch why, stays := stay[m.Name]; {
		case !is(m.Name) && !stays:
			t.Errorf("no code writes %s: have it written, or take its line out of the table", m.Name)
		case is(m.Name) && stays:
			t.Errorf("%s is written, and said to stay at 0 because %s", m.Name, why)
		}
	}
}

func TestAsk(t *testing.T) {
	all := func(string) bool { return true }
	for name, tc := range map[string]struct {
		metric  string
		by      []string
		written func(string) bool
		want    string
	}{
		"a counter grows": {
			metric.CloudErrors,
			[]string{"method"},
			all,
			"sum by (method) (rate(karpenter_cloudprovider_errors_total[5m]))",
		},
		"some of its series": {
			metric.PodsEvictionRequests + `{code="429"}`, nil, all,
			`sum by () (rate(karpenter_pods_eviction_requests_total{code="429"}[5m]))`,
		},
		"a gauge is the same from every replica": {
			metric.ClusterStateNodes, nil, all, "max by () (karpenter_cluster_state_node_count)",
		},
		"of a histogram one wants to know how bad it gets": {
			metric.SchedulingDuration, nil, all,
			"histogram_quantile(0.9, sum by (le) (rate(karpenter_scheduler_scheduling_duration_seconds_bucket[5m])))",
		},
		"there is no such metric": {"karpenter_moons", nil, all, "metric karpenter_moons is not in the table, or no code writes it"},
		"nothing would answer": {
			metric.CloudErrors, nil, func(string) bool { return false },
			"metric karpenter_cloudprovider_errors_total is not in the table, or no code writes it",
		},
		"there is no such label": {metric.CloudErrors, []string{"moon"}, all, "metric karpenter_cloudprovider_errors_total has no label moon"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ask(tc.metric, tc.by, "5m", tc.written)
			if err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestEveryEventIsTold has an event that no line explains refused, and a line that no code backs.
func TestEveryEventIsTold(t *testing.T) {
	known := map[string]bool{}
	for reason := range eventsToTell() {
		known[reason] = true
	}
	if _, err := events(&source{events: map[string]bool{"Eclipse": true}, strings: known}); err == nil {
		t.Error("an event without a line passes")
	}
	if _, err := events(&source{strings: map[string]bool{}}); err == nil {
		t.Error("lines that no code backs pass")
	}
	if _, err := events(&source{strings: known}); err != nil {
		t.Error(err)
	}
}

// TestEveryRefusalIsFindable looks for each code of a refusal on the page that
// people search when a pod waits.
func TestEveryRefusalIsFindable(t *testing.T) {
	page, err := os.ReadFile("../../docs/guide/troubleshooting.md")
	if err != nil {
		t.Fatal(err)
	}
	code, err := scan("../..", "engine/reason")
	if err != nil {
		t.Fatal(err)
	}
	codes := code.constants["engine/reason"]
	if len(codes) < 20 {
		t.Fatalf("only %d codes were found: %v", len(codes), codes)
	}
	for _, c := range codes {
		if !strings.Contains(string(page), "`"+c.Value+"`") {
			t.Errorf("docs/guide/troubleshooting.md does not say what to do about %s", c.Value)
		}
	}
}

// TestPagesAreAsMade makes all pages from the code as it is: one that has no line for what is new fails, and so does one that was left as it was.
func TestPagesAreAsMade(t *testing.T) {
	const dir = "../../docs/reference"
	pages, err := pagesOf(dir)
	if err != nil {
		t.Fatal(err)
	}
	for name, made := range pages {
		kept, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if string(kept) != made {
			t.Errorf("%s is not what the code makes: run make docs", name)
		}
	}
}
