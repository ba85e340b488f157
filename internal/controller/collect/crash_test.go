package collect_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/apitest"
	"github.com/tenon-sh/tenon/internal/catalog"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cloud"
	"github.com/tenon-sh/tenon/internal/cluster"
	"github.com/tenon-sh/tenon/internal/controller/collect"
	"github.com/tenon-sh/tenon/internal/enact"
	"github.com/tenon-sh/tenon/internal/loop"
	"github.com/tenon-sh/tenon/internal/sim/driver"
	"github.com/tenon-sh/tenon/internal/sim/market"
)

// fixture is a pool with a claim whose machine runs, a node without a claim, a
// machine with neither and a claim without a machine.
type fixture struct {
	store  client.WithWatch
	market *market.Market
	driver cloud.Driver
	ids    map[string]string // provider IDs by what they are of
}

func newFixture(t *testing.T, region *catalog.Region) fixture {
	t.Helper()
	x := fixture{market: driver.Market(region, "m5.large"), ids: map[string]string{"gone": "aws:///us-west-2a/i-0123456789abcdef0"}}
	x.driver = driver.New(x.market, "demo")
	for _, of := range []string{"kept", "alone", "orphan"} {
		out := x.driver.Launch(t.Context(), []cloud.Order{{
			Token: of, Pool: world.PoolID{Kind: world.NodePool, Name: "p"}, Count: 1, Menu: []string{"m5.large"}, Requirements: label.SetOf(label.Is(label.CapacityType, label.OnDemand)),
		}})[0]
		if out.Err != nil {
			t.Fatal(out.Err)
		}
		x.ids[of] = out.Machines[0].ProviderID
	}
	pool := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "p"}}
	pool.Spec.Template.Spec.NodeClassRef = &v1.NodeClassReference{Group: "g", Kind: "K", Name: "n"}
	x.store = apitest.New(t, clock.Wall, pool, x.claim("kept"), x.claim("gone"), x.node("kept"), x.node("alone"))
	time.Sleep(10 * time.Minute) // of virtual time: everybody is grown up
	return x
}

func (x fixture) claim(name string) *v1.NodeClaim {
	c := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: name, Finalizers: []string{v1.Finalizer}, Labels: map[string]string{v1.LabelNodePool: "p"}}}
	c.Spec.NodeClassRef = &v1.NodeClassReference{Group: "g", Kind: "K", Name: "n"}
	c.Status.ProviderID = x.ids[name]
	for _, kind := range []string{v1.ConditionLaunched, v1.ConditionRegistered, v1.ConditionInitialized} {
		c.Conditions().True(kind, "", "", time.Now())
	}
	c.Status.NodeName = name
	return c
}

func (x fixture) node(name string) *corev1.Node {
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{v1.LabelNodePool: "p"}}, Spec: corev1.NodeSpec{ProviderID: x.ids[name]},
		Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}},
	}
}

// live has one process look three times.
func (x fixture) live(t *testing.T, through client.Client, d cloud.Driver) {
	t.Helper()
	state := cluster.New(clock.Wall)
	hand := &enact.Enactor{Client: through, Cluster: state, Events: (*loop.Events)(nil), Now: clock.Wall, Log: logr.Discard()}
	c := &collect.Controller{Client: through, Cloud: cloud.New(cloud.Config{Driver: d}), Cluster: state, Enact: hand, Now: clock.Wall, Log: logr.Discard()}
	var last collect.Verdict
	for range 3 {
		v, err := c.Look(t.Context(), last)
		if err != nil && !errors.Is(err, apitest.ErrDead) {
			t.Fatal(err)
		}
		last = v
		time.Sleep(2 * time.Minute)
	}
}

// A machine that dies is missed soon after its node falls ill, not only when it
// is time for the next look.
func TestADeadMachineIsMissedSoon(t *testing.T) {
	region := west(t)
	synctest.Test(t, func(t *testing.T) {
		x := newFixture(t, region)
		state := cluster.New(clock.Wall)
		hand := &enact.Enactor{Client: x.store, Cluster: state, Events: (*loop.Events)(nil), Now: clock.Wall, Log: logr.Discard()}
		c := &collect.Controller{Client: x.store, Cloud: cloud.New(cloud.Config{Driver: x.driver}), Cluster: state, Enact: hand, Now: clock.Wall, Log: logr.Discard()}
		process := apitest.Begin(t, x.store, state, c)
		process.Live(5*time.Minute, time.Second) // nothing is missing any more
		if err := x.market.Kill(idOf(x.ids["kept"])); err != nil {
			t.Fatal(err)
		}
		n := &corev1.Node{}
		if err := x.store.Get(t.Context(), client.ObjectKey{Name: "kept"}, n); err != nil {
			t.Fatal(err)
		}
		n.Status.Conditions[0].Status = corev1.ConditionUnknown
		if err := x.store.Status().Update(t.Context(), n); err != nil {
			t.Fatal(err)
		}
		state.World() // another controller looks at the cluster a moment before the news, which comes once
		state.SetNode(n)
		time.Sleep(40 * time.Second)
		claim := &v1.NodeClaim{}
		if err := x.store.Get(t.Context(), client.ObjectKey{Name: "kept"}, claim); err != nil || claim.DeletionTimestamp == nil {
			t.Errorf("the claim of a dead machine stays: deleted %v, %v", claim.DeletionTimestamp, err)
		}
		process.End()
	})
}

