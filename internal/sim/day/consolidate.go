package day

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/disrupt"
	"github.com/tenon-sh/tenon/engine/disrupt/consolidate"
	"github.com/tenon-sh/tenon/engine/disrupt/hold"
	"github.com/tenon-sh/tenon/engine/disrupt/replace"
	"github.com/tenon-sh/tenon/engine/pack"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
)

// disrupted keeps pods from a node that is to go.
func disrupted() world.Taint {
	return world.Taint{Key: "karpenter.sh/disrupted", Effect: world.NoSchedule}
}

// consolidate carries on or takes back what was begun, and begins what pays.
func (d *day) consolidate() {
	if len(d.claims) > 0 || d.cfg.Life.Kind() && d.now < d.life.evening {
		d.by(d.now+d.cfg.Often, d.consolidate)
	}
	d.guards()
	w := d.builder.Snapshot(d.now)
	b := disrupt.BegunIn(w)
	for i, s := range replace.Judge(w, b, replace.Options{}) {
		for _, p := range b.Commands[i].Back {
			switch {
			case s.May:
				d.report.Consolidated++
				d.end(d.claims[p.Claim.Name])
			case s.Why != nil && !s.Passing:
				d.report.TakenBack++
				d.intend(p, "")
			}
		}
	}
	for _, p := range b.Strays {
		c := d.claims[p.Claim.Name]
		c.Replaces = nil
		d.write()
		d.setClaim(c)
		if hold.IsEmpty(p) {
			d.end(c)
		}
	}
	d.begin()
}

// begin begins what pays.
func (d *day) begin() {
	w := d.builder.Snapshot(d.now)
	if len(w.Waiting()) > 0 {
		return
	}
	b := disrupt.BegunIn(w)
	ending := b.Ending(w)
	if d.replace(ending, b) {
		return
	}
	p := consolidate.Decide(ending, consolidate.Options{Pack: pack.Options{Steps: steps}, Planned: b.Awaited})
	d.report.Decisions++
	begun := map[world.PoolID]int{}
	for _, c := range p.Commands {
		if c.Why != nil {
			continue
		}
		var names []string
		for _, g := range c.Back {
			names = append(names, g.Claim)
			begun[g.Pool]++
			d.intend(w.Place(g.Node), plan.Underutilized)
		}
		for _, a := range c.New {
			d.buy(a, names...)
		}
	}
	for id, n := range begun {
		if left := hold.RoomOf(ending, w.Pool(id), plan.Underutilized).Left(); n > left {
			d.problem("pool %s: %d machines are to go, its budgets let %d", id.Name, n, left)
		}
	}
}

// intend marks a machine that is to go, or takes that back.
func (d *day) intend(p *world.Place, why string) {
	c, n := d.claims[p.Claim.Name], d.nodes[p.Node.Name]
	c.Going = why
	if why == "" {
		delete(d.leaving, c.Name)
	} else if d.leaving[c.Name] == 0 {
		d.leaving[c.Name] = d.now
	}
	d.write()
	d.setClaim(c)
	n.Taints = slices.DeleteFunc(slices.Clone(n.Taints), func(t world.Taint) bool { return t == disrupted() })
	if why != "" {
		n.Taints = append(n.Taints, disrupted())
	}
	d.write()
	d.nodes[n.Name] = n
	d.must(d.builder.SetNode(n))
}
