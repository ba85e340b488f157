package check_test

import (
	"strings"
	"testing"

	"github.com/tenon-sh/tenon/bench/check"
	"github.com/tenon-sh/tenon/bench/market"
	"github.com/tenon-sh/tenon/bench/outcome"
	"github.com/tenon-sh/tenon/bench/scenario"
	"github.com/tenon-sh/tenon/engine/world"
)

// price finds what a type costs in a zone, on demand.
func price(t *testing.T, c world.Catalog, name, zone string) float64 {
	t.Helper()
	for _, s := range c.Shapes {
		for _, o := range s.Offers {
			if s.Name == name && o.Zone == zone && o.CapacityType == "on-demand" {
				return float64(o.Price) / 1e6
			}
		}
	}
	t.Fatalf("no offer of %s in %s", name, zone)
	return 0
}

func TestFaults(t *testing.T) {
	catalog, err := market.Load()
	if err != nil {
		t.Fatal(err)
	}
	zones := market.Zones()
	node := func(kind, zone string, pods ...string) outcome.Node {
		return outcome.Node{Pool: "general", Type: kind, Zone: zone, CapacityType: "on-demand", Price: price(t, catalog, kind, zone), Pods: pods}
	}
	// Three replicas, one a zone.
	three := []outcome.Node{
		node("m5.4xlarge", zones[0], "default/app-00000-0"), node("m5.4xlarge", zones[1], "default/app-00000-1"), node("m5.4xlarge", zones[2], "default/app-00000-2"),
	}
	tests := map[string]struct {
		why   string
		world string
		pods  int
		new   []outcome.Node
		fills []outcome.Fill
		left  int
		want  string // part of the first fault; empty: none
	}{
		"Valid":     {why: "A good answer has no fault.", world: "zone-apart", pods: 3, new: three},
		"NoVerdict": {why: "A pod that the plan leaves out is found.", world: "zone-apart", pods: 3, new: three[:2], want: "no verdict"},
		"LeftOver":  {why: "A pod said to be left over is no fault.", world: "zone-apart", pods: 3, new: three[:2], left: 1},
		"Twice":     {why: "A pod is in one place only.", world: "zone-apart", pods: 3, new: append([]outcome.Node{node("m5.4xlarge", zones[0], "default/app-00000-1")}, three...), want: "placed 2 times"},
		"Together": {
			why: "Replicas that keep apart share a zone.", world: "zone-apart", pods: 3,
			new: []outcome.Node{three[0], three[1], node("m5.4xlarge", zones[1], "default/app-00000-2")}, want: "keeps away from",
		},
		"Full":        {why: "Eight cores do not hold nine pods of one.", world: "homogeneous", pods: 9, new: []outcome.Node{node("m5.2xlarge", zones[0], some(9)...)}, want: "ask for"},
		"OldFamily":   {why: "The pool wants newer generations.", world: "homogeneous", pods: 1, new: []outcome.Node{node("m4.4xlarge", zones[0], some(1)...)}, want: "does not allow"},
		"WrongPrice":  {why: "A price is the offer's.", world: "homogeneous", pods: 1, new: []outcome.Node{{Pool: "general", Type: "m5.large", Zone: zones[0], CapacityType: "on-demand", Price: 0.01, Pods: some(1)}}, want: "not offered"},
		"UnknownNode": {why: "Pods do not go where nothing is.", world: "homogeneous", pods: 1, fills: []outcome.Fill{{Node: "nowhere", Pods: some(1)}}, want: "does not exist"},
		"Skewed": {
			why: "Thirty pods of one spread are not all in one zone while another could have them.", world: "spread", pods: 3,
			new: []outcome.Node{node("m5.16xlarge", zones[0], "default/app-00000-0", "default/app-00000-1", "default/app-00000-2"), node("m5.16xlarge", zones[1])}, want: "skew allowed",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s, ok := scenario.Find(tc.world)
			if !ok {
				t.Fatalf("no scenario %q", tc.world)
			}
			got := check.Outcome(s.Make(catalog, tc.pods, 1), catalog, outcome.Outcome{New: tc.new, Fills: tc.fills, Undecided: tc.left})
			first := strings.Join(got.Faults, "\n")
			if tc.want == "" && first != "" || !strings.Contains(first, tc.want) {
				t.Errorf("%s\nfaults: %q, want %q", tc.why, first, tc.want)
			}
		})
	}
}

// some names pods of the homogeneous world.
func some(n int) []string {
	all := []string{"default/web-0", "default/web-1", "default/web-2", "default/web-3", "default/web-4", "default/web-5", "default/web-6", "default/web-7", "default/web-8"}
	return all[:n]
}
