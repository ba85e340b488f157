package clock_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenon-sh/tenon/internal/clock"
)

func TestAges(t *testing.T) {
	noon := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	// look is what the clock shows and what has been counted when a date is looked at.
	type look struct {
		date   time.Time
		wall   time.Time
		steady time.Duration
		want   time.Duration
	}
	tests := map[string]struct {
		why   string
		looks []look
	}{
		"Passes":  {"Without steps it is the time that has passed.", []look{{noon, noon, 0, 0}, {noon, noon.Add(time.Minute), time.Minute, time.Minute}}},
		"Old":     {"One that comes later believes the clock.", []look{{noon, noon.Add(time.Hour), 0, time.Hour}, {noon, noon.Add(61 * time.Minute), time.Minute, 61 * time.Minute}}},
		"Ahead":   {"The clock is set ahead by an hour: a second is a second.", []look{{noon, noon, 0, 0}, {noon, noon.Add(time.Hour + time.Second), time.Second, time.Second}}},
		"Back":    {"The clock is set back by five minutes: nothing grows younger.", []look{{noon, noon.Add(time.Minute), 0, time.Minute}, {noon, noon.Add(-3 * time.Minute), time.Minute, 2 * time.Minute}}},
		"Slept":   {"The computer slept for a night, in which nothing could be done.", []look{{noon, noon, 0, 0}, {noon, noon.Add(8 * time.Hour), 10 * time.Second, 10 * time.Second}}},
		"Again":   {"It happened again, and is dated by the new clock.", []look{{noon, noon, 0, 0}, {noon.Add(time.Hour), noon.Add(time.Hour + time.Second), time.Second, time.Second}}},
		"Future":  {"What is to come is negative, and comes.", []look{{noon.Add(time.Minute), noon, 0, -time.Minute}, {noon.Add(time.Minute), noon, 2 * time.Minute, time.Minute}}},
		"Undated": {"What has no date begins when it is seen.", []look{{time.Time{}, noon, 0, 0}, {time.Time{}, noon.Add(time.Hour), time.Second, time.Second}}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var a clock.Ages
			for i, l := range tc.looks {
				if got := a.At("o", "w", l.date, l.wall, l.steady); got != l.want {
					t.Errorf("look %d: %s, want %s: %s", i, got, l.want, tc.why)
				}
			}
		})
	}
}

func TestAgesByTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var a clock.Ages
		date := clock.Wall().Add(-time.Minute).Round(0) // as read from an object
		since := func() time.Duration { return a.Since(clock.Wall, "o", "w", date) }
		first := since()
		time.Sleep(time.Hour)
		if got := since(); first != time.Minute || got != time.Hour+time.Minute {
			t.Errorf("a minute ago: %s, and an hour later %s", first, got)
		}
		a.Forget("o")
		if got := since(); got != time.Hour+time.Minute {
			t.Errorf("forgotten and seen again: %s", got)
		}
	})
}

// A clock that was set back by an hour delays nothing by an hour.
func TestWaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var a clock.Ages
		for ahead, want := range map[time.Duration]time.Duration{time.Hour: time.Minute, -time.Hour: time.Hour + time.Minute} {
			date := clock.Wall().Add(ahead).Round(0)
			a.Waited(clock.Wall, ahead.String(), "w", date)
			time.Sleep(time.Minute)
			if got := a.Waited(clock.Wall, ahead.String(), "w", date); got != want {
				t.Errorf("what is dated %s ahead is %s old after a minute, want %s", ahead, got, want)
			}
		}
	})
}
