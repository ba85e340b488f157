package app_test

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/internal/journal"
	"github.com/tenon-sh/tenon/internal/kubetest"
)

// With PODS=5000 in the environment this measures how soon as many pods that
// wait have all their claims, and says where the time goes.
func TestPodsAtScale(t *testing.T) {
	n, err := strconv.Atoi(os.Getenv("PODS"))
	if err != nil {
		t.Skip("set PODS to how many are to wait")
	}
	counted := &calls{n: map[string]int{}}
	h := build(t, counted)
	ns := kubetest.Namespace(t)
	p := pool("scale")
	sizes := []string{"100m", "250m", "500m", "900m", "1500m"}
	many(n, func(i int) {
		d := deployment(ns, fmt.Sprint("app-", i%100), 1, sizes[i%len(sizes)])
		one := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: fmt.Sprint("web-", i), Labels: d.Spec.Selector.MatchLabels}, Spec: d.Spec.Template.Spec}
		if err := h.client.Create(t.Context(), &one); err != nil {
			t.Error(err)
		}
	})
	kubetest.Within(t, 5*time.Minute, func() error {
		waiting := 0
		for _, pod := range h.app.Cluster.World().Waiting() {
			if pod.Waiting {
				waiting++
			}
		}
		if waiting < n {
			return fmt.Errorf("%d of %d pods wait", waiting, n)
		}
		return nil
	})
	counted.take()
	start, cpu := time.Now(), used()
	h.make(t, p)
	asked := func() (int, bool) { // how many claims were decided on, and whether all are there
		want, placed := 0, 0
		for _, e := range h.app.Journal.All() {
			if e.Kind != journal.Buy {
				continue
			}
			for _, a := range e.Plan.New {
				want, placed = want+1, placed+len(a.Pods)
			}
		}
		claims, err := h.claims()
		return want, err == nil && placed >= n && len(claims) >= want
	}
	var want int
	kubetest.Within(t, 5*time.Minute, func() (err error) {
		var all bool
		if want, all = asked(); !all {
			err = fmt.Errorf("%d claims were decided on and are not there", want)
		}
		return err
	})
	t.Logf("%d pods have %d claims %v after their pool came, %v of processor time", n, want, time.Since(start).Round(time.Millisecond), (used() - cpu).Round(time.Millisecond))
	claims, err := h.claims()
	if err != nil {
		t.Fatal(err)
	}
	last := slices.MaxFunc(claims, func(a, b v1.NodeClaim) int { return a.CreationTimestamp.Compare(b.CreationTimestamp.Time) })
	t.Logf("by the API server's time stamps the last claim is %v younger than the pool", last.CreationTimestamp.Sub(p.CreationTimestamp.Time))
	for _, e := range h.app.Journal.All() {
		t.Logf("%s: %d new machines, %d steps, %d s after the pool", e.Kind, len(e.Plan.New), e.Plan.Steps, e.Plan.At-start.Unix())
	}
	h.allRun(t, ns, n)
	t.Logf("all run after %v, %v of processor time", time.Since(start).Round(time.Millisecond), (used() - cpu).Round(time.Millisecond))
	pause(5 * time.Second)
	report(t, "to come, for a pod", n, counted.take())
	kubetest.Within(t, 5*time.Minute, func() error {
		return h.client.DeleteAllOf(t.Context(), &corev1.Pod{}, client.InNamespace(ns), client.GracePeriodSeconds(0))
	})
	if err := h.client.Delete(t.Context(), p); err != nil {
		t.Fatal(err)
	}
}
