// Package explain answers a person's questions about one World: where a pod goes or why nowhere, why a node is there and what keeps it, what a pool may buy.
//
// It decides nothing of its own: it asks the decisions themselves, and answers
// with values that print as text and as JSON.
package explain

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/tenon-sh/tenon/engine/disrupt"
	"github.com/tenon-sh/tenon/engine/disrupt/hold"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/provision"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/suppose"
	"github.com/tenon-sh/tenon/engine/world"
)

// Format names the JSON form of the answers.
const Format = "tenon-explain/v1"

// Explainer answers questions about one World. What it has to decide for
// several answers it decides once.
type Explainer struct {
	world   *world.World
	options provision.Options
	buy     *plan.Plan
	slots   map[world.Key]*slot // what buy says of each pod
	back    *plan.Plan
	holds   *hold.Book
}

// New returns an Explainer of a World, for decisions with these options.
func New(w *world.World, o provision.Options) *Explainer { return &Explainer{world: w, options: o} }

// plan is what would be bought now.
func (e *Explainer) plan() *plan.Plan {
	if e.buy == nil {
		p := provision.Decide(e.world, e.options)
		e.buy = &p
	}
	return e.buy
}

// given is what would be given back as it is now, given what waiting pods are about to use.
func (e *Explainer) given() *plan.Plan {
	if e.back == nil {
		p := disrupt.Decide(e.world, e.leave(disrupt.Idling))
		e.back = &p
	}
	return e.back
}

// idle are the claims of machines that would be given back as they are, and why.
func (e *Explainer) idle() map[string]string {
	out := map[string]string{}
	for _, c := range e.given().Commands {
		for _, g := range c.Back {
			out[g.Claim] = c.Reason
		}
	}
	return out
}

// book is what keeps machines, given what waiting pods are about to use.
func (e *Explainer) book() *hold.Book {
	if e.holds == nil {
		e.holds = hold.Open(e.world, Targets(*e.plan()))
	}
	return e.holds
}

// leave are the options of a decision of these parts, given what waiting pods are about to use.
func (e *Explainer) leave(parts ...disrupt.Part) disrupt.Options {
	return disrupt.Options{Planned: Targets(*e.plan()), Only: parts, AsIs: true}
}

// Targets are the machines that a plan sends waiting pods to.
func Targets(p plan.Plan) []string {
	var out []string
	for _, f := range slices.Concat(p.Filled, p.Held) {
		out = append(out, cmp.Or(f.Node, f.Claim))
	}
	return out
}

// Machine is a node, a claim on its way, or a node that would be bought.
type Machine struct {
	Node         string  `json:"node,omitempty"`
	Claim        string  `json:"claim,omitempty"`
	State        string  `json:"state"` // to be bought, on its way, joining, ready, not ready, going
	PoolKind     string  `json:"poolKind,omitempty"`
	NodePool     string  `json:"nodePool,omitempty"` // the name, of whichever kind
	InstanceType string  `json:"instanceType,omitempty"`
	Zone         string  `json:"zone,omitempty"`
	CapacityType string  `json:"capacityType,omitempty"`
	Price        float64 `json:"pricePerHour"`
	Currency     string  `json:"currency,omitempty"` // of the prices; empty means USD
	Synthetic    bool    `json:"syntheticPrice,omitempty"`
	Overlaid     bool    `json:"overlaidPrice,omitempty"`        // a NodeOverlay set it
	Expected     float64 `json:"expectedPricePerHour,omitempty"` // what it was counted as, where that is another: it may be refused, or taken back
	Refused      float64 `json:"refusedLately,omitempty"`        // the share of those that asked for it lately and did not get it
}

// The states of a Machine.
const (
	ToBuy    = "to be bought"
	OnItsWay = "on its way"
	Joining  = "joining"
	Ready    = "ready"
	NotReady = "not ready"
	Going    = "going"
)

