// Package metric holds every metric of tenon in one table, and the set of them
// that a process counts with.
//
// A metric that is not in the table does not exist: its documentation and its
// tests are made from there. Every metric has a bound on the number of its
// series, whatever the cluster looks like.
package metric

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// Set is the metrics of one process. A nil Set counts nothing, so that code that
// counts need not ask whether there is one. It is safe for concurrent use.
//
// The methods take the values of a metric's labels in the order of the table.
// A name that is not in the table, a wrong number of values, or a method that
// does not suit the kind is a bug in the caller and panics.
type Set struct {
	all map[string]*series
}

// A Sample is one series of a per-object metric.
type Sample struct {
	Labels []string // values, in the order of the table
	Value  float64
}

// New returns the set of all metrics, registered with reg. nodeLabels are the
// names that NodeLabels gave to the labels of nodes.
func New(reg prometheus.Registerer, nodeLabels []string) (*Set, error) {
	s := &Set{all: map[string]*series{}}
	table := Table(nodeLabels)
	for _, m := range table {
		s.all[m.Name] = newSeries(m)
	}
	for _, m := range table {
		c := s.all[m.Name]
		if err := reg.Register(c.collector); err != nil {
			return nil, fmt.Errorf("register metric %s: %w", m.Name, err)
		}
		c.dropped = func() { s.Add(DroppedSeries, 1, m.Name) }
		for _, values := range m.Seeds {
			c.seed(values)
		}
	}
	return s, nil
}

// Add adds to a counter or a gauge.
func (s *Set) Add(name string, delta float64, labels ...string) {
	s.use(name, labels, func(c *series, labels []string) {
		if c.counters != nil {
			c.counters.WithLabelValues(labels...).Add(delta)
		} else {
			c.gauges.WithLabelValues(labels...).Add(delta)
		}
	})
}

// Put sets a gauge.
func (s *Set) Put(name string, value float64, labels ...string) {
	s.use(name, labels, func(c *series, labels []string) { c.gauges.WithLabelValues(labels...).Set(value) })
}

// Observe adds a value to a histogram or a summary. A time that is below zero,
// because a clock was set back, counts as none: sums never shrink.
func (s *Set) Observe(name string, value float64, labels ...string) {
	s.use(name, labels, func(c *series, labels []string) { c.observers.WithLabelValues(labels...).Observe(max(value, 0)) })
}

// ObserveOf is Observe of what a trace says more of: a histogram keeps its id beside the value. Without an id, and of
// a summary, it is Observe.
func (s *Set) ObserveOf(trace, name string, value float64, labels ...string) {
	s.use(name, labels, func(c *series, labels []string) {
		o := c.observers.WithLabelValues(labels...)
		if with, ok := o.(prometheus.ExemplarObserver); ok && trace != "" {
			with.ObserveWithExemplar(max(value, 0), prometheus.Labels{"trace_id": trace})
			return
		}
		o.Observe(max(value, 0))
	})
}

// Replace gives a per-object metric its series; those of before are gone.
func (s *Set) Replace(name string, samples []Sample) {
	if s != nil {
		s.metric(name).replace(samples)
	}
}

// Labels are the names of a metric's labels, in the order of the table.
func (s *Set) Labels(name string) []string {
	if s == nil {
		return nil
	}
	return slices.Clone(s.metric(name).Metric.Labels)
}

func (s *Set) metric(name string) *series {
	c := s.all[name]
	if c == nil {
		panic(fmt.Sprintf("there is no metric %q: give it a line in internal/metric", name))
	}
	return c
}

// use does something to one series, if there is room for it. Every value of a
// label comes through here or through replace, and is made valid there.
func (s *Set) use(name string, labels []string, do func(*series, []string)) {
	if s == nil {
		return
	}
	labels = clean(labels)
	if c := s.metric(name); c.admit(labels) {
		do(c, labels)
	}
}

