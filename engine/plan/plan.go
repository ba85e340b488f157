// Package plan is what was decided: capacity to ask for, capacity to give back, and what was refused, each with its reasons and its price.
//
// A Plan is a value. It holds names, codes and numbers, nothing that can be
// called, and the same World and Options always give the same Plan.
package plan

import (
	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
)

// Plan is one decision.
type Plan struct {
	World    string    // digest of the World it was made from
	At       int64     // the World's time, seconds since 1970
	Currency string    // of every price here; empty means USD/h
	New      []Ask     // capacity to ask for, in order of name
	Filled   []Fill    // existing nodes and claims that receive waiting pods
	Held     []Fill    // waiting pods that the scheduler has already promised a place
	Refused  []Refusal // waiting pods that found no place
	GivenUp  []Loss    // soft terms that were not honoured
	Cost     int64     // of New, millionths an hour
	Bound    int64     // no plan that places these pods on new machines can cost less; 0: nothing proven
	Charge   int64     // the node charge used, millionths an hour a node
	Steps    int       // counted work
	Waiting  int       // pods considered
	Back     []Give    // machines to give back, in order of claim
	Again    int64     // when more may be due although nothing changes; 0: never
}

// Give is one machine to be given back.
type Give struct {
	Claim  string
	Node   string
	Pool   world.PoolID
	Reason string
	Price  int64 // what it costs an hour
}

// Ask is one machine to be bought.
type Ask struct {
	Name         string // a stable placeholder: the claim's real name is given by the API
	Pool         world.PoolID
	Template     world.TemplateID
	Shape        string // what the plan counts on
	Zone         string
	CapacityType string
	Price        int64
	Synthetic    bool
	Reservation  string
	Menu         []Choice  // acceptable shapes, cheapest first; every entry can host all of Pods
	Requirements label.Set // what the claim demands, instance-type In the menu among it
	Relaxed      bool      // minValues could not be met and were lowered
	Labels       map[string]string
	Taints       []world.Taint
	Startup      []world.Taint
	Requests     amount.List // of Pods and the DaemonSets that will run there
	Booked       amount.List // capacity counted against the pool's limits
	Pods         []world.Key
	Why          Choosing
}

// Choice is one shape a machine may turn out to be, at the price of its cheapest fitting offer.
type Choice struct {
	Shape string
	Price int64
}

// Choosing says why an ask is of its shape.
type Choosing struct {
	Binds         string // the resource or rule that leaves no room for a smaller one
	RunnerUp      string // the next best shape
	RunnerUpPrice int64
}

// Fill is existing capacity that receives waiting pods.
type Fill struct {
	Node  string // empty if the machine has not joined yet
	Claim string
	Pods  []world.Key
}

// Refusal is a waiting pod that found no place.
type Refusal struct {
	Pod world.Key
	UID string
	Why *reason.Why
}

// Loss is a soft term of a pod that was given up, and what honouring it would have cost or broken.
type Loss struct {
	Pod  world.Key
	Term string // path and text of the term
	Why  string
}

// Gap is how far the cost is above the bound, as a share of the bound; false if it says nothing.
func (p Plan) Gap() (float64, bool) {
	if p.Bound <= 0 || p.Bound < p.Cost/2 {
		return 0, false
	}
	return float64(p.Cost-p.Bound) / float64(p.Bound), true
}
