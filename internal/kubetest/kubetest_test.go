package kubetest_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tenon-sh/tenon/internal/kubetest"
)

func TestMain(m *testing.M) {
	kubetest.Main(m, kubetest.Scheduler, kubetest.Controllers, kubetest.Machines)
}

func TestItIsTheKubernetesWeSay(t *testing.T) {
	v, err := discovery.NewDiscoveryClientForConfigOrDie(kubetest.Config(t)).ServerVersion()
	if err != nil {
		t.Fatal(err)
	}
	if v.GitVersion != "v1.36.3" {
		t.Errorf("the API server says it is %s", v.GitVersion)
	}
}

// A Deployment goes through every part: the controllers make its pods, the scheduler says why they wait, a node
// appears, and they run on it.
func TestPodsOfADeploymentWaitForANodeAndRun(t *testing.T) {
	ctx, c, ns := t.Context(), kubetest.Client(t), kubetest.Namespace(t)
	labels := map[string]string{"app": "web"}
	if err := c.Create(ctx, &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "web"},
		Spec: appsv1.DeploymentSpec{
			Replicas: new(int32(3)),
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "web"}}},
			},
		},
	}); err != nil {
		t.Fatal(err)
	}
	kubetest.Within(t, 30*time.Second, func() error {
		var events corev1.EventList
		if err := c.List(ctx, &events, client.InNamespace(ns)); err != nil {
			return err
		}
		for _, e := range events.Items {
			if e.Reason == "FailedScheduling" {
				return nil
			}
		}
		return errors.New("no event of the scheduler")
	})
	room := corev1.ResourceList{"cpu": resource.MustParse("4"), "memory": resource.MustParse("8Gi"), "pods": resource.MustParse("20")}
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "n1", Annotations: map[string]string{"kwok.x-k8s.io/node": "fake"}},
		Status:     corev1.NodeStatus{Capacity: room, Allocatable: room},
	}
	if err := c.Create(ctx, node); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Delete(context.Background(), node); err != nil {
			t.Error(err)
		}
	})
	kubetest.Within(t, 30*time.Second, func() error {
		var pods corev1.PodList
		if err := c.List(ctx, &pods, client.InNamespace(ns)); err != nil {
			return err
		}
		running := 0
		for _, p := range pods.Items {
			if p.Status.Phase == corev1.PodRunning && p.Spec.NodeName == "n1" {
				running++
			}
		}
		if running != 3 {
			return fmt.Errorf("%d of 3 pods run", running)
		}
		return nil
	})
}

// What a test binds to a node, which no kubelet will ever end, takes no room of a node of that name that a later test makes.
func TestPodsGoWithTheTest(t *testing.T) {
	c, ns := kubetest.Client(t), ""
	t.Run("Test", func(t *testing.T) {
		ns = kubetest.Namespace(t)
		if err := c.Create(t.Context(), &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "bound"},
			Spec:       corev1.PodSpec{NodeName: "gone", Containers: []corev1.Container{{Name: "web", Image: "web"}}},
		}); err != nil {
			t.Fatal(err)
		}
	})
	var pods corev1.PodList
	if err := c.List(t.Context(), &pods, client.InNamespace(ns)); err != nil {
		t.Fatal(err)
	}
	if len(pods.Items) > 0 {
		t.Errorf("%d pods are still there", len(pods.Items))
	}
}

// ending is a test whose deadline is so near that a wait has but a moment.
type ending struct {
	testing.TB
	said string
}

func (*ending) Deadline() (time.Time, bool) {
	return time.Now().Add(30*time.Second + time.Millisecond), true
}

func (e *ending) Fatalf(format string, args ...any) {
	e.said = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

func TestAWaitEndsBeforeTheTests(t *testing.T) {
	e := &ending{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		kubetest.Within(e, time.Hour, func() error { return errors.New("nothing came") })
	}()
	<-done
	if !strings.HasSuffix(e.said, ": nothing came") {
		t.Errorf("it says %q", e.said)
	}
}
