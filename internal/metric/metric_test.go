package metric_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/tenon-sh/tenon/internal/metric"
)

func newSet(t *testing.T) (*metric.Set, *prometheus.Registry) {
	t.Helper()
	reg := prometheus.NewPedanticRegistry()
	set, err := metric.New(reg, metric.NodeLabels([]string{"topology.kubernetes.io/zone", "kubernetes.io/arch"}))
	if err != nil {
		t.Fatal(err)
	}
	return set, reg
}

// scrape returns the series of one metric as `{a="b"} 1`, or the count of
// values for a histogram or summary.
func scrape(t *testing.T, reg prometheus.Gatherer, name string) []string {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, f := range families {
		if f.GetName() != name {
			continue
		}
		for _, m := range f.GetMetric() {
			var labels []string
			for _, l := range m.GetLabel() {
				labels = append(labels, fmt.Sprintf("%s=%q", l.GetName(), l.GetValue()))
			}
			value := m.GetCounter().GetValue() + m.GetGauge().GetValue() +
				float64(m.GetHistogram().GetSampleCount()) + float64(m.GetSummary().GetSampleCount())
			lines = append(lines, fmt.Sprintf("{%s} %v", strings.Join(labels, ","), value))
		}
	}
	return lines
}

func want(t *testing.T, why string, got []string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s\n(-want +got)\n%s", why, diff)
	}
}

// Every line of the table can be written by the method that suits it, and a
// scrape then finds it under its name.
func TestEveryMetricOfTheTable(t *testing.T) {
	set, reg := newSet(t)
	for _, m := range metric.Table(metric.NodeLabels([]string{"topology.kubernetes.io/zone", "kubernetes.io/arch"})) {
		values := make([]string, len(m.Labels))
		for i, l := range m.Labels {
			values[i] = "some-" + l
		}
		switch {
		case m.PerObject:
			set.Replace(m.Name, []metric.Sample{{Labels: values, Value: 1}})
		case m.Kind == metric.Counter:
			set.Add(m.Name, 1, values...)
		case m.Kind == metric.Gauge:
			set.Put(m.Name, 1, values...)
		default:
			set.Observe(m.Name, 1, values...)
		}
		if got := scrape(t, reg, m.Name); len(got) != 1+len(m.Seeds) && len(m.Labels) > 0 || len(got) == 0 {
			t.Errorf("%s: scrape finds %v", m.Name, got)
		}
		if diff := cmp.Diff(m.Labels, set.Labels(m.Name)); diff != "" {
			t.Errorf("%s: %s", m.Name, diff)
		}
	}
}

func TestTableIsInOrder(t *testing.T) {
	last := ""
	for _, m := range metric.Table(nil) {
		switch {
		case m.Name <= last:
			t.Errorf("%s comes twice or after %s", m.Name, last)
		case m.Help == "" || !strings.HasSuffix(m.Help, "."):
			t.Errorf("%s: the help is a sentence, got %q", m.Name, m.Help)
		case m.Stage == "":
			t.Errorf("%s has no stage", m.Name)
		case m.Kind == metric.Histogram && len(m.Buckets) == 0:
			t.Errorf("%s has no buckets", m.Name)
		case m.Kind == metric.Counter && !strings.HasSuffix(m.Name, "_total"):
			t.Errorf("%s: a counter ends in _total", m.Name)
		}
		last = m.Name
	}
}

func TestSeriesComeAndGo(t *testing.T) {
	set, reg := newSet(t)
	want(t, "What is known beforehand is there before it happens, so that a rate can be taken.",
		scrape(t, reg, metric.DisruptionTimeouts), `{consolidation_type="multi"} 0`, `{consolidation_type="single"} 0`)

	set.Replace(metric.PodsUnboundTime, []metric.Sample{{[]string{"a", "ns"}, 1}, {[]string{"b", "ns"}, 2}})
	set.Replace(metric.PodsUnboundTime, []metric.Sample{{[]string{"b", "ns"}, 3}})
	want(t, "Replacing ends the series of pods that are gone.", scrape(t, reg, metric.PodsUnboundTime), `{name="b",namespace="ns"} 3`)
}

