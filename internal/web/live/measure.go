package live

import (
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/metric"
)

// Measure puts the figures of a World that the page plots into metrics, so that a board plots the same for longer.
func Measure(m *metric.Set, w *world.World) {
	var tally Tally
	t := tally.Of(w)
	m.Put(metric.ClusterPrice, t.Price.Units(), "price")
	m.Put(metric.ClusterPrice, t.OnDemand.Units(), "on_demand")
	m.Put(metric.ClusterNodes, float64(t.Ready), "ready")
	m.Put(metric.ClusterNodes, float64(t.NotReady), "not_ready")
	m.Put(metric.ClusterNodes, float64(t.Coming), "coming")
	m.Put(metric.ClusterNodes, float64(t.Going), "going")
	m.Put(metric.PendingPods, float64(t.Waiting))
	m.Put(metric.PendingLongest, float64(t.Longest))
}
