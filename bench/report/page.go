package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Page writes the run as Markdown. Plots are in the folder named, beside the page.
func Page(run Run, plots string) string {
	var b strings.Builder
	fmt.Fprintf(&b, intro, run.Peer, run.Workers, run.Cap, run.Command, run.Machine, run.Load, run.Date, run.Version)
	b.WriteString("\n## Speed and memory\n\n" + speedNote)
	fmt.Fprintf(&b, "![pods per CPU-second](%s/speed.svg)\n\n", plots)
	speed(&b, run.Rows)
	b.WriteString("\n## Plans\n\n" + planNote)
	fmt.Fprintf(&b, "![cost over bound](%s/cost.svg)\n\n", plots)
	plansTable(&b, run.Rows)
	if len(run.Seeds) > 0 {
		b.WriteString("\n## Over seeds\n\n" + seedNote)
		seedsTable(&b, run.Seeds)
	}
	judged(&b, append(append([]Row{}, run.Rows...), run.Seeds...))
	tinyLine(&b, run.Tiny)
	solvedTable(&b, run.Solved)
	familyTable(&b, run.Families)
	if len(run.Families) > 0 {
		besideTable(&b, run.Beside, run.Families[0].Version)
	}
	raceTable(&b, run.Races)
	shrinkTable(&b, run.Shrinks)
	b.WriteString("\n## Memory\n\n")
	fmt.Fprintf(&b, "![peak memory](%s/memory.svg)\n", plots)
	goalsTable(&b, run)
	losses(&b, run)
	b.WriteString("\n" + outro)
	return b.String()
}

const intro = `# Benchmarks

The same worlds, decided by Tenon's engine and by Karpenter's own scheduler (` + "`sigs.k8s.io/karpenter`" + ` %s, used as a library). Written by the program in ` + "`bench/`" + `; do not edit.

* Both sides get the same Kubernetes objects and the same instance types, allocatable resources, offerings and on-demand prices: Tenon's bundled EC2 catalogue of us-east-1 in three zones. Pools are on demand, categories c, m and r, generation above 4, amd64, unless a scenario says otherwise.
* Each side runs in a process of its own. Time is from the arrival of the pods to the answer; what was there before (nodes, bound pods, catalogue) is taken in first and not counted. CPU is user and system time of all threads, garbage collection among it.
* For Tenon the time holds reading the pods, the World, the plan, its lower bound and every verdict. For the peer it holds copying the nodes, counting topology, building the scheduler and running it, with %d worker; its client answers from memory and copies nothing, and the sorting of each claim's types by price afterwards is left out. Both favour the peer.
* The peer is stopped after %s of CPU time, as its own deadline of a minute would. What it had placed by then is shown, marked *cut off*, and not compared by cost.
* A checker that knows neither side goes over both answers: resources, selectors, taints, spread, affinity, requirements of pools, limits, prices.
* kube-scheduler's own filter plugins (v1.36) go over both answers to smaller worlds as well: every pod is put on the machine meant for it, in an order in which they let it, and what Tenon refuses is tried on every node and on an empty machine of every type in every zone.

Command: ` + "`%s`" + `. Machine: %s; load average when it began: %s. %s, Tenon %s.
`

const speedNote = `Pods with a verdict per second of CPU; more is better. Peak memory is the whole process at its largest, the objects of the world and the catalogue among it; before the decision both sides hold the same (*objects*).

`

const planNote = `Cost is what the new machines cost an hour, in USD. *Bound* is the least that any plan for the same pods can cost, proven by Tenon; cost over bound is shown for the peer where both placed the same pods. *Valid* is the checker's word and that of kube-scheduler's filters; *checked* that of the checker alone.

Tenon mostly buys more and smaller machines, which is neither better nor worse by itself. Where sizes have no cap, a good part of the saving comes from the peer filling the largest machines first; *trace-capped* shows what is left of it when they have.

`

const seedNote = `Smaller worlds, several of each; the median, and the worst for Tenon.

`

const outro = `## What this does not show

Plans are compared as planned, but for *after binding*. Neither launch nor what happens over days is part of it. Worlds are generated; requests and replica counts of a real cluster differ. One machine, few seeds: differences of a few per cent in time are noise. Tenon's plans repeat exactly; the peer's differ from run to run by a few per cent in cost.

A claim of the peer may leave its zone open. Here it is launched, at its lowest price, in the zone where most pods are that its own want to be with; elsewhere it could break a rule.
`

