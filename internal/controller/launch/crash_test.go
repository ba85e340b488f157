package launch_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/internal/apitest"
	"github.com/tenon-sh/tenon/internal/catalog"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cloud"
	"github.com/tenon-sh/tenon/internal/cluster"
	"github.com/tenon-sh/tenon/internal/controller/launch"
	"github.com/tenon-sh/tenon/internal/enact"
	"github.com/tenon-sh/tenon/internal/loop"
	"github.com/tenon-sh/tenon/internal/observe"
	"github.com/tenon-sh/tenon/internal/sim/driver"
	"github.com/tenon-sh/tenon/internal/sim/market"
)

var loaded = sync.OnceValues(catalog.Load)

// fixture is claims that want the same, and a market that sells it.
type fixture struct {
	store  client.WithWatch
	market *market.Market
	driver cloud.Driver
}

func newFixture(t *testing.T) fixture {
	t.Helper()
	return fixtureOf(t, "a", "b")
}

// fixtureOf is a fixture with claims of these names.
func fixtureOf(t *testing.T, names ...string) fixture {
	t.Helper()
	all, err := loaded()
	if err != nil {
		t.Fatal(err)
	}
	region, err := all.Region("us-west-2")
	if err != nil {
		t.Fatal(err)
	}
	var claims []client.Object
	for _, name := range names {
		claims = append(claims, &v1.NodeClaim{
			ObjectMeta: metav1.ObjectMeta{Name: name, Finalizers: []string{v1.Finalizer}, Labels: map[string]string{v1.LabelNodePool: "p"}},
			Spec: v1.NodeClaimSpec{
				NodeClassRef: &v1.NodeClassReference{Group: "g", Kind: "K", Name: "n"},
				Requirements: []v1.Requirement{
					{Key: v1.LabelInstanceType, Operator: corev1.NodeSelectorOpIn, Values: []string{"m5.large"}},
					{Key: v1.LabelCapacityType, Operator: corev1.NodeSelectorOpIn, Values: []string{"on-demand"}},
				},
			},
		})
	}
	m := driver.Market(region, "m5.large")
	return fixture{store: apitest.New(t, clock.Wall, claims...), market: m, driver: driver.New(m, "demo")}
}

// live has one process do its work, looking so many times every so often.
func (x fixture) live(t *testing.T, c client.WithWatch, d cloud.Driver, looks int, every time.Duration) {
	t.Helper()
	x.tell(t, process{store: c, driver: d, looks: looks, every: every})
}

// process is one that looks so many times every so often.
type process struct {
	store  client.WithWatch
	driver cloud.Driver
	events *loop.Events
	looks  int
	every  time.Duration
}

// tell is live with events.
func (x fixture) tell(t *testing.T, p process) {
	t.Helper()
	c, d, looks, every := p.store, p.driver, p.looks, p.every
	sells := cloud.New(cloud.Config{Driver: d})
	for _, c := range x.claims(t) {
		if c.Spec.NodeClassRef != nil {
			sells.Want(cloud.Template{ID: observe.TemplateOf(*c.Spec.NodeClassRef, nil)})
		}
	}
	state := cluster.New(clock.Wall)
	hand := &enact.Enactor{Client: c, Cluster: state, Now: clock.Wall, Log: logr.Discard(), Targets: &enact.Targets{}}
	r := (&launch.Reconciler{Client: c, Cloud: sells, Cluster: state, Enact: hand, Events: p.events, Now: clock.Wall}).Alone()
	for range looks {
		requests := []string{"unordered"}
		for _, c := range x.claims(t) {
			if order := c.Annotations[v1.AnnotationOrder]; order != "" && !slices.Contains(requests, order) {
				requests = append(requests, order)
			}
		}
		for _, name := range requests { // one that fails is tried again: what counts is how it ends
			_, _ = r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Name: name}})
		}
		time.Sleep(every) // of virtual time
	}
}

func (x fixture) claims(t *testing.T) []v1.NodeClaim {
	t.Helper()
	var list v1.NodeClaimList
	if err := x.store.List(t.Context(), &list); err != nil {
		t.Fatal(err)
	}
	return list.Items
}

// held checks that every machine is one claim's, and returns how many there are.
func (x fixture) held(t *testing.T) int {
	t.Helper()
	holders := map[string][]string{}
	for _, c := range x.claims(t) {
		if c.Status.ProviderID != "" {
			holders[c.Status.ProviderID] = append(holders[c.Status.ProviderID], c.Name)
		}
	}
	machines := x.market.Everything()
	for _, i := range machines {
		if by := holders[driver.ProviderID(i)]; len(by) != 1 {
			t.Errorf("machine %s is held by the claims %q", i.ID, by)
		}
	}
	if len(holders) > len(machines) {
		t.Errorf("claims hold %d machines, there are %d", len(holders), len(machines))
	}
	return len(machines)
}

