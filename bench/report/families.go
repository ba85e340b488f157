package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Family is worlds of one kind, each drawn from its seed.
type Family struct {
	Name   string   `json:"name"`
	Says   string   `json:"says"`
	Pods   int      `json:"pods"`
	Worlds []Member `json:"worlds"`

	Version string `json:"version"` // of this project
}

// Member is one world of a family, and what came of it.
type Member struct {
	Seed    uint64  `json:"seed"`
	CPU     float64 `json:"cpu"`
	Steps   int     `json:"steps"`
	Nodes   int     `json:"nodes"`
	Refused int     `json:"refused,omitempty"`
	Cost    float64 `json:"cost"`
	Bound   float64 `json:"bound"`
	Spend   float64 `json:"spend"` // cost with the charge for each node: what plans make small
	Least   float64 `json:"least"` // a bound on that
}

// quantiles are the middle, the 95th of a hundred and the last of numbers, and which world has that.
type quantiles struct {
	median, high, worst float64
	seed                uint64
}

// over are the quantiles of a ratio of the worlds that have one; larger is worse.
func (f Family) over(ratio func(Member) (above, below float64)) quantiles {
	type one struct {
		ratio float64
		seed  uint64
	}
	var all []one
	for _, m := range f.Worlds {
		if above, below := ratio(m); below > 0 {
			all = append(all, one{above / below, m.Seed})
		}
	}
	if len(all) == 0 {
		return quantiles{}
	}
	slices.SortFunc(all, func(a, b one) int { return cmp.Or(cmp.Compare(a.ratio, b.ratio), cmp.Compare(a.seed, b.seed)) })
	last := all[len(all)-1]
	return quantiles{all[len(all)/2].ratio, all[(len(all)-1)*95/100].ratio, last.ratio, last.seed}
}

func (f Family) spend() quantiles {
	return f.over(func(m Member) (float64, float64) { return m.Spend, m.Least })
}

func (f Family) cost() quantiles {
	return f.over(func(m Member) (float64, float64) { return m.Cost, m.Bound })
}

// pace is CPU-seconds for a pod.
func (f Family) pace() quantiles {
	return f.over(func(m Member) (float64, float64) { return m.CPU, float64(f.Pods) })
}

// Line is the family's figures, printed as they come.
func (f Family) Line() string {
	s, c, p := f.spend(), f.cost(), f.pace()
	nodes, refused, cost, steps := f.sums()
	return fmt.Sprintf("%-11s %6d x%-3d spend/bound %.3f %.3f %.3f (seed %d)  cost/bound %.3f %.3f (seed %d)  pods/CPU-s %7.0f least %7.0f (seed %d)  nodes %d refused %d cost %.2f Msteps %.1f",
		f.Name, f.Pods, len(f.Worlds), s.median, s.high, s.worst, s.seed, c.median, c.worst, c.seed, 1/p.median, 1/p.worst, p.seed, nodes, refused, cost, float64(steps)/1e6)
}

func (f Family) sums() (nodes, refused int, cost float64, steps int) {
	for _, m := range f.Worlds {
		nodes, refused, cost, steps = nodes+m.Nodes, refused+m.Refused, cost+m.Cost, steps+m.Steps
	}
	return nodes, refused, cost, steps
}

const familyNote = `Worlds that were drawn, not chosen: families made on different ideas of what clusters are like, and in each every parameter from the seed, with a catalogue of 800 made-up types in three zones. *Spend* is the cost with the charge of 0.02 USD an hour for each new machine, which is what plans make small, over a bound of the same that any plan has which keeps limits and the order of pools; *cost* is price alone over a bound that does not know these. Neither knows what pods of several workloads that count for each other's spread force upon each other. The worst world of each is named by its seed:
` + "`make bench ARGS='-families 20 -only FAMILY'`" + ` draws it again.

`

// familyTable tells of the families.
func familyTable(b *strings.Builder, all []Family) {
	if len(all) == 0 {
		return
	}
	b.WriteString("\n## Families of worlds\n\n" + familyNote)
	fmt.Fprintf(b, "Measured with Tenon %s.\n\n", all[0].Version)
	b.WriteString("| family | pods | worlds | spend / bound: median | 95th | worst | seed | cost / bound: median | worst | seed | pods per CPU-s: median | least | seed | refused |\n")
	b.WriteString("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n")
	for _, f := range all {
		s, c, p := f.spend(), f.cost(), f.pace()
		_, refused, _, _ := f.sums()
		fmt.Fprintf(b, "| %s | %s | %d | %.3f | %.3f | %.3f | %d | %.3f | %.3f | %d | %s | %s | %d | %d |\n", f.Name, thousands(f.Pods), len(f.Worlds),
			s.median, s.high, s.worst, s.seed, c.median, c.worst, c.seed, thousands(int(1/p.median)), thousands(int(1/p.worst)), p.seed, refused)
	}
	b.WriteString("\n")
	seen := map[string]bool{}
	for _, f := range all {
		if !seen[f.Name] {
			fmt.Fprintf(b, "* *%s*: %s\n", f.Name, f.Says)
		}
		seen[f.Name] = true
	}
}
