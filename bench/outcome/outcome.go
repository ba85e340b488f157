// Package outcome is what one side made of one world: where pods go, what is bought, what it cost to decide.
package outcome

import "github.com/tenon-sh/tenon/bench/measure"

// Outcome is one side's answer.
type Outcome struct {
	Side string `json:"side"`

	Hold   measure.Use `json:"hold"`   // taking in what is there before the pods arrive: nodes, bound pods, catalogue
	Decide measure.Use `json:"decide"` // from the arrival of the pods to the answer

	InputMiB float64 `json:"inputMiB"` // peak memory before the side began: the objects themselves
	PeakMiB  float64 `json:"peakMiB"`  // peak memory at the end, objects included

	New       []Node            `json:"new"`
	Fills     []Fill            `json:"fills"`
	Refused   map[string]string `json:"refused"`   // pod to reason
	Undecided int               `json:"undecided"` // pods that were not reached before the cap
	CutOff    bool              `json:"cutOff"`    // the cap was hit; the answer is partial
	Failed    string            `json:"failed,omitempty"`

	Bound float64 `json:"bound,omitempty"` // proven least cost of placing the same pods, units an hour; 0: none
	Steps int     `json:"steps,omitempty"`
}

// Node is a machine to be bought.
type Node struct {
	Pool         string   `json:"pool"`
	Type         string   `json:"type"`
	Zone         string   `json:"zone"`
	CapacityType string   `json:"capacityType"`
	Price        float64  `json:"price"` // an hour
	Pods         []string `json:"pods"`  // namespace/name
}

// Fill is a node that is there and receives pods.
type Fill struct {
	Node string   `json:"node"`
	Pods []string `json:"pods"`
}

// Placed counts pods that got a place.
func (o Outcome) Placed() int {
	n := 0
	for _, x := range o.New {
		n += len(x.Pods)
	}
	for _, x := range o.Fills {
		n += len(x.Pods)
	}
	return n
}

// Cost is what the machines to be bought cost an hour.
func (o Outcome) Cost() float64 {
	sum := 0.0
	for _, n := range o.New {
		sum += n.Price
	}
	return sum
}

// Whole reports whether the side looked at every pod.
func (o Outcome) Whole() bool { return !o.CutOff && o.Failed == "" }