// A look copies none of the claims and nodes that there are, which may be thousands.
func TestALookCopiesNothing(t *testing.T) {
	region := west(t)
	synctest.Test(t, func(t *testing.T) {
		x := newFixture(t, region)
		lists := 0
		through := interceptor.NewClient(x.store, interceptor.Funcs{
			List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
				var o client.ListOptions
				o.ApplyOptions(opts)
				if lists++; o.UnsafeDisableDeepCopy == nil || !*o.UnsafeDisableDeepCopy {
					t.Errorf("%T is copied", list)
				}
				return c.List(ctx, list, opts...)
			},
		})
		x.live(t, through, x.driver)
		if x.check(t); lists == 0 {
			t.Error("nothing was read")
		}
	})
}

func idOf(providerID string) string { return providerID[strings.LastIndex(providerID, "/")+1:] }

func west(t *testing.T) *catalog.Region {
	t.Helper()
	all, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	region, err := all.Region("us-west-2")
	if err != nil {
		t.Fatal(err)
	}
	return region
}

// forgetful is a driver whose lists lack every machine. It finds them by id, or not.
type forgetful struct {
	cloud.Driver
	finds bool
}

func (forgetful) List(context.Context) ([]cloud.Machine, error) { return nil, nil }

func (d forgetful) Find(ctx context.Context, ids []string) ([]cloud.Machine, error) {
	if !d.finds {
		return nil, nil
	}
	return d.Driver.Find(ctx, ids)
}

// A list that lacks many machines lets no claim go unless the cloud knows of the
// machine that it has ended.
func TestAListThatLacksMachinesLetsNoClaimGo(t *testing.T) {
	region := west(t)
	tests := map[string]struct {
		why    string
		finds  bool
		killed int
		goes   int
	}{
		"There":  {"Asked by their ids, all machines are there.", true, 0, 0},
		"Wrong":  {"Nothing is known of any, as in the wrong account.", false, 0, 0},
		"Ended":  {"The cloud knows that they have ended, as in a storm of interruptions.", true, 20, 20},
		"Partly": {"Those that have ended go, and only they.", true, 7, 7},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const n = 20
				x := fixture{market: driver.Market(region, "m5.large"), ids: map[string]string{}}
				sells := driver.New(x.market, "demo")
				out := sells.Launch(t.Context(), []cloud.Order{{
					Token: "o", Pool: world.PoolID{Kind: world.NodePool, Name: "p"}, Count: n, Menu: []string{"m5.large"}, Requirements: label.SetOf(label.Is(label.CapacityType, label.OnDemand)),
				}})[0]
				if out.Err != nil {
					t.Fatal(out.Err)
				}
				var objects []client.Object
				for _, m := range out.Machines {
					x.ids[string(m.ID)] = m.ProviderID
					ill := x.node(string(m.ID))
					ill.Status.Conditions[0].Status = corev1.ConditionUnknown
					objects = append(objects, x.claim(string(m.ID)), ill)
				}
				x.store = apitest.New(t, clock.Wall, objects...)
				for _, m := range out.Machines[:tc.killed] {
					if err := x.market.Kill(string(m.ID)); err != nil {
						t.Fatal(err)
					}
				}
				time.Sleep(10 * time.Minute)
				x.live(t, x.store, forgetful{sells, tc.finds})
				var claims v1.NodeClaimList
				if err := x.store.List(t.Context(), &claims); err != nil {
					t.Fatal(err)
				}
				goes := 0
				for _, c := range claims.Items {
					if c.DeletionTimestamp != nil {
						goes++
					}
				}
				if goes != tc.goes {
					t.Errorf("%d of %d claims go, want %d: %s", goes, n, tc.goes, tc.why)
				}
			})
		})
	}
}

// Wherever a process is killed, the next one brings together what belongs
// together, ends what has no owner, and leaves the rest alone.
func TestKilledAtEachWrite(t *testing.T) {
	region := west(t)
	writes := apitest.EachDeath(t, func(t *testing.T, life *apitest.Life) {
		x := newFixture(t, region)
		x.live(t, life.Client(x.store), life.Driver(x.driver))
		x.live(t, x.store, x.driver)
		x.check(t)
	})
	if writes < 6 {
		t.Errorf("%d writes, want the claim and its status, the end of a machine and of a claim, and labels", writes)
	}
}

func (x fixture) check(t *testing.T) {
	t.Helper()
	var claims v1.NodeClaimList
	if err := x.store.List(context.Background(), &claims); err != nil {
		t.Fatal(err)
	}
	going, staying := map[string]int{}, map[string]int{}
	for _, c := range claims.Items {
		if c.DeletionTimestamp != nil {
			going[c.Status.ProviderID]++
		} else {
			staying[c.Status.ProviderID]++
		}
	}
	if len(staying) != 2 || staying[x.ids["kept"]] != 1 || staying[x.ids["alone"]] != 1 {
		t.Errorf("claims stay for the machines %v, want one each for that of its own and that of the node without", staying)
	}
	if len(going) != 1 || going[x.ids["gone"]] != 1 {
		t.Errorf("claims go for the machines %v, want that which is gone", going)
	}
	for _, i := range x.market.Everything() {
		if i.State.Gone() != (driver.ProviderID(i) == x.ids["orphan"]) {
			t.Errorf("machine %s is %s", driver.ProviderID(i), i.State)
		}
	}
}
