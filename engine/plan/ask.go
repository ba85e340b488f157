package plan

import (
	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/world"
)

// Ask is one machine to be bought.
type Ask struct {
	Name         string            `json:"name,omitempty"` // a stable placeholder: the claim's real name is given by the API
	Pool         world.PoolID      `json:"pool,omitzero"`
	Template     world.TemplateID  `json:"template,omitempty"`
	Shape        string            `json:"shape,omitempty"` // what the plan counts on
	Zone         string            `json:"zone,omitempty"`
	CapacityType string            `json:"capacityType,omitempty"`
	Price        money.Micro       `json:"price,omitempty"`
	Expected     money.Micro       `json:"expected,omitempty"` // what it costs on average, where that is not its price: it may be refused, or taken back
	Charge       money.Micro       `json:"charge,omitempty"`   // what the node counts beside its price, where some pool has a charge of its own
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
	Drivers      []string          `json:"drivers,omitempty"` // of the devices that Pods were given
	Why          Choosing          `json:"why,omitzero"`
}

// Choice is one shape a machine may turn out to be, at the price of its cheapest fitting offer.
type Choice struct {
	Shape string      `json:"shape,omitempty"`
	Price money.Micro `json:"price,omitempty"`
}

// Choosing says why an ask is of its shape.
type Choosing struct {
	Binds         string      `json:"binds,omitempty"`    // the resource or rule that leaves no room for a smaller one
	RunnerUp      string      `json:"runnerUp,omitempty"` // the next best shape
	RunnerUpPrice money.Micro `json:"runnerUpPrice,omitempty"`
	LeftOut       string      `json:"leftOut,omitempty"` // types of a like price that are bare metal or have accelerators, and that no pod needs
}

// Fill is existing capacity that receives waiting pods.
type Fill struct {
	Node  string      `json:"node,omitempty"` // empty if the machine has not joined yet
	Claim string      `json:"claim,omitempty"`
	Pods  []world.Key `json:"pods,omitempty"`
}
