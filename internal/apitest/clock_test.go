package apitest_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenon-sh/tenon/internal/apitest"
)

func TestSet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		began := apitest.Set(start, 0)
		for _, ahead := range []time.Duration{time.Hour, -time.Hour, 0, -24 * time.Hour} {
			time.Sleep(time.Minute)
			now := time.Now()
			set := apitest.Set(now, ahead)
			if got := set.Round(0).Sub(now.Round(0)); got != ahead {
				t.Errorf("set ahead by %v the clock shows %v more", ahead, got)
			}
			if set.Sub(began) != now.Sub(start) {
				t.Errorf("set ahead by %v the clock has counted %v, not %v", ahead, set.Sub(began), now.Sub(start))
			}
		}
	})
}
