package kubetest

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tenon-sh/tenon/internal/clock"
)

// Client returns a client with the rights of an administrator that knows the kinds of Kubernetes and those that add
// brings.
func Client(t testing.TB, add ...func(*runtime.Scheme) error) client.WithWatch {
	t.Helper()
	config := Config(t)
	known := runtime.NewScheme()
	for _, f := range append([]func(*runtime.Scheme) error{scheme.AddToScheme}, add...) {
		if err := f(known); err != nil {
			t.Fatal("kubetest: ", err)
		}
	}
	c, err := client.NewWithWatch(config, client.Options{Scheme: known})
	if err != nil {
		t.Fatal("kubetest: ", err)
	}
	return c
}

// Namespace makes a namespace for one test, in which pods can be made, and returns its name. Its pods go with the test,
// so that they take no room of nodes that other tests, or the same once more, name alike; the rest of it as well where
// there are controllers.
func Namespace(t testing.TB) string {
	t.Helper()
	c := Client(t)
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	if err := c.Create(t.Context(), ns); err != nil {
		t.Fatal("kubetest: make a namespace: ", err)
	}
	t.Cleanup(func() {
		ctx := context.Background()
		if err := client.IgnoreNotFound(c.Delete(ctx, ns)); err != nil {
			t.Error("kubetest: delete a namespace: ", err)
		}
		if err := c.DeleteAllOf(ctx, &corev1.Pod{}, client.InNamespace(ns.Name), client.GracePeriodSeconds(0)); err != nil {
			t.Error("kubetest: delete the pods of a namespace: ", err)
		}
	})
	if current.options.Controllers { // they create the service account without which there are no pods
		Within(t, time.Minute, func() error {
			return c.Get(t.Context(), client.ObjectKey{Namespace: ns.Name, Name: "default"}, &corev1.ServiceAccount{})
		})
	}
	return ns.Name
}

// patience is how many times slower than usual a computer may be that runs many other things beside a test.
const patience = 4

// beforeEnd is how long before the deadline of all tests a wait gives up, so that what it waited for is said instead of the stacks of all goroutines.
const beforeEnd = 30 * time.Second

// Within calls check until it returns nil, and fails the test with its last error when that takes much longer than limit, which is
// meant for an idle computer: waiting for longer costs nothing when all is well.
func Within(t testing.TB, limit time.Duration, check func() error) {
	t.Helper()
	limit *= patience
	if all, ok := t.(interface{ Deadline() (time.Time, bool) }); ok {
		if end, ok := all.Deadline(); ok {
			limit = min(limit, end.Sub(clock.Wall())-beforeEnd)
		}
	}
	late := time.After(limit)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		err := check()
		if err == nil {
			return
		}
		select {
		case <-late:
			t.Fatalf("not within %s: %v", limit, err)
		case <-t.Context().Done():
			t.Fatalf("the test ended before: %v", err)
		case <-tick.C:
		}
	}
}
