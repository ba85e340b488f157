package clock_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenon-sh/tenon/internal/apitest"
	"github.com/tenon-sh/tenon/internal/clock"
)

func TestFollow(t *testing.T) {
	for name, tc := range map[string]struct {
		why         string
		ahead       time.Duration // of the own clock
		takes       time.Duration // the answer
		least, most time.Duration // of what is corrected
	}{
		"Right":      {"A clock that is right is left alone.", 0, time.Second, 0, 0},
		"Near":       {"What is tolerated is left alone.", 50 * time.Second, time.Second, 0, 0},
		"Ahead":      {"Half an hour is corrected, as far as whole seconds tell.", 30 * time.Minute, 0, 30*time.Minute - time.Second, 30*time.Minute + time.Second},
		"Behind":     {"So it is the other way.", -24 * time.Hour, 0, -24*time.Hour - time.Second, -24*time.Hour + time.Second},
		"Slow":       {"An answer that took long proves nothing of a difference that is less.", 50 * time.Second, 2 * time.Minute, 0, 0},
		"SlowBehind": {"It does of one that is more.", -time.Hour, 20 * time.Second, -time.Hour - 11*time.Second, -time.Hour + 11*time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				own := func() time.Time { return time.Now().Add(tc.ahead) }
				asked, dated := own(), time.Now().Truncate(time.Second)
				time.Sleep(tc.takes)
				f := clock.Follow(own, clock.Compare(asked, own(), dated))
				if got := f.Ahead(); got < tc.least || got > tc.most {
					t.Errorf("corrected by %s, want %s to %s: %s", got, tc.least, tc.most, tc.why)
				}
				if off := f.Now().Sub(own()) + f.Ahead(); off != 0 {
					t.Errorf("it shows %s more than it says", off)
				}
			})
		})
	}
}

// What clocks do after a Followed has begun.
func TestLost(t *testing.T) {
	type stretch struct {
		lasts time.Duration
		off   func(n int) time.Duration // of the own clock, at the n-th answer
	}
	by := func(d time.Duration) func(int) time.Duration { return func(int) time.Duration { return d } }
	for name, tc := range map[string]struct {
		why   string
		looks []stretch
		want  bool
	}{
		"Still":    {"Nothing happens.", []stretch{{time.Hour, by(0)}}, false},
		"Drifts":   {"Some seconds are no matter.", []stretch{{time.Hour, by(40 * time.Second)}}, false},
		"Set":      {"The clock was set.", []stretch{{time.Minute, by(0)}, {30 * time.Second, by(time.Hour)}}, true},
		"SetBack":  {"The clock was set back.", []stretch{{time.Minute, by(0)}, {30 * time.Second, by(-time.Hour)}}, true},
		"Mended":   {"It was wrong for ten seconds.", []stretch{{time.Minute, by(0)}, {10 * time.Second, by(time.Hour)}, {time.Hour, by(0)}}, false},
		"Moves":    {"A difference that is never the same twice is no clock's.", []stretch{{time.Hour, func(n int) time.Duration { return time.Duration(n+2) * time.Minute }}}, false},
		"Disagree": {"Two API servers that show different times prove nothing.", []stretch{{time.Hour, func(n int) time.Duration { return time.Duration(n%2) * time.Hour }}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := clock.Follow(clock.Wall, clock.Gap{})
				for _, s := range tc.looks {
					for n := range int(s.lasts / (10 * time.Second)) {
						time.Sleep(10 * time.Second)
						f.Heard(clock.Gap{Least: s.off(n) - time.Second, Most: s.off(n)})
					}
				}
				lost := false
				select {
				case <-f.Lost():
					lost = true
				default:
				}
				if lost != tc.want {
					t.Errorf("lost is %v: %s", lost, tc.why)
				}
			})
		})
	}
}

// When the own clock is set, dates go on as they were until the other clock is heard.
func TestFollowedIsSet(t *testing.T) {
	for name, tc := range map[string]struct {
		why          string
		before, then time.Duration // by which the own clock is ahead
		sleeps       time.Duration // the computer, so that nothing is counted
		lost         bool
	}{
		"Ahead":  {"A clock that was right is set ahead.", 0, 24 * time.Hour, 0, true},
		"Behind": {"Or back.", 0, -time.Hour, 0, true},
		"Mended": {"A clock that was wrong is set right.", 24 * time.Hour, 0, 0, true},
		"Little": {"A little is no matter.", 0, 30 * time.Second, 0, false},
		"Slept":  {"The computer slept, and its clock is right.", 0, 0, 8 * time.Hour, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ahead, slept := tc.before, time.Duration(0)
				own := func() time.Time { return apitest.Set(time.Now(), ahead+slept) }
				server := func() time.Time { return time.Now().Round(0).Add(slept) }
				f := clock.Follow(own, clock.Compare(own(), own(), server()))
				hear := func() { f.Heard(clock.Compare(f.Now(), f.Now(), server())) }
				time.Sleep(time.Minute)
				hear()
				before := f.Now()
				ahead, slept = tc.then, tc.sleeps
				if off := f.Now().Round(0).Sub(before.Round(0)); off.Abs() > clock.Tolerated {
					t.Errorf("as soon as it is set, it shows %s more: %s", off, tc.why)
				}
				for range 30 {
					time.Sleep(time.Second)
					hear()
				}
				if off := f.Now().Round(0).Sub(server()); off.Abs() > clock.Tolerated {
					t.Errorf("half a minute later it is off by %s: %s", off, tc.why)
				}
				select {
				case <-f.Lost():
					if !tc.lost {
						t.Error("it is lost: ", tc.why)
					}
				default:
					if tc.lost {
						t.Error("it goes on: ", tc.why)
					}
				}
			})
		})
	}
}
