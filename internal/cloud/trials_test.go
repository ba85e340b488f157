package cloud_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cloud"
)

// throttled is a driver that lists nothing while it is throttled.
type throttled struct {
	cloud.Driver

	on bool
}

func (d *throttled) List(context.Context) ([]cloud.Machine, error) {
	if !d.on {
		return nil, nil
	}
	time.Sleep(20 * time.Second) // as the SDK does that waits and tries again
	return nil, cloud.Errorf(cloud.Throttled, "", "describe instances: RequestLimitExceeded")
}

// Calls that fail for long are told of from the first minute on, at a rate that
// can be read, and so is their end.
func TestTroubleIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []cloud.Trouble
		d := &throttled{on: true}
		began := time.Now()
		c := cloud.New(cloud.Config{Driver: d, Now: clock.Wall, Trouble: func(m cloud.Trouble) { told = append(told, m) }})
		if _, err := c.List(t.Context(), time.Now()); err == nil {
			t.Fatal("it can be listed")
		}
		if len(told) != 1 || told[0].Method != "List" || !told[0].Since.Equal(began) || told[0].Err == nil {
			t.Fatalf("while the first call is still tried it is told: %+v", told)
		}
		for time.Since(began) < 30*time.Minute {
			_, _ = c.List(t.Context(), time.Now())
		}
		if n := len(told); n < 5 || n > 6 {
			t.Errorf("in half an hour it is told %d times", n)
		}
		told, d.on = nil, false
		for range 2 {
			time.Sleep(time.Second)
			if _, err := c.List(t.Context(), time.Now()); err != nil {
				t.Fatal(err)
			}
		}
		if len(told) != 1 || told[0].Err != nil || told[0].Method != "List" {
			t.Errorf("when it is over it is told: %+v", told)
		}
	})
}

// What passes by itself is told once it has not, since its first try; what does not is told at once.
func TestTrials(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	slow := cloud.Errorf(cloud.Throttled, "", "slow down")
	tests := map[string]struct {
		why   string
		after time.Duration // from the begin of the first try to the end of the last
		err   error
		lasts bool
		says  string
	}{
		"soon":      {"throttling passes", 59 * time.Second, slow, false, "slow down"},
		"long":      {"it has not passed", time.Minute, slow, true, "slow down; tried since 2026-01-02T03:04:05Z"},
		"forbidden": {"a person has to do something", time.Second, cloud.Errorf(cloud.Unauthorised, "", "not allowed"), true, "not allowed"},
		"shutdown":  {"the process ends, which says nothing of the cloud", time.Second, context.Canceled, false, "context canceled"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var trials cloud.Trials
			_ = trials.Note("i-1", at, at.Add(time.Second), slow)
			err := trials.Note("i-1", at.Add(tc.after/2), at.Add(tc.after), tc.err)
			if cloud.Lasts(err) != tc.lasts || err.Error() != tc.says || !errors.Is(err, tc.err) {
				t.Errorf("%s: lasts %v, says %q", tc.why, cloud.Lasts(err), err)
			}
			_ = trials.Note("i-1", at, at, nil)
			if err := trials.Note("i-1", at.Add(time.Hour), at.Add(time.Hour), slow); strings.Contains(err.Error(), "since") {
				t.Errorf("after it succeeded it says %q", err)
			}
		})
	}
}
