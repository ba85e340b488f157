package plan

import (
	"fmt"
	"slices"
	"strings"

	engine "github.com/tenon-sh/tenon/engine/disrupt"
	"github.com/tenon-sh/tenon/engine/disrupt/after"
	"github.com/tenon-sh/tenon/engine/disrupt/consolidate"
	"github.com/tenon-sh/tenon/engine/disrupt/hold"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/provision"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/cli/snapshot"
)

const disruptMode = "disrupt"

// maxConsolidationRounds bounds how many plans of consolidation are made one after the other. Three or four come to rest.
const maxConsolidationRounds = 20

// consolidation is how a cluster becomes cheaper, as programs read it.
type consolidation struct {
	Before     total    `json:"before"`
	After      total    `json:"after"`
	LowerBound float64  `json:"lowerBound"` // what machines for the pods that could move would cost at least, all of them new
	PodMoves   int      `json:"podMoves"`
	Actions    []action `json:"actions"`
}

type total struct {
	Nodes      int     `json:"nodes"`
	HourlyCost float64 `json:"hourlyCost"`
}

// action is nodes that go together, what is bought for their pods, and where these go.
type action struct {
	Remove []string `json:"remove"`
	Add    []added  `json:"add"`
	Moves  []moved  `json:"moves"`
	Saves  float64  `json:"savesPerHour"`
	Why    string   `json:"why"`
}

type added struct {
	Name         string  `json:"name"`
	NodePool     string  `json:"nodePool"`
	InstanceType string  `json:"instanceType"`
	Zone         string  `json:"zone"`
	CapacityType string  `json:"capacityType"`
	PricePerHour float64 `json:"pricePerHour"`
}

type moved struct {
	Pod  string `json:"pod"`
	From string `json:"from"`
	To   string `json:"to"`
}

// disrupt runs consolidation to its end: what the cluster would be once every node that can be done without has gone.
func (o *options) disrupt(w *world.World, decide provision.Options) (r result, err error) {
	if w, _, err = snapshot.Claimed(w); err != nil {
		return r, err
	}
	if w, err = unhurried(w); err != nil {
		return r, err
	}
	c := consolidation{Before: totalOf(w), Actions: []action{}}
	last, steps := w, 0
	for n := range maxConsolidationRounds {
		p := engine.Decide(last, engine.Options{
			Pack: decide, Only: []engine.Part{engine.Idling, engine.Consolidating}, AsIs: true, Consolidate: consolidate.Options{Unbudgeted: !o.budgets},
		})
		if steps += p.Steps; n == 0 {
			c.LowerBound = p.Least.Units()
		}
		if p.Saving() == 0 && !slices.ContainsFunc(p.Commands, plan.Command.Idle) {
			break
		}
		rename(last, p)
		c.add(last, p)
		if last, err = after.Plan(last, p); err != nil {
			return r, err
		}
	}
	c.After = totalOf(last)
	r.Result = plan.Plan{World: w.Digest(), Steps: steps}.Result(w)
	nodes := nodesOf(w, last)
	for _, n := range nodes {
		if !n.Existing {
			r.NewNodes, r.NewHourlyCost = r.NewNodes+1, r.NewHourlyCost+n.PricePerHour
		}
	}
	r.Mode, r.Nodes, r.Consolidation = disruptMode, nodes, &c
	return r, nil
}

// unhurried is the World in which nothing has come or gone for long, no node gets too old, and pods are recreated when they are evicted.
func unhurried(w *world.World) (*world.World, error) {
	b, at := w.Edit(), w.At()
	for _, p := range w.Pools() {
		next := *p
		next.Disruption.ExpireAfter = nil
		for _, wait := range []**int64{&next.Disruption.EmptyAfter, &next.Disruption.MoveAfter} {
			if *wait != nil {
				*wait = new(int64)
			}
		}
		if err := b.SetPool(next); err != nil {
			return nil, err
		}
	}
	for _, p := range w.Places() {
		if p.Claim != nil {
			at = max(at, p.Claim.Created+1, hold.LastPodChange(p.Claim)+engine.Calm)
			next := *p.Claim
			next.ExpireAfter = 0
			if err := b.SetClaim(next); err != nil {
				return nil, err
			}
		}
		for _, pod := range p.Pods {
			if pod.Disruption.Alone {
				next := *pod
				next.Disruption.Alone = false
				if err := b.SetPod(next); err != nil {
					return nil, err
				}
			}
		}
	}
	return b.Snapshot(at), nil
}

