package app

import (
	"slices"
	"testing"
	"time"

	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/statemetrics"
)

// What Karpenter's boards and alerts ask of its provisioner and disruption controllers is there, at 0 before anything happens.
func TestDecisionsCountAsReconciliations(t *testing.T) {
	passes := statemetrics.NewPasses(clock.Wall)
	r := newReconciled(passes)
	const (
		name   = "disruption"
		total  = "controller_runtime_reconcile_total"
		errors = "controller_runtime_reconcile_errors_total"
		took   = "controller_runtime_reconcile_time_seconds"
		active = "controller_runtime_active_workers"
	)
	is := func(of ...string) float64 {
		value, there := serve(t, of[0], of[1:]...)
		if !there {
			t.Errorf("%v is not there", of)
		}
		return value
	}
	var before []float64
	counted := [][]string{{total, name, "success"}, {total, name, "error"}, {errors, name}, {took, name}, {total, "provisioner", "success"}, {errors, "provisioner"}, {took, "provisioner"}}
	for _, c := range counted {
		before = append(before, is(c...))
	}
	end := r.Begin(name, "world")
	if n := is(active, name); n != 1 || len(passes.Samples()) != 1 {
		t.Errorf("%v decisions are being made, and it was told of %v", n, passes.Samples())
	}
	end()
	r.Ended(name, time.Second, true)
	r.Ended(name, time.Second, false)
	for i, want := range []float64{1, 1, 1, 2, 0, 0, 0} {
		if got := is(counted[i]...) - before[i]; got != want {
			t.Errorf("%v has grown by %v, want %v", counted[i], got, want)
		}
	}
	if n := is(active, name); n != 0 || len(passes.Samples()) != 0 {
		t.Errorf("%v decisions are being made after all have ended, and it was told of %v", n, passes.Samples())
	}
}

// serve is what is served with a name and the values of its labels, as its line has it: how many for what has buckets.
func serve(t *testing.T, name string, labels ...string) (value float64, there bool) {
	t.Helper()
	families, err := ctrlmetrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			var has []string
			for _, l := range m.GetLabel() {
				has = append(has, l.GetValue())
			}
			if f.GetName() == name && slices.Equal(has, labels) {
				return m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount()), true
			}
		}
	}
	return 0, false
}
