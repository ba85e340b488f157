package app

import (
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/tenon-sh/tenon/internal/controller/disrupt"
	"github.com/tenon-sh/tenon/internal/controller/provision"
	"github.com/tenon-sh/tenon/internal/statemetrics"
)

// reconciled counts decisions as controller-runtime counts reconciliations. They are
// made in Karpenter by controllers of controller-runtime with the same names, of which
// boards and alerts ask; here they are not.
type reconciled struct {
	*statemetrics.Passes

	total, failed *prometheus.CounterVec
	took          *prometheus.HistogramVec
	active        *prometheus.GaugeVec
}

// What controller-runtime calls the results of reconciliations.
const (
	succeeded = "success"
	failed    = "error"
)

// newReconciled returns reconciled over passes. Series that nothing has happened to are there, at 0, as in Karpenter.
func newReconciled(passes *statemetrics.Passes) *reconciled {
	labels := []string{"controller"}
	r := &reconciled{
		Passes: passes,
		total: registered(prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "controller_runtime_reconcile_total", Help: "Total number of reconciliations per controller",
		}, []string{"controller", "result"})),
		failed: registered(prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "controller_runtime_reconcile_errors_total", Help: "Total number of reconciliation errors per controller",
		}, labels)),
		took: registered(prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "controller_runtime_reconcile_time_seconds", Help: "Length of time per reconciliation per controller",
		}, labels)),
		active: registered(prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "controller_runtime_active_workers", Help: "Number of currently used workers per controller",
		}, labels)),
	}
	for _, controller := range []string{provision.Name, disrupt.Name} {
		for _, result := range []string{succeeded, failed} {
			r.total.WithLabelValues(controller, result)
		}
		r.failed.WithLabelValues(controller)
		r.took.WithLabelValues(controller)
		r.active.WithLabelValues(controller)
	}
	return r
}

// registered is what controller-runtime has registered as one of c, so that both write to it; c itself if there is nothing.
func registered[T prometheus.Collector](c T) T {
	var there prometheus.AlreadyRegisteredError
	if err := ctrlmetrics.Registry.Register(c); errors.As(err, &there) {
		if is, ok := there.ExistingCollector.(T); ok {
			return is
		}
	}
	return c
}

// Begin is statemetrics.Passes'.
func (r *reconciled) Begin(controller, world string) (end func()) {
	active, over := r.active.WithLabelValues(controller), r.Passes.Begin(controller, world)
	active.Inc()
	return func() {
		active.Dec()
		over()
	}
}

// Ended counts a pass that took so long, and whether it did what it was to do.
func (r *reconciled) Ended(controller string, took time.Duration, ok bool) {
	result := succeeded
	if !ok {
		result = failed
		r.failed.WithLabelValues(controller).Inc()
	}
	r.total.WithLabelValues(controller, result).Inc()
	r.took.WithLabelValues(controller).Observe(took.Seconds())
}
