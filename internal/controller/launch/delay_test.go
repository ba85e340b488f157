package launch_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/tools/record"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cloud"
	"github.com/tenon-sh/tenon/internal/loop"
)

// throttling is a driver that has waited and tried again in vain, for a while.
type throttling struct {
	cloud.Driver

	until time.Time
	calls int
}

func (d *throttling) Launch(ctx context.Context, orders []cloud.Order) []cloud.Outcome {
	if d.calls++; time.Now().Before(d.until) {
		out := make([]cloud.Outcome, len(orders))
		for i := range out {
			out[i].Err = cloud.Errorf(cloud.Throttled, "RequestLimitExceeded", "create fleet: RequestLimitExceeded: Request limit exceeded.")
		}
		return out
	}
	return d.Driver.Launch(ctx, orders)
}

// A launch that is throttled says so on its claims, in the cloud's words and
// since when; the words stay while it lasts. It is bought in the end.
func TestThrottledLaunchSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newFixture(t)
		began := time.Now()
		d := &throttling{Driver: x.driver, until: began.Add(time.Minute)}
		x.live(t, x.store, d, 8, time.Second)
		said := map[string]string{}
		for _, c := range x.claims(t) {
			for _, has := range c.Status.Conditions {
				if has.Type == v1.ConditionLaunched {
					said[c.Name] = has.Message
				}
			}
			if !strings.Contains(said[c.Name], "Request limit exceeded.; tried since "+began.UTC().Format("2006-01-02T15:04:0")) {
				t.Errorf("claim %s says %q", c.Name, said[c.Name])
			}
		}
		if sent := d.calls; sent > 8 {
			t.Errorf("%d orders were sent in as many looks as 8: the driver has tried again already", sent)
		}
		x.live(t, x.store, d, 12, 10*time.Second)
		if n := x.held(t); n != 2 {
			t.Errorf("%d machines were bought for 2 claims", n)
		}
	})
}

// listed is a driver whose lists are counted.
type listed struct {
	cloud.Driver

	lists int
}

func (d *listed) List(ctx context.Context) ([]cloud.Machine, error) {
	d.lists++
	return d.Driver.List(ctx)
}

// An order that this process has just made is sent without a look at all machines that there are, and one of an earlier process with a look.
func TestOwnOrdersAreNotLookedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newFixture(t)
		d := &listed{Driver: x.driver}
		x.live(t, x.store, d, 5, time.Second)
		if n := x.held(t); n != 2 || d.lists > 0 {
			t.Errorf("%d machines were bought for 2 claims, all machines were listed %d times", n, d.lists)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		x := newFixture(t)
		d := &listed{Driver: x.driver}
		x.live(t, x.store, d, 2, time.Second) // it ends when the order is written and not sent
		if n := len(x.market.Everything()); n != 0 {
			t.Fatalf("%d machines are bought already", n)
		}
		for _, c := range x.claims(t) {
			if c.Annotations[v1.AnnotationOrder] == "" {
				t.Fatalf("claim %s has no order yet", c.Name)
			}
		}
		x.live(t, x.store, d, 12, 10*time.Second)
		if n := x.held(t); n != 2 || d.lists == 0 {
			t.Errorf("%d machines were bought for 2 claims, all machines were listed %d times", n, d.lists)
		}
	})
}

// A list that is throttled keeps the order of an earlier process from being sent:
// its claims say so, and when it is called off, too.
func TestClaimsSayThatMachinesCannotBeListed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newFixture(t)
		x.live(t, x.store, x.driver, 2, time.Second) // it ends when the order is written and not sent
		d := &unlisted{Driver: x.driver}
		x.live(t, x.store, d, 3, 30*time.Second)
		for _, c := range x.claims(t) {
			has := c.Conditions().Get(v1.ConditionLaunched)
			if has == nil || !strings.Contains(has.Message, "describe instances: RequestLimitExceeded; tried since 2000-01-01T00:00:0") {
				t.Errorf("claim %s says %+v", c.Name, has)
			}
			if err := x.store.Delete(t.Context(), &c); err != nil {
				t.Fatal(err)
			}
		}
		told := record.NewFakeRecorder(1000)
		x.tell(t, process{store: x.store, driver: d, events: loop.NewEvents(clock.Wall, told), looks: 8, every: 20 * time.Second})
		close(told.Events)
		n := 0
		for e := range told.Events {
			if n++; !strings.HasPrefix(e, "Warning FailedTermination It cannot be seen whether a machine was bought for it: describe instances: RequestLimitExceeded; tried since ") {
				t.Errorf("it is told: %s", e)
			}
		}
		if n == 0 || n > 6 {
			t.Errorf("in three minutes %d events tell of two claims that their machines cannot be listed", n)
		}
		x.live(t, x.store, x.driver, 20, 10*time.Second)
		if left := x.claims(t); len(left) > 0 && left[0].Ordered() {
			t.Errorf("claim %s still waits for its order", left[0].Name)
		}
	})
}

// unlisted is a driver that cannot list its machines.
type unlisted struct{ cloud.Driver }

func (unlisted) List(context.Context) ([]cloud.Machine, error) {
	return nil, cloud.Errorf(cloud.Throttled, "", "describe instances: RequestLimitExceeded")
}
