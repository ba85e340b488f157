package report

import (
	"fmt"
	"strings"
)

// Shrink is one cluster that has become too large, and what is done about it.
type Shrink struct {
	Version string  `json:"version"` // of this project
	Nodes   int     `json:"nodes"`
	Pods    int     `json:"pods"`
	Start   float64 `json:"start"` // what its nodes cost an hour
	Bound   float64 `json:"bound"` // what machines for its pods cost at least
	Ours    []Rest  `json:"ours"`
	Peer    []Rest  `json:"peer"`          // by the published rules, as they go on
	Own     []Rest  `json:"own,omitempty"` // by the peer's own code
}

// Rest is how far something came.
type Rest struct {
	Name     string  `json:"name"`
	Cost     float64 `json:"cost"`
	Moved    int     `json:"moved"` // pods
	Commands int     `json:"commands"`
	Looks    int     `json:"looks,omitempty"` // simulations
	CPU      float64 `json:"cpu"`
}

const shrinkNote = `Clusters that were filled batch by batch, first fit by size on machines of at most sixteen cores, and of which the applications then shrank unevenly to less than half; half of them plain, the others spread over zones or hosts or apart. All of Tenon's is **one plan**, at each level, without budgets. It is compared with two that carry out command after command, a tenth of the nodes at a time:

* *Karpenter's code*: its own methods for empty nodes, for several nodes and for single ones, driven as a library in the order of its controller. Each command is carried out as it was simulated. Nothing waits, nodes join at once, and neither the validation after fifteen seconds nor the end of a look after three minutes is there, which favours it.
* *published rules*: an emulation of what it publishes, which decides faster, so that large clusters come to their end: empty nodes; the longest prefix, found by bisection, of 100 nodes by price per pod that fits elsewhere and on one cheaper node; else the first single node.

`

// shrinkTable writes how much of what a cluster costs too much is saved, and by how many moves.
func shrinkTable(b *strings.Builder, all []Shrink) {
	if len(all) == 0 {
		return
	}
	b.WriteString("\n## Consolidation\n\n" + shrinkNote)
	fmt.Fprintf(b, "Measured with Tenon %s.\n\n", all[0].Version)
	b.WriteString("| cluster | by | cost / bound | pods moved | commands | simulations | CPU s |\n|---|---|--:|--:|--:|--:|--:|\n")
	for _, s := range all {
		name := fmt.Sprintf("%s nodes, %s pods", thousands(s.Nodes), thousands(s.Pods))
		fmt.Fprintf(b, "| %s | as it is | %.3f | | | | |\n", name, s.Start/s.Bound)
		for _, r := range s.Ours {
			s.line(b, name, "Tenon, "+r.Name, r)
		}
		for _, r := range s.Peer {
			s.line(b, name, "published rules, "+r.Name, r)
		}
		for _, r := range s.Own {
			s.line(b, name, "Karpenter's code, "+r.Name, r)
		}
	}
}

func (s Shrink) line(b *strings.Builder, name, by string, r Rest) {
	looks := ""
	if r.Looks > 0 {
		looks = thousands(r.Looks)
	}
	fmt.Fprintf(b, "| %s | %s | %.3f | %s (%.0f %%) | %s | %s | %.2f |\n", name, by, r.Cost/s.Bound, thousands(r.Moved), 100*float64(r.Moved)/float64(s.Pods), thousands(r.Commands), looks, r.CPU)
}

// shrinkGoals holds the first of ours, as it is by default, against what Tenon means to reach.
func shrinkGoals(all []Shrink) []goal {
	var out []goal
	for _, s := range all {
		ours := s.Ours[0]
		name := thousands(s.Pods) + " pods"
		out = append(out, goal{"consolidation of " + name + ": one plan under 2 CPU-seconds", fmt.Sprintf("%.2f", ours.CPU), ours.CPU < 2})
		out = append(out, s.beside("the published rules", s.Peer)...)
		out = append(out, s.beside("Karpenter's code", s.Own)...)
		best, end := ours, s.Peer[len(s.Peer)-1]
		if end.Name != inTheEnd {
			continue // it is not known how many moves they would have taken
		}
		for _, r := range s.Ours {
			if r.Moved <= end.Moved && r.Cost < best.Cost {
				best = r
			}
		}
		out = append(out, goal{"at most 1.10 of the bound with no more moves than the published rules took", fmt.Sprintf("%.3f", best.Cost/s.Bound), best.Cost <= s.Bound*1.1})
	}
	return out
}

// beside holds ours by default against another way to consolidate, at equal moves and at equal cost.
func (s Shrink) beside(name string, other []Rest) []goal {
	var out []goal
	ours := s.Ours[0]
	for _, r := range other {
		switch r.Name {
		case equalMoves:
			out = append(out, goal{"no dearer than " + name + " after as many moves", fmt.Sprintf("%.3f and %.3f of the bound", ours.Cost/s.Bound, r.Cost/s.Bound), ours.Cost <= r.Cost})
		case equalCost:
			out = append(out, goal{"fewer moves than " + name + " at equal cost", fmt.Sprintf("%s and %s", thousands(ours.Moved), thousands(r.Moved)), ours.Moved < r.Moved})
		}
	}
	return out
}

// How far the published rules and the peer's code are looked at.
const (
	equalMoves = "after as many moves"
	equalCost  = "at equal cost"
	inTheEnd   = "in the end"
)

// Stops names the moments at which the others are looked at: after as
// many moves as ours took, at its cost, and in the end.
func Stops() (moves, cost, end string) { return equalMoves, equalCost, inTheEnd }
