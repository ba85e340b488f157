package tag_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/record"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/internal/apitest"
	"github.com/tenon-sh/tenon/internal/aws/machine"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cloud"
	"github.com/tenon-sh/tenon/internal/controller/tag"
	"github.com/tenon-sh/tenon/internal/loop"
)

// While the cache does not show yet that a machine is tagged, it is not tagged again.
func TestTaggedOnce(t *testing.T) {
	c := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "a"}}
	c.Status.ProviderID, c.Status.NodeName = "aws:///us-west-2a/i-1", "node"
	c.Conditions().True(v1.ConditionRegistered, "", "", time.Unix(1, 0))
	store := apitest.New(t, clock.Wall, c)
	var old v1.NodeClaim
	if err := store.Get(t.Context(), client.ObjectKeyFromObject(c), &old); err != nil {
		t.Fatal(err)
	}
	stale := interceptor.NewClient(store, interceptor.Funcs{
		Get: func(_ context.Context, _ client.WithWatch, _ client.ObjectKey, o client.Object, _ ...client.GetOption) error {
			old.DeepCopyInto(o.(*v1.NodeClaim)) //nolint:forcetypeassert // nothing else is read
			return nil
		},
	})
	calls := 0
	r := &tag.Reconciler{Client: stale, Now: clock.Wall, IDOf: machine.IDOf, Tag: func(context.Context, cloud.MachineID, string, string) error { calls++; return nil }}
	for range 3 {
		_, _ = r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(c)})
	}
	if calls != 1 {
		t.Errorf("it was tagged %d times", calls)
	}
}

// A machine that cannot be tagged for long says so on its claim, and not at every try.
func TestTaggingThatIsThrottledForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "a"}}
		c.Status.ProviderID, c.Status.NodeName = "aws:///us-west-2a/i-1", "node"
		c.Conditions().True(v1.ConditionRegistered, "", "", time.Unix(1, 0))
		told := record.NewFakeRecorder(100)
		r := &tag.Reconciler{
			Client: apitest.New(t, clock.Wall, c), Now: clock.Wall, Events: loop.NewEvents(clock.Wall, told), IDOf: machine.IDOf,
			Tag: func(context.Context, cloud.MachineID, string, string) error {
				return cloud.Errorf(cloud.Throttled, "", "create tags: RequestLimitExceeded")
			},
		}
		since := time.Now().UTC().Format(time.RFC3339)
		var heard []string
		for began := time.Now(); time.Since(began) < 5*time.Minute; time.Sleep(10 * time.Second) {
			_, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(c)})
			if err == nil {
				t.Fatal("it is tagged")
			}
			for len(told.Events) > 0 {
				heard = append(heard, <-told.Events)
			}
			if time.Since(began) < time.Minute && len(heard) > 0 {
				t.Fatalf("throttling is told at once: %q", heard)
			}
		}
		if len(heard) < 1 || len(heard) > 3 || heard[0] != "Warning TaggingDelayed The machine cannot be tagged: create tags: RequestLimitExceeded; tried since "+since {
			t.Errorf("in five minutes it is told: %q", heard)
		}
	})
}
