package app_test

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/cloud"
	"github.com/tenon-sh/tenon/internal/kubetest"
	"github.com/tenon-sh/tenon/internal/sim/driver"
	"github.com/tenon-sh/tenon/internal/sim/market"
)

// With SOLDOUT=1000 in the environment this measures what is called and written
// while so many pods want machines of a cloud that has none left.
func TestSoldOut(t *testing.T) {
	n, err := strconv.Atoi(os.Getenv("SOLDOUT"))
	if err != nil {
		t.Skip("set SOLDOUT to how many pods are to wait")
	}
	counted, m := &calls{n: map[string]int{}}, region(t)
	m.SetCapacity(market.Capacity{}) // nothing of anything
	asked := &asking{Driver: driver.New(m, "test"), calls: counted}
	h := fixture{client: kubetest.Client(t, v1.AddToScheme), market: m, driver: asked, counts: counted}.start(t)
	ns := kubetest.Namespace(t)
	p, d := pool("scale"), deployment(ns, "web", 1, "900m")
	d.Spec.Template.Spec.Affinity = apart(d)
	pod := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Labels: map[string]string{"app": "web"}}, Spec: d.Spec.Template.Spec}
	many(n, func(i int) {
		one := pod.DeepCopy()
		one.Name = fmt.Sprint("web-", i)
		if err := h.client.Create(t.Context(), one); err != nil {
			t.Error(err)
		}
	})
	counted.take()
	h.make(t, p)
	for range 20 {
		start, cpu := time.Now(), used()
		pause(15 * time.Second)
		claims, _ := h.claims()
		t.Logf("%d claims, %.3f processors", len(claims), (used()-cpu).Seconds()/time.Since(start).Seconds())
		report(t, "in 15 s", n, counted.take())
	}
}

// asking counts what is asked of a cloud.
type asking struct {
	cloud.Driver
	*calls
}

func (a *asking) Launch(ctx context.Context, orders []cloud.Order) []cloud.Outcome {
	a.add("cloud: launch")
	return a.Driver.Launch(ctx, orders)
}

func (a *asking) Catalog(ctx context.Context, t cloud.Template) (world.Catalog, error) {
	a.add("cloud: catalog")
	return a.Driver.Catalog(ctx, t)
}
