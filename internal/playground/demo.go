package playground

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/sim/market"
)

const (
	demoNamespace = "demo"
	demoPods      = 5
	// demoPatience bounds each half of the story, on a slow computer too.
	demoPatience = 2 * time.Minute
)

// A demo is a Deployment that has nodes come and go, and the story of it.
type demo struct {
	client   kubernetes.Interface
	market   *market.Market
	log      *life
	now      clock.Now
	currency string // of the prices
}

// begin puts the Deployment into a cluster that has not had it, and reports whether it did. What became of it later is
// the user's.
func (d demo) begin(ctx context.Context, objects dynamic.Interface) (bool, error) {
	_, err := d.client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: demoNamespace}}, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return false, nil
	} else if err != nil {
		return false, fmt.Errorf("demo: %w", err)
	}
	return true, apply(ctx, objects, "demo.yaml", "")
}

// tell lets nodes come and go while the log says what happens.
func (d demo) tell(ctx context.Context) error {
	began := d.now()
	d.log.note("A Deployment of %d pods waits, and there is no node. Tenon sees what they need:", demoPods)
	if !d.until(ctx, func() (bool, error) { return d.runs(ctx) }) {
		return ctx.Err()
	}
	came := d.now()
	d.log.note("All pods run, %s after they were asked for. Now the Deployment is scaled to 0, and no pod needs the nodes:", took(began, came))
	patch := []byte(`{"spec":{"replicas":0}}`)
	if _, err := d.client.AppsV1().Deployments(demoNamespace).Patch(ctx, "web", types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	if !d.until(ctx, func() (bool, error) { return d.gone(ctx) }) {
		return ctx.Err()
	}
	d.log.note("No node is left, %s later. All that has cost %s.", took(came, d.now()), d.spent(began).Text(d.currency))
	return nil
}

// until waits for something to be so, says so when that takes too long, and reports whether it came.
func (d demo) until(ctx context.Context, is func() (bool, error)) bool {
	late := time.After(demoPatience)
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		yes, err := is()
		if yes {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-late:
			d.log.note("This takes longer than it should%s; the log of the controller says more.", because(err))
			return false
		case <-tick.C:
		}
	}
}

func (d demo) runs(ctx context.Context) (bool, error) {
	w, err := d.client.AppsV1().Deployments(demoNamespace).Get(ctx, "web", metav1.GetOptions{})
	return err == nil && w.Status.ReadyReplicas == demoPods, err
}

func (d demo) gone(ctx context.Context) (bool, error) {
	nodes, err := d.client.CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: "karpenter.sh/nodepool", Limit: 1})
	return err == nil && len(nodes.Items) == 0, err
}

// spent is what the machines cost that were bought since then.
func (d demo) spent(since time.Time) money.Micro {
	sum := 0.0
	for _, i := range d.market.Instances() {
		if i.Launched.Before(since) {
			continue
		}
		end := i.Ended
		if end.IsZero() {
			end = d.now()
		}
		sum += float64(i.Price) * end.Sub(i.Launched).Hours()
	}
	return money.Micro(sum)
}

func because(err error) string {
	if err == nil {
		return ""
	}
	return " (" + err.Error() + ")"
}

// took is a span of time for people.
func took(from, to time.Time) string {
	return fmt.Sprintf("%d seconds", int(to.Sub(from).Round(time.Second).Seconds()))
}
