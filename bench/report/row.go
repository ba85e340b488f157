// Package report writes what was measured as a page with tables and plots.
package report

import (
	"cmp"
	"maps"
	"slices"

	"github.com/tenon-sh/tenon/bench/check"
	"github.com/tenon-sh/tenon/bench/outcome"
)

// Run is one run of the program.
type Run struct {
	Machine string `json:"machine"`
	Load    string `json:"load"` // of the machine when the run began
	Date    string `json:"date"`
	Version string `json:"version"` // of this project
	Peer    string `json:"peer"`    // version of the peer
	Command string `json:"command"` // that repeats it
	Cap     string `json:"cap"`
	Workers int    `json:"workers"`
	Rows    []Row  `json:"rows"`
	Seeds   []Row  `json:"seeds"` // small worlds, several of each

	Tiny     Tiny     `json:"tiny"`
	Solved   []Solved `json:"solved,omitempty"`
	Races    []Race   `json:"races,omitempty"`
	Shrinks  []Shrink `json:"shrinks,omitempty"`
	Families []Family `json:"families,omitempty"`
	Beside   []Row    `json:"beside,omitempty"` // drawn worlds, decided by both sides
}

// Row is one world, decided by one side or by both.
type Row struct {
	Scenario string `json:"scenario"`
	Pods     int    `json:"pods"`
	Seed     uint64 `json:"seed"`
	Ours     Side   `json:"ours"`
	Peer     Side   `json:"peer"`
	Same     bool   `json:"same"`               // both placed the same pods
	Withheld int    `json:"withheld,omitempty"` // pods that the peer places, where kube-scheduler lets it if that was asked, and Tenon refuses
}

// Side is what one side made of a world, in numbers.
type Side struct {
	Ran       bool     `json:"ran"`
	Failed    string   `json:"failed,omitempty"`
	CutOff    bool     `json:"cutOff,omitempty"`
	HoldCPU   float64  `json:"holdCPU"`
	CPU       float64  `json:"cpu"`
	Wall      float64  `json:"wall"`
	PeakMiB   float64  `json:"peakMiB"`
	InputMiB  float64  `json:"inputMiB"`
	Cost      float64  `json:"cost"`
	Bound     float64  `json:"bound,omitempty"`
	Nodes     int      `json:"nodes"`
	Placed    int      `json:"placed"`
	Refused   int      `json:"refused"`
	Undecided int      `json:"undecided,omitempty"`
	Faults    []string `json:"faults,omitempty"`
	Soft      int      `json:"soft,omitempty"`
	Wishes    int      `json:"wishes,omitempty"`
	Judged    bool     `json:"judged,omitempty"`   // by kube-scheduler's plugins
	Wrong     []string `json:"wrong,omitempty"`    // placements that they refuse
	Possible  []string `json:"possible,omitempty"` // refused pods that they accept somewhere
}

// SideOf puts an outcome and what the checker said of it into numbers.
func SideOf(o outcome.Outcome, r check.Report) Side {
	return Side{
		Ran: true, Failed: o.Failed, CutOff: o.CutOff,
		HoldCPU: o.Hold.CPU, CPU: o.Decide.CPU, Wall: o.Decide.Wall, PeakMiB: o.PeakMiB, InputMiB: o.InputMiB,
		Cost: o.Cost(), Bound: o.Bound, Nodes: len(o.New), Placed: o.Placed(), Refused: len(o.Refused), Undecided: o.Undecided,
		Faults: r.Faults, Soft: r.Soft, Wishes: r.Wishes,
	}
}

// Same reports whether both sides placed the same pods.
func Same(a, b outcome.Outcome) bool {
	return a.Whole() && b.Whole() && a.Placed() == b.Placed() &&
		slices.Equal(slices.Sorted(maps.Keys(a.Refused)), slices.Sorted(maps.Keys(b.Refused)))
}

// Whole reports whether the side came to its end.
func (s Side) Whole() bool { return s.Ran && s.Failed == "" && !s.CutOff }

// Rate is pods that got a verdict, per second of CPU.
func (s Side) Rate() float64 {
	if s.CPU <= 0 {
		return 0
	}
	return float64(s.Placed+s.Refused) / s.CPU
}

// overBound is cost above what is proven, for ours and for the peer; zero where it says nothing.
func (r Row) overBound() (ours, peer float64) {
	if r.Ours.Bound <= 0 || !r.Ours.Whole() {
		return 0, 0
	}
	ours = r.Ours.Cost / r.Ours.Bound
	if r.Same {
		peer = r.Peer.Cost / r.Ours.Bound
	}
	return ours, peer
}

// saving is our cost as a share of the peer's; zero if they cannot be compared,
// be it that one of them is no plan by kube-scheduler's rules.
func (r Row) saving() float64 {
	if !r.Same || len(r.Ours.Wrong)+len(r.Peer.Wrong) > 0 || r.Peer.Cost <= 0 {
		return 0
	}
	return r.Ours.Cost / r.Peer.Cost
}

// alike reports whether both plans do as much for the pods: where one honours
// more soft terms, its cost buys more.
func (r Row) alike() bool { return r.Ours.Soft == r.Peer.Soft }

// middle returns the median and the greatest of numbers; zeros if there are none.
func middle(numbers []float64) (median, worst float64) {
	if len(numbers) == 0 {
		return 0, 0
	}
	s := slices.Clone(numbers)
	slices.Sort(s)
	m := s[len(s)/2]
	if len(s)%2 == 0 {
		m = (s[len(s)/2-1] + s[len(s)/2]) / 2
	}
	return m, s[len(s)-1]
}

// byScenario groups rows, keeping their order.
func byScenario(rows []Row) [][]Row {
	var out [][]Row
	for _, r := range rows {
		if n := len(out); n > 0 && cmp.Compare(out[n-1][0].Scenario, r.Scenario) == 0 && out[n-1][0].Pods == r.Pods {
			out[n-1] = append(out[n-1], r)
			continue
		}
		out = append(out, []Row{r})
	}
	return out
}
