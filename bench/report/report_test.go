package report_test

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
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
	judged, wrong := ours, side(1, 9, 0)
	judged.Judged, wrong.Judged, wrong.Wrong = true, true, []string{"default/a on b: no room"}
	with, without, other := report.Planners()
	return report.Run{Rows: []report.Row{
		{Scenario: "trace", Pods: 1_000, Ours: ours, Peer: side(1, 12, 0), Same: true},
		{Scenario: "trace", Pods: 10_000, Ours: ours, Peer: cut},
		{Scenario: "mix", Pods: 1_000, Ours: dear, Peer: side(0.01, 11, 0), Same: true, Withheld: 2},
		{Scenario: "plain", Pods: 1_000, Ours: judged, Peer: wrong, Same: true},
	}, Tiny: report.Tiny{Ours: []float64{1, 1, 1.02}, Peer: []float64{1.5}}, Races: []report.Race{{Pods: 500, Least: 10, Bound: []report.Bound{
		{By: with, Planned: 10.1, Cost: 10.6, Placed: 500, Stranded: 40}, {By: without, Planned: 10.1, Cost: 11.9, Placed: 500, Stranded: 90}, {By: other, Planned: 12, Cost: 13.5, Idle: 1, Placed: 500, Stranded: 75},
	}}}}
}

// TestPage holds that wins and losses are both on the page.
func TestPage(t *testing.T) {
	page := report.Page(run(), "plots")
	for why, want := range map[string]string{
		"a win":                      "| 10.00 | 12.00 | 0.833 |",
		"a cost above bound":         "| 1.010 | 1.212 |",
		"a side that was cut":        "900 left over",
		"a dearer plan":              "Tenon's plan costs 1.091 times the peer's",
		"refusals":                   "Tenon refuses 2 pods that the peer places",
		"what cannot be bound":       "kube-scheduler's filters refuse 1 placements of Karpenter, the first: default/a on b: no room",
		"no win over what cannot be": "| plain | 1,000 | 10.00 | 9.00 | – |",
		"a goal over seeds":          "50.0 %: dearer in 1 of 2, worst 1.091",
		"tiny worlds":                "1.000 times that in the median and 1.020 at worst",
		"the peer bound":             "| Karpenter | 1.200 | 0 | **1.350** | 1.350 | 1.250 | 0 | 15.00 % |",
		"a goal after binding":       "| 8.00 % (the peer: 15.00 %) | **no** |",
		"less speed":                 "Tenon decides 10000 pods per CPU-second, the peer 100000",
		"an answer with fault":       "Tenon's answer has 1 fault, the first: a pod <is> in two places",
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

// TestFamilies holds that a family is told by its median and its worst world.
func TestFamilies(t *testing.T) {
	f := report.Family{Name: "spot", Pods: 100, Worlds: []report.Member{
		{Seed: 1, CPU: 0.01, Cost: 10, Bound: 10, Spend: 11, Least: 10},
		{Seed: 2, CPU: 0.02, Cost: 12, Bound: 10, Spend: 14, Least: 10},
		{Seed: 3, CPU: 0.01},
		{Seed: 4, CPU: 0.01, Cost: 11, Bound: 10, Spend: 12, Least: 10},
	}}
	page := report.Page(report.Run{Families: []report.Family{f}}, "plots")
	if want := "| spot | 100 | 4 | 1.200 | 1.200 | 1.400 | 2 | 1.100 | 1.200 | 2 | 10,000 | 5,000 | 2 | 0 |"; !strings.Contains(page, want) {
		t.Errorf("the page has no %q:\n%s", want, page)
	}
}

// TestRemember holds that a run is a line of the history, under those before it.
func TestRemember(t *testing.T) {
	page := filepath.Join(t.TempDir(), "history.md")
	r := run()
	r.Date, r.Version, r.Load = "2026-11-24", "abc", "1.50 1 1"
	r.Beside = []report.Row{{Scenario: "family spot", Pods: 300, Seed: 4, Ours: r.Rows[0].Ours, Peer: r.Rows[0].Peer, Same: true}}
	for range 2 {
		if err := report.Remember(page, r, "quick"); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if want := "| 2026-11-24 | abc | quick | 1.50 | 1.010, 1.010 | 0.962, 1.091 | 10 | – | 0.833, 0.833 | 10 | – | – | 0 |\n"; !strings.HasSuffix(string(text), want+want) || strings.Count(string(text), "# What") != 1 {
		t.Errorf("the history does not end with the line twice: %q\n%s", want, text)
	}
}

// TestBeside holds that drawn worlds are told by family, and dearer ones by their seed.
func TestBeside(t *testing.T) {
	side := func(cpu, cost float64) report.Side {
		return report.Side{Ran: true, CPU: cpu, Cost: cost, Placed: 300}
	}
	text := report.Beside([]report.Row{
		{Scenario: "family spot", Pods: 300, Seed: 1, Ours: side(0.1, 10), Peer: side(5, 12), Same: true},
		{Scenario: "family spot", Pods: 300, Seed: 2, Ours: side(0.1, 11), Peer: side(1, 10), Same: true},
	}, "abc")
	for _, want := range []string{"| spot | 2 | 2 | 0.967 | 1.100 | 2 | 30 | 10 | 0 | 0 | 0 | 0 | 0 |", "* family spot 300, seed 2: Tenon's plan costs 1.100 times the peer's"} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %q:\n%s", want, text)
		}
	}
}
