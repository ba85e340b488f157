package plan_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
)

func sample() plan.Plan {
	pool := world.PoolID{Kind: world.NodePool, Name: "general"}
	pod := func(name string) world.Key { return world.Key{Namespace: "default", Name: name} }
	taint := &reason.Why{Code: reason.NoPlace, Causes: []*reason.Why{
		{Code: reason.Taint, Subject: "NodePool general", Detail: "gpu=:NoSchedule", Hint: "add a toleration for gpu"},
	}}
	return plan.Plan{
		Waiting: 7, Cost: 357_000, Bound: 340_000,
		New: []plan.Ask{{
			Name: "general-1", Pool: pool, Shape: "c7i.2xlarge", Zone: "us-east-1a", CapacityType: "on-demand", Price: 357_000,
			Menu: []plan.Choice{{"c7i.2xlarge", 357_000}, {"m7i.2xlarge", 403_000}},
			Pods: []world.Key{pod("b"), pod("a"), pod("c"), pod("d"), pod("e")},
			Why:  plan.Choosing{Binds: "cpu", RunnerUp: "m7i.2xlarge", RunnerUpPrice: 403_000},
		}},
		Refused: []plan.Refusal{{Pod: pod("x"), Why: taint}, {Pod: pod("y"), Why: taint}},
		GivenUp: []plan.Loss{{Pod: pod("a"), Term: "spec.affinity…preferred[0]", Why: "no pool offers the label"}},
	}
}

func TestText(t *testing.T) {
	want := `7 pods waiting: 5 on 1 new node, 2 refused.
New nodes cost $0.3570 an hour.
Proven: no plan costs less than $0.3400 (95.2 % of it). Not known: whether one costs less than this.
+ general-1          c7i.2xlarge      us-east-1a     on-demand  $0.3570/h  5 pods
    why:  cpu binds; next best m7i.2xlarge at $0.4030/h; 2 types would do: c7i.2xlarge, m7i.2xlarge
    pods: default/a, default/b, default/c and 2 others
! refused 2 pods: default/x, default/y
    no-place
      NodePool general: taint (gpu=:NoSchedule) → add a toleration for gpu
~ preference given up for 1 pod: default/a
    spec.affinity…preferred[0] (no pool offers the label)
`
	if diff := cmp.Diff(want, sample().String()); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	spent := sample()
	spent.Charge, spent.SpendBound = 20_000, 370_000
	line := "Plans minimise price and $0.0200 for each node together: 98.1 % of that is proven.\n"
	if text := spent.String(); !strings.Contains(text, line) {
		t.Errorf("it does not say %q:\n%s", line, text)
	}
}

func TestDiff(t *testing.T) {
	before, after := sample(), sample()
	if d := plan.Diff(before, after); d != "" {
		t.Errorf("equal plans differ:\n%s", d)
	}
	after.New[0].Shape, after.Cost = "m7i.2xlarge", 403_000
	after.New[0].Pods = after.New[0].Pods[:4]
	after.Refused = append(after.Refused, plan.Refusal{Pod: world.Key{Namespace: "default", Name: "e"}, Why: &reason.Why{Code: reason.Limit}})
	want := `cost $0.3570 → $0.4030 an hour
-1 node general c7i.2xlarge us-east-1a on-demand
+1 node general m7i.2xlarge us-east-1a on-demand
pod default/a: general c7i.2xlarge us-east-1a on-demand → general m7i.2xlarge us-east-1a on-demand
pod default/b: general c7i.2xlarge us-east-1a on-demand → general m7i.2xlarge us-east-1a on-demand
pod default/c: general c7i.2xlarge us-east-1a on-demand → general m7i.2xlarge us-east-1a on-demand
pod default/d: general c7i.2xlarge us-east-1a on-demand → general m7i.2xlarge us-east-1a on-demand
pod default/e: general c7i.2xlarge us-east-1a on-demand → refused: limit
`
	if diff := cmp.Diff(want, plan.Diff(before, after)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// A node that has not joined yet is not said to be there.
func TestWhereTheNodesAre(t *testing.T) {
	pods := []world.Key{{Namespace: "d", Name: "p"}}
	there, coming := plan.Fill{Node: "n", Claim: "c", Pods: pods}, plan.Fill{Claim: "d", Pods: pods}
	for want, fills := range map[string][]plan.Fill{
		"1 pod waiting: 1 on 1 node that is there, 0 refused.":                  {there},
		"1 pod waiting: 1 on 1 node that is on the way, 0 refused.":             {coming},
		"2 pods waiting: 2 on 2 nodes that are there or on the way, 0 refused.": {there, coming},
	} {
		if got := (plan.Plan{Waiting: len(fills), Filled: fills}).Text(false); !strings.HasPrefix(got, want) {
			t.Errorf("it says\n%s\nwant %q", got, want)
		}
	}
}