func speed(b *strings.Builder, rows []Row) {
	b.WriteString("| scenario | pods | pods per CPU-s: Tenon | Karpenter | times | CPU s: Tenon | Karpenter | wall s: Tenon | Karpenter | peak MiB: Tenon | Karpenter | objects |\n")
	b.WriteString("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n")
	for _, r := range rows {
		times := "–"
		if r.Ours.Rate() > 0 && r.Peer.Rate() > 0 && r.Peer.Whole() {
			times = fmt.Sprintf("%.1f", r.Ours.Rate()/r.Peer.Rate())
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %.0f |\n", r.Scenario, thousands(r.Pods),
			rate(r.Ours), rate(r.Peer), times, seconds(r.Ours, r.Ours.CPU), seconds(r.Peer, r.Peer.CPU),
			seconds(r.Ours, r.Ours.Wall), seconds(r.Peer, r.Peer.Wall), memory(r.Ours), memory(r.Peer), max(r.Ours.InputMiB, r.Peer.InputMiB))
	}
	for _, r := range rows {
		if r.Scenario == "steady" {
			fmt.Fprintf(b, "\nTaking in the nodes and pods of *steady*, before the others arrive, takes Tenon %.2f CPU-seconds and the peer %.2f.\n", r.Ours.HoldCPU, r.Peer.HoldCPU)
		}
	}
}

func plansTable(b *strings.Builder, rows []Row) {
	b.WriteString("| scenario | pods | cost: Tenon | Karpenter | Tenon / Karpenter | bound | cost / bound: Tenon | Karpenter | new nodes: Tenon | Karpenter | refused: Tenon | Karpenter | valid: Tenon | Karpenter |\n")
	b.WriteString("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|---|\n")
	for _, r := range rows {
		ours, peer := r.overBound()
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", r.Scenario, thousands(r.Pods),
			cost(r.Ours), cost(r.Peer), ratio(r.saving()), money(r.Ours.Bound), ratio(ours), ratio(peer),
			count(r.Ours, r.Ours.Nodes), count(r.Peer, r.Peer.Nodes), refused(r.Ours), refused(r.Peer), valid(r.Ours), valid(r.Peer))
	}
	for _, r := range rows {
		if r.Ours.Wishes > 0 {
			fmt.Fprintf(b, "\nOf the soft terms of *%s %s*, Tenon's plan honours %s of %s and the peer's %s of %s of the pods it placed.", r.Scenario, thousands(r.Pods),
				thousands(r.Ours.Soft), thousands(r.Ours.Wishes), thousands(r.Peer.Soft), thousands(r.Peer.Wishes))
		}
	}
	b.WriteString("\n\nTo Tenon a soft term has a price, 0.005 USD an hour for one of weight 100; the peer holds it as hard until the pod fits nowhere. Their costs buy different things there.\n")
}

func seedsTable(b *strings.Builder, rows []Row) {
	b.WriteString("| scenario | pods | seeds | cost / bound: Tenon | worst | Karpenter | Tenon / Karpenter | worst | pods per CPU-s: Tenon | Karpenter |\n")
	b.WriteString("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n")
	for _, group := range byScenario(rows) {
		var ours, peer, saving, fast, slow []float64
		for _, r := range group {
			o, p := r.overBound()
			ours, peer, saving = some(ours, o), some(peer, p), some(saving, r.saving())
			fast, slow = some(fast, r.Ours.Rate()), some(slow, r.Peer.Rate())
		}
		mo, wo := middle(ours)
		mp, _ := middle(peer)
		ms, ws := middle(saving)
		mf, _ := middle(fast)
		mk, _ := middle(slow)
		fmt.Fprintf(b, "| %s | %s | %d | %s | %s | %s | %s | %s | %s | %s |\n", group[0].Scenario, thousands(group[0].Pods), len(group),
			ratio(mo), ratio(wo), ratio(mp), ratio(ms), ratio(ws), thousands(int(mf)), thousands(int(mk)))
	}
}

// judged says what kube-scheduler's filters said.
func judged(b *strings.Builder, rows []Row) {
	var answers, placed, wrong [2]int
	for _, r := range rows {
		for i, s := range []Side{r.Ours, r.Peer} {
			if s.Judged {
				answers[i]++
				placed[i], wrong[i] = placed[i]+s.Placed, wrong[i]+len(s.Wrong)
			}
		}
	}
	if answers[0] == 0 {
		return
	}
	fmt.Fprintf(b, "\nkube-scheduler's filters went over %d answers of Tenon with %s placements, of which they refuse %d, and over %d answers of Karpenter with %s placements, of which they refuse %d.\n",
		answers[0], thousands(placed[0]), wrong[0], answers[1], thousands(placed[1]), wrong[1])
}

// some appends what says something.
func some(to []float64, x float64) []float64 {
	if x > 0 {
		return append(to, x)
	}
	return to
}

// losses lists every figure of every world by which the peer was better, and
// every answer that the checker found fault with.
func losses(b *strings.Builder, run Run) {
	b.WriteString("\n## Losses\n\nEvery world by name where the peer's plan was cheaper for the same pods, placed a pod that Tenon refused, honoured more soft terms, was made in less CPU time or with less memory, and every answer with a fault. What is missed of the goals is above.\n\n")
	none := true
	for _, r := range slices.Concat(run.Rows, run.Seeds, run.Beside) {
		for _, what := range r.losses() {
			none = false
			fmt.Fprintf(b, "* %s %s, seed %d: %s\n", r.Scenario, thousands(r.Pods), r.Seed, what)
		}
	}
	if none {
		b.WriteString("None in this run.\n")
	}
}

