package estimate

import (
	"testing"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/journal"
)

const hour = 3600

// machine is one of those that days are made of. One of each type costs 1 an hour, and two 2.
func machine(t *testing.T, b *world.Builder, claim, shape string) {
	t.Helper()
	labels := map[string]string{label.InstanceType: shape, label.Zone: "a", label.CapacityType: label.Spot}
	for _, err := range []error{
		b.SetCatalog(world.Catalog{Template: "t", Currency: "USD/h", Shapes: []world.Shape{
			{Name: "one", Offers: []world.Offer{{Zone: "a", CapacityType: label.Spot, Price: 1_000_000}}},
			{Name: "two", Offers: []world.Offer{{Zone: "a", CapacityType: label.Spot, Price: 2_000_000}}},
		}}),
		b.SetClaim(world.Claim{Name: claim, Labels: labels, Node: claim}),
		b.SetNode(world.Node{Name: claim, Claim: claim, Labels: labels, Ready: true}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
}

func pods(names string) (out []world.Key) {
	for _, n := range names {
		out = append(out, world.Key{Name: string(n)})
	}
	return out
}

func ask(price money.Micro, names string) plan.Ask { return plan.Ask{Price: price, Pods: pods(names)} }

func give(claim string, price money.Micro) plan.Give { return plan.Give{Claim: claim, Price: price} }

// moment is what is at an hour, and what was and would be decided of it.
type moment struct {
	hour     int64
	machines map[string]string // types of machines that are there
	pods     string            // that are there
	kind     string
	was, is  plan.Plan
}

func TestEstimates(t *testing.T) {
	one := map[string]string{"c1": "one"}
	refuses := func(names string, code reason.Code) (p plan.Plan) {
		for _, k := range pods(names) {
			p.Refused = append(p.Refused, plan.Refusal{Pod: k, Why: &reason.Why{Code: code}})
		}
		return p
	}
	moves := func(claim, to, names string, news ...plan.Ask) plan.Plan {
		c := plan.Command{Reason: plan.Underutilized, Verdict: plan.Begin, Back: []plan.Give{give(claim, 2_000_000)}, New: news, Pods: len(names)}
		if to != "" {
			c.Moves = []plan.Fill{{Node: to, Pods: pods(names)}}
		}
		return plan.Plan{Commands: []plan.Command{c}}
	}
	tests := map[string]struct {
		why      string
		moments  []moment
		recorded Side
		replayed Side
	}{
		"Same": {
			why:      "What is decided alike comes to the same.",
			moments:  []moment{{0, one, "a", journal.Buy, plan.Plan{New: []plan.Ask{ask(1_000_000, "a")}}, plan.Plan{New: []plan.Ask{ask(1_000_000, "a")}}}, {2, one, "a", journal.Buy, plan.Plan{}, plan.Plan{}}},
			recorded: Side{Cost: 2, Bought: 1, Hourly: 1, Needed: 1}, replayed: Side{Cost: 2, Bought: 1, Hourly: 1, Needed: 1},
		},
		"Cheaper": {
			why: "A cheaper machine saves for as long as its pods are there, and is bought once however often it is decided.",
			moments: []moment{
				{0, nil, "ab", journal.Buy, plan.Plan{New: []plan.Ask{ask(2_000_000, "ab")}}, plan.Plan{New: []plan.Ask{ask(1_000_000, "ab")}}},
				{1, map[string]string{"c1": "two"}, "ab", journal.Buy, plan.Plan{}, plan.Plan{New: []plan.Ask{ask(1_000_000, "ab")}}},
				{3, map[string]string{"c1": "two"}, "", journal.Buy, plan.Plan{}, plan.Plan{}},
				{4, map[string]string{"c1": "two"}, "", journal.Buy, plan.Plan{}, plan.Plan{}},
			},
			recorded: Side{Cost: 6, Bought: 1, Hourly: 2, Needed: 2}, replayed: Side{Cost: 4, Bought: 1, Hourly: 1, Needed: 2},
		},
		"Moves": {
			why: "A machine that would have been given back saves until it went in fact; its pods are moved once.",
			moments: []moment{
				{0, map[string]string{"c1": "two"}, "a", journal.GiveBack, plan.Plan{}, moves("c1", "n", "a")},
				{1, map[string]string{"c1": "two"}, "a", journal.GiveBack, plan.Plan{}, moves("c1", "n", "a")},
				{2, map[string]string{"c1": "two"}, "a", journal.GiveBack, moves("c1", "n", "a"), moves("c1", "n", "a")},
				{3, nil, "a", journal.GiveBack, plan.Plan{}, plan.Plan{}},
				{4, nil, "a", journal.GiveBack, plan.Plan{}, plan.Plan{}},
			},
			recorded: Side{Cost: 6, GivenBack: 1, Moved: 1}, replayed: Side{GivenBack: 1, Moved: 1},
		},
		"Stays": {
			why: "One that would not have been given back costs on for as long as its pods are there.",
			moments: []moment{
				{0, map[string]string{"c1": "two"}, "a", journal.GiveBack, moves("c1", "", "a", ask(1_000_000, "a")), plan.Plan{}},
				{1, map[string]string{"c2": "one"}, "a", journal.GiveBack, plan.Plan{}, plan.Plan{}},
				{2, map[string]string{"c2": "one"}, "", journal.GiveBack, plan.Plan{}, plan.Plan{}},
				{3, map[string]string{"c2": "one"}, "", journal.GiveBack, plan.Plan{}, plan.Plan{}},
			},
			recorded: Side{Cost: 4, Bought: 1, Hourly: 1, GivenBack: 1, Moved: 1}, replayed: Side{Cost: 5},
		},
		"Later": {
			why: "One that would have been given back at the next look costs no more.",
			moments: []moment{
				{0, map[string]string{"c1": "two"}, "a", journal.GiveBack, moves("c1", "n", "a"), plan.Plan{}},
				{1, map[string]string{"c1": "two"}, "a", journal.GiveBack, plan.Plan{}, moves("c1", "n", "a")},
				{2, nil, "a", journal.GiveBack, plan.Plan{}, plan.Plan{}},
			},
			recorded: Side{Cost: 4, GivenBack: 1, Moved: 1}, replayed: Side{Cost: 4, GivenBack: 1, Moved: 1},
		},
		"Refused": {
			why: "Pods that are refused wait from one decision to the next; gated ones wait for others.",
			moments: []moment{
				{0, nil, "ab", journal.Buy, refuses("ab", reason.Taint), refuses("a", reason.Gated)},
				{1, nil, "ab", journal.Buy, refuses("a", reason.Taint), plan.Plan{}},
				{2, nil, "ab", journal.Buy, plan.Plan{}, plan.Plan{}},
			},
			recorded: Side{Refused: 2, Waited: 3 * hour}, replayed: Side{},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			d := New()
			for _, m := range tc.moments {
				b := world.NewBuilder()
				for claim, shape := range m.machines {
					machine(t, b, claim, shape)
				}
				for _, k := range pods(m.pods) {
					if err := b.SetPod(world.Pod{Key: k, UID: "u" + k.Name}); err != nil {
						t.Fatal(err)
					}
				}
				d.Add(journal.Entry{Kind: m.kind, World: b.Snapshot(1_800_000_000 + m.hour*hour), Plan: m.was}, m.is)
			}
			got := d.Day()
			if got.Recorded != tc.recorded || got.Replayed != tc.replayed {
				t.Errorf("%s\nrecorded %+v\n    want %+v\nreplayed %+v\n    want %+v", tc.why, got.Recorded, tc.recorded, got.Replayed, tc.replayed)
			}
		})
	}
}
