package launch_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/internal/cloud"
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
		x := newTown(t)
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
		x := newTown(t)
		d := &listed{Driver: x.driver}
		x.live(t, x.store, d, 5, time.Second)
		if n := x.held(t); n != 2 || d.lists > 0 {
			t.Errorf("%d machines were bought for 2 claims, all machines were listed %d times", n, d.lists)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		x := newTown(t)
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