// rename gives what is bought names that no node has yet.
func rename(w *world.World, p plan.Plan) {
	given := map[string]bool{}
	for _, c := range p.Commands {
		for i := range c.New {
			name := c.New[i].Name
			for n := 2; given[name] || w.Place(name) != nil; n++ {
				name = fmt.Sprintf("%s-%d", c.New[i].Name, n)
			}
			given[name], c.New[i].Name = true, name
		}
	}
}

// add adds what a plan does.
func (c *consolidation) add(w *world.World, p plan.Plan) {
	for _, x := range p.Commands {
		if x.Idle() {
			for _, g := range x.Back {
				c.Actions = append(c.Actions, action{Remove: []string{g.Node}, Add: []added{}, Moves: []moved{}, Saves: g.Price.Units(), Why: strings.ToLower(g.Reason)})
			}
		}
		if x.Idle() || x.Verdict != plan.Begin {
			continue
		}
		a := action{Add: []added{}, Moves: []moved{}, Saves: x.Saving.Units()}
		switch {
		case len(x.New) == 0:
			a.Why = "its pods fit on nodes that stay"
		case len(x.Back) == 1:
			a.Why = "what its pods need costs less"
		default:
			a.Why = "what their pods need costs less"
		}
		for _, g := range x.Back {
			a.Remove = append(a.Remove, g.Node)
		}
		to := func(pods []world.Key, node string) {
			for _, k := range pods {
				a.Moves = append(a.Moves, moved{Pod: k.String(), From: w.Pod(k).Node, To: node})
			}
		}
		for _, n := range x.New {
			a.Add = append(a.Add, added{n.Name, n.Pool.Name, n.Shape, n.Zone, n.CapacityType, n.Price.Units()})
			to(n.Pods, n.Name)
		}
		for _, f := range x.Moves {
			to(f.Pods, f.Node)
		}
		c.PodMoves += len(a.Moves)
		c.Actions = append(c.Actions, a)
	}
}

// text is the consolidation for people.
func (c *consolidation) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Nodes of pools: %d, which cost $%.4f an hour.\n", c.Before.Nodes, c.Before.HourlyCost)
	if len(c.Actions) == 0 {
		b.WriteString("None could be given back for less.\n")
		return b.String()
	}
	fmt.Fprintf(&b, "In the end there are %d, at $%.4f an hour. Pods that move: %d.\n\n", c.After.Nodes, c.After.HourlyCost, c.PodMoves)
	for _, a := range c.Actions {
		fmt.Fprintf(&b, "- %s: %s; pods that move: %d; saves $%.4f\n", strings.Join(a.Remove, ", "), a.Why, len(a.Moves), a.Saves)
		for _, n := range a.Add {
			fmt.Fprintf(&b, "    + %s: %s %s %s $%.4f\n", n.Name, n.InstanceType, n.Zone, n.CapacityType, n.PricePerHour)
		}
	}
	return b.String()
}

// totalOf counts the machines of pools.
func totalOf(w *world.World) (t total) {
	sum := money.Micro(0)
	for _, p := range w.Places() {
		if p.Node != nil && p.Claim != nil {
			t.Nodes++
			sum += plan.PriceOf(w, p)
		}
	}
	t.HourlyCost = sum.Units()
	return t
}

// nodesOf is the whole cluster in the end, with the pods that could be elsewhere.
func nodesOf(before, after *world.World) []plan.Node {
	out := []plan.Node{}
	for _, p := range after.Places() {
		if p.Node == nil {
			continue
		}
		labels := p.Labels()
		n := plan.Node{
			Name: p.Name(), Existing: before.Place(p.Name()) != nil, NodePool: p.Pool().Name, PoolKind: p.Pool().Kind, InstanceType: labels[label.InstanceType],
			Zone: labels[label.Zone], CapacityType: labels[label.CapacityType], PricePerHour: plan.PriceOf(after, p).Units(), Pods: []string{},
		}
		for _, pod := range p.Pods {
			if pod.DaemonSet == "" && !pod.Static {
				n.Pods = append(n.Pods, pod.String())
			}
		}
		slices.Sort(n.Pods)
		out = append(out, n)
	}
	return out
}

// hourly turns millionths into units.
