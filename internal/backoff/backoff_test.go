package backoff_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-sh/tenon/internal/backoff"
)

func TestKeyed(t *testing.T) {
	began := time.Unix(0, 0)
	k := backoff.Keyed[string]{First: 3 * time.Second, Last: 10 * time.Second}
	var waits []time.Duration
	now := began
	for range 4 {
		until := k.Failed("a", now)
		if k.Failed("a", until.Add(-1)) != until {
			t.Error("a failure that is seen again counts twice")
		}
		if !k.Waits("a", until.Add(-1)) || k.Waits("a", until) || k.Waits("b", now) {
			t.Error("it waits until the wait is over, and others do not")
		}
		waits = append(waits, until.Sub(now))
		now = until
	}
	if diff := cmp.Diff([]time.Duration{3 * time.Second, 6 * time.Second, 10 * time.Second, 10 * time.Second}, waits); diff != "" {
		t.Error("waits: -want +got", diff)
	}
	until := k.Failed("b", now)
	if diff := cmp.Diff([]string{"b"}, k.Waiting(now)); diff != "" {
		t.Error("waiting: -want +got", diff)
	}
	k.Renew("b", now.Add(time.Second))
	if again := k.Failed("b", now.Add(time.Second)); again.Sub(until) != time.Second {
		t.Errorf("what goes on for a second more waits for %s more", again.Sub(until))
	}
	until = until.Add(time.Second)
	k.Keep(func(key string, end time.Time) bool { return key == "b" && end.Equal(until) })
	k.Forget("b")
	for _, key := range []string{"a", "b"} {
		if got := k.Failed(key, now).Sub(now); got != 3*time.Second {
			t.Errorf("%s was forgotten and waits for %s", key, got)
		}
	}
}
