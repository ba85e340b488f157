package app_test

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/internal/kubetest"
)

// With NODES=500 in the environment this measures how so many nodes come: it is
// no test, and says what it saw.
func TestNodesAtScale(t *testing.T) {
	n, err := strconv.Atoi(os.Getenv("NODES"))
	if err != nil {
		t.Skip("set NODES to how many are to come")
	}
	h := build(t, nil)
	ns := kubetest.Namespace(t)
	p, d := pool("scale"), deployment(ns, "web", 1, "900m")
	labels := map[string]string{"app": "web"}
	d.Spec.Template.Spec.Affinity = apart(d)
	pod := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Labels: labels}, Spec: d.Spec.Template.Spec}
	start := time.Now()
	var wg sync.WaitGroup
	slots := make(chan struct{}, 32)
	for i := range n {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			one := pod.DeepCopy()
			one.Name = fmt.Sprint("web-", i)
			if err := h.client.Create(t.Context(), one); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	t.Logf("%d pods made after %v", n, time.Since(start))
	h.make(t, p)
	start, cpu := time.Now(), used()
	reached := func(what string, count func(*v1.NodeClaim) bool) {
		err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, 10*time.Minute, true, func(context.Context) (bool, error) {
			claims, err := h.claims()
			have := 0
			for i := range claims {
				if count(&claims[i]) {
					have++
				}
			}
			return have >= n, err
		})
		if err != nil {
			t.Fatal(what, err)
		}
		t.Logf("%d claims %s after %v, %v of processor time", n, what, time.Since(start), used()-cpu)
	}
	reached("made", func(*v1.NodeClaim) bool { return true })
	for _, kind := range []string{v1.ConditionLaunched, v1.ConditionRegistered, v1.ConditionInitialized} {
		reached(kind, func(c *v1.NodeClaim) bool { return c.Conditions().Is(kind) })
	}
	t.Logf("%d machines were bought", len(h.market.Instances()))
}

// used is the processor time of this process, the simulated machines included.
func used() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
