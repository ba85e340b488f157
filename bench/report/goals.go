package report

import (
	"fmt"
	"slices"
	"strings"
)

// goal is a figure that Tenon means to reach.
type goal struct {
	says    string
	got     string
	reached bool
}

// goalsTable holds the run against what Tenon means to reach.
func goalsTable(b *strings.Builder, run Run) {
	b.WriteString("\n## Goals\n\n| goal | measured | reached |\n|---|---|---|\n")
	for _, g := range slices.Concat(speedGoals(run.Rows), costGoals(run), tinyGoals(run.Tiny), solvedGoals(run.Solved), raceGoals(run.Races), besideGoals(run.Beside), shrinkGoals(run.Shrinks)) {
		reached := "**no**"
		if g.reached {
			reached = "yes"
		}
		fmt.Fprintf(b, "| %s | %s | %s |\n", g.says, g.got, reached)
	}
}

func speedGoals(rows []Row) []goal {
	var out []goal
	for _, r := range rows {
		s := r.Ours
		switch {
		case !s.Whole():
		case r.Scenario == "diverse" && r.Pods == 10_000:
			out = append(out, goal{"diverse 10,000: at least 10,000 pods per CPU-second", thousands(int(s.Rate())), s.Rate() >= 10_000})
		case r.Pods == 50_000:
			out = append(out, goal{r.Scenario + " 50,000: under 2 CPU-seconds", fmt.Sprintf("%.2f", s.CPU), s.CPU < 2})
		case r.Scenario == "steady":
			out = append(out,
				goal{"steady: under 0.05 CPU-seconds from the pods' arrival", fmt.Sprintf("%.3f", s.CPU), s.CPU < 0.05},
				goal{"steady: under 0.6 CPU-seconds from nothing", fmt.Sprintf("%.2f", s.CPU+s.HoldCPU), s.CPU+s.HoldCPU < 0.6})
		}
	}
	return out
}

func costGoals(run Run) []goal {
	var plain, bound, saving []float64
	withheld, asked, answers, wrong, possible := 0, 0, 0, 0, 0
	for _, r := range append(append([]Row{}, run.Rows...), run.Seeds...) {
		if r.alike() {
			saving = some(saving, r.saving())
		}
		withheld += r.Withheld
		if r.Ours.Judged {
			asked, answers = asked+r.Ours.Placed, answers+1
			wrong, possible = wrong+len(r.Ours.Wrong), possible+len(r.Ours.Possible)
		}
		o, _ := r.overBound()
		if r.Pods < 1_000 {
			continue // a handful cannot fill machines as well
		}
		switch r.Scenario {
		case "plain", "homogeneous", "unique":
			plain = some(plain, o)
		case "diverse", "groups", "spread", "apart", "mix", "trace", "trace-capped", "same-host", "zone-apart", "steady":
			bound = some(bound, o)
		}
	}
	var out []goal
	if m, w := middle(plain); m > 0 {
		out = append(out, goal{"cost / bound of 1,000 pods and more without constraints: median at most 1.02, worst 1.035", fmt.Sprintf("median %.3f, worst %.3f of %d", m, w, len(plain)), m <= 1.02 && w <= 1.035})
	}
	if m, w := middle(bound); m > 0 {
		out = append(out, goal{"cost / bound of 1,000 pods and more with spread and anti-affinity: median at most 1.05, worst 1.08", fmt.Sprintf("median %.3f, worst %.3f of %d", m, w, len(bound)), m <= 1.05 && w <= 1.08})
	}
	if _, w := middle(saving); w > 0 {
		dearer := 0
		for _, s := range saving {
			if s > 1.000001 {
				dearer++
			}
		}
		share := 100 * float64(len(saving)-dearer) / float64(len(saving))
		out = append(out, goal{
			"no dearer than the peer in 99 % of (scenario, seed) with the same pods placed and as many soft terms honoured, worst 1.01",
			fmt.Sprintf("%.1f %%: dearer in %d of %d, worst %.3f", share, dearer, len(saving), w), share >= 99 && w <= 1.01,
		}, goal{"no pod refused that the peer places", fmt.Sprintf("%d", withheld), withheld == 0})
	}
	if asked > 0 {
		out = append(out, goal{
			"every placement accepted by kube-scheduler's filters, and every refusal confirmed",
			fmt.Sprintf("%d placements of %s in %d answers refused, %d refused pods accepted", wrong, thousands(asked), answers, possible), wrong+possible == 0,
		})
	}
	return out
}
