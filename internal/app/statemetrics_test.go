package app

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cluster"
	"github.com/tenon-sh/tenon/internal/metric"
)

// candidate is a manager that is elected once the channel is closed.
type candidate struct {
	ctrl.Manager

	elected chan struct{}
}

func (c candidate) Elected() <-chan struct{} { return c.elected }

// Boards and rules add up over replicas: what is in the cluster is told by the one that leads.
func TestTheClusterIsMeasuredOnce(t *testing.T) {
	registry := prometheus.NewRegistry()
	set, err := metric.New(registry, nil)
	if err != nil {
		t.Fatal(err)
	}
	state := cluster.New(clock.Wall)
	state.SetNode(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a"}})
	m := candidate{elected: make(chan struct{})}
	p := &parts{Config: Config{Settings: Settings{Unobserved: true}, Now: clock.Wall}, m: m, cluster: state, metrics: set}
	nodes := func() float64 {
		p.measure(t.Context())
		all, err := registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range all {
			if f.GetName() == metric.ClusterStateNodes {
				return f.GetMetric()[0].GetGauge().GetValue()
			}
		}
		return -1
	}
	if n := nodes(); n > 0 {
		t.Errorf("a replica that waits tells of %v nodes", n)
	}
	close(m.elected)
	if n := nodes(); n != 1 {
		t.Errorf("the one that leads tells of %v nodes, and there is one", n)
	}
}
