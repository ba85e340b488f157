package day

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/disrupt"
	"github.com/tenon-sh/tenon/engine/disrupt/begun"
	"github.com/tenon-sh/tenon/engine/disrupt/hold"
	"github.com/tenon-sh/tenon/engine/pack"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
)

// consolidate carries on or takes back what was begun, and begins what pays.
func (d *day) consolidate() {
	if len(d.claims) > 0 || d.cfg.Life.Kind() && d.now < d.life.evening {
		d.by(d.now+d.cfg.Often, d.consolidate)
	}
	d.guards()
	w := d.builder.Snapshot(d.now)
	p := disrupt.Decide(w, disrupt.Options{Only: []disrupt.Part{disrupt.Judging}, Marked: d.marks(w)})
	for _, c := range p.Commands {
		for _, g := range c.Back {
			switch c.Verdict {
			case plan.Begin: // the process ended before it was marked
				d.intend(w.Place(g.Node), c.Reason)
			case plan.CarryOn:
				d.report.Consolidated++
				d.end(d.claims[g.Claim])
			case plan.TakeBack:
				d.report.TakenBack++
				d.intend(w.Place(g.Node), "")
			}
		}
	}
	for _, s := range p.Spare {
		c := d.claims[s.Claim]
		c.Replaces = nil
		d.write()
		d.setClaim(c)
		if !s.Used {
			d.end(c)
		}
	}
	d.begin()
}

// marks is for how long marks are known: for long enough, as whatever happens here is seen at once.
func (d *day) marks(w *world.World) map[string]int64 {
	out := map[string]int64{}
	for _, p := range w.Places() {
		if begun.Marked(p) {
			out[p.Node.Name] = 60_000
		}
	}
	return out
}

// begin begins what is due: to replace what is too old or has drifted, or what pays.
func (d *day) begin() {
	w := d.builder.Snapshot(d.now)
	if len(w.Waiting()) > 0 {
		return
	}
	parts := []disrupt.Part{disrupt.Replacing, disrupt.Consolidating}
	if d.cfg.Life.Edits == 0 && d.cfg.Expire == 0 {
		parts = parts[1:]
	}
	p := disrupt.Decide(w, disrupt.Options{Only: parts, Pack: pack.Options{Steps: steps}})
	d.report.Decisions++
	ending := begun.In(w).Ending(w)
	type of struct {
		pool   world.PoolID
		reason string
	}
	begun := map[of]int{}
	for _, c := range p.Commands {
		if c.Verdict != plan.Begin {
			continue
		}
		for _, g := range c.Back {
			begun[of{g.Pool, c.Reason}]++
			switch c.Reason {
			case plan.Expired:
				d.report.Expired++
			case plan.Drifted:
				d.report.Drifted++
			}
			d.intend(w.Place(g.Node), c.Reason)
		}
		for _, a := range c.New {
			d.buy(a, c.Claims()...)
		}
	}
	for x, n := range begun {
		if left := hold.RoomOf(ending, w.Pool(x.pool), x.reason).Left(); n > left && x.reason != plan.Expired {
			d.problem("pool %s: %d machines are to go for the reason %s, its budgets let %d", x.pool.Name, n, x.reason, left)
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
	n.Taints = slices.DeleteFunc(slices.Clone(n.Taints), func(t world.Taint) bool { return t == begun.Mark() })
	if why != "" {
		n.Taints = append(n.Taints, begun.Mark())
	}
	d.write()
	d.nodes[n.Name] = n
	d.must(d.builder.SetNode(n))
}
