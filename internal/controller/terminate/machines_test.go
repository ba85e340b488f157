package terminate_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/record"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/internal/apitest"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cloud"
	"github.com/tenon-sh/tenon/internal/cluster"
	"github.com/tenon-sh/tenon/internal/controller/terminate"
	"github.com/tenon-sh/tenon/internal/loop"
)

// counting counts the calls that reach a shop.
type counting struct {
	*shop

	mu    sync.Mutex
	calls int
}

func (c *counting) Terminate(ctx context.Context, ids []cloud.MachineID) []error {
	c.mu.Lock()
	c.calls++
	c.mu.Unlock()
	errs := c.shop.Terminate(ctx, ids)
	for i, id := range ids {
		if id == "i-7" {
			errs[i] = cloud.Errorf(cloud.Invalid, "", "protected")
		}
	}
	return errs
}

// Machines that go at the same time end by one call, and each hears its own answer.
func TestMachinesEndTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &counting{shop: &shop{machines: map[cloud.MachineID]bool{}, ended: map[cloud.MachineID]int{}}}
		const n = 200
		for i := range n {
			c.machines[cloud.MachineID(fmt.Sprintf("i-%d", i))] = false
		}
		m := terminate.NewMachines(cloud.New(cloud.Config{Driver: c, Now: clock.Wall}), nil, clock.Wall)
		errs := make([]error, n)
		var wg sync.WaitGroup
		for i := range n {
			wg.Go(func() { _, errs[i] = m.End(t.Context(), fmt.Sprintf("test:///i-%d", i)) })
		}
		wg.Wait()
		for i, err := range errs {
			if (err != nil) != (i == 7) {
				t.Errorf("machine %d: %v", i, err)
			}
		}
		if c.calls != 1 {
			t.Errorf("%d machines ended by %d calls", n, c.calls)
		}
	})
}

// broken is a shop that breaks at the first call that ends machines.
type broken struct {
	*shop

	mu    sync.Mutex
	calls int
}

func (b *broken) Terminate(ctx context.Context, ids []cloud.MachineID) []error {
	b.mu.Lock()
	b.calls++
	first := b.calls == 1
	b.mu.Unlock()
	if first {
		panic("an answer that nothing foresaw")
	}
	return b.shop.Terminate(ctx, ids)
}

// A call that breaks keeps no other waiting: each machine of it is asked for again.
func TestACallThatBreaksKeepsNoneWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &broken{shop: &shop{machines: map[cloud.MachineID]bool{}, ended: map[cloud.MachineID]int{}}}
		const n = 10
		for i := range n {
			b.machines[cloud.MachineID(fmt.Sprintf("i-%d", i))] = false
		}
		m := terminate.NewMachines(cloud.New(cloud.Config{Driver: b, Now: clock.Wall}), nil, clock.Wall)
		var wg sync.WaitGroup
		for i := range n {
			wg.Go(func() {
				for range 5 { // as a controller does that recovers
					func() {
						defer func() { _ = recover() }()
						_, _ = m.End(t.Context(), fmt.Sprintf("test:///i-%d", i))
					}()
					time.Sleep(time.Minute)
				}
			})
		}
		wg.Wait()
		for id := range b.machines {
			if b.ended[id] == 0 {
				t.Errorf("machine %s was never ended", id)
			}
		}
	})
}

// stripped is a cloud whose machine has lost tags, so that no list shows it.
type stripped struct {
	fakeCloud
	unlisted, foreign string
}

func (*stripped) List(context.Context) ([]cloud.Machine, error) { return nil, nil }

func (s *stripped) Find(ctx context.Context, ids []string) ([]cloud.Machine, error) {
	out, err := s.fakeCloud.Find(ctx, ids)
	for i := range out {
		out[i].Unlisted, out[i].Foreign = s.unlisted, s.foreign
	}
	return out, err
}

// A machine that no list shows because its tags were taken is ended before its
// claim is let go, and one that is another's is not; both are told.
func TestAMachineThatIsNotListedIsEndedAllTheSame(t *testing.T) {
	tests := map[string]struct {
		why               string
		unlisted, foreign string
		ends              bool
		says              string
	}{
		"Stripped": {"It is ours: a claim of ours names it.", "its tag t is missing", "", true, "its tag t is missing"},
		"Foreign":  {"Another's pods may run on it.", "its tag t is missing", "cluster other", false, "belongs to cluster other"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const id = "test:///i-1"
				claim := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c", Finalizers: []string{v1.Finalizer}}}
				claim.Status.ProviderID = id
				claim.Conditions().True(v1.ConditionLaunched, "", "", time.Now())
				store := apitest.New(t, clock.Wall, claim)
				time.Sleep(10 * time.Minute) // of virtual time: it was not bought just now
				if err := store.Delete(t.Context(), claim); err != nil {
					t.Fatal(err)
				}
				sells := &stripped{fakeCloud: fakeCloud{check: func() {}}, unlisted: tc.unlisted, foreign: tc.foreign}
				heard := record.NewFakeRecorder(100)
				claims := &terminate.Claims{
					Client: store, Cluster: cluster.New(clock.Wall), Events: loop.NewEvents(clock.Wall, heard), Now: clock.Wall,
					Machines: terminate.NewMachines(cloud.New(cloud.Config{Driver: sells}), nil, clock.Wall),
				}
				for range 30 {
					apitest.Step(t, claims, "c")
					time.Sleep(time.Second)
				}
				if err := store.Get(t.Context(), client.ObjectKeyFromObject(claim), claim); !apierrors.IsNotFound(err) {
					t.Errorf("the claim stays: %v", err)
				}
				if sells.gone != tc.ends {
					t.Errorf("ended: %t, want %t: %s", sells.gone, tc.ends, tc.why)
				}
				select {
				case said := <-heard.Events:
					if !strings.Contains(said, tc.says) {
						t.Errorf("said %q, want %q in it", said, tc.says)
					}
				default:
					t.Error("what was found is not said")
				}
			})
		})
	}
}
