// Package plan is what was decided: capacity to ask for, capacity to give back, and what was refused, each with its reasons and its price.
//
// A Plan is a value. It holds names, codes and numbers, nothing that can be
// called, and the same World and Options always give the same Plan.
package plan

import (
	"fmt"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/spread"
	"github.com/tenon-sh/tenon/engine/world"
)

// Plan is one decision.
type Plan struct {
	World    string    `json:"world"`              // digest of the World it was made from
	At       int64     `json:"at"`                 // the World's time, seconds since 1970
	Currency string    `json:"currency,omitempty"` // of every price here; empty means USD/h
	New      []Ask     `json:"new,omitempty"`      // capacity to ask for, in order of name
	Filled   []Fill    `json:"filled,omitempty"`   // existing nodes and claims that receive waiting pods
	Held     []Fill    `json:"held,omitempty"`     // waiting pods that the scheduler has already promised a place
	Refused  []Refusal `json:"refused,omitempty"`  // waiting pods that found no place
	GivenUp  []Loss    `json:"givenUp,omitempty"`  // soft terms that were not honoured
	Cost     int64     `json:"cost,omitempty"`     // of New, millionths an hour
	Bound    int64     `json:"bound,omitempty"`    // no plan that places these pods on new machines can cost less on average; 0: nothing proven
	Charge   int64     `json:"charge,omitempty"`   // the node charge used, millionths an hour a node
	Steps    int       `json:"steps,omitempty"`    // counted work
	Waiting  int       `json:"waiting,omitempty"`  // pods considered
	Back     []Give    `json:"back,omitempty"`     // machines to give back, in order of claim
	Again    int64     `json:"again,omitempty"`    // when more may be due although nothing changes; 0: never
}

// Give is one machine to be given back.
type Give struct {
	Claim  string       `json:"claim,omitempty"`
	Node   string       `json:"node,omitempty"`
	Pool   world.PoolID `json:"pool,omitzero"`
	Reason string       `json:"reason,omitempty"`
	Price  int64        `json:"price,omitempty"` // what it costs an hour
}

// Ask is one machine to be bought.
type Ask struct {
	Name         string            `json:"name,omitempty"` // a stable placeholder: the claim's real name is given by the API
	Pool         world.PoolID      `json:"pool,omitzero"`
	Template     world.TemplateID  `json:"template,omitempty"`
	Shape        string            `json:"shape,omitempty"` // what the plan counts on
	Zone         string            `json:"zone,omitempty"`
	CapacityType string            `json:"capacityType,omitempty"`
	Price        int64             `json:"price,omitempty"`
	Expected     int64             `json:"expected,omitempty"` // what it costs on average, where that is not its price: it may be refused, or taken back
	Refused      int               `json:"refused,omitempty"`  // how many in a thousand that asked for it lately did not get it
	Synthetic    bool              `json:"synthetic,omitempty"`
	Reservation  string            `json:"reservation,omitempty"`
	Menu         []Choice          `json:"menu,omitempty"`         // acceptable shapes, cheapest first; every entry can host all of Pods
	Requirements label.Set         `json:"requirements,omitempty"` // what the claim demands, instance-type In the menu among it
	Relaxed      bool              `json:"relaxed,omitempty"`      // minValues could not be met and were lowered
	Labels       map[string]string `json:"labels,omitempty"`
	Taints       []world.Taint     `json:"taints,omitempty"`
	Startup      []world.Taint     `json:"startup,omitempty"`
	Requests     amount.List       `json:"requests,omitempty"` // of Pods and the DaemonSets that will run there
	Booked       amount.List       `json:"booked,omitempty"`   // capacity counted against the pool's limits
	Pods         []world.Key       `json:"pods,omitempty"`
	Why          Choosing          `json:"why,omitzero"`
}

// Choice is one shape a machine may turn out to be, at the price of its cheapest fitting offer.
type Choice struct {
	Shape string `json:"shape,omitempty"`
	Price int64  `json:"price,omitempty"`
}

// Choosing says why an ask is of its shape.
type Choosing struct {
	Binds         string `json:"binds,omitempty"`    // the resource or rule that leaves no room for a smaller one
	RunnerUp      string `json:"runnerUp,omitempty"` // the next best shape
	RunnerUpPrice int64  `json:"runnerUpPrice,omitempty"`
	LeftOut       string `json:"leftOut,omitempty"` // types of a like price that are bare metal or have accelerators, and that no pod needs
}

// Fill is existing capacity that receives waiting pods.
type Fill struct {
	Node  string      `json:"node,omitempty"` // empty if the machine has not joined yet
	Claim string      `json:"claim,omitempty"`
	Pods  []world.Key `json:"pods,omitempty"`
}

// Refusal is a waiting pod that found no place.
type Refusal struct {
	Pod world.Key   `json:"pod"`
	UID string      `json:"uid,omitempty"`
	Why *reason.Why `json:"why,omitempty"`
}

// gated reports whether the pod waits for its scheduling gates, so that nobody may place it yet.
func (r Refusal) gated() bool { return r.Why != nil && r.Why.Code == reason.Gated }

// Gated is how many of the pods considered wait for their scheduling gates.
func (p Plan) Gated() int {
	n := 0
	for _, r := range p.Refused {
		if r.gated() {
			n++
		}
	}
	return n
}

// Loss is a soft term of a pod that was given up, and what honouring it would have cost or broken.
type Loss struct {
	Pod  world.Key `json:"pod"`
	Term string    `json:"term,omitempty"` // path and text of the term
	Why  string    `json:"why,omitempty"`

	Of spread.Soft `json:"-"` // the same as data, for those that make sentences of it
}

// Expected is what the new machines cost on average: their price, and more for
// those that may be refused or taken back.
func (p Plan) Expected() int64 {
	sum := p.Cost
	for _, a := range p.New {
		if a.Expected > 0 {
			sum = amount.Plus(sum, a.Expected-a.Price)
		}
	}
	return sum
}

// Gap is how far the expected cost is above the bound, as a share of the bound; false if it says nothing.
func (p Plan) Gap() (float64, bool) {
	cost := p.Expected()
	if p.Bound <= 0 || p.Bound < cost/2 {
		return 0, false
	}
	return float64(cost-p.Bound) / float64(p.Bound), true
}

// Proven is the share of the expected cost that is proven to be necessary, for
// a person; empty if the bound says nothing. Of the rest it is not known whether
// a better plan would save it.
func (p Plan) Proven() string {
	if _, known := p.Gap(); !known {
		return ""
	}
	share := 100 * float64(p.Bound) / float64(p.Expected())
	if p.Bound < p.Expected() {
		share = min(share, 99.9) // what is rounded up would be proven wholly
	}
	return fmt.Sprintf("%.1f %%", share)
}
