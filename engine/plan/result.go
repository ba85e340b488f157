package plan

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
)

// Format names the JSON form of a result.
const Format = "tenon-plan/v1"

// Result is a plan in the form that other programs read. Prices are in units
// of the currency an hour. The lists are complete, never cut.
type Result struct {
	Format  string `json:"format"`
	Tool    string `json:"tool"`
	Version string `json:"version"`
	Mode    string `json:"mode"`

	Scenario string `json:"scenario"`
	Catalog  string `json:"catalog"`
	Currency string `json:"currency,omitempty"`

	PendingPods        int     `json:"pendingPods"`
	GatedPods          int     `json:"gatedPods,omitempty"` // not pending: they may not be placed yet
	BoundPods          int     `json:"boundPods"`
	ExistingNodes      int     `json:"existingNodes"`
	ExistingHourlyCost float64 `json:"existingHourlyCost"`

	LoadSeconds   float64  `json:"loadSeconds"`
	SolveSeconds  float64  `json:"solveSeconds"`
	Decision      Decision `json:"decision"`
	PodsPerSecond float64  `json:"podsPerSecond"`
	Steps         int      `json:"steps"`
	Digest        string   `json:"digest"`

	NewNodes                 int                 `json:"newNodes"`
	NewHourlyCost            float64             `json:"newHourlyCost"`
	ExpectedHourlyCost       float64             `json:"expectedHourlyCost,omitempty"` // where it is another: with what may be refused or taken back
	NodeCharge               float64             `json:"nodeCharge"`                   // guided the choice of nodes; not part of any price here; 0 where pools have their own, which nodes have
	ScheduledOnNewNodes      int                 `json:"scheduledOnNewNodes"`
	ScheduledOnExistingNodes int                 `json:"scheduledOnExistingNodes"`
	Unschedulable            int                 `json:"unschedulable"`
	UnschedulableReasons     map[reason.Code]int `json:"unschedulableReasons"`
	LowerBound               LowerBound          `json:"lowerBound"`

	Nodes     []Node     `json:"nodes"`
	PodErrors []PodError `json:"podErrors"`
	GivenUp   []GivenUp  `json:"givenUp"`
}

// Decision is what the decision cost, files and parsing left out.
type Decision struct {
	WallSeconds float64 `json:"wallSeconds"`
	CPUSeconds  float64 `json:"cpuSeconds"`
	AllocBytes  uint64  `json:"allocBytes"`
	Allocs      uint64  `json:"allocs"`
	PeakRSSMiB  float64 `json:"peakRSSMiB"`
}

// LowerBound is the least that any plan for the same pods can be expected to cost, and the share of it by which this one
// costs more. Programs judge themselves whether a wide gap says anything; of a bound of 0 there is none.
type LowerBound struct {
	HourlyCost float64 `json:"hourlyCost"`
	Gap        float64 `json:"gap"`
	// Of cost and the charge for each new node together, which is what plans make small.
	HourlySpend float64 `json:"hourlySpend,omitempty"`
	SpendGap    float64 `json:"spendGap,omitempty"`
}

// Node is a new node, or an existing one with the waiting pods it receives.
type Node struct {
	Name         string   `json:"name"`
	Existing     bool     `json:"existing"`
	NodePool     string   `json:"nodePool,omitempty"`
	PoolKind     string   `json:"poolKind,omitempty"`
	InstanceType string   `json:"instanceType,omitempty"`
	Zone         string   `json:"zone,omitempty"`
	CapacityType string   `json:"capacityType,omitempty"`
	PricePerHour float64  `json:"pricePerHour"`
	ExpectedCost float64  `json:"expectedPricePerHour,omitempty"`
	Charge       float64  `json:"nodeCharge,omitempty"` // where some pool has a charge of its own
	Synthetic    bool     `json:"syntheticPrice,omitempty"`
	OptionCount  int      `json:"optionCount,omitempty"`
	Options      []string `json:"options,omitempty"`
	Binds        string   `json:"binds,omitempty"`
	RunnerUp     string   `json:"runnerUp,omitempty"`
	RunnerUpCost float64  `json:"runnerUpPricePerHour,omitempty"`
	Pods         []string `json:"pods"`
}

