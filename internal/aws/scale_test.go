package aws_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/internal/aws/notice"
	"github.com/tenon-sh/tenon/internal/cloud"
	"github.com/tenon-sh/tenon/internal/sim/market"
)

// calls counts what was asked of EC2.
func (w *virtual) calls(action string) int {
	n := 0
	for _, c := range w.account().Market.Calls(0) {
		if c.Action == action {
			n++
		}
	}
	return n
}

// A burst of a thousand equal machines is one fleet request an order, and AWS's
// own limits lose none of them.
func TestAThousandMachinesAtOnce(t *testing.T) {
	credentials(t)
	synctest.Test(t, func(t *testing.T) {
		w := &virtual{t: t, full: true}
		d := w.start()
		var orders []cloud.Order
		for i := range 10 {
			orders = append(orders, order(fmt.Sprintf("order-%d", i), 100, label.Spot, label.OnDemand))
		}
		began, n := time.Now(), 0
		for _, out := range d.Launch(t.Context(), orders) {
			if out.Err != nil {
				t.Error(out.Err)
			}
			n += len(out.Machines)
		}
		if n != 1000 || len(w.account().Market.Instances()) != n {
			t.Errorf("%d machines were told of, %d run", n, len(w.account().Market.Instances()))
		}
		if got := w.calls("CreateFleet"); got != len(orders) {
			t.Errorf("%d fleet requests for %d orders", got, len(orders))
		}
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("it took %s", took)
		}
	})
}

// Many small orders come up against EC2's five fleet requests a second. They
// take their time, and every one gets its machine.
func TestManySmallOrdersAreThrottledAndNotLost(t *testing.T) {
	credentials(t)
	synctest.Test(t, func(t *testing.T) {
		w := &virtual{t: t}
		d := w.start()
		var orders []cloud.Order
		for i := range 400 {
			orders = append(orders, order(fmt.Sprintf("order-%d", i), 1, label.OnDemand))
		}
		began := time.Now()
		left := orders
		for round := 0; len(left) > 0; round++ {
			if round == 5 {
				t.Fatalf("%d orders have no machine after %s", len(left), time.Since(began))
			}
			var again []cloud.Order
			for i, out := range d.Launch(t.Context(), left) {
				switch {
				case cloud.CodeOf(out.Err) == cloud.Throttled:
					again = append(again, left[i])
				case out.Err != nil || len(out.Machines) != 1:
					t.Errorf("%s: %v", left[i].Token, out.Err)
				}
			}
			left = again
		}
		if n := len(w.account().Market.Instances()); n != len(orders) {
			t.Errorf("%d machines run for %d orders", n, len(orders))
		}
		if took := time.Since(began); took > 3*time.Minute {
			t.Errorf("it took %s; 400 requests at 5 a second after 50 at once are 70 s", took)
		}
	})
}

// The queue is emptied of ten thousand messages within a minute. What no node
// understands goes, what could not be handled comes again.
func TestTenThousandNotices(t *testing.T) {
	credentials(t)
	synctest.Test(t, func(t *testing.T) {
		w := &virtual{t: t, queue: "demo"}
		q := w.start().Notices()
		m := w.account().Market
		const notices, garbage = 10_000, 200
		for i := range notices {
			body := fmt.Sprintf(`{"source":"aws.ec2","detail-type":"EC2 Spot Instance Interruption Warning","detail":{"instance-id":"i-%05d"}}`, i)
			if _, err := m.Send("demo", body); err != nil {
				t.Fatal(err)
			}
			if i%(notices/garbage) == 0 {
				_, _ = m.Send("demo", []string{"not json", `{"source":"aws.s3"}`, `{"source":"aws.ec2","detail-type":"EC2 Spot Instance Interruption Warning","detail":7}`}[i%3])
			}
		}
		var mu sync.Mutex
		seen, failed := map[string]int{}, map[string]bool{}
		handle := func(_ context.Context, n notice.Notice) error {
			mu.Lock()
			defer mu.Unlock()
			id := n.Instances[0]
			if !failed[id] && id[len(id)-2:] == "77" {
				failed[id] = true
				return errors.New("the API server is away")
			}
			seen[id]++
			return nil
		}
		began, took := time.Now(), time.Duration(0)
		for empty := 0; empty < 3; {
			n, _ := q.Drain(t.Context(), handle, func(error) {})
			if n == 0 {
				empty++
			} else {
				empty, took = 0, time.Since(began)
			}
		}
		if len(seen) != notices {
			t.Errorf("%d notices were handled, want %d", len(seen), notices)
		}
		if len(failed) != notices/100 || slices.Contains([]int{seen["i-00077"]}, 0) {
			t.Errorf("%d failed at first; i-00077 was handled %d times in the end", len(failed), seen["i-00077"])
		}
		if took > time.Minute {
			t.Errorf("it took %s", took)
		}
		if visible, hidden, err := m.Depth("demo"); err != nil || visible+hidden != 0 {
			t.Errorf("%d messages are left, %v", visible+hidden, err)
		}
	})
}

// Without work the driver is nearly silent.
func TestIdle(t *testing.T) {
	credentials(t)
	synctest.Test(t, func(t *testing.T) {
		w := &virtual{t: t, limits: map[string]market.Limit{}}
		d := w.start()
		c := cloud.New(cloud.Config{Driver: d, Now: time.Now})
		c.Want(templateOf())
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { c.Run(ctx); close(done) }()
		checks, beside := d.Checks(), make(chan struct{})
		go func() { // as the controllers do
			defer close(beside)
			for ctx.Err() == nil {
				_, _ = d.Inspect(ctx, templateOf().Class)
				_, _ = checks.Look(ctx, func(context.Context, notice.Notice) error { return nil }, func(error) {})
				_ = d.Sweep(ctx)
				time.Sleep(time.Minute)
			}
		}()
		time.Sleep(10 * time.Minute)
		before := len(w.account().Market.Calls(0))
		time.Sleep(time.Hour)
		stop()
		<-done
		<-beside
		rate := float64(len(w.account().Market.Calls(0))-before) / 3600
		if t.Logf("%.3f calls a second", rate); rate > 0.2 {
			t.Errorf("%.2f calls a second while idle", rate)
		}
	})
}
