package report

import (
	"fmt"
	"strings"
)

// Solved is small worlds of one family, for which an independent solver has looked for the cheapest plan.
type Solved struct {
	Family string        `json:"family"`
	Worlds []SolvedWorld `json:"worlds"`

	Version string `json:"version"` // of this project
}

// SolvedWorld is what came of one: costs with the charge for each node.
type SolvedWorld struct {
	Seed    uint64  `json:"seed"`
	Pods    int     `json:"pods"`
	Plan    float64 `json:"plan"`
	Bound   float64 `json:"bound"`
	Found   float64 `json:"found"`   // by the solver; 0: nothing
	Proven  float64 `json:"proven"`  // by the solver, to be the least
	Optimal bool    `json:"optimal"` // the solver came to its end
}

// sure is by how much a number is above another for sure, whatever was rounded.
const sure = 1.000001

// wrong are the worlds in which the order of bound, optimum and plan is not kept.
func (s Solved) wrong() []string {
	var out []string
	for _, w := range s.Worlds {
		switch {
		case w.Found > 0 && w.Bound > w.Found*sure:
			out = append(out, fmt.Sprintf("%s, seed %d: bound %f, and the solver found %f", s.Family, w.Seed, w.Bound, w.Found))
		case w.Optimal && w.Plan*sure < w.Proven:
			out = append(out, fmt.Sprintf("%s, seed %d: plan %f, and the solver proved %f", s.Family, w.Seed, w.Plan, w.Proven))
		}
	}
	return out
}

// ratios are plans and optima over them, of the worlds that were solved to the end, and how many these are.
func (s Solved) ratios() (plans, bounds []float64) {
	for _, w := range s.Worlds {
		if w.Optimal && w.Found > 0 {
			plans, bounds = append(plans, w.Plan/w.Found), append(bounds, w.Found/w.Bound)
		}
	}
	return plans, bounds
}

// Line is the family's figures, printed as they come.
func (s Solved) Line() string {
	plans, bounds := s.ratios()
	mp, wp := middle(plans)
	mb, wb := middle(bounds)
	return fmt.Sprintf("%-11s %d worlds, %d solved: plan/optimum %.4f %.4f, optimum/bound %.4f %.4f, wrong %q", s.Family, len(s.Worlds), len(plans), mp, wp, mb, wb, s.wrong())
}

const solvedNote = `Small worlds of some families, of 26 to 40 pods and without other terms than anti-affinity of a workload to itself by host, are told in numbers alone to HiGHS, an independent solver of mixed-integer programs, which is given %s for each and up to twice as many machines as the plan has. What it finds is counted over in whole numbers. All costs are with the charge of 0.02 USD an hour for each machine, which is what plans make small.

`

// solvedTable tells how plans and bounds stand to the optimum.
func solvedTable(b *strings.Builder, all []Solved) {
	if len(all) == 0 {
		return
	}
	fmt.Fprintf(b, "\n## Beside a solver\n\n"+solvedNote, "ten seconds")
	fmt.Fprintf(b, "Measured with Tenon %s.\n\n", all[0].Version)
	b.WriteString("| family | worlds | solved to the end | plan / optimum: median | worst | exactly | optimum / bound: median | worst | bound above what was found, or plan below what was proven |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|\n")
	for _, s := range all {
		plans, bounds := s.ratios()
		mp, wp := middle(plans)
		mb, wb := middle(bounds)
		fmt.Fprintf(b, "| %s | %d | %d | %.3f | %.3f | %d | %.3f | %.3f | %d |\n", s.Family, len(s.Worlds), len(plans), mp, wp, exact(plans), mb, wb, len(s.wrong()))
	}
}

func solvedGoals(all []Solved) []goal {
	if len(all) == 0 {
		return nil
	}
	var wrong []string
	worlds := 0
	for _, s := range all {
		wrong, worlds = append(wrong, s.wrong()...), worlds+len(s.Worlds)
	}
	return []goal{{"beside a solver: no bound above the optimum, no plan below it", fmt.Sprintf("%d of %d worlds", len(wrong), worlds), len(wrong) == 0}}
}
