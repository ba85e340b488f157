package static_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/apitest"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cluster"
	"github.com/tenon-sh/tenon/internal/controller/static"
	"github.com/tenon-sh/tenon/internal/enact"
	"github.com/tenon-sh/tenon/internal/loop"
	"github.com/tenon-sh/tenon/internal/observe"
)

// Wherever a process is killed, the next one brings the pool to its number:
// no claim too many is made, and none too many is ended.
func TestKilledAtEachWrite(t *testing.T) {
	for name, tc := range map[string]struct{ from, to int64 }{"Up": {0, 3}, "Down": {3, 1}} {
		t.Run(name, func(t *testing.T) {
			writes := apitest.EachDeath(t, func(t *testing.T, life *apitest.Life) {
				pool := fixedPool(tc.to)
				store := apitest.New(t, clock.Wall, pool)
				for i := range tc.from {
					c := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("p-", i), Labels: map[string]string{v1.LabelNodePool: "p"}}}
					if err := store.Create(t.Context(), c); err != nil {
						t.Fatal(err)
					}
				}
				for i, through := range []client.Client{life.Client(store), store} {
					live(t, through, store, i)
				}
				var claims v1.NodeClaimList
				if err := store.List(t.Context(), &claims); err != nil {
					t.Fatal(err)
				}
				if len(claims.Items) != int(tc.to) {
					t.Errorf("%d claims, want %d", len(claims.Items), tc.to)
				}
			})
			if want := max(tc.to-tc.from, tc.from-tc.to); int64(writes) != want {
				t.Errorf("%d writes, want %d", writes, want)
			}
		})
	}
}

func fixedPool(n int64) *v1.NodePool {
	p := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "p"}}
	p.Spec.Replicas = &n
	p.Spec.Template.Spec.NodeClassRef = &v1.NodeClassReference{Group: "g", Kind: "K", Name: "n"}
	return p
}

// live has one process do its work for a minute.
func live(t *testing.T, through, store client.Client, life int) {
	t.Helper()
	picture := cluster.New(clock.Wall)
	picture.Publish(world.Catalog{
		Template: observe.TemplateOf(v1.NodeClassReference{Group: "g", Kind: "K", Name: "n"}, nil), Version: "1",
		Shapes: []world.Shape{{Name: "m5", Offers: []world.Offer{{Zone: "a", CapacityType: label.OnDemand, Price: 1}}}},
	})
	var made atomic.Int64 // claims are made beside each other
	hand := &enact.Enactor{Client: through, Cluster: picture, Events: (*loop.Events)(nil), Now: clock.Wall, Log: logr.Discard(), Suffix: func() string {
		return fmt.Sprintf("%d-%d", life, made.Add(1))
	}}
	r := &static.Reconciler{Client: through, Cluster: picture, Enact: hand, Now: clock.Wall}
	for range 60 {
		apitest.Show(t, store, picture)
		apitest.Step(t, r, "p")
		time.Sleep(time.Second) // of virtual time
	}
}
