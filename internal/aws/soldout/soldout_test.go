package soldout_test

import (
	"testing"
	"time"

	"github.com/tenon-sh/tenon/internal/aws/soldout"
	"github.com/tenon-sh/tenon/internal/clock"
)

func TestMarksEndAndGrow(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	m := soldout.New(func() time.Time { return now })
	offer := soldout.Offer{Type: "m5.large", Zone: "a", CapacityType: "spot"}
	gone := func() bool { return m.Why("m5.large", "a", "spot", "") != "" }
	steps := []struct {
		why  string
		wait time.Duration
		mark bool
		want bool
	}{
		{why: "Nothing is marked at first.", want: false},
		{why: "A failure marks.", mark: true, want: true},
		{why: "The same failure told twice does not lengthen the mark.", wait: time.Minute, mark: true, want: true},
		{why: "It ends three minutes after the last failure.", wait: 3 * time.Minute, want: false},
		{why: "Failing again lasts twice as long.", mark: true, want: true},
		{why: "Still marked after five minutes.", wait: 5 * time.Minute, want: true},
		{why: "But not after six.", wait: time.Minute, want: false},
		{why: "After a long quiet it starts afresh.", wait: time.Hour, want: false},
	}
	for _, s := range steps {
		now = now.Add(s.wait)
		before := m.Version()
		if s.mark {
			m.Mark("no capacity", offer)
			if m.Version() == before {
				t.Errorf("%s: the version stays at %d", s.why, before)
			}
		}
		if gone() != s.want {
			t.Errorf("%s: sold out is %t, want %t", s.why, gone(), s.want)
		}
	}
}

func TestBroadMarks(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	m := soldout.New(func() time.Time { return now })
	m.Mark("no addresses", soldout.Offer{Zone: "b"})
	m.Mark("no right to buy spot", soldout.Offer{CapacityType: "spot"})
	for _, tc := range []struct{ zone, capacityType, want string }{
		{"a", "on-demand", ""}, {"b", "on-demand", "no addresses"}, {"a", "spot", "no right to buy spot"},
	} {
		if got := m.Why("m5.large", tc.zone, tc.capacityType, ""); got != tc.want {
			t.Errorf("zone %s %s: %q, want %q", tc.zone, tc.capacityType, got, tc.want)
		}
	}
	v := m.Version()
	now = now.Add(10 * time.Minute)
	if m.Version() == v {
		t.Error("offers came back and the version did not change")
	}
	if m.Version() != m.Version() {
		t.Error("the version changes by being read")
	}
}

// What has no room in a placement group is to be had without it, and in others;
// what is not to be had at all is in none.
func TestMarksOfPlacementGroups(t *testing.T) {
	m := soldout.New(clock.At(time.Unix(1_000_000, 0)))
	in := func(group string) soldout.Offer {
		return soldout.Offer{Type: "m5.large", Zone: "a", CapacityType: "on-demand", Group: group}
	}
	gone := func(group string) bool { return m.Why("m5.large", "a", "on-demand", group) != "" }
	m.Mark("no room", in("pg-1"))
	if !gone("pg-1") || gone("pg-2") || gone("") {
		t.Errorf("marked in pg-1, and gone: in pg-1 %t, in pg-2 %t, in none %t", gone("pg-1"), gone("pg-2"), gone(""))
	}
	m.Mark("sold out", in(""))
	if !gone("pg-2") || !gone("") {
		t.Error("what is sold out can still be had in a group, or without")
	}
	m.Clear(in("pg-2"))
	if !gone("pg-1") || gone("") {
		t.Error("a machine that came in pg-2 says that there are some, and nothing of pg-1")
	}
}