// machine describes a place.
func (e *Explainer) machine(p *world.Place) Machine {
	l := p.Labels()
	m := Machine{
		PoolKind: p.Pool().Kind, NodePool: p.Pool().Name, State: state(p),
		InstanceType: l[label.InstanceType], Zone: l[label.Zone], CapacityType: l[label.CapacityType], Currency: e.currency(),
	}
	if o, ok := plan.OfferOf(e.world, p); ok {
		m.Price, m.Synthetic, m.Overlaid = o.Price.Units(), o.Synthetic, o.Overlaid
	}
	if p.Node != nil {
		m.Node = p.Node.Name
	}
	if p.Claim != nil {
		m.Claim = p.Claim.Name
	}
	return m
}

func state(p *world.Place) string {
	switch {
	case p.Deleting():
		return Going
	case p.Node == nil:
		return OnItsWay
	case !p.Node.Ready:
		return NotReady
	case p.Claim != nil && !p.Claim.Initialized:
		return Joining
	}
	return Ready
}

func (e *Explainer) planned(a plan.Ask) Machine {
	return Machine{
		Currency: e.currency(),
		State:    ToBuy, PoolKind: a.Pool.Kind, NodePool: a.Pool.Name, InstanceType: a.Shape, Zone: a.Zone, CapacityType: a.CapacityType,
		Price: a.Price.Units(), Synthetic: a.Synthetic, Expected: a.Expected.Units(), Refused: float64(a.Refused) / 1000,
	}
}

// Choice is why a node is, or would be, of its type.
type Choice struct {
	Types        int     `json:"types"`           // that would do
	Cheapest     string  `json:"cheapest"`        // of them
	Binds        string  `json:"binds,omitempty"` // what leaves no room for a smaller one
	RunnerUp     string  `json:"runnerUp,omitempty"`
	RunnerUpCost float64 `json:"runnerUpPricePerHour,omitempty"`
	LeftOut      string  `json:"leftOut,omitempty"` // types that are bought only where no others would do

	currency string
}

func (e *Explainer) choice(a plan.Ask) *Choice {
	c := &Choice{
		currency: e.currency(), Types: len(a.Menu), Binds: a.Why.Binds, RunnerUp: a.Why.RunnerUp, RunnerUpCost: a.Why.RunnerUpPrice.Units(),
		LeftOut: a.Why.LeftOut,
	}
	if len(a.Menu) > 0 {
		c.Cheapest = a.Menu[0].Shape
	}
	return c
}

// find returns the machine of a name, a node's or a claim's.
func (e *Explainer) find(name string) *world.Place { return suppose.Find(e.world, name) }

// currency is that of all prices; empty means USD.
func (e *Explainer) currency() string {
	if all := e.world.Currencies(); len(all) > 0 {
		return strings.TrimSuffix(all[0], "/h")
	}
	return ""
}

// moment writes a time; zero is nothing.
func moment(at int64) string {
	if at == 0 {
		return ""
	}
	return time.Unix(at, 0).UTC().Format(time.RFC3339)
}

// Verdict is what becomes of a pod.
type Verdict string

// The verdicts.
const (
	Runs     Verdict = "runs"     // it is bound
	Buys     Verdict = "new-node" // a node is to be bought for it
	Fits     Verdict = "fits"     // it fits on a node that is there, or on its way
	Held     Verdict = "promised" // the scheduler has promised it a node
	Refused  Verdict = "refused"  // it finds no place
	Gated    Verdict = "gated"    // its scheduling gates are closed
	Unjudged Verdict = "unjudged" // kube-scheduler has not judged it yet
	Done     Verdict = "done"     // it has ended
	Leaving  Verdict = "leaving"  // it is being deleted, or about to be, with its Job or its namespace
)

// slot is what a plan says of one pod.
type slot struct {
	verdict Verdict
	ask     *plan.Ask
	fill    *plan.Fill
	why     *reason.Why
	givenUp []GivenUp
}

// GivenUp is a soft term that was not honoured.
type GivenUp struct {
	Term string `json:"term"`
	Why  string `json:"why,omitempty"`
}
