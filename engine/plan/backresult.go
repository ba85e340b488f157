package plan

import (
	"github.com/tenon-sh/tenon/engine/reason"
)

// backFormat names the JSON form of what is given back.
const backFormat = "tenon-consolidation/v1"

// BackResult is a plan in the form that other programs read. Prices are in units of
// the currency an hour. The lists are complete, never cut.
type BackResult struct {
	Format   string        `json:"format"`
	Version  string        `json:"version"`
	Digest   string        `json:"digest"`
	Currency string        `json:"currency,omitempty"`
	Cost     float64       `json:"hourlyCost"`
	Bound    float64       `json:"lowerBound"`      // what machines for the pods that could move would cost at least, all of them new
	Now      BackSum       `json:"now"`             // of the commands that may start now
	Possible BackSum       `json:"possible"`        // of all commands
	Commands []BackCommand `json:"commands"`        // those that have begun first, then those that may start now
	Going    []BackNode    `json:"going"`           // nodes that go anyway
	Kept     []Stay        `json:"kept"`            // nodes that stay, and why
	Again    int64         `json:"again,omitempty"` // when more may be possible although nothing changes, seconds since 1970
	Steps    int           `json:"steps"`           // counted work

	Decision *Decision `json:"decision,omitempty"`
}

// BackSum is what commands come to.
type BackSum struct {
	Commands int     `json:"commands"`
	Nodes    int     `json:"nodes"`
	NewNodes int     `json:"newNodes"`
	Pods     int     `json:"pods"`
	Saving   float64 `json:"hourlySaving"`
}

// BackNode is a node that goes.
type BackNode struct {
	Name     string  `json:"name"`
	Claim    string  `json:"claim,omitempty"`
	NodePool string  `json:"nodePool"`
	PoolKind string  `json:"poolKind"`
	Reason   string  `json:"reason"`
	Price    float64 `json:"pricePerHour"`
}

// BackCommand is one command.
type BackCommand struct {
	Reason  string      `json:"reason,omitempty"`
	Verdict Verdict     `json:"verdict,omitempty"`
	Begun   bool        `json:"begun,omitempty"` // its nodes take no more pods: it is carried on, or taken back
	Back    []BackNode  `json:"back"`
	New     []BackAsk   `json:"new"`
	Moves   []Receiver  `json:"moves"`
	Pods    int         `json:"pods"`
	Saving  float64     `json:"hourlySaving"`
	Charge  float64     `json:"hourlyNodeCharge,omitempty"` // of charges for nodes it saves besides, where pools have their own
	HeldUp  *reason.Why `json:"heldUp,omitempty"`
}

// BackAsk is a node that is bought first. Whichever of its options it becomes, the command saves something.
type BackAsk struct {
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
	For      string      `json:"for,omitempty"` // for which reason it is not given back
	Node     string      `json:"node"`
	Claim    string      `json:"claim"`
	NodePool string      `json:"nodePool"`
	Price    float64     `json:"pricePerHour"`
	Reason   string      `json:"reason"`
	Why      *reason.Why `json:"why"`
}

// BackResult puts the plan into the form that other programs read.
func (p Plan) BackResult() BackResult {
	r := BackResult{
		Format: backFormat, Digest: p.World, Currency: p.Currency, Cost: p.Price.Units(), Bound: p.Least.Units(), Again: p.Again, Steps: p.Steps,
		Commands: []BackCommand{}, Going: []BackNode{}, Kept: []Stay{},
	}
	for _, c := range p.Commands {
		if c.Idle() {
			r.Going = append(r.Going, backNodes(c.Back)...)
			continue
		}
		o := BackCommand{Reason: c.Reason, Verdict: c.Verdict, Begun: c.Begun, Pods: c.Pods, Saving: c.Saving.Units(), Charge: c.Charge.Units(), HeldUp: c.Why, Back: backNodes(c.Back), New: []BackAsk{}, Moves: []Receiver{}}
		for _, a := range c.New {
			o.New = append(o.New, backAsk(a))
		}
		for _, f := range c.Moves {
			o.Moves = append(o.Moves, Receiver{Node: f.Node, Pods: names(f.Pods)})
		}
		r.Commands = append(r.Commands, o)
		if c.Begun {
			continue
		}
		r.Possible.add(o)
		if c.Verdict == Begin {
			r.Now.add(o)
		}
	}
	r.Now.Saving, r.Possible.Saving = p.Saving().Units(), p.Possible().Units()
	for _, k := range p.Kept {
		r.Kept = append(r.Kept, Stay{For: k.Reason, Node: k.Node, Claim: k.Claim, NodePool: k.Pool.Name, Price: k.Price.Units(), Reason: k.Why.Line(), Why: k.Why})
	}
	return r
}

func backAsk(a Ask) BackAsk {
	b := BackAsk{
		NodePool: a.Pool.Name, PoolKind: a.Pool.Kind, InstanceType: a.Shape, Zone: a.Zone, CapacityType: a.CapacityType,
		Price: a.Price.Units(), Synthetic: a.Synthetic, Pods: names(a.Pods),
	}
	for _, c := range a.Menu {
		b.Options = append(b.Options, c.Shape)
	}
	return b
}

func (s *BackSum) add(o BackCommand) {
	s.Commands++
	s.Nodes += len(o.Back)
	s.NewNodes += len(o.New)
	s.Pods += o.Pods
}

func backNodes(back []Give) []BackNode {
	out := make([]BackNode, len(back))
	for i, g := range back {
		out[i] = BackNode{Name: g.Node, Claim: g.Claim, NodePool: g.Pool.Name, PoolKind: g.Pool.Kind, Reason: g.Reason, Price: g.Price.Units()}
	}
	return out
}
