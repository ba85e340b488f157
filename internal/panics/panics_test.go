package panics_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/go-logr/logr/funcr"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tenon-sh/tenon/internal/metric"
	"github.com/tenon-sh/tenon/internal/panics"
)

func TestCaught(t *testing.T) {
	if err := panics.Caught(func() {}); err != nil {
		t.Errorf("of what returned: %v", err)
	}
	err := panics.Caught(breaks)
	if err == nil {
		t.Fatal("what panicked counts as returned")
	}
	for _, want := range []string{"no such key", "panics_test.breaks"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not told of:\n%v", want, err)
		}
	}
}

func breaks() { panic("no such key") }

// An object that breaks a handler is named in the log and counted, and the next one is handled.
func TestAHandlerOutlivesAnObject(t *testing.T) {
	registry := prometheus.NewRegistry()
	set, err := metric.New(registry, nil)
	if err != nil {
		t.Fatal(err)
	}
	var said, handled []string
	teller := panics.Teller{Metrics: set, Log: funcr.New(func(_, args string) { said = append(said, args) }, funcr.Options{})}
	handle := func(o any) {
		p, ok := o.(*corev1.Pod)
		if !ok || p.Name == "bad" {
			breaks()
		}
		handled = append(handled, p.Name)
	}
	pod := func(name string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	}
	add, update := teller.Handle("handler", handle), teller.HandleUpdate("handler", func(_, o any) { handle(o) })
	add(pod("bad"))
	add(pod("a"))
	update(nil, pod("bad"))
	update(nil, pod("b"))
	add(7)
	add(pod("c"))
	if want := []string{"a", "b", "c"}; !slices.Equal(handled, want) {
		t.Errorf("handled %v, want %v", handled, want)
	}
	for i, name := range []string{"default/bad", "default/bad", "int"} {
		if i >= len(said) || !strings.Contains(said[i], name) || !strings.Contains(said[i], "panics_test.breaks") {
			t.Errorf("the log does not say that %s broke, and where: %q", name, said)
		}
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() != metric.Panics {
			continue
		}
		if got := f.GetMetric()[0].GetCounter().GetValue(); got != 3 {
			t.Errorf("%v are counted, want 3", got)
		}
		return
	}
	t.Error("none is counted")
}
