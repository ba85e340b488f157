package market_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-sh/tenon/internal/sim/market"
)

// story collects what an observer hears, in order.
type story struct{ lines []string }

func (s *story) observer() market.Observers {
	return market.Observers{
		OnRunning:    func(i market.Instance) { s.lines = append(s.lines, "runs "+i.DNS) },
		OnTerminated: func(i market.Instance) { s.lines = append(s.lines, "ended "+i.DNS) },
		OnNotice: func(n market.Notice) {
			line := string(n.Kind)
			if n.State != "" {
				line += " " + string(n.State)
			}
			s.lines = append(s.lines, line)
		},
	}
}

func TestLifeOfASpotMachine(t *testing.T) {
	m, c, subnet := small(t, nil)
	var heard story
	m.Observe(heard.observer())
	got, err := m.CreateFleet(ask(1, market.Spot, market.Override{Type: "m5.large", Subnet: subnet["cn-north-1a"]}))
	if err != nil || len(got.Launched) != 1 {
		t.Fatal(got, err)
	}
	for range 100 {
		m.Tick()
		at, more := m.Next()
		if !more {
			break
		}
		c.at = at
		if m.Tick(); len(heard.lines) == 3 {
			if err := m.Interrupt(got.Launched[0].IDs[0]); err != nil {
				t.Fatal(err)
			}
		}
	}
	want := []string{
		"state-change pending",
		"state-change running",
		"runs ip-192-168-0-4.cn-north-1.compute.internal",
		"spot-interruption",
		"state-change shutting-down",
		"state-change terminated",
		"ended ip-192-168-0-4.cn-north-1.compute.internal",
	}
	if diff := cmp.Diff(want, heard.lines); diff != "" {
		t.Errorf("the machine's life: -want +got\n%s", diff)
	}
	usual := market.Usual()
	if lived := c.at.Sub(start); lived != usual.Boot+usual.SpotNotice+usual.ShutDown+usual.Forget {
		t.Errorf("the last thing happened after %s", lived)
	}
	if n := len(m.Instances()); n != 0 {
		t.Errorf("%d machines are still described", n)
	}
}

func TestRunTicksAsTimePasses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, _, subnet := small(t, func(cfg *market.Config) { cfg.Now = time.Now })
		ran := make(chan string, 1)
		m.Observe(market.Observers{OnRunning: func(i market.Instance) { ran <- i.ID }})
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { m.Run(ctx); close(done) }()
		begin := time.Now()
		got, err := m.CreateFleet(ask(1, market.OnDemand, market.Override{Type: "m5.large", Subnet: subnet["cn-north-1a"]}))
		if err != nil {
			t.Fatal(err)
		}
		if id := <-ran; id != got.Launched[0].IDs[0] {
			t.Errorf("%s runs, want %s", id, got.Launched[0].IDs[0])
		}
		if took := time.Since(begin); took != market.Usual().Boot {
			t.Errorf("it took %s, want the boot time", took)
		}
		stop()
		<-done
	})
}

