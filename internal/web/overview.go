package web

import (
	"strings"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/journal"
	"github.com/tenon-sh/tenon/internal/web/live"
)

// maxRows is how many rows a table of nodes or pods shows: what is not read need not be sent.
const maxRows = 500

// overview is the cluster's page.
type overview struct {
	Live           bool   // scripts show it as it changes
	Elsewhere      string // another replica decides
	At             string
	Price, Month   string
	Currency       string
	Ready, Coming  int
	Running        int
	CPU, Memory    int // percent of what all nodes have that pods ask for
	Waiting        int
	Verdicts       []verdict
	Leaving        []leavingNode
	Pools          []pool
	Nodes          []node
	More           int // nodes that are not shown
	Decision, Kind string
}

// verdict is what was last decided about pods that wait; those of the same verdict are together.
type verdict struct {
	Workload string // whose pods they are; empty: of several
	State    string // refused, planned, held back, waiting
	Text     string
	Why      *reason.Why
	Pods     []string
	More     int // pods that are not named
	Count    int // of all pods, those of Others too
	Others   []other
	Decision string // the digest of the decision; "": there was none
}

// leavingNode is a machine that is being given back.
type leavingNode struct{ Name, Pool, Type, Why, State, Price, Decision string }

// pool is a row of pools.
type pool struct {
	Kind, Name, State, Limits string
	Nodes, CPU, Memory        int
	Price                     string
}

// node is a row of nodes.
type node struct {
	Name, Pool, Type, Zone, Capacity, State string
	Pods                                    int
	CPU, Memory                             int // percent asked for
	Price                                   string
}

// load is what machines have together, and what is asked of them.
type load struct {
	nodes      int
	used, room amount.List
	price      money.Micro
}

func (l *load) add(p *world.Place, price money.Micro) {
	l.nodes++
	l.used, l.room, l.price = l.used.Plus(p.Used), l.room.Plus(live.RoomOf(p)), l.price+price
}

func (s site) overviewOf(w *world.World, decided []journal.Entry) overview {
	o := overview{Live: s.History != nil, At: clockText(w.At()), Currency: live.Currency(w)}
	o.Elsewhere = s.hint()
	var all load
	byPool := map[world.PoolID]*load{}
	for _, pool := range w.Pools() {
		byPool[pool.ID] = &load{}
	}
	for _, p := range w.Places() {
		price := plan.PriceOf(w, p)
		all.add(p, price)
		if l := byPool[p.Pool()]; l != nil {
			l.add(p, price)
		}
		if p.Node == nil {
			o.Coming++
		} else if p.Node.Ready {
			o.Ready++
		}
		o.Running += len(p.Pods)
		if len(o.Nodes) < maxRows {
			o.Nodes = append(o.Nodes, nodeOf(p, price))
		}
	}
	o.More = len(w.Places()) - len(o.Nodes)
	o.Price, o.Month = priced(all.price), priced(all.price.Times(730))
	o.CPU, o.Memory = share(all.used, all.room, amount.CPU), share(all.used, all.room, amount.Memory)
	for _, p := range w.Pools() {
		l := byPool[p.ID]
		o.Pools = append(o.Pools, pool{
			Kind: p.ID.Kind, Name: p.ID.Name, State: live.PoolState(p), Limits: p.Limits.String(), Nodes: l.nodes, Price: priced(l.price),
			CPU: share(l.used, l.room, amount.CPU), Memory: share(l.used, l.room, amount.Memory),
		})
	}
	o.Waiting, o.Verdicts = verdicts(w, decided)
	o.Leaving = s.leavingOf(w, decided)
	if len(decided) > 0 {
		o.Decision, o.Kind = decided[0].World.Digest(), title(decided[0].Kind)
	}
	return o
}

// verdicts are what the latest decision about each waiting pod says. decided is latest first.
func verdicts(w *world.World, decided []journal.Entry) (waiting int, out []verdict) {
	for _, g := range live.Groups(w, decided) {
		waiting += g.Count
		out = append(out, verdict{State: g.State, Workload: g.Workload, Text: g.Text, Why: g.Why, Pods: g.Pods, More: g.Count - len(g.Pods), Decision: g.Decision})
	}
	out = alike(out)
	return waiting, out[:min(len(out), maxRows)]
}

// leavingOf are the machines that go, and why as far as that was decided here or
// the claim was deleted by this controller.
func (s site) leavingOf(w *world.World, decided []journal.Entry) []leavingNode {
	reasons := live.Reasons(decided, s.Deleted)
	var out []leavingNode
	for _, p := range w.Places() {
		l := leavingNode{Name: p.Name(), Pool: p.Pool().Name, Type: p.Labels()[label.InstanceType], State: live.StateOf(p), Price: priced(plan.PriceOf(w, p))}
		if !live.Goes(l.State) {
			continue
		}
		if l.State == live.Draining {
			l.State += ", " + amount.Count(len(p.Pods), "pod") + " left"
		}
		claim := ""
		if p.Claim != nil {
			claim = p.Claim.Name
		}
		l.Why, l.Decision = reasons(claim)
		out = append(out, l)
	}
	return out[:min(len(out), maxRows)]
}

func nodeOf(p *world.Place, price money.Micro) node {
	l := p.Labels()
	n := node{
		Name: p.Name(), Pool: p.Pool().Name, Type: l[label.InstanceType], Zone: l[label.Zone], Capacity: l[label.CapacityType],
		Pods: len(p.Pods), Price: priced(price), State: live.StateOf(p),
	}
	if live.Goes(n.State) {
		n.State = "going"
	}
	room := live.RoomOf(p)
	n.CPU, n.Memory = share(p.Used, room, amount.CPU), share(p.Used, room, amount.Memory)
	return n
}

func share(used, room amount.List, name string) int {
	return live.Percent(used.Value(name), room.Value(name))
}

// title is what a kind of decision is called.
func title(kind string) string {
	switch kind {
	case journal.Buy:
		return "What to buy"
	case journal.GiveBack:
		return "What to give back"
	case journal.Static:
		return "How many nodes static pools have"
	}
	return strings.ToUpper(kind[:1]) + kind[1:]
}
