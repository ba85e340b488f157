package web

import (
	"cmp"
	"slices"
	"strings"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/journal"
)

// most is how many rows a table of nodes or pods shows: what nobody reads need not be sent.
const most = 500

// unknown is said of a machine that goes without that this controller knows why.
const unknown = "deleted by another client, or before this controller began"

// overview is the cluster's page.
type overview struct {
	Live           bool // scripts show it as it changes
	At             string
	Price, Month   string
	Currency       string
	Ready, Coming  int
	Running        int
	CPU, Memory    int // percent of what all nodes have that pods ask for
	Waiting        int
	Verdicts       []verdict
	Leaving        []leaving
	Pools          []pool
	Nodes          []node
	More           int // nodes that are not shown
	Decision, Kind string
}

// verdict is what was last decided about pods that wait; those of the same verdict are together.
type verdict struct {
	State    string // refused, planned, held back, waiting
	Text     string
	Why      *reason.Why
	Pods     []string
	More     int    // pods that are not named
	Decision string // the digest of the decision; "": there was none
}

// leaving is a machine that is being given back.
type leaving struct{ Name, Pool, Type, Why, State, Price, Decision string }

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
	price      int64
}

func (l *load) add(p *world.Place, price int64) {
	l.nodes++
	l.used, l.room, l.price = l.used.Plus(p.Used), l.room.Plus(roomOf(p)), l.price+price
}

func (s site) overviewOf(w *world.World, decided []journal.Entry) overview {
	o := overview{Live: s.live, At: clockText(w.At()), Currency: currency(w)}
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
		if len(o.Nodes) < most {
			o.Nodes = append(o.Nodes, nodeOf(p, price))
		}
	}
	o.More = len(w.Places()) - len(o.Nodes)
	o.Price, o.Month = money(all.price), money(all.price*730)
	o.CPU, o.Memory = share(all.used, all.room, amount.CPU), share(all.used, all.room, amount.Memory)
	for _, p := range w.Pools() {
		l := byPool[p.ID]
		o.Pools = append(o.Pools, pool{
			Kind: p.ID.Kind, Name: p.ID.Name, State: stateOf(p), Limits: p.Limits.String(), Nodes: l.nodes, Price: money(l.price),
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

func stateOf(p *world.Pool) string {
	switch {
	case p.Deleting:
		return "going"
	case p.NotReady != "":
		return p.NotReady
	}
	return "ready"
}

// verdicts are what the latest decision about each waiting pod says, those of
// most pods first. decided is latest first.
func verdicts(w *world.World, decided []journal.Entry) (waiting int, out []verdict) {
	said := map[world.Key]verdict{}
	for _, e := range slices.Backward(decided) {
		digest := e.World.Digest()
		for _, r := range e.Plan.Refused {
			said[r.Pod] = verdict{State: "refused", Text: "refused: " + r.Why.Line(), Why: r.Why, Decision: digest}
		}
		for _, a := range e.Plan.New {
			for _, k := range a.Pods {
				said[k] = verdict{State: "planned", Text: "to go to a new " + a.Shape + " in " + a.Zone, Decision: digest}
			}
		}
		for _, f := range e.Plan.Filled {
			for _, k := range f.Pods {
				said[k] = verdict{State: "planned", Text: "to go to " + cmp.Or(f.Node, f.Claim), Decision: digest}
			}
		}
	}
	alike := map[string]int{}
	for _, p := range w.Waiting() {
		if p.Virtual { // its buffer's status says how it stands
			continue
		}
		v := said[p.Key]
		switch {
		case p.Gated:
			v = verdict{State: "held back", Text: "until their scheduling gates are removed"}
		case v.State == "":
			v = verdict{State: "waiting", Text: "no verdict yet"}
		}
		waiting++
		i, ok := alike[v.Text]
		if !ok {
			i = len(out)
			alike[v.Text] = i
			out = append(out, v)
		}
		if len(out[i].Pods) < 20 {
			out[i].Pods = append(out[i].Pods, p.String())
		} else {
			out[i].More++
		}
	}
	slices.SortStableFunc(out, func(a, b verdict) int { return cmp.Compare(len(b.Pods)+b.More, len(a.Pods)+a.More) })
	return waiting, out[:min(len(out), most)]
}

// leavingOf are the machines that go, and why as far as that was decided here or
// the claim was deleted by this controller.
func (s site) leavingOf(w *world.World, decided []journal.Entry) []leaving {
	why := map[string]leaving{}
	for _, e := range slices.Backward(decided) {
		for _, g := range e.Plan.Back {
			why[g.Claim] = leaving{Why: g.Reason, Decision: e.World.Digest()}
		}
	}
	var out []leaving
	for _, p := range w.Places() {
		var state string
		switch {
		case p.Deleting() && len(p.Pods) > 0:
			state = "drains, " + amount.Count(len(p.Pods), "pod") + " left"
		case p.Deleting():
			state = "its machine ends"
		case p.Node != nil && slices.ContainsFunc(p.Node.Taints, func(t world.Taint) bool { return t.Key == v1.TaintDisrupted }):
			state = "takes no more pods"
		default:
			continue
		}
		l := leaving{}
		if p.Claim != nil {
			l = why[p.Claim.Name]
		}
		if l.Why == "" && p.Claim != nil && s.deleted != nil {
			l.Why = s.deleted(p.Claim.Name)
		}
		if l.Why == "" {
			l.Why = unknown
		}
		l.Name, l.Pool, l.Type, l.State, l.Price = p.Name(), p.Pool().Name, p.Labels()[label.InstanceType], state, money(plan.PriceOf(w, p))
		out = append(out, l)
	}
	return out[:min(len(out), most)]
}

func nodeOf(p *world.Place, price int64) node {
	l := p.Labels()
	n := node{
		Name: p.Name(), Pool: p.Pool().Name, Type: l[label.InstanceType], Zone: l[label.Zone], Capacity: l[label.CapacityType],
		Pods: len(p.Pods), Price: money(price), State: "ready",
	}
	switch {
	case p.Deleting():
		n.State = "going"
	case p.Node == nil:
		n.State = "on its way"
	case !p.Node.Ready:
		n.State = "not ready"
	case p.Node.Cordoned:
		n.State = "cordoned"
	}
	room := roomOf(p)
	n.CPU, n.Memory = share(p.Used, room, amount.CPU), share(p.Used, room, amount.Memory)
	return n
}

func roomOf(p *world.Place) amount.List {
	if p.Node == nil {
		return p.Claim.Allocatable
	}
	return p.Node.Allocatable
}

func share(used, room amount.List, name string) int {
	if room.Value(name) <= 0 {
		return 0
	}
	return int(100 * float64(used.Value(name)) / float64(room.Value(name)))
}

// title is what a kind of decision is called.
func title(kind string) string {
	switch kind {
	case journal.Buy:
		return "What to buy"
	case journal.GiveBack:
		return "What to give back"
	case journal.Consolidate:
		return "What to move"
	case journal.Drift:
		return "What to replace"
	}
	return strings.ToUpper(kind[:1]) + kind[1:]
}