// series are the series of one metric.
type series struct {
	Metric
	collector prometheus.Collector
	dropped   func() // is called for each series that there is no room for

	// One of these, by kind; none when PerObject.
	counters  *prometheus.CounterVec
	gauges    *prometheus.GaugeVec
	observers prometheus.ObserverVec

	mu      sync.Mutex
	known   map[string]bool     // label values in use, by their join
	current []prometheus.Metric // of a per-object metric
}

func newSeries(m Metric) *series {
	if m.Max == 0 {
		m.Max = MaxSeries
	}
	c := &series{Metric: m, known: map[string]bool{}}
	opts := prometheus.Opts{Name: m.Name, Help: m.Help}
	switch {
	case m.PerObject:
		c.collector = snapshot{c, prometheus.NewDesc(m.Name, m.Help, m.Labels, nil)}
	case m.Kind == Counter:
		c.counters = prometheus.NewCounterVec(prometheus.CounterOpts(opts), m.Labels)
		c.collector = c.counters
	case m.Kind == Gauge:
		c.gauges = prometheus.NewGaugeVec(prometheus.GaugeOpts(opts), m.Labels)
		c.collector = c.gauges
	case m.Kind == Histogram:
		v := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: m.Name, Help: m.Help, Buckets: m.Buckets}, m.Labels)
		c.collector, c.observers = v, v
	default:
		quantiles := map[float64]float64{0: 0.01, 0.5: 0.01, 0.9: 0.01, 0.99: 0.01, 1: 0.01}
		v := prometheus.NewSummaryVec(prometheus.SummaryOpts{Name: m.Name, Help: m.Help, Objectives: quantiles}, m.Labels)
		c.collector, c.observers = v, v
	}
	return c
}

// admit reports whether the series exists or may come to exist.
func (c *series) admit(labels []string) bool {
	if c.PerObject {
		panic(c.Name + " has series for single objects: use Replace")
	}
	key := strings.Join(labels, "\xff")
	c.mu.Lock()
	known := c.known[key]
	full := !known && len(c.known) >= c.Max
	if !known && !full {
		c.known[key] = true
	}
	c.mu.Unlock()
	if full {
		c.dropped()
	}
	return !full
}

// seed makes a series exist before anything happened.
func (c *series) seed(labels []string) {
	switch {
	case !c.admit(labels):
	case c.counters != nil:
		c.counters.WithLabelValues(labels...)
	case c.gauges != nil:
		c.gauges.WithLabelValues(labels...)
	default:
		c.observers.WithLabelValues(labels...)
	}
}

func (c *series) replace(samples []Sample) {
	s, ok := c.collector.(snapshot)
	if !ok {
		panic(c.Name + " has no series for single objects: use Put")
	}
	current := make([]prometheus.Metric, 0, min(len(samples), c.Max))
	known := make(map[string]bool, cap(current))
	for _, sample := range samples {
		labels := clean(sample.Labels)
		key := strings.Join(labels, "\xff")
		if known[key] {
			continue // an object that says one thing twice, of which the first counts: two series alike fail the whole scrape
		}
		if len(current) >= c.Max {
			c.dropped()
			continue
		}
		known[key] = true
		current = append(current, prometheus.MustNewConstMetric(s.desc, prometheus.GaugeValue, sample.Value, labels...))
	}
	c.mu.Lock()
	c.current = current
	c.mu.Unlock()
}

// snapshot collects the series of a per-object metric.
type snapshot struct {
	*series
	desc *prometheus.Desc
}

// Describe is prometheus.Collector's.
func (s snapshot) Describe(out chan<- *prometheus.Desc) { out <- s.desc }

// Collect is prometheus.Collector's.
func (s snapshot) Collect(out chan<- prometheus.Metric) {
	s.mu.Lock()
	current := s.current
	s.mu.Unlock()
	for _, m := range current {
		out <- m
	}
}
