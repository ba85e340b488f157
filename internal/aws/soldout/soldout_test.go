package soldout_test

import (
	"testing"
	"time"

	"github.com/tenon-sh/tenon/internal/aws/soldout"
)

func TestMarksEndAndGrow(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	m := soldout.New(func() time.Time { return now })
	offer := soldout.Offer{Type: "m5.large", Zone: "a", CapacityType: "spot"}
	gone := func() bool { return m.Why("m5.large", "a", "spot") != "" }
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
		if got := m.Why("m5.large", tc.zone, tc.capacityType); got != tc.want {
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
