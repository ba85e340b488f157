package packing

import "github.com/tenon-sh/tenon/engine/money"

// Policy is how preferences, or least numbers of values, are treated.
type Policy string

// Policies. The zero value is the first of each pair.
const (
	Respect    Policy = "Respect"    // preferences have a price
	Ignore     Policy = "Ignore"     // preferences are not looked at
	Strict     Policy = "Strict"     // what cannot keep minValues is not bought
	BestEffort Policy = "BestEffort" // minValues is lowered to what is sold
)

// Defaults of Options, in millionths of the currency an hour.
const (
	DefaultCharge         = 20_000
	DefaultPreferenceCost = 5_000
)

// Options are what a caller may choose. The zero value works.
type Options struct {
	Steps            int         `json:"steps,omitempty"`            // bound on the counted work of the search; 0 is the default
	PreferencePolicy Policy      `json:"preferencePolicy,omitempty"` // Respect or Ignore
	MinValuesPolicy  Policy      `json:"minValuesPolicy,omitempty"`  // Strict or BestEffort
	PreferenceCost   money.Micro `json:"preferenceCost,omitempty"`   // what giving up a soft term of weight 100 costs an hour and pod; 0 is the default
	Charge           money.Micro `json:"charge,omitempty"`           // what a node costs beside its price; 0 is the default, below 0 is nothing
	SpotPremium      int         `json:"spotPremium,omitempty"`      // percent of its price that spot counts as costing more, because it may be taken back
	UnhealthyLast    bool        `json:"unhealthyLast,omitempty"`    // of pools whose machines did not register is bought last, whatever they weigh
	ProveSpend       bool        `json:"proveSpend,omitempty"`       // prove how little can be spent, the charge for each node included, too
	ExactOnly        bool        `json:"exactOnly,omitempty"`        // every pod by itself, no search
	Nominated        bool        `json:"nominated,omitempty"`        // pods will be nominated for the nodes they are planned for; those of nodes that have joined should be such as can be bound at once
}

// NodeCharge is what a node counts beside its price, of a pool that does not say.
func (o Options) NodeCharge() money.Micro {
	switch {
	case o.Charge == 0:
		return DefaultCharge
	case o.Charge < 0:
		return 0
	}
	return o.Charge
}

// Regret is what giving up soft terms of this weight together costs an hour.
func (o Options) Regret(weight int) money.Micro {
	cost := o.PreferenceCost
	if cost == 0 {
		cost = DefaultPreferenceCost
	}
	return cost.Part(int64(weight), 100)
}
