package app_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/api/karpenter/v1alpha5"
	"github.com/tenon-sh/tenon/internal/app"
	"github.com/tenon-sh/tenon/internal/kubetest"
	"github.com/tenon-sh/tenon/internal/sim/driver"
)

// keep runs a controller over a simulated cloud until the test ends.
func keep(t *testing.T) fixture {
	t.Helper()
	m := region(t)
	play(t, m)
	settings := app.Defaults()
	settings.MetricsPort, settings.HealthPort, settings.LeaderElection = 0, 0, false
	a, err := app.New(t.Context(), app.Config{
		Kubernetes: kubetest.Config(t), Driver: driver.New(m, "test"), Provider: "sim", Settings: settings, Log: logr.Discard(),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- a.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error("the controller ended with: ", err)
		}
	})
	return fixture{client: kubetest.Client(t, v1.AddToScheme), market: m}
}

// A pool with replicas has that many nodes whatever pods there are, and its
// status counts them.
func TestStaticPool(t *testing.T) {
	h := keep(t)
	p := pool("fixed")
	two := int64(2)
	p.Spec.Replicas = &two
	h.make(t, p)
	counted := func(nodes int64) {
		t.Helper()
		kubetest.Within(t, time.Minute, func() error {
			if err := h.client.Get(t.Context(), client.ObjectKeyFromObject(p), p); err != nil {
				return err
			}
			cpu := p.Status.Resources.Cpu()
			if p.Status.Nodes == nil || *p.Status.Nodes != nodes || cpu.IsZero() != (nodes == 0) || !p.Conditions().Is("Ready") {
				return fmt.Errorf("status of a pool with %d replicas: %+v", nodes, p.Status)
			}
			return nil
		})
	}
	counted(2)
	kubetest.Within(t, time.Minute, func() error {
		if err := h.client.Get(t.Context(), client.ObjectKeyFromObject(p), p); err != nil {
			return err
		}
		if p.Annotations[v1.AnnotationPoolHash] != p.Hash() || !p.Conditions().Is(v1.ConditionNodeRegistrationHealthy) {
			return fmt.Errorf("hash %q, conditions %+v", p.Annotations, p.Status.Conditions)
		}
		return nil
	})
	scale := func(n int64) {
		t.Helper()
		was := p.DeepCopy()
		p.Spec.Replicas = &n
		if err := h.client.Patch(t.Context(), p, client.MergeFrom(was)); err != nil {
			t.Fatal(err)
		}
		counted(n)
	}
	scale(3)
	scale(0)
	h.empty(t)
	if err := h.client.Delete(t.Context(), p); err != nil {
		t.Fatal(err)
	}
}

// Nodes of a Provisioner are marked when they are empty, and go when their time
// is over. The Provisioner says what it has, and nothing when it has nothing.
func TestProvisioner(t *testing.T) {
	h := keep(t)
	ns := kubetest.Namespace(t)
	ttl := int64(5)
	p := &v1alpha5.Provisioner{
		ObjectMeta: metav1.ObjectMeta{Name: "default"},
		Spec:       v1alpha5.ProvisionerSpec{ProviderRef: &v1alpha5.ProviderRef{Name: "default"}, TTLSecondsAfterEmpty: &ttl},
	}
	c := kubetest.Client(t, v1alpha5.AddToScheme)
	if err := c.Create(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	d := deployment(ns, "web", 2, "900m")
	h.make(t, d)
	read := func(check func() error) {
		t.Helper()
		kubetest.Within(t, time.Minute, func() error {
			if err := c.Get(t.Context(), client.ObjectKeyFromObject(p), p); err != nil {
				return err
			}
			return check()
		})
	}
	read(func() error {
		n, err := h.running(ns)
		if err == nil && (n != 2 || p.Status.Resources.Cpu().IsZero() || p.Status.LastScaleTime == nil) {
			err = fmt.Errorf("%d of 2 pods run, status %+v", n, p.Status)
		}
		return err
	})
	if err := h.client.Delete(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	read(func() error {
		var nodes corev1.NodeList
		err := c.List(t.Context(), &nodes, client.MatchingLabels{v1alpha5.LabelProvisioner: "default"})
		for _, n := range nodes.Items {
			if n.Annotations[v1alpha5.AnnotationEmptinessTime] == "" {
				err = errors.Join(err, fmt.Errorf("node %s is not marked as empty", n.Name))
			}
		}
		if len(nodes.Items) == 0 {
			err = errors.New("the nodes went before they were marked")
		}
		return err
	})
	h.empty(t)
	read(func() error {
		if len(p.Status.Resources) > 0 || len(p.Status.Conditions) > 0 || p.Generation != 1 || len(p.Annotations) > 0 {
			return fmt.Errorf("a Provisioner without nodes says %+v, generation %d, annotations %v", p.Status, p.Generation, p.Annotations)
		}
		return nil
	})
	if err := c.Delete(t.Context(), p); err != nil {
		t.Fatal(err)
	}
}
