package terminate_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/internal/apitest"
	"github.com/tenon-sh/tenon/internal/catalog"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cloud"
	"github.com/tenon-sh/tenon/internal/cluster"
	"github.com/tenon-sh/tenon/internal/controller/terminate"
	"github.com/tenon-sh/tenon/internal/sim/driver"
	"github.com/tenon-sh/tenon/internal/sim/market"
)

// A claim that is ended before its node registered goes as soon as the cloud
// says that its machine has ended, whatever ended it and when.
func TestAClaimThatNeverRegisteredGoesWithItsMachine(t *testing.T) {
	all, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	region, err := all.Region("us-west-2")
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		why   string
		young time.Duration // how old the machine is when the claim is deleted
		lost  bool          // its machine has been ended by others by then
	}{
		"Pending": {"It is ended before it has started.", time.Second, false},
		"Running": {"It is ended while it joins.", 15 * time.Second, false},
		"Ending":  {"It is told as ending, so it need not be asked for.", time.Second, true},
		"Ended":   {"The cloud knows of it that it has ended, so it is not one that is not shown yet.", 25 * time.Second, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := driver.Market(region, "m5.large")
				ctx, stop := context.WithCancel(t.Context())
				done := make(chan struct{})
				go func() { defer close(done); m.Run(ctx) }()
				defer func() { stop(); <-done }()
				sells := driver.New(m, "demo")
				order := cloud.Order{Token: "o", Template: cloud.Template{ID: "t"}, Count: 1, Menu: []string{"m5.large"}}
				bought := sells.Launch(ctx, []cloud.Order{order})[0]
				if bought.Err != nil {
					t.Fatal(bought.Err)
				}
				claim := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c", UID: "1", Finalizers: []string{v1.Finalizer}}}
				claim.Status.ProviderID = bought.Machines[0].ProviderID
				claim.Conditions().True(v1.ConditionLaunched, "", "", time.Now())
				store, state := apitest.New(t, clock.Wall, claim), cluster.New(clock.Wall)
				claims := &terminate.Claims{Client: store, Cluster: state, Machines: terminate.NewMachines(cloud.New(cloud.Config{Driver: sells, Now: clock.Wall}), nil, clock.Wall), Now: clock.Wall}
				if tc.lost {
					for _, err := range sells.Terminate(ctx, []cloud.MachineID{bought.Machines[0].ID}) {
						if err != nil {
							t.Fatal(err)
						}
					}
				}
				time.Sleep(tc.young)
				if err := store.Delete(t.Context(), claim); err != nil {
					t.Fatal(err)
				}
				deleted, ended := time.Now(), time.Time{}
				for range 120 {
					apitest.Show(t, store, state)
					apitest.Step(t, claims, "c")
					if i := m.Everything()[0]; i.State == market.Terminated && ended.IsZero() {
						ended = i.Ended
					}
					if apierrors.IsNotFound(store.Get(t.Context(), client.ObjectKeyFromObject(claim), claim)) {
						break
					}
					time.Sleep(time.Second)
				}
				switch {
				case ended.IsZero():
					t.Fatal("the machine has not ended")
				case ended.Before(deleted):
					ended = deleted
				}
				if waited := time.Since(ended); waited > 4*time.Second {
					t.Errorf("the claim stays for %v after its machine has ended: %s", waited, tc.why)
				}
			})
		})
	}
}
