package day

import (
	"slices"

	"github.com/tenon-sh/tenon/internal/sim/driver"
	"github.com/tenon-sh/tenon/internal/sim/market"
)

// trouble puts on the agenda what goes wrong today.
func (d *day) trouble() {
	if d.cfg.Nothing > 0 {
		d.at(d.now+3600, func() { d.market.SetCapacity(market.Capacity{}) })
		d.at(d.now+3600+d.cfg.Nothing, func() { d.market.ClearCapacity(market.Capacity{}) })
	}
	for _, t := range []struct {
		times int
		do    func()
	}{{d.cfg.Breaks, d.breakOne}, {d.cfg.Takes, d.takeOne}, {d.cfg.SoldOut, d.sellOut}} {
		for range t.times {
			d.at(d.now+3600+d.rng.Int64N(int64(d.cfg.Hours)*3600), t.do)
		}
	}
}

// pick is a machine that runs and is as it is wanted; empty if there is none.
func (d *day) pick(wanted func(market.Instance) bool) string {
	var alive []string
	for _, i := range d.market.Instances() {
		if i.State == market.Running && wanted(i) {
			alive = append(alive, i.ID)
		}
	}
	if len(alive) == 0 {
		return ""
	}
	slices.Sort(alive)
	return alive[d.rng.IntN(len(alive))]
}

// breakOne ends a machine without notice.
func (d *day) breakOne() {
	id := d.pick(func(market.Instance) bool { return true })
	if id == "" {
		return
	}
	if err := d.market.Kill(id); err != nil {
		d.problem("break: %v", err)
		return
	}
	d.report.Broken++
}

// takeOne has the cloud announce that it reclaims a spot machine.
func (d *day) takeOne() {
	id := d.pick(func(i market.Instance) bool { return i.CapacityType == market.Spot && !d.taken[i.ID] })
	if id == "" {
		return
	}
	d.taken[id] = true
	if err := d.market.Interrupt(id); err != nil {
		d.problem("take back: %v", err)
		return
	}
	d.report.Taken++
}

// noticed gives a machine back before the cloud takes it.
func (d *day) noticed(n market.Notice) {
	if n.Kind != market.SpotInterruption {
		return
	}
	d.life.queue = append(d.life.queue, n.Instance)
	d.by(d.now, d.hear)
}

// unseen is after how many seconds a message comes again that was not handled.
const unseen = 20

// hear handles the messages of the queue. One is out of it when it has been
// handled; one that may be about a machine that no claim names yet comes again.
func (d *day) hear() {
	var early []string
	for len(d.life.queue) > 0 {
		id := d.life.queue[0]
		at, err := d.market.Find([]string{id})
		if err != nil {
			d.problem("notice: %v", err)
			return
		}
		switch c, ok := d.claimOf(driver.ProviderID(at[0])); {
		case ok && !c.Deleting:
			d.end(c)
		case !ok && at[0].State == market.Running && d.unlaunched():
			early = append(early, id)
		}
		d.life.queue = d.life.queue[1:]
	}
	if d.life.queue = early; len(early) > 0 {
		d.by(d.now+unseen, d.hear)
	}
}

// unlaunched reports whether some claim has no machine that is known.
func (d *day) unlaunched() bool {
	for _, c := range d.claims {
		if c.ProviderID == "" && !c.Deleting {
			return true
		}
	}
	return false
}

// sellOut has nothing left of a type for an hour, in one zone or in all.
func (d *day) sellOut() {
	types, zones := d.market.Types(), d.market.Zones()
	none := market.Capacity{Type: types[d.rng.IntN(len(types))].Name}
	if z := d.rng.IntN(len(zones) + 1); z < len(zones) {
		none.Zone = zones[z].Name
	}
	d.market.SetCapacity(none)
	d.report.SoldOut++
	d.at(d.now+3600, func() { d.market.ClearCapacity(none) })
}
