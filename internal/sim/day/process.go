package day

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/cloud"
	"github.com/tenon-sh/tenon/internal/sim/driver"
	"github.com/tenon-sh/tenon/internal/sim/market"
)

// death ends the process in the middle of what it does.
type death struct{}

// by puts something on the agenda of the process. It is forgotten when the process ends.
func (d *day) by(when int64, do func()) {
	if d.life.down {
		return
	}
	number := d.life.number
	d.at(when, func() {
		if d.life.number == number && !d.life.down {
			do()
		}
	})
}

// write counts a write of the process, and is where it may end.
func (d *day) write() {
	d.report.Writes++
	if d.life.doomed > 0 && !d.life.down {
		if d.life.doomed--; d.life.doomed == 0 {
			panic(death{})
		}
	}
}

// survive lets something happen, and the process end in it.
func (d *day) survive(do func()) {
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(death); !ok {
				panic(r)
			}
			d.report.MidWrite++
			d.die()
		}
	}()
	do()
}

// doom has the process end at one of its next writes, or some minutes later if it does not write.
func (d *day) doom() {
	if d.life.down || d.life.doomed > 0 {
		return
	}
	d.life.doomed = 1 + d.rng.IntN(8)
	d.by(d.now+900, d.die)
}

// die ends the process. Another begins within a minute.
func (d *day) die() {
	d.report.Deaths++
	d.life.number++
	d.life.down, d.life.doomed = true, 0
	d.planned, d.keeping, d.giving = false, false, 0
	d.at(d.now+2+d.rng.Int64N(50), d.start)
}

// start begins a process that knows nothing but what the objects say, and asks
// whether that is what the one before knew.
func (d *day) start() {
	d.guards()
	was := d.builder.Snapshot(d.now).Digest()
	d.life.down = false
	d.version = ""
	d.builder = world.NewBuilder()
	d.must(d.builder.SetDaemonSet(d.life.daemon))
	for _, n := range slices.Sorted(maps.Keys(d.nodes)) {
		d.must(d.builder.SetNode(d.nodes[n]))
	}
	for _, k := range slices.SortedFunc(maps.Keys(d.pods), compare) {
		d.must(d.builder.SetPod(d.pods[k]))
	}
	for _, n := range slices.Sorted(maps.Keys(d.claims)) {
		d.must(d.builder.SetClaim(d.claims[n]))
	}
	for _, p := range d.objects {
		d.must(d.builder.SetPool(p))
	}
	if d.life.catalog.Template != "" {
		d.must(d.builder.SetCatalog(d.life.catalog))
	}
	d.guards()
	if is := d.builder.Snapshot(d.now).Digest(); is != was {
		d.problem("the World made of the objects is another than the one that grew: %s, %s", is, was)
	}
	d.connect()
	for _, name := range slices.Sorted(maps.Keys(d.claims)) {
		switch c := d.claims[name]; {
		case c.Deleting:
			d.by(d.now, func() { d.leave(name) })
		case !c.Launched:
			d.by(d.now, func() { d.launch(name) })
		}
	}
	d.by(d.now, d.hear)
	d.by(d.now, d.rounds)
	d.arrived()
	d.again()
	d.soonKeep(1)
	if d.cfg.Move {
		d.by(d.now+15, d.consolidate)
	}
}

// connect gives the process a way to the cloud that remembers nothing.
func (d *day) connect() {
	var to cloud.Driver = driver.New(d.market, "day")
	d.driver = faultyCloud{to, d}
}

// running makes a node of a machine that has booted, unless it never joins.
func (d *day) running(i market.Instance) {
	if _, quiet := d.quietAt(d.now); !quiet && d.cfg.Life.Lame > 0 && d.rng.IntN(100) < d.cfg.Life.Lame {
		if d.life.lame == nil {
			d.life.lame = map[string]bool{}
		}
		d.life.lame[i.ID] = true
		d.report.Lame++
	}
	d.at(d.now+join, func() { d.joined(i) })
}

func idOf(i market.Instance) string { return driver.ProviderID(i) }

// orderOf is the token that a machine was bought under.
func orderOf(i market.Instance) string { return i.Tags["karpenter.sh/order"] }

// errFault is a call that failed. It may have been carried out.
var errFault = errors.New("the connection was reset")

// faultyCloud is a cloud of which some calls fail, and of some only the answer is lost.
type faultyCloud struct {
	cloud.Driver
	day *day
}

// fails reports whether a call fails, and whether it is carried out all the same.
func (u faultyCloud) fails() (failed, done bool) {
	d := u.day
	d.report.Calls++
	if _, quiet := d.quietAt(d.now); quiet || d.cfg.Life.Faults == 0 || d.now >= d.life.evening {
		return false, false
	}
	if failed = d.now < d.life.silent || d.rng.IntN(100) < d.cfg.Life.Faults; failed {
		d.report.Faults++
		if done = d.rng.IntN(2) == 0; done {
			d.report.Lost++
		}
	}
	return failed, done
}

// Launch implements cloud.Driver.
func (u faultyCloud) Launch(ctx context.Context, orders []cloud.Order) []cloud.Outcome {
	failed, done := u.fails()
	if !failed {
		return u.Driver.Launch(ctx, orders)
	}
	if done {
		u.Driver.Launch(ctx, orders)
	}
	out := make([]cloud.Outcome, len(orders))
	for i := range out {
		out[i].Err = errFault
	}
	return out
}

// Terminate implements cloud.Driver.
func (u faultyCloud) Terminate(ctx context.Context, ids []cloud.MachineID) []error {
	failed, done := u.fails()
	if !failed {
		return u.Driver.Terminate(ctx, ids)
	}
	if done {
		u.Driver.Terminate(ctx, ids)
	}
	errs := make([]error, len(ids))
	for i := range errs {
		errs[i] = errFault
	}
	return errs
}

// List implements cloud.Driver.
func (u faultyCloud) List(ctx context.Context) ([]cloud.Machine, error) {
	if failed, _ := u.fails(); failed {
		return nil, errFault
	}
	return u.Driver.List(ctx)
}

// Catalog implements cloud.Driver.
func (u faultyCloud) Catalog(ctx context.Context, t cloud.Template) (world.Catalog, error) {
	if failed, _ := u.fails(); failed {
		return world.Catalog{}, errFault
	}
	return u.Driver.Catalog(ctx, t)
}
