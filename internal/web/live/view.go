package live

import (
	"cmp"
	"slices"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/journal"
)

// Frame is the cluster as the page draws it, or what has changed of it since the frame before.
type Frame struct {
	Seq      int    `json:"seq"`
	Whole    bool   `json:"whole,omitempty"` // it is all there is, not only what has changed
	At       int64  `json:"at"`
	Currency string `json:"currency"`
	Totals   Totals `json:"totals"`
	Leader   string `json:"leader,omitempty"` // the replica that decides, as NAMESPACE/NAME, if it is another one
	Nodes    []Node `json:"nodes"`
	// Gone are the names of nodes that are no more.
	Gone []string `json:"gone,omitempty"`
	// Pools, Waiting, Decisions and Savings are all there are, if any of them is another; else nil.
	Pools     *[]Pool     `json:"pools,omitempty"`
	Waiting   *[]Group    `json:"waiting,omitempty"`
	Decisions *[]Decision `json:"decisions,omitempty"`
	Savings   *Savings    `json:"savings,omitempty"`
}

// drawn is a node as it was last drawn.
type drawn struct {
	place *world.Place
	node  Node
	keeps []string
}

// view draws one World after the other. It is not for several goroutines at once.
type view struct {
	deleted func(claim string) string // why this controller deleted a claim; may be nil
	leader  func() string             // the replica that decides, if it is another one; may be nil

	seq     int
	world   *world.World
	latest  string // digest of the latest decision
	prices  prices
	windows windows
	nodes   map[string]*drawn
	order   []string
	keeps   map[string][]string
	pools   []Pool
	waiting []Group
	decided []Decision
	savings *Savings
	totals  Totals
	led     string // by which replica, when it was last drawn
}

// shownDecisions is how many decisions the time line has.
const shownDecisions = 500

// next draws a World. It reports false if nothing differs from what was drawn last.
func (v *view) next(w *world.World, decided []journal.Entry) (Frame, bool) {
	latest := ""
	if len(decided) > 0 {
		latest = decided[0].Kind + decided[0].World.Digest()
	}
	v.prices.follow(w)
	f := Frame{At: w.At(), Currency: Currency(w)}
	news := v.latest != latest
	v.drawNodes(w, decided, &f)
	if v.windows == nil {
		v.windows = windows{}
	}
	if pools := poolsOf(w, v.windows); v.world == nil || !slices.Equal(pools, v.pools) {
		v.pools, f.Pools = pools, &pools
	}
	if v.world == nil || news || !slices.Equal(v.world.Waiting(), w.Waiting()) {
		waiting := Groups(w, decided)
		v.waiting, f.Waiting = waiting, &waiting
	}
	if news || v.world == nil {
		rows := []Decision{}
		for _, e := range decided[:min(len(decided), shownDecisions)] {
			rows = append(rows, decisionOf(e))
		}
		v.decided, f.Decisions = rows, &rows
		if s := savingsOf(decided); s != nil && (v.savings == nil || s.Decision != v.savings.Decision) {
			v.savings, f.Savings = s, s
		}
	}
	if v.leader != nil {
		f.Leader = v.leader()
	}
	other := v.world == nil || Currency(v.world) != f.Currency || v.led != f.Leader
	v.world, v.latest = w, latest
	changed := other || len(f.Nodes) > 0 || len(f.Gone) > 0 || f.Pools != nil || f.Waiting != nil || f.Decisions != nil || !alike(f.Totals, v.totals)
	v.totals, v.led = f.Totals, f.Leader
	if changed {
		v.seq++
	}
	f.Seq = v.seq
	return f, changed
}

// alike compares totals but for what only time moves.
func alike(a, b Totals) bool {
	a.Longest, b.Longest = 0, 0
	return a == b
}

// whole is all that was drawn last.
func (v *view) whole() Frame {
	f := Frame{Seq: v.seq, Whole: true, At: v.world.At(), Currency: Currency(v.world), Totals: v.totals, Leader: v.led, Nodes: make([]Node, 0, len(v.order)), Pools: &v.pools, Waiting: &v.waiting, Decisions: &v.decided, Savings: v.savings}
	for _, name := range v.order {
		f.Nodes = append(f.Nodes, v.nodes[name].node)
	}
	return f
}

// drawNodes draws the machines that differ, and adds up all of them.
func (v *view) drawNodes(w *world.World, decided []journal.Entry, f *Frame) {
	places := w.Places()
	before := v.nodes
	v.nodes = make(map[string]*drawn, len(places))
	v.order = v.order[:0]
	var reasons func(claim string) (why, decision string)
	f.Nodes = []Node{}
	sum := summing{}
	for _, p := range places {
		name := p.Name()
		price, list := v.prices.of(w, p)
		d := before[name]
		keeps := v.keeps[name]
		if d == nil || d.place != p || d.node.Price != price || d.node.OnDemand != list || !slices.Equal(d.keeps, keeps) {
			n := nodeOf(w, p)
			n.Price, n.OnDemand, n.Keeps = price, list, keeps
			if Goes(n.State) {
				if reasons == nil {
					reasons = Reasons(decided, v.deleted)
				}
				n.Why, n.Decision = reasons(n.Claim)
				n.Keeps = nil
			}
			d = &drawn{p, n, keeps}
			f.Nodes = append(f.Nodes, n)
		}
		v.nodes[name] = d
		v.order = append(v.order, name)
		sum.add(p, d.node.State, price, list)
	}
	f.Totals = sum.totals(w)
	for name := range before {
		if v.nodes[name] == nil {
			f.Gone = append(f.Gone, name)
		}
	}
	slices.Sort(f.Gone)
}

// Reasons says why the machine of a claim goes, and which decision says so, if one does. decided is latest first;
// deleted says why this controller deleted a claim, and may be nil.
func Reasons(decided []journal.Entry, deleted func(claim string) string) func(claim string) (why, decision string) {
	type give struct{ why, decision string }
	gives := map[string]give{}
	for _, e := range slices.Backward(decided) {
		for _, g := range e.Plan.Back() {
			gives[g.Claim] = give{g.Reason, e.World.Digest()}
		}
	}
	return func(claim string) (why, decision string) {
		if g, ok := gives[claim]; ok {
			return g.why, g.decision
		}
		if claim != "" && deleted != nil {
			why = deleted(claim)
		}
		return cmp.Or(why, "deleted by another client, or before this controller began"), ""
	}
}

func poolsOf(w *world.World, windows windows) []Pool {
	used, machines := map[world.PoolID]amount.List{}, map[world.PoolID]*counts{}
	for _, p := range w.Places() {
		id := p.Pool()
		c := machines[id]
		if c == nil {
			c = &counts{}
			machines[id] = c
		}
		c.add(p)
		if pool := w.Pool(id); pool == nil || len(pool.Limits) == 0 {
			continue
		}
		used[id] = used[id].Plus(capacityOf(p)).Plus(amount.List{{Name: amount.Nodes, Value: amount.Unit}})
	}
	out := []Pool{}
	for _, p := range w.Pools() {
		drawn := poolOf(p, used[p.ID])
		if c := machines[p.ID]; c != nil {
			drawn.Budgets = windows.of(p, *c, w.At())
		}
		out = append(out, drawn)
	}
	return out
}

// capacityOf is what a machine counts as against its pool's limits.
func capacityOf(p *world.Place) amount.List {
	switch {
	case p.Node != nil && len(p.Node.Capacity) > 0:
		return p.Node.Capacity
	case p.Claim != nil && len(p.Claim.Capacity) > 0:
		return p.Claim.Capacity
	case p.Claim != nil:
		return p.Claim.Booked
	}
	return nil
}
