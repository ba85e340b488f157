package loop_test

import (
	"context"
	"strings"
	"testing"

	"github.com/go-logr/logr/funcr"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/tenon-sh/tenon/internal/loop"
	"github.com/tenon-sh/tenon/internal/metric"
	"github.com/tenon-sh/tenon/internal/panics"
)

// An object that breaks what maps it is logged and counted, as one is that breaks anything else, and the next one is mapped.
func TestMappedOutlivesAnObject(t *testing.T) {
	registry := prometheus.NewRegistry()
	set, err := metric.New(registry, nil)
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	told := panics.Teller{Metrics: set, Log: funcr.New(func(_, args string) { said = append(said, args) }, funcr.Options{})}
	handler := loop.Mapped(told, func(_ context.Context, o client.Object) []reconcile.Request {
		if o.GetName() == "bad" {
			panic("no such label")
		}
		return []reconcile.Request{{NamespacedName: client.ObjectKeyFromObject(o)}}
	})
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	defer queue.ShutDown()
	for _, name := range []string{"bad", "good"} {
		handler.Create(t.Context(), event.CreateEvent{Object: &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}}, queue)
	}
	if next, _ := queue.Get(); queue.Len() != 0 || next.Name != "good" {
		t.Errorf("what is looked at is %q, and %d more", next.Name, queue.Len())
	}
	if len(said) != 1 || !strings.Contains(said[0], "no such label") || !strings.Contains(said[0], `"object"="bad"`) {
		t.Errorf("the log says %q", said)
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	counted := 0.0
	for _, f := range families {
		if f.GetName() == metric.Panics {
			counted += f.GetMetric()[0].GetCounter().GetValue()
		}
	}
	if counted != 1 {
		t.Errorf("%v panics are counted, want 1", counted)
	}
}
