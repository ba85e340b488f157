package day

import (
	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/static"
	"github.com/tenon-sh/tenon/engine/world"
)

// fixed is the pool that keeps a number of machines, whatever pods there are.
func (d *day) fixed() world.Pool {
	replicas := d.replicas // a World keeps what the pointer shows
	return world.Pool{
		ID: world.PoolID{Kind: world.NodePool, Name: "fixed"}, Template: template, Replicas: &replicas,
		Requirements: label.SetOf(label.Is(label.CapacityType, label.OnDemand)),
		Limits:       amount.Of(amount.Entry{Name: amount.Nodes, Value: int64(d.cfg.Fixed+1) * amount.Unit}),
	}
}

// resize sets the number again, and comes back within three hours. In the evening it is none.
func (d *day) resize(evening int64) {
	d.replicas = 0
	if d.now < evening {
		d.replicas = d.rng.IntN(d.cfg.Fixed + 1)
		d.at(min(d.loud(d.now+600+d.rng.Int64N(3*3600)), evening), func() { d.resize(evening) })
	}
	d.objects[d.fixed().ID] = d.fixed()
	d.must(d.builder.SetPool(d.fixed()))
	d.soonKeep(0)
}

// soonKeep puts a look at the fixed pool on the agenda.
func (d *day) soonKeep(after int64) {
	if !d.keeping && !d.life.down {
		d.keeping = true
		d.by(d.now+after, d.keep)
	}
}

// keep brings the fixed pool to its number.
func (d *day) keep() {
	d.keeping = false
	d.stock()
	w := d.builder.Snapshot(d.now)
	p := static.Decide(w, static.Options{})
	stand, _ := p.StaticOf(d.fixed().ID)
	for _, a := range p.New {
		d.buy(a)
	}
	for _, g := range p.Back() {
		d.end(d.claims[g.Claim])
	}
	staying := 0
	for _, c := range d.claims {
		if c.Pool == d.fixed().ID && !c.Deleting {
			staying++
		}
	}
	if staying > d.replicas || staying < d.replicas && stand.Missing == 0 && stand.New == 0 {
		d.problem("the fixed pool has %d machines, it is to have %d", staying, d.replicas)
	}
	if staying < d.replicas {
		d.soonKeep(60)
	}
}
