package static_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/label"
	engine "github.com/tenon-sh/tenon/engine/static"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/apitest"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cluster"
	"github.com/tenon-sh/tenon/internal/controller/static"
	"github.com/tenon-sh/tenon/internal/enact"
	"github.com/tenon-sh/tenon/internal/journal"
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
				x := fixed{store: apitest.New(t, clock.Wall, pool), kept: journal.New(1, "", nil)}
				store := x.store
				for i := range tc.from {
					c := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("p-", i), Labels: map[string]string{v1.LabelNodePool: "p"}}}
					if err := store.Create(t.Context(), c); err != nil {
						t.Fatal(err)
					}
				}
				for i, through := range []client.Client{life.Client(store), store} {
					x.live(t, through, i)
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

// fixed is a pool of so many nodes, and what is kept of what was decided about it.
type fixed struct {
	store   client.WithWatch
	kept    *journal.Journal
	changes func(*world.Catalog)
}

// live has one process do its work for some minutes.
func (x fixed) live(t *testing.T, through client.Client, life int) {
	t.Helper()
	state := cluster.New(clock.Wall)
	catalog := world.Catalog{
		Template: observe.TemplateOf(v1.NodeClassReference{Group: "g", Kind: "K", Name: "n"}, nil), Version: "1",
		Shapes: []world.Shape{{Name: "m5", Capacity: amount.Of(amount.Entry{Name: amount.Pods, Value: 10 * amount.Unit}), Offers: []world.Offer{{Zone: "a", CapacityType: label.OnDemand, Price: 1}}}},
	}
	if x.changes != nil {
		x.changes(&catalog)
	}
	state.Publish(catalog)
	var made atomic.Int64 // claims are made beside each other
	hand := &enact.Enactor{Client: through, Cluster: state, Events: (*loop.Events)(nil), Now: clock.Wall, Log: logr.Discard(), Suffix: func() string {
		return fmt.Sprintf("%d-%d", life, made.Add(1))
	}}
	c := &static.Controller{Client: through, Cluster: state, Enact: hand, Journal: x.kept, Now: clock.Wall, Log: logr.Discard()}
	p := apitest.Begin(t, x.store, state, c)
	p.Live(3*time.Minute, time.Second) // of virtual time
	p.End()
}

// What is decided is kept, to be made again; a pool that lacks something is kept once.
func TestKept(t *testing.T) {
	soldOut := func(c *world.Catalog) { c.Shapes[0].Offers[0].Gone = true }
	for name, tc := range map[string]struct {
		why     string
		changes func(*world.Catalog)
		claims  int
		want    string // of what is kept, latest first
	}{
		"Bought":  {"It was bought once.", nil, 3, "3 bought; "},
		"SoldOut": {"It lacks the same at every look.", soldOut, 0, "3 missing for no-offer; "},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := fixed{apitest.New(t, clock.Wall, fixedPool(3)), journal.New(10, "", nil), tc.changes}
				x.live(t, x.store, 0)
				var claims v1.NodeClaimList
				if err := x.store.List(t.Context(), &claims); err != nil || len(claims.Items) != tc.claims {
					t.Errorf("%d claims, want %d: %v", len(claims.Items), tc.claims, err)
				}
				got := ""
				for _, e := range x.kept.All() {
					again := engine.Decide(e.World, e.Options.Static)
					if e.Kind != journal.Static || !cmp.Equal(again, e.Plan, cmpopts.EquateEmpty()) {
						t.Errorf("%s is kept, and decided again it is\n%s, not\n%s", e.Kind, again, e.Plan)
					}
					for _, s := range e.Plan.Static {
						if s.New > 0 {
							got += fmt.Sprintf("%d bought; ", s.New)
						}
						if s.Why != nil {
							got += fmt.Sprintf("%d missing for %s; ", s.Missing, s.Why.Code)
						}
					}
				}
				if got != tc.want {
					t.Errorf("%s kept is %q, want %q", tc.why, got, tc.want)
				}
			})
		})
	}
}
