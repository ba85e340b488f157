package report

import (
	"fmt"
	"slices"
	"strings"
)

// together is what came of the worlds of one family on both sides.
type together struct {
	name       string
	rows       []Row
	savings    []float64 // ours as a share of the peer's cost, where they can be compared
	times      []float64 // our speed as a multiple of the peer's, where both came to their end
	ours, peer struct{ refused, wrong int }
	cutOff     int // answers of the peer
}

// families groups rows by family.
func families(rows []Row) []together {
	var out []together
	for _, family := range byScenario(rows) {
		_, name, _ := strings.Cut(family[0].Scenario, " ")
		t := together{name: name, rows: family}
		for _, r := range family {
			t.savings, t.times = some(t.savings, r.saving()), some(t.times, r.times())
			if r.Peer.CutOff {
				t.cutOff++
			}
			t.ours.refused, t.peer.refused = t.ours.refused+r.Ours.Refused, t.peer.refused+r.Peer.Refused
			t.ours.wrong, t.peer.wrong = t.ours.wrong+len(r.Ours.Wrong), t.peer.wrong+len(r.Peer.Wrong)
		}
		out = append(out, t)
	}
	return out
}

const besideNote = `Worlds of the same families, of %s pods each, written as Kubernetes objects and decided by both sides. kube-scheduler's filters go over every answer. Costs are compared where both placed the same pods and no placement is refused by the filters; the worst world for Tenon is named by its seed.

`

// Beside is the table of drawn worlds that both sides decided, and what was lost.
func Beside(rows []Row, version string) string {
	var b strings.Builder
	besideTable(&b, rows, version)
	losses(&b, Run{Rows: rows})
	return b.String()
}

// besideTable tells of drawn worlds that both sides decided.
func besideTable(b *strings.Builder, rows []Row, version string) {
	if len(rows) == 0 {
		return
	}
	b.WriteString("\n### Beside Karpenter\n\n")
	fmt.Fprintf(b, besideNote, thousands(rows[0].Pods))
	fmt.Fprintf(b, "Measured with Tenon %s.\n\n", version)
	b.WriteString("| family | worlds | compared | Tenon / Karpenter: median | worst | seed | times its speed: median | least | cut off: Karpenter | refused: Tenon | Karpenter | wrong: Tenon | Karpenter |\n")
	b.WriteString("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n")
	for _, t := range families(rows) {
		cost, worst := middle(t.savings)
		fast, _ := middle(t.times)
		least, seed := 0.0, "–"
		if len(t.times) > 0 {
			least = slices.Min(t.times)
		}
		for _, r := range t.rows {
			if worst > 0 && r.saving() == worst {
				seed = fmt.Sprint(r.Seed)
			}
		}
		fmt.Fprintf(b, "| %s | %d | %d | %s | %s | %s | %s | %s | %d | %d | %d | %d | %d |\n", t.name, len(t.rows), len(t.savings), number("%.3f", cost), number("%.3f", worst), seed,
			number("%.0f", fast), number("%.0f", least), t.cutOff, t.ours.refused, t.peer.refused, t.ours.wrong, t.peer.wrong)
	}
}

// number writes a figure; none if there is none.
func number(format string, x float64) string {
	if x == 0 {
		return "–"
	}
	return fmt.Sprintf(format, x)
}

func besideGoals(rows []Row) []goal {
	if len(rows) == 0 {
		return nil
	}
	var savings, times []float64
	wrong := 0
	slowest := 0.0
	for _, t := range families(rows) {
		savings, times, wrong = append(savings, t.savings...), append(times, t.times...), wrong+t.ours.wrong
		if m, _ := middle(t.times); m > 0 && (slowest == 0 || m < slowest) {
			slowest = m
		}
	}
	_, worst := middle(savings)
	fast, _ := middle(times)
	return []goal{
		{"no drawn world dearer than the peer's plan", fmt.Sprintf("worst %.3f of %d", worst, len(savings)), worst <= 1.000001},
		{"no placement in drawn worlds that kube-scheduler's filters refuse", fmt.Sprint(wrong), wrong == 0},
		{"drawn worlds: 100 times the peer's speed in the median", fmt.Sprintf("%.0f", fast), fast >= 100},
		{"every family: 50 times the peer's speed in its median", fmt.Sprintf("least %.0f", slowest), slowest >= 50},
	}
}
