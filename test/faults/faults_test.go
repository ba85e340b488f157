package faults

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/internal/kubetest"
	"github.com/tenon-sh/tenon/test/stage"
)

// A node may be silent as long as Kubernetes has it unless told otherwise: what is
// staged here is not that kubelets are slow, and a hundred of them are when others
// keep the processors busy.
func TestMain(m *testing.M) {
	kubetest.Main(m, kubetest.CRDs("../../api/crds"), kubetest.Scheduler, kubetest.Controllers, kubetest.Machines, kubetest.Grace(50*time.Second))
}

// soon is how long anything may take that has no time of its own.
const soon = 40 * time.Second

// slow passes over a test that is one of many, unless all are asked for.
func slow(t *testing.T) {
	t.Helper()
	if os.Getenv("TENON_TEST_FAULTS") != "all" {
		t.Skip("one of many: set TENON_TEST_FAULTS=all to have them all")
	}
}

// play is a test's own stage with a pool. What is left after the test is cleared
// away without mercy, so that it does not disturb the next.
func play(t *testing.T, o stage.Options) (*stage.Stage, *v1.NodePool) {
	t.Helper()
	s := stage.Set(t, o)
	kubetest.Within(t, soon, func() error { // nothing may be bought for pods of the test before
		var pods corev1.PodList
		err := s.Client.List(t.Context(), &pods)
		if err == nil && len(pods.Items) > 0 {
			err = fmt.Errorf("%d pods are left", len(pods.Items))
		}
		return err
	})
	class, pool := s.Class(), stage.Pool("default")
	s.Make(t, class, pool)
	t.Cleanup(func() {
		ctx := context.Background()
		var pools v1.NodePoolList
		_ = s.Client.List(ctx, &pools)
		for i := range pools.Items {
			strip(s, &pools.Items[i])
		}
		claims, _ := s.Claims()
		for i := range claims {
			strip(s, &claims[i])
		}
		nodes, _ := s.Nodes()
		for i := range nodes {
			strip(s, &nodes[i])
		}
		strip(s, class)
	})
	return s, pool
}

// strip deletes an object that no controller looks after any more.
func strip(s *stage.Stage, o client.Object) {
	_ = s.Client.Delete(context.Background(), o)
	_ = s.Client.Patch(context.Background(), o, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`)))
}

// bought fails a test when not exactly so many machines were bought.
func bought(t *testing.T, s *stage.Stage, want int) {
	t.Helper()
	if n := len(s.Account.Market.Everything()); n != want {
		t.Errorf("%d machines were bought, %d are needed", n, want)
	}
}

// deleteNodes deletes all nodes, as kubectl would, and waits until nothing is left.
func deleteNodes(t *testing.T, s *stage.Stage, workloads ...client.Object) {
	t.Helper()
	s.Drop(t, workloads...)
	// One request deletes them one after the other, and is cut off after a minute: a
	// hundred nodes can take longer where other programs keep the processors busy.
	kubetest.Within(t, soon, func() error { return s.Client.DeleteAllOf(t.Context(), &corev1.Node{}) })
	kubetest.Within(t, soon, s.Left)
}

// event waits for an event with a reason about an object of a kind.
func event(t *testing.T, s *stage.Stage, kind, reason string) corev1.Event {
	t.Helper()
	var found corev1.Event
	kubetest.Within(t, soon, func() error {
		var list corev1.EventList
		if err := s.Client.List(t.Context(), &list); err != nil {
			return err
		}
		var reasons []string
		for _, e := range list.Items {
			if e.InvolvedObject.Kind == kind {
				if e.Reason == reason {
					found = e
					return nil
				}
				reasons = append(reasons, e.Reason)
			}
		}
		return fmt.Errorf("no event %s about a %s, only %q", reason, kind, reasons)
	})
	return found
}
