package metric

import (
	"slices"
	"strings"
)

// Kind is what a metric counts.
type Kind string

// The kinds of metrics.
const (
	Counter   Kind = "counter"   // only grows
	Gauge     Kind = "gauge"     // how much there is now
	Histogram Kind = "histogram" // how often a value fell into which bucket
	Summary   Kind = "summary"   // which values the quantiles had
)

// Stage is how far one may rely on a metric.
type Stage string

// The stages of a metric.
const (
	Stable     Stage = "stable"     // name and labels stay
	Beta       Stage = "beta"       // labels may be added
	Alpha      Stage = "alpha"      // may change with any release
	Deprecated Stage = "deprecated" // there is a better one; stays for old dashboards
)

// Metric is one line of the table.
type Metric struct {
	Name    string
	Kind    Kind
	Help    string
	Labels  []string
	Stage   Stage
	Buckets []float64  // of a histogram
	Seeds   [][]string // label values that exist from the start, with value 0
	// PerObject marks a gauge with series for single objects, such as nodes or
	// pods. It is written as a whole, with Replace, so that no series outlives its object.
	PerObject bool
	// Max is how many series there may be at once; 0 is MaxSeries.
	Max int
}

// MaxSeries is the number of series a metric may have unless its line says
// otherwise. What would be more is counted in DroppedSeries.
const MaxSeries = 1000

// manySeries bounds the metrics that have series for single nodes or pods.
const manySeries = 200_000

// Table returns every metric of tenon, by name. Labels that nodes carry are
// added to those of the per-node metrics; see NodeLabels.
func Table(nodeLabels []string) []Metric {
	all := slices.Concat(
		process(), claims(), nodes(nodeLabels), pools(), pods(), scheduling(),
		disruption(), cloud(), aws(), calls(), conditions(), tenon(),
	)
	slices.SortFunc(all, func(a, b Metric) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// NodeLabels turns label keys into the names of metric labels: the last part,
// in snake case. Two keys with one last part share the name.
func NodeLabels(keys []string) []string {
	var names []string
	for _, key := range keys {
		last := key[strings.LastIndex(key, "/")+1:]
		name := strings.NewReplacer("-", "_", ".", "_").Replace(last)
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// durations are the buckets of most histograms of seconds: from 5 ms to 10 min.
func durations() []float64 {
	return []float64{
		0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9,
		1, 1.25, 1.5, 1.75, 2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9,
		10, 15, 20, 25, 30, 40, 50, 60, 120, 180, 300, 450, 600,
	}
}

// doubling returns n buckets from 1, each twice the one before.
func doubling(n int) []float64 {
	buckets := make([]float64, n)
	for i := range buckets {
		buckets[i] = float64(int(1) << i)
	}
	return buckets
}

// growing returns n buckets, each so many times the one before.
func growing(first, factor float64, n int) []float64 {
	buckets := make([]float64, n)
	for i := range buckets {
		buckets[i] = first
		first *= factor
	}
	return buckets
}

// lifetimes are the buckets for how long a node lived: from 15 min to 30 days.
func lifetimes() []float64 {
	const hour, day = 3600, 24 * 3600
	return []float64{
		hour / 4, hour / 2, hour, 2 * hour, 4 * hour, 6 * hour, 8 * hour, 12 * hour, 18 * hour,
		day, 2 * day, 3 * day, 5 * day, 7 * day, 10 * day, 14 * day, 21 * day, 30 * day,
	}
}
