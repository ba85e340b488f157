package pool_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/apitest"
	"github.com/tenon-sh/tenon/internal/cluster"
	"github.com/tenon-sh/tenon/internal/controller/pool"
	"github.com/tenon-sh/tenon/internal/observe"
)

// A pool's back-off is written to its status, and a process that starts later reads
// it there and goes on where the one before it stood: as many failures, the same
// reason, and not a second more or less to wait.
func TestABackoffOutlivesTheProcess(t *testing.T) {
	at := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	now := func() time.Time { return at }
	tests := map[string]struct {
		why   string
		times int
		text  string
	}{
		"Second": {"The second failure of a pool is the first that holds.", 2, "its machine did not join as a node"},
		"Many":   {"The longest wait there is.", 30, "node n is ready and has not taken the pod"},
		"Odd":    {"What a cloud says may look like what we say around it.", 5, "at 2026-01-01T00:00:00Z: sold out; the next is asked for at noon"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			want := &world.Backoff{
				BackoffID: world.BackoffID{Pool: world.PoolID{Kind: world.NodePool, Name: "general"}, Template: "karpenter.k8s.aws/EC2NodeClass/default"},
				Times:     tc.times, Last: at.Add(-7 * time.Second).Unix(), Why: tc.text,
			}
			p := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "general"}}
			p.Spec.Template.Spec.NodeClassRef = &v1.NodeClassReference{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: "default"}
			p.Conditions().True(observe.ConditionBackOff, observe.ReasonBackOff, observe.BackoffText(want), at)
			held := func(p *v1.NodePool) (*cluster.Cluster, []*world.Backoff) {
				c := cluster.New(now)
				c.SetNodePool(p)
				return c, c.World().Backoffs()
			}
			first, backoffs := held(p)
			if diff := cmp.Diff([]*world.Backoff{want}, backoffs); diff != "" {
				t.Fatalf("%s\nread, -want +got\n%s", tc.why, diff)
			}
			p.Status = v1.NodePoolStatus{} // what is there then was written by this process
			store := apitest.New(t, now, p)
			r := &pool.NodePools{Client: store, Cluster: first, Now: now, Classes: func(context.Context, v1.NodeClassReference) (pool.Class, error) {
				return pool.Class{Ready: metav1.ConditionTrue}, nil
			}}
			if _, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKey{Name: "general"}}); err != nil {
				t.Fatal(err)
			}
			written := &v1.NodePool{}
			if err := store.Get(t.Context(), client.ObjectKey{Name: "general"}, written); err != nil {
				t.Fatal(err)
			}
			_, again := held(written)
			if diff := cmp.Diff(backoffs, again); diff != "" {
				t.Fatalf("%s\nafter a restart, -want +got\n%s", tc.why, diff)
			}
			if got := again[0].Until(); got != want.Until() {
				t.Errorf("it waits until %d, want %d", got, want.Until())
			}
		})
	}
}
