package consolidate

import (
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/reason"
)

// Format names the JSON form of a result.
const Format = "tenon-consolidation/v1"

// Result is a plan in the form that other programs read. Prices are in units of
// the currency an hour. The lists are complete, never cut.
type Result struct {
	Format   string  `json:"format"`
	Version  string  `json:"version"`
	Digest   string  `json:"digest"`
	Currency string  `json:"currency,omitempty"`
	Cost     float64 `json:"hourlyCost"`
	Bound    float64 `json:"lowerBound"`      // what machines for the pods that could move would cost at least, all bought anew
	Now      Sum     `json:"now"`             // of the commands that may start now
	Possible Sum     `json:"possible"`        // of all commands
	Commands []Order `json:"commands"`        // those that may start now first
	Going    []Node  `json:"going"`           // nodes that go anyway
	Kept     []Stay  `json:"kept"`            // nodes that stay, and why
	Again    int64   `json:"again,omitempty"` // when more may be possible although nothing changes, seconds since 1970
	Steps    int     `json:"steps"`           // counted work

	Decision *plan.Decision `json:"decision,omitempty"`
}

// Sum is what commands come to.
type Sum struct {
	Commands int     `json:"commands"`
	Nodes    int     `json:"nodes"`
	NewNodes int     `json:"newNodes"`
	Pods     int     `json:"pods"`
	Saving   float64 `json:"hourlySaving"`
}

// Node is a node that goes.
type Node struct {
	Name     string  `json:"name"`
	Claim    string  `json:"claim,omitempty"`
	NodePool string  `json:"nodePool"`
	PoolKind string  `json:"poolKind"`
	Reason   string  `json:"reason"`
	Price    float64 `json:"pricePerHour"`
}

// Order is one command.
type Order struct {
	Back   []Node      `json:"back"`
	New    []Bought    `json:"new"`
	Moves  []Receiver  `json:"moves"`
	Pods   int         `json:"pods"`
	Saving float64     `json:"hourlySaving"`
	HeldUp *reason.Why `json:"heldUp,omitempty"`
}

// Bought is a node that is bought first. Whichever of its options it becomes, the command saves something.
type Bought struct {
	NodePool     string   `json:"nodePool"`
	PoolKind     string   `json:"poolKind"`
	InstanceType string   `json:"instanceType"`
	Zone         string   `json:"zone"`
	CapacityType string   `json:"capacityType"`
	Price        float64  `json:"pricePerHour"`
	Synthetic    bool     `json:"syntheticPrice,omitempty"`
	Options      []string `json:"options"`
	Pods         []string `json:"pods"`
}

// Receiver is a node that stays, and the pods it receives.
type Receiver struct {
	Node string   `json:"node"`
	Pods []string `json:"pods"`
}

// Stay is a node that stays.
type Stay struct {
	Node     string      `json:"node"`
	Claim    string      `json:"claim"`
	NodePool string      `json:"nodePool"`
	Price    float64     `json:"pricePerHour"`
	Reason   string      `json:"reason"`
	Why      *reason.Why `json:"why"`
}

// Result puts the plan into the form that other programs read.
func (p Plan) Result() Result {
	r := Result{
		Format: Format, Digest: p.World, Currency: p.Currency, Cost: units(p.Price), Bound: units(p.Bound), Again: p.Again, Steps: p.Steps,
		Commands: []Order{}, Going: []Node{}, Kept: []Stay{},
	}
	for _, c := range p.Commands {
		o := Order{Pods: c.Pods, Saving: units(c.Saving), HeldUp: c.Why, Back: nodes(c.Back), New: []Bought{}, Moves: []Receiver{}}
		for _, a := range c.New {
			o.New = append(o.New, bought(a))
		}
		for _, f := range c.Moves {
			o.Moves = append(o.Moves, Receiver{Node: f.Node, Pods: names(f.Pods)})
		}
		r.Commands = append(r.Commands, o)
		r.Possible.add(o)
		if c.Why == nil {
			r.Now.add(o)
		}
	}
	r.Now.Saving, r.Possible.Saving = units(p.Saving()), units(p.Possible())
	r.Going = nodes(p.Going)
	for _, k := range p.Kept {
		r.Kept = append(r.Kept, Stay{Node: k.Node, Claim: k.Claim, NodePool: k.Pool.Name, Price: units(k.Price), Reason: k.Why.Line(), Why: k.Why})
	}
	return r
}

func bought(a plan.Ask) Bought {
	b := Bought{
		NodePool: a.Pool.Name, PoolKind: a.Pool.Kind, InstanceType: a.Shape, Zone: a.Zone, CapacityType: a.CapacityType,
		Price: units(a.Price), Synthetic: a.Synthetic, Pods: names(a.Pods),
	}
	for _, c := range a.Menu {
		b.Options = append(b.Options, c.Shape)
	}
	return b
}

func (s *Sum) add(o Order) {
	s.Commands++
	s.Nodes += len(o.Back)
	s.NewNodes += len(o.New)
	s.Pods += o.Pods
}

func nodes(back []plan.Give) []Node {
	out := make([]Node, len(back))
	for i, g := range back {
		out[i] = Node{Name: g.Node, Claim: g.Claim, NodePool: g.Pool.Name, PoolKind: g.Pool.Kind, Reason: g.Reason, Price: units(g.Price)}
	}
	return out
}

// units turns millionths into units.
func units(micro int64) float64 { return float64(micro) / 1e6 }