func TestSeriesAreBounded(t *testing.T) {
	set, reg := newSet(t)
	for i := range metric.MaxSeries + 7 {
		set.Add(metric.NodesDrained, 1, fmt.Sprint("pool-", i))
	}
	set.Add(metric.NodesDrained, 1, "pool-0")
	if got := len(scrape(t, reg, metric.NodesDrained)); got != metric.MaxSeries {
		t.Errorf("%d series, at most %d are allowed", got, metric.MaxSeries)
	}
	want(t, "What had no room is counted.", scrape(t, reg, metric.DroppedSeries), `{metric="`+metric.NodesDrained+`"} 7`)
}

func TestNilCountsNothing(t *testing.T) {
	var set *metric.Set
	set.Add(metric.NodesDrained, 1, "web")
	set.Put(metric.DisruptionEligibleNodes, 1, "empty")
	set.Observe(metric.PodsBoundDuration, 1)
	set.Replace(metric.PodsState, nil)
	if set.Labels(metric.PodsState) != nil {
		t.Error("a nil set has labels")
	}
}

func TestABugPanics(t *testing.T) {
	set, _ := newSet(t)
	tests := map[string]func(){
		"UnknownName":       func() { set.Add("karpenter_nothing_total", 1) },
		"WrongNumber":       func() { set.Add(metric.NodesDrained, 1) },
		"PutPerObject":      func() { set.Put(metric.PodsState, 1) },
		"ReplaceOther":      func() { set.Replace(metric.NodesDrained, nil) },
		"ReplaceWithoutAll": func() { set.Replace(metric.PodsUnboundTime, []metric.Sample{{[]string{"a"}, 1}}) },
	}
	for name, bug := range tests {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("went unnoticed")
				}
			}()
			bug()
		})
	}
}

func TestNodeLabels(t *testing.T) {
	got := metric.NodeLabels([]string{"karpenter.k8s.aws/instance-cpu", "kubernetes.io/arch", "beta.kubernetes.io/arch", "x/a.b"})
	if diff := cmp.Diff([]string{"a_b", "arch", "instance_cpu"}, got); diff != "" {
		t.Error(diff)
	}
}

// What a kubelet writes into its Node may be no UTF-8, may be long, and may be
// there twice. It neither panics nor hides what others say.
func TestValuesOfOthersAreMadeValid(t *testing.T) {
	set, reg := newSet(t)
	long := strings.Repeat("ä", 4000)
	for _, bad := range []string{"\xff\xfe lies", "a\x80", long} {
		for _, m := range metric.Table(metric.NodeLabels([]string{"topology.kubernetes.io/zone", "kubernetes.io/arch"})) {
			if len(m.Labels) == 0 {
				continue
			}
			values := slices.Repeat([]string{bad}, len(m.Labels))
			switch {
			case m.PerObject:
				set.Replace(m.Name, []metric.Sample{{Labels: values, Value: 1}, {Labels: values, Value: 2}, {Labels: slices.Repeat([]string{"good"}, len(m.Labels)), Value: 3}})
			case m.Kind == metric.Counter:
				set.Add(m.Name, 1, values...)
			case m.Kind == metric.Gauge:
				set.Put(m.Name, 1, values...)
			default:
				set.Observe(m.Name, 1, values...)
			}
		}
		families, err := reg.Gather()
		if err != nil {
			t.Fatalf("the scrape fails: %v", err)
		}
		for _, f := range families {
			for _, m := range f.GetMetric() {
				for _, l := range m.GetLabel() {
					if v := l.GetValue(); !utf8.ValidString(v) || len(v) > 256 {
						t.Errorf("%s has label %s of %d bytes: %q", f.GetName(), l.GetName(), len(v), v[:min(len(v), 20)])
					}
				}
			}
		}
	}
	want(t, "What is said well is there beside it.", scrape(t, reg, metric.UserDataBytes), `{nodeclass="good"} 3`, fmt.Sprintf(`{nodeclass=%q} 1`, strings.Repeat("ä", 128)))
}
