package statemetrics

import (
	"iter"
	"maps"
	"slices"
	"sync"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/cluster"
	"github.com/tenon-sh/tenon/internal/metric"
)

// Limits knows what pods that are bound may use at most. A World does not: no
// decision is made of it.
type Limits struct {
	mu   sync.Mutex
	pods map[world.Key]limited
}

// limited is a bound pod that has limits.
type limited struct {
	node   string
	daemon bool
	limits amount.List
}

// NewLimits returns Limits that know of no pod.
func NewLimits() *Limits { return &Limits{pods: map[world.Key]limited{}} }

// Heard follows the change of a pod.
func (l *Limits) Heard(c cluster.Change) {
	if c.Kind != cluster.Pod {
		return
	}
	is := c.Is
	bound := is != nil && is.Node != "" && !is.Done
	if bound && c.Limits == nil {
		return // what is known of its limits still holds
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.Was != nil {
		delete(l.pods, c.Was.Key)
	}
	if bound && len(c.Limits) > 0 {
		l.pods[is.Key] = limited{is.Node, is.DaemonSet != "", c.Limits}
	}
}

// Each gives the series of a metric of limits, as the function Each does for others.
func (l *Limits) Each(w *world.World, keys []string, name string) iter.Seq[metric.Sample] {
	return func(yield func(metric.Sample) bool) {
		sums := l.sums(limitMetrics()[name])
		s, columns := &stream{name: name, yield: yield}, columns(keys)
		for _, p := range w.Places() {
			if p.Node == nil || sums[p.Node.Name] == nil {
				continue
			}
			s.amounts(name, sums[p.Node.Name].List(), labelsOf(p, columns))
		}
	}
}

// sums are the limits of the pods that count on each node that has any.
func (l *Limits) sums(counts func(limited) bool) map[string]*amount.Total {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := map[string]*amount.Total{}
	for _, p := range l.pods {
		if !counts(p) {
			continue
		}
		if out[p.node] == nil {
			out[p.node] = &amount.Total{}
		}
		out[p.node].Add(p.limits)
	}
	return out
}

// limitMetrics are the metrics of limits, and which pods each of them counts.
func limitMetrics() map[string]func(limited) bool {
	return map[string]func(limited) bool{
		metric.NodesPodLimits:    func(limited) bool { return true },
		metric.NodesDaemonLimits: func(p limited) bool { return p.daemon },
	}
}

// LimitNames are the metrics of limits.
func LimitNames() []string { return slices.Sorted(maps.Keys(limitMetrics())) }
