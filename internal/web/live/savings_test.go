package live

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/journal"
)

// What consolidation could save is that of the last decision that looked for it, what saves most first.
func TestSavings(t *testing.T) {
	at := func(second int64, kind string, p plan.Plan) journal.Entry {
		return journal.Entry{Kind: kind, World: world.NewBuilder().Snapshot(second), Plan: p}
	}
	why := func(code, subject string) *reason.Why { return &reason.Why{Code: reason.Code(code), Subject: subject} }
	move := func(node string, saves int64, v plan.Verdict, held *reason.Why) plan.Command {
		return plan.Command{Reason: plan.Underutilized, Verdict: v, Back: []plan.Give{{Claim: "c" + node, Node: node}}, Saving: 1, Why: held, Pods: 2}
	}
	small, big, begun := move("small", 1, plan.Begin, nil), move("big", 9, plan.Wait, why("budget", "NodePool p")), move("begun", 5, plan.Wait, nil)
	small.Saving, big.Saving, begun.Saving, begun.Begun = 10, 90, 500, true
	looked := plan.Plan{
		Price: 1000, Least: 600, Commands: []plan.Command{small, big, begun},
		Kept: []plan.Kept{
			{Claim: "a", Reason: plan.Underutilized, Price: 300, Why: why("do-not-disrupt", "cheap")},
			{Claim: "b", Reason: plan.Underutilized, Price: 400, Why: why("do-not-disrupt", "dear")},
			{Claim: "b", Reason: plan.Empty, Price: 400, Why: why("in-use", "dear")},
			{Claim: "d", Reason: plan.Underutilized, Price: 50, Why: why("saves-little", "d")},
		},
	}
	decided := []journal.Entry{at(30, journal.Buy, plan.Plan{Price: 5}), at(20, journal.GiveBack, plan.Plan{}), at(10, journal.GiveBack, looked), at(5, journal.GiveBack, plan.Plan{Price: 7})}
	got := savingsOf(decided)
	want := &Savings{
		At: 10, Decision: decided[2].World.Digest(), Price: 1000, Bound: 600, Now: 10, Held: 90,
		Best: []Saving{
			{Nodes: []string{"big"}, Reason: plan.Underutilized, Saves: 90, Pods: 2, HeldUp: big.Why.Line()},
			{Nodes: []string{"small"}, Reason: plan.Underutilized, Saves: 10, Pods: 2},
		},
		Stay: []Stay{
			{Code: "do-not-disrupt", Nodes: 2, Price: 700, Such: looked.Kept[1].Why.Line()},
			{Code: "saves-little", Nodes: 1, Price: 50, Such: looked.Kept[3].Why.Line()},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if got := savingsOf(decided[:2]); got != nil {
		t.Errorf("where nothing was looked for it says %+v", got)
	}
	v := &view{}
	if f, _ := v.next(decided[0].World, decided); f.Savings == nil {
		t.Error("the first frame does not have it")
	}
	if f, _ := v.next(decided[0].World, append([]journal.Entry{at(40, journal.Buy, plan.Plan{})}, decided...)); f.Savings != nil {
		t.Error("it is told again, though nothing was looked for since")
	}
	if v.whole().Savings == nil {
		t.Error("a page that comes later is not told")
	}
}
