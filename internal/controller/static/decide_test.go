package static

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/cluster"
)

func TestMatters(t *testing.T) {
	for kind, want := range map[cluster.Kind]bool{
		cluster.Pod: false, cluster.Node: false, // thousands a minute, and no pool is counted by them
		cluster.Claim: true, cluster.Pool: true, cluster.Catalog: true, cluster.Backoff: true, cluster.Overlay: true, cluster.Other: true,
	} {
		if got := matters(kind); got != want {
			t.Errorf("a change of a %s wakes: %t, want %t", kind, got, want)
		}
	}
}

func poolID(name string) world.PoolID { return world.PoolID{Kind: world.NodePool, Name: name} }

// lacking is what a plan says of a pool that cannot have so many; of one that has all, with 0.
func lacking(name string, missing int, code reason.Code) plan.Static {
	s := plan.Static{Pool: poolID(name), Replicas: 3, Missing: missing}
	if code != "" {
		s.Why = &reason.Why{Code: code}
	}
	return s
}

func TestNext(t *testing.T) {
	now := time.Unix(1000, 0)
	for name, tc := range map[string]struct {
		why  string
		plan plan.Plan
		want time.Duration
	}{
		"Nothing":    {"There are no static pools: a look a minute costs nothing.", plan.Plan{}, time.Minute},
		"All":        {"Each pool has its number.", plan.Plan{Static: []plan.Static{lacking("a", 0, ""), lacking("b", 0, "")}}, time.Minute},
		"Missing":    {"What is not sold now may be in a moment.", plan.Plan{Static: []plan.Static{lacking("a", 1, reason.NoOffer), lacking("b", 0, "")}}, 30 * time.Second},
		"Due":        {"A back-off ends before.", plan.Plan{Again: 1010}, 10 * time.Second},
		"DueMissing": {"Of two times the sooner counts.", plan.Plan{Again: 1010, Static: []plan.Static{lacking("a", 1, reason.BackOff)}}, 10 * time.Second},
		"Later":      {"A time that is far off is looked at again on the way.", plan.Plan{Again: 5000}, time.Minute},
	} {
		if got := next(tc.plan, now); got != tc.want {
			t.Errorf("%s: %s, want %s: %s", name, got, tc.want, tc.why)
		}
	}
}

// What a pool lacks is news once: as long as it lacks the same, for the same reason, nothing is kept or logged of it.
func TestNews(t *testing.T) {
	told := lacks(plan.Plan{Static: []plan.Static{lacking("a", 1, reason.Limit), lacking("b", 2, reason.NoOffer), lacking("full", 0, "")}})
	for name, tc := range map[string]struct {
		is   []plan.Static
		want []world.PoolID
	}{
		"Same":        {[]plan.Static{lacking("a", 1, reason.Limit), lacking("b", 2, reason.NoOffer), lacking("full", 0, "")}, nil},
		"MoreMissing": {[]plan.Static{lacking("a", 2, reason.Limit), lacking("b", 2, reason.NoOffer)}, []world.PoolID{poolID("a")}},
		"OtherReason": {[]plan.Static{lacking("a", 1, reason.Limit), lacking("b", 2, reason.Limit)}, []world.PoolID{poolID("b")}},
		"Another":     {[]plan.Static{lacking("full", 1, reason.Limit), lacking("b", 2, reason.NoOffer)}, []world.PoolID{poolID("full")}},
		"Over":        {[]plan.Static{lacking("a", 0, ""), lacking("b", 0, "")}, nil},
	} {
		if diff := cmp.Diff(tc.want, news(told, plan.Plan{Static: tc.is})); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if n := len(told); n != 2 {
		t.Errorf("of two pools that lack something, and one that does not, %s lack something", fmt.Sprint(n))
	}
}