func TestFreshMachinesAreHiddenForAWhile(t *testing.T) {
	m, c, subnet := small(t, func(cfg *market.Config) {
		cfg.Timing = market.Usual()
		cfg.Timing.Hidden = 2 * time.Second
	})
	got, err := m.CreateFleet(ask(1, market.OnDemand, market.Override{Type: "m5.large", Subnet: subnet["cn-north-1a"]}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Find(got.Launched[0].IDs); code(err) != market.InvalidInstanceIDNotFound {
		t.Errorf("a describe call right after the launch gave %v, want %s", err, market.InvalidInstanceIDNotFound)
	}
	c.pass(2 * time.Second)
	if _, err := m.Find(got.Launched[0].IDs); err != nil {
		t.Errorf("a describe call later gave %v", err)
	}
}

func TestSpotPricesMoveWithinBounds(t *testing.T) {
	m, c, _ := small(t, nil)
	before := m.SpotPrices(nil, "")
	moved := false
	for range 48 {
		c.pass(time.Hour)
		for k, p := range m.SpotPrices(nil, "") {
			onDemand := m.OnDemandPrice(p.Type)
			if p.Price < onDemand/10 || p.Price > onDemand {
				t.Fatalf("%s in %s costs %d, on demand %d", p.Type, p.Zone, p.Price, onDemand)
			}
			moved = moved || p.Price != before[k].Price
		}
	}
	if !moved {
		t.Error("no price moved in two days")
	}
}

func TestQueueHidesAndForgets(t *testing.T) {
	m, c, _ := small(t, nil)
	m.AddQueue("q", 5*time.Minute)
	if _, err := m.Send("q", "hello"); err != nil {
		t.Fatal(err)
	}
	receive := func() int {
		t.Helper()
		got, _, err := m.Receive("q", 10, 20*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		return len(got)
	}
	if n := receive(); n != 1 {
		t.Fatalf("received %d messages, want 1", n)
	}
	if n := receive(); n != 0 {
		t.Errorf("received %d messages, want none while the first is being handled", n)
	}
	c.pass(20 * time.Second)
	if n := receive(); n != 1 {
		t.Errorf("received %d messages, want the one that was not deleted", n)
	}
	c.pass(5 * time.Minute)
	if n := receive(); n != 0 {
		t.Errorf("received %d messages, want none after the retention", n)
	}
}

func TestThrottleRefills(t *testing.T) {
	m, c, _ := small(t, func(cfg *market.Config) {
		cfg.Limits = map[string]market.Limit{"ec2:*": {Burst: 2, Rate: 1}}
	})
	got := []bool{}
	for range 3 {
		got = append(got, m.Throttle("ec2", "CreateFleet"))
	}
	c.pass(time.Second)
	got = append(got, m.Throttle("ec2", "CreateFleet"))
	if diff := cmp.Diff([]bool{false, false, true, false}, got); diff != "" {
		t.Errorf("throttled: -want +got\n%s", diff)
	}
}

// TestManyCallers is for the race detector: everything at once, by several goroutines.
func TestManyCallers(t *testing.T) {
	m, _, subnet := small(t, func(cfg *market.Config) { cfg.Now = time.Now })
	ctx, stop := context.WithCancel(t.Context())
	m.AddQueue("q", time.Minute)
	m.Observe(market.Observers{OnNotice: func(n market.Notice) { _, _ = m.Send("q", n.ID) }})
	var all sync.WaitGroup
	all.Go(func() { m.Run(ctx) })
	var callers sync.WaitGroup
	for range 4 {
		callers.Go(func() {
			for range 20 {
				got, err := m.CreateFleet(ask(2, market.Spot, market.Override{Type: "m5.large", Subnet: subnet["cn-north-1a"]}))
				if err != nil {
					t.Error(err)
					return
				}
				ids := got.Launched[0].IDs
				if err := m.Tag(ids, market.Tags{"a": "b"}); err != nil {
					t.Error(err)
				}
				disks := 0
				for _, i := range m.Instances() {
					for _, v := range i.Volumes {
						disks += len(v.Tags) + len(i.Tags)
					}
				}
				if err := m.Tag([]string{m.Instances()[0].Volumes[0].ID}, market.Tags{"c": "d"}); err != nil {
					t.Error(err)
				}
				m.SpotPrices(nil, "")
				if _, err := m.Terminate(ids); err != nil {
					t.Error(err)
				}
				m.Throttle("ec2", "CreateFleet")
				m.Record(market.Call{Service: "ec2", Action: "CreateFleet"})
			}
		})
	}
	callers.Wait()
	stop()
	all.Wait()
	if n := m.Counts()["ec2:CreateFleet"]; n != 80 {
		t.Errorf("%d calls were counted, want 80", n)
	}
}
