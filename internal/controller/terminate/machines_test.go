package terminate_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cloud"
	"github.com/tenon-sh/tenon/internal/controller/terminate"
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
