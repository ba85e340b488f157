package report_test

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/tenon-sh/tenon/bench/report"
)

func run() report.Run {
	side := func(cpu, cost float64, refused int) report.Side {
		return report.Side{Ran: true, CPU: cpu, Wall: cpu, PeakMiB: 100, Cost: cost, Placed: 1000 - refused, Refused: refused}
	}
	cut := side(30, 10, 0)
	cut.CutOff, cut.Undecided, cut.Placed = true, 900, 100
	ours := side(0.1, 10, 0)
	ours.Bound = 9.9
	dear := side(0.1, 12, 3)
	dear.Faults = []string{"a pod <is> in two places"}
	return report.Run{Rows: []report.Row{
		{Scenario: "trace", Pods: 1_000, Ours: ours, Peer: side(1, 12, 0), Same: true},
		{Scenario: "trace", Pods: 10_000, Ours: ours, Peer: cut},
		{Scenario: "mix", Pods: 1_000, Ours: dear, Peer: side(0.01, 11, 0), Same: true},
	}}
}

// TestPage holds that wins and losses are both on the page.
func TestPage(t *testing.T) {
	page := report.Page(run(), "plots")
	for why, want := range map[string]string{
		"a win":                "| 10.00 | 12.00 | 0.833 |",
		"a cost above bound":   "| 1.010 | 1.212 |",
		"a side that was cut":  "900 left over",
		"a dearer plan":        "Tenon's plan costs 1.091 times the peer's",
		"refusals":             "Tenon refuses 3 pods, the peer 0",
		"less speed":           "Tenon decides 10000 pods per CPU-second, the peer 100000",
		"an answer with fault": "Tenon's answer has 1 fault, the first: a pod <is> in two places",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("%s: the page has no %q", why, want)
		}
	}
}

// TestPlots holds that plots are XML, whatever the numbers, even without any.
func TestPlots(t *testing.T) {
	for _, r := range []report.Run{run(), {}} {
		for name, svg := range report.Plots(r) {
			d := xml.NewDecoder(strings.NewReader(svg))
			for {
				_, err := d.Token()
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
			}
			if strings.Contains(svg, "NaN") || strings.Contains(svg, "Inf") {
				t.Errorf("%s has a number that is none", name)
			}
		}
	}
}
