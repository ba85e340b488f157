package journal_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/journal"
)

// asks is a plan that does something.
var asks = plan.Plan{New: []plan.Ask{{Name: "new-1"}}}

func TestTheOldestMakesRoom(t *testing.T) {
	j := journal.New(2, "v1", nil)
	var digests []string
	for at := range int64(3) {
		w := world.NewBuilder().Snapshot(at)
		digests = append(digests, w.Digest())
		j.Add(journal.Entry{Kind: "provision", World: w, Plan: asks})
		j.Add(journal.Entry{Kind: "provision", World: w, Plan: asks})
	}
	if _, ok := j.Find(digests[0]); ok {
		t.Error("the oldest of three is kept by a journal of two")
	}
	for _, d := range digests[1:] {
		if _, ok := j.Find(d); !ok {
			t.Errorf("entry %s is not kept", d)
		}
	}
	if last, ok := j.Last("provision"); !ok || last.World.Digest() != digests[2] {
		t.Error("the last entry is not the last")
	}
	if n := len(j.All()); n != 2 {
		t.Errorf("%d entries, want 2: a repeated decision is kept once", n)
	}
}

// Decisions that did nothing are counted, and push out none that did something.
func TestDecisionsThatDidNothing(t *testing.T) {
	refuses := func(pod string, code reason.Code, detail string) plan.Plan {
		return plan.Plan{Refused: []plan.Refusal{{Pod: world.Key{Name: pod}, Why: &reason.Why{Code: code, Detail: detail}}}}
	}
	tests := map[string]struct {
		why   string
		plans []plan.Plan
		quiet []int // of what is kept, latest first
	}{
		"Nothing":   {"Only the latest of those that did nothing is there.", []plan.Plan{{}, {}, {}}, []int{2}},
		"Between":   {"They are counted where they were.", []plan.Plan{asks, {}, {}, asks, {}}, []int{0, 2, 0}},
		"Filled":    {"Pods that wait for a node that is coming are looked at again and again.", []plan.Plan{asks, {Filled: []plan.Fill{{Claim: "c"}}}, {Filled: []plan.Fill{{Node: "n"}}}}, []int{1, 0}},
		"Refused":   {"The same refusal again is nothing new.", []plan.Plan{refuses("a", "taint", "1"), refuses("a", "taint", "2"), refuses("a", "taint", "3")}, []int{1, 0}},
		"Other":     {"Another reason is.", []plan.Plan{refuses("a", "taint", ""), refuses("a", "limits", "")}, []int{0, 0}},
		"OtherPod":  {"So is another pod.", []plan.Plan{refuses("a", "taint", ""), refuses("b", "taint", "")}, []int{0, 0}},
		"Waits":     {"A node that is to go and waits is not.", []plan.Plan{{Commands: []plan.Command{{Verdict: plan.Wait}}}, {Commands: []plan.Command{{Verdict: plan.Wait}}}}, []int{1}},
		"GivenBack": {"A node that is given back is something.", []plan.Plan{{Commands: []plan.Command{{Verdict: plan.Begin}}}, {Commands: []plan.Command{{Verdict: plan.TakeBack}}}}, []int{0, 0}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			j := journal.New(100, "v1", nil)
			for at, p := range tc.plans {
				j.Add(journal.Entry{Kind: journal.Buy, World: world.NewBuilder().Snapshot(int64(at)), Plan: p})
			}
			var got []int
			for _, e := range j.All() {
				got = append(got, e.Quiet)
			}
			if !slices.Equal(got, tc.quiet) {
				t.Errorf("%s\nkept with %v before each, want %v", tc.why, got, tc.quiet)
			}
		})
	}
}

// What was asked for in the morning is still there in the evening, however much was looked at since; after a day it goes.
func TestDecisionsStayForADay(t *testing.T) {
	const day = 24 * 60 * 60
	j := journal.New(1000, "v1", nil)
	add := func(at int64, p plan.Plan) {
		j.Add(journal.Entry{Kind: journal.Buy, World: world.NewBuilder().Snapshot(at), Plan: p})
	}
	for at := range int64(6) {
		add(at, asks)
	}
	for at := int64(60); at < day; at += 60 {
		add(at, plan.Plan{Waiting: 1})
	}
	if n := len(j.All()); n != 7 {
		t.Errorf("after most of a day %d are kept, want the six that asked and the latest", n)
	}
	for at := range int64(6) {
		add(2*day+at, asks)
	}
	if all := j.All(); len(all) != 6 || all[5].World.At() != 2*day {
		t.Errorf("a day later %d are kept", len(all))
	}
}

// Why claims were deleted is kept with the decisions while they go, and with the first after they went, which nothing takes the place of.
func TestWhyClaimsWent(t *testing.T) {
	j := journal.New(100, "v1", nil)
	j.Deleted = func(claim string) string {
		return map[string]string{"a": "spot_interrupted", "b": "empty", "c": "expired"}[claim]
	}
	for at, claims := range [][]world.Claim{
		{{Name: "a"}, {Name: "b"}, {Name: "c"}, {Name: "d", Deleting: true}},
		{{Name: "a", Deleting: true}, {Name: "c"}},
		{{Name: "a", Deleting: true}, {Name: "c"}},
		{{Name: "c"}},
		{{Name: "c"}},
	} {
		b := world.NewBuilder()
		for _, c := range claims {
			if err := b.SetClaim(c); err != nil {
				t.Fatal(err)
			}
		}
		j.Add(journal.Entry{Kind: journal.Buy, World: b.Snapshot(int64(at))})
	}
	var got []map[string]string
	for _, e := range j.All() {
		got = append(got, e.Deleted)
	}
	want := []map[string]string{nil, {"a": "spot_interrupted", "b": "empty"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}