// PodError is a pod that found no place.
type PodError struct {
	Pod    string      `json:"pod"`
	Reason string      `json:"reason"`
	Why    *reason.Why `json:"why"`
}

// GivenUp is a soft term that was not honoured.
type GivenUp struct {
	Pod  string `json:"pod"`
	Term string `json:"term"`
	Why  string `json:"why,omitempty"`
}

// Result puts the plan into the form other programs read; w is the World it was made from.
func (p Plan) Result(w *world.World) Result {
	r := Result{
		Format: Format, Tool: "tenon", Mode: "provision", Currency: p.Currency,
		PendingPods: p.Waiting - p.Gated(), GatedPods: p.Gated(), Digest: p.World, Steps: p.Steps,
		NewNodes: len(p.New), NewHourlyCost: p.Cost.Units(), NodeCharge: p.Charge.Units(),
		Unschedulable: len(p.Refused) - p.Gated(), UnschedulableReasons: map[reason.Code]int{},
		LowerBound: LowerBound{HourlyCost: p.Bound.Units()},
		Nodes:      []Node{}, PodErrors: []PodError{}, GivenUp: []GivenUp{},
	}
	if expected := p.Expected(); expected != p.Cost {
		r.ExpectedHourlyCost = expected.Units()
	}
	if p.Bound > 0 {
		r.LowerBound.Gap = float64(p.Expected()-p.Bound) / float64(p.Bound)
	}
	if p.SpendBound > 0 {
		r.LowerBound.HourlySpend = p.SpendBound.Units()
		r.LowerBound.SpendGap = float64(p.Spend()-p.SpendBound) / float64(p.SpendBound)
	}
	existing := money.Micro(0)
	for _, place := range w.Places() {
		r.BoundPods += len(place.Pods)
		if place.Node != nil {
			r.ExistingNodes++
			existing += PriceOf(w, place)
		}
	}
	r.ExistingHourlyCost = existing.Units()
	for _, a := range p.New {
		r.Nodes = append(r.Nodes, a.node())
		r.ScheduledOnNewNodes += len(a.Pods)
	}
	for _, f := range slices.Concat(p.Filled, p.Held) {
		r.Nodes = append(r.Nodes, f.node(w))
		r.ScheduledOnExistingNodes += len(f.Pods)
	}
	for _, x := range p.Refused {
		if x.Gated() {
			continue
		}
		r.PodErrors = append(r.PodErrors, PodError{Pod: x.Pod.String(), Reason: x.Why.Line(), Why: x.Why})
		r.UnschedulableReasons[x.Why.Code]++
	}
	for _, l := range p.GivenUp {
		r.GivenUp = append(r.GivenUp, GivenUp{Pod: l.Pod.String(), Term: l.Term, Why: l.Why})
	}
	return r
}

func (a Ask) node() Node {
	n := Node{
		Name: a.Name, NodePool: a.Pool.Name, PoolKind: a.Pool.Kind, InstanceType: a.Shape, Zone: a.Zone,
		CapacityType: a.CapacityType, PricePerHour: a.Price.Units(), ExpectedCost: a.Expected.Units(), Charge: a.Charge.Units(), Synthetic: a.Synthetic,
		OptionCount: len(a.Menu), Options: make([]string, len(a.Menu)),
		Binds: a.Why.Binds, RunnerUp: a.Why.RunnerUp, RunnerUpCost: a.Why.RunnerUpPrice.Units(),
		Pods: names(a.Pods),
	}
	for i, c := range a.Menu {
		n.Options[i] = c.Shape
	}
	return n
}

func (f Fill) node(w *world.World) Node {
	n := Node{Name: f.Node, Existing: true, Pods: names(f.Pods)}
	if n.Name == "" {
		n.Name = f.Claim
	}
	place := w.Place(n.Name)
	if place == nil {
		return n
	}
	n.NodePool, n.PoolKind = place.Pool().Name, place.Pool().Kind
	labels := place.Labels()
	n.InstanceType, n.Zone, n.CapacityType = labels[instanceType], labels[zone], labels[capacityType]
	n.PricePerHour = PriceOf(w, place).Units()
	return n
}

func names(keys []world.Key) []string {
	out := make([]string, len(keys))
	for i, k := range keys {
		out[i] = k.String()
	}
	slices.Sort(out)
	return out
}