// Wherever a process is killed, the next one launches what is missing, and no
// machine is bought twice or forgotten.
func TestKilledAtEachWrite(t *testing.T) {
	writes := apitest.EachDeath(t, func(t *testing.T, life *apitest.Life) {
		x := newFixture(t)
		x.live(t, life.Client(x.store), life.Driver(x.driver), 5, time.Second)
		x.live(t, x.store, x.driver, 12, 10*time.Second)
		for _, c := range x.claims(t) {
			if !c.Conditions().Is(v1.ConditionLaunched) || c.Labels[v1.LabelInstanceType] != "m5.large" || len(c.Status.Allocatable) == 0 {
				t.Errorf("claim %s: labels %v, conditions %+v", c.Name, c.Labels, c.Status.Conditions)
			}
		}
		if n := x.held(t); n != 2 {
			t.Errorf("%d machines were bought for 2 claims", n)
		}
	})
	if writes < 7 {
		t.Errorf("a launch has %d writes, want one for its order, and three for each of its claims", writes)
	}
}

// Where there are fewer machines than claims, the claims that get none are
// given up, and only they.
func TestKilledWhileSoldOut(t *testing.T) {
	apitest.EachDeath(t, func(t *testing.T, life *apitest.Life) {
		x := newFixture(t)
		x.market.SetCapacity(market.Capacity{Left: 1})
		x.live(t, life.Client(x.store), life.Driver(x.driver), 5, time.Second)
		x.live(t, x.store, x.driver, 12, 10*time.Second)
		for _, c := range x.claims(t) {
			if c.DeletionTimestamp == nil != c.Conditions().Is(v1.ConditionLaunched) {
				t.Errorf("claim %s goes %v, conditions %+v", c.Name, c.DeletionTimestamp, c.Status.Conditions)
			}
		}
		if n := x.held(t); n != 1 {
			t.Errorf("%d machines were bought, 1 is to be had", n)
		}
	})
}

// An order is launched by what is read of its own claims: many orders wait for the
// cloud at a time, and each would hold a copy of every claim of the cluster.
func TestReadsNoClaimsOfOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newFixture(t)
		for i := range 20 {
			c := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("there-", i)}, Status: v1.NodeClaimStatus{ProviderID: fmt.Sprint("sim:///there-", i)}}
			if i%2 == 0 {
				c.Annotations = map[string]string{v1.AnnotationOrder: fmt.Sprint("another-", i), v1.AnnotationOrderSize: "1", v1.AnnotationOrderPlace: "0"}
			}
			if err := x.store.Create(t.Context(), c); err != nil {
				t.Fatal(err)
			}
		}
		most := 0
		counted := interceptor.NewClient(x.store, interceptor.Funcs{
			List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
				err := c.List(ctx, list, opts...)
				if claims, ok := list.(*v1.NodeClaimList); ok {
					most = max(most, len(claims.Items))
				}
				return err
			},
		})
		x.live(t, counted, x.driver, 5, time.Second)
		if most != 2 {
			t.Errorf("%d claims were read at once, want the 2 that are to be launched", most)
		}
		if n := len(x.market.Everything()); n != 2 {
			t.Errorf("%d machines were bought for 2 claims", n)
		}
	})
}

// Hundreds of claims that cannot be had are given up side by side, however
// long the API server takes for each.
func TestManyAreGivenUpTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const many, each = 300, time.Second
		var wanted []string
		for i := range many {
			wanted = append(wanted, fmt.Sprintf("claim-%03d", i))
		}
		x := fixtureOf(t, wanted...)
		x.market.SetCapacity(market.Capacity{})
		var deletions atomic.Int64
		slow := interceptor.NewClient(x.store, interceptor.Funcs{
			Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
				deletions.Add(1)
				time.Sleep(each)
				return c.Delete(ctx, o, opts...)
			},
		})
		began := time.Now()
		x.live(t, slow, x.driver, 3, time.Second)
		if took := time.Since(began); took > many*each/10 {
			t.Errorf("%d claims were given up in %s, one after another", many, took)
		}
		for _, c := range x.claims(t) {
			if c.DeletionTimestamp == nil {
				t.Errorf("claim %s is waited for", c.Name)
			}
		}
		if n := deletions.Load(); n != many {
			t.Errorf("%d calls to delete %d claims", n, many)
		}
	})
}

// Claims that are deleted while they are launched take their machines along:
// each is known by the claim that goes, or was never bought.
func TestKilledWhileDeleted(t *testing.T) {
	apitest.EachDeath(t, func(t *testing.T, life *apitest.Life) {
		x := newFixture(t)
		x.live(t, life.Client(x.store), life.Driver(x.driver), 5, time.Second)
		for _, c := range x.claims(t) {
			if err := x.store.Delete(t.Context(), &c); err != nil {
				t.Fatal(err)
			}
		}
		x.live(t, x.store, x.driver, 12, 10*time.Second)
		for _, c := range x.claims(t) {
			if c.Ordered() {
				t.Errorf("claim %s waits for its order for ever: %v", c.Name, c.Annotations)
			}
		}
		x.held(t)
	})
}

// Two processes at once, as when one does not know yet that it no longer leads,
// buy nothing twice.
func TestTwoAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newFixture(t)
		done := make(chan struct{})
		go func() {
			defer close(done)
			x.live(t, x.store, x.driver, 12, 7*time.Second)
		}()
		x.live(t, x.store, x.driver, 12, 10*time.Second)
		<-done
		for _, c := range x.claims(t) {
			if !c.Conditions().Is(v1.ConditionLaunched) {
				t.Errorf("claim %s: conditions %+v", c.Name, c.Status.Conditions)
			}
		}
		if n := x.held(t); n != 2 {
			t.Errorf("%d machines were bought for 2 claims", n)
		}
	})
}