func (r Row) losses() []string {
	var out []string
	for _, side := range []struct {
		name string
		Side
	}{{"Tenon", r.Ours}, {"Karpenter", r.Peer}} {
		if side.Failed != "" {
			out = append(out, side.name+" gave no answer: "+side.Failed)
		}
		if n := len(side.Faults); n > 0 {
			out = append(out, fmt.Sprintf("%s's answer has %s, the first: %s", side.name, faults(n), side.Faults[0]))
		}
		if n := len(side.Wrong); n > 0 {
			out = append(out, fmt.Sprintf("kube-scheduler's filters refuse %d placements of %s, the first: %s", n, side.name, side.Wrong[0]))
		}
		if n := len(side.Possible); n > 0 {
			out = append(out, fmt.Sprintf("kube-scheduler's filters accept %d pods that %s refuses, the first: %s", n, side.name, side.Possible[0]))
		}
	}
	if !r.Peer.Ran || !r.Ours.Ran {
		return out
	}
	if s := r.saving(); s > 1.000001 {
		out = append(out, fmt.Sprintf("Tenon's plan costs %.3f times the peer's", s))
	}
	if r.Withheld > 0 {
		out = append(out, fmt.Sprintf("Tenon refuses %d pods that the peer places", r.Withheld))
	}
	if r.Ours.Rate() < r.Peer.Rate() {
		out = append(out, fmt.Sprintf("Tenon decides %.0f pods per CPU-second, the peer %.0f", r.Ours.Rate(), r.Peer.Rate()))
	}
	if r.Ours.PeakMiB > r.Peer.PeakMiB && r.Peer.PeakMiB > 0 {
		out = append(out, fmt.Sprintf("Tenon takes %.0f MiB at its peak, the peer %.0f", r.Ours.PeakMiB, r.Peer.PeakMiB))
	}
	if r.Ours.Soft < r.Peer.Soft && r.Peer.Whole() {
		out = append(out, fmt.Sprintf("Tenon honours %s soft terms of pods, the peer %s", thousands(r.Ours.Soft), thousands(r.Peer.Soft)))
	}
	if _, b := r.overBound(); b > 0 && b < 0.9999995 {
		out = append(out, fmt.Sprintf("the peer's plan is below Tenon's bound by %.6f: the bound is wrong, or the plan is not valid", b))
	}
	if b, _ := r.overBound(); b > 0 && b < 0.9999995 {
		out = append(out, fmt.Sprintf("Tenon's bound %.6f is above its plan's cost %.6f: one of them is wrong", r.Ours.Bound, r.Ours.Cost))
	}
	return out
}

func rate(s Side) string {
	if !s.Ran || s.Failed != "" {
		return "–"
	}
	if s.CutOff {
		return "(" + thousands(int(s.Rate())) + ")"
	}
	return thousands(int(s.Rate()))
}

func seconds(s Side, n float64) string {
	switch {
	case !s.Ran || s.Failed != "":
		return "–"
	case s.CutOff:
		return fmt.Sprintf("%.1f, cut off", n)
	}
	return fmt.Sprintf("%.2f", n)
}

func memory(s Side) string {
	if !s.Ran || s.Failed != "" {
		return "–"
	}
	return fmt.Sprintf("%.0f", s.PeakMiB)
}

func cost(s Side) string {
	if !s.Ran || s.Failed != "" {
		return "–"
	}
	if s.CutOff {
		return fmt.Sprintf("(%s placed)", thousands(s.Placed))
	}
	return money(s.Cost)
}

func money(x float64) string {
	if x <= 0 {
		return "–"
	}
	return fmt.Sprintf("%.2f", x)
}

func ratio(x float64) string {
	if x <= 0 {
		return "–"
	}
	return fmt.Sprintf("%.3f", x)
}

func count(s Side, n int) string {
	if !s.Ran || s.Failed != "" {
		return "–"
	}
	return thousands(n)
}

func refused(s Side) string {
	switch {
	case !s.Ran || s.Failed != "":
		return "–"
	case s.CutOff:
		return fmt.Sprintf("%s, %s left over", thousands(s.Refused), thousands(s.Undecided))
	}
	return thousands(s.Refused)
}

func valid(s Side) string {
	switch {
	case !s.Ran || s.Failed != "":
		return "–"
	case len(s.Faults) > 0:
		return "**no**: " + faults(len(s.Faults))
	case len(s.Wrong) > 0:
		return fmt.Sprintf("**no**: kube-scheduler refuses %d", len(s.Wrong))
	case !s.Judged:
		return "checked"
	}
	return "yes"
}

func faults(n int) string {
	if n == 1 {
		return "1 fault"
	}
	return fmt.Sprintf("%d faults", n)
}

// thousands writes a number with commas.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
