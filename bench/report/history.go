package report

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
)

const historyHead = `# What benchmarks said before

One line for each run of ` + "`make bench-peer`" + ` (quick) and ` + "`make bench-release`" + ` (whole) that somebody kept: both add one. Figures of both are over other worlds, so they compare with lines of the same part only. Speed depends on the machine and on what else it does; its ratio to Karpenter's, taken in the same run, does not so much.

* *cost / bound*, *Tenon / Karpenter*: of the chosen scenarios; median and worst.
* *times*: pods per CPU-second over Karpenter's; median.
* *spend / bound*: of drawn worlds, with the charge for machines; the median of the families' medians, and the worst world of all.
* *drawn: Tenon / Karpenter*, *times*: of drawn worlds decided by both.
* *consolidation*: what one plan at the level normal comes to over the bound, and Karpenter's own code after as many moves; the smallest cluster.

| date | Tenon | part | load | cost / bound | Tenon / Karpenter | times | spend / bound | drawn: Tenon / Karpenter | times | consolidation: Tenon | Karpenter | wrong by kube-scheduler |
|---|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|
`

// Remember adds the run's line to a page, which it begins if there is none.
func Remember(page string, run Run, part string) error {
	text, err := os.ReadFile(page)
	if errors.Is(err, fs.ErrNotExist) {
		text, err = []byte(historyHead), nil
	}
	if err != nil {
		return err
	}
	return os.WriteFile(page, append(text, run.line(part)...), 0o644) //nolint:gosec // a page of the project
}

// line is what is kept of a run.
func (run Run) line(part string) string {
	var over, savings, times, drawn, drawnTimes, spends []float64
	wrong, worstSpend := 0, 0.0
	for _, r := range slices.Concat(run.Rows, run.Seeds) {
		ours, _ := r.overBound()
		over, savings, times = some(over, ours), some(savings, r.saving()), some(times, r.times())
		wrong += len(r.Ours.Wrong)
	}
	for _, r := range run.Beside {
		drawn, drawnTimes = some(drawn, r.saving()), some(drawnTimes, r.times())
		wrong += len(r.Ours.Wrong)
	}
	for _, f := range run.Families {
		s := f.spend()
		spends, worstSpend = append(spends, s.median), max(worstSpend, s.worst)
	}
	spend, _ := middle(spends)
	ours, theirs := 0.0, 0.0
	if len(run.Shrinks) > 0 {
		s := run.Shrinks[0]
		ours = s.Ours[0].Cost / s.Bound
		if len(s.Own) > 0 {
			theirs = s.Own[0].Cost / s.Bound
		}
	}
	fast, _ := middle(times)
	drawnFast, _ := middle(drawnTimes)
	load, _, _ := strings.Cut(run.Load, " ")
	return fmt.Sprintf("| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %d |\n", run.Date, run.Version, part, load, both(middle(over)), both(middle(savings)), number("%.0f", fast),
		both(spend, worstSpend), both(middle(drawn)), number("%.0f", drawnFast), number("%.3f", ours), number("%.3f", theirs), wrong)
}

// both is a median and a worst.
func both(median, worst float64) string {
	if median == 0 {
		return "–"
	}
	return fmt.Sprintf("%.3f, %.3f", median, worst)
}

// times is our speed as a multiple of the peer's; zero unless both came to their end.
func (r Row) times() float64 {
	if !r.Ours.Whole() || !r.Peer.Whole() || r.Peer.Rate() == 0 {
		return 0
	}
	return r.Ours.Rate() / r.Peer.Rate()
}
