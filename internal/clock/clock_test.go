package clock_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenon-sh/tenon/internal/clock"
)

func TestWallIsVirtualInATestBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := clock.Wall()
		time.Sleep(time.Hour)
		if got := clock.Now(clock.Wall).Since(start); got != time.Hour {
			t.Errorf("an hour of virtual time took %s", got)
		}
	})
}

func TestAtStandsStill(t *testing.T) {
	noon := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	now := clock.At(noon)
	if got := now.Since(noon.Add(-time.Minute)); got != time.Minute {
		t.Errorf("since a minute before noon: %s", got)
	}
	if got := now.Until(noon.Add(time.Minute)); got != time.Minute {
		t.Errorf("until a minute after noon: %s", got)
	}
}
