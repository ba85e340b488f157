package loop_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-sh/tenon/internal/loop"
	"github.com/tenon-sh/tenon/internal/panics"
)

func TestPasses(t *testing.T) {
	for name, tc := range map[string]struct {
		why    string
		first  time.Duration
		wakes  []time.Duration // since the start
		passes []time.Duration // what each pass returns; 0: nothing is due; below: it breaks
		takes  time.Duration
		want   []time.Duration // when passes begin
	}{
		"Due":          {"A pass says when the next is due.", 0, nil, []time.Duration{5 * time.Second, time.Minute, 0}, 0, []time.Duration{0, 5 * time.Second, 65 * time.Second}},
		"First":        {"The first may have to wait.", 2 * time.Second, nil, []time.Duration{0}, 0, []time.Duration{2 * time.Second}},
		"Woken":        {"What changes is looked at, at once if the last pass is long ago.", 0, []time.Duration{10 * time.Second}, []time.Duration{time.Minute, 0}, 0, []time.Duration{0, 10 * time.Second}},
		"Pace":         {"Of many changes one pass is made, not before the pace allows.", 0, []time.Duration{100 * time.Millisecond, 200 * time.Millisecond, 900 * time.Millisecond}, []time.Duration{0, 0}, 0, []time.Duration{0, time.Second}},
		"NotLater":     {"A change puts off nothing that is due.", 500 * time.Millisecond, []time.Duration{100 * time.Millisecond}, []time.Duration{0}, 0, []time.Duration{500 * time.Millisecond}},
		"TooSoon":      {"Nothing is due before the pace allows.", 0, nil, []time.Duration{time.Millisecond, 0}, 0, []time.Duration{0, time.Second}},
		"MeanwhileOne": {"What changes during a pass is looked at by the next.", 0, []time.Duration{2 * time.Second}, []time.Duration{time.Hour, 0}, 3 * time.Second, []time.Duration{0, 3 * time.Second}},
		"Broken":       {"A pass that breaks is made again in a minute.", 0, nil, []time.Duration{-1, 0}, 0, []time.Duration{0, time.Minute}},
		"BrokenWoken":  {"And sooner if something changes.", 0, []time.Duration{5 * time.Second}, []time.Duration{-1, 0}, 0, []time.Duration{0, 5 * time.Second}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				p := loop.NewPasses(loop.Passes{Name: "test", Pace: time.Second, Now: time.Now, Panics: panics.Teller{}})
				for _, at := range tc.wakes {
					time.AfterFunc(at, p.Wake)
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour-time.Second)
				defer cancel()
				var got []time.Duration
				p.Run(ctx, tc.first, func(context.Context) time.Duration {
					got = append(got, time.Since(start))
					if len(got) > len(tc.passes) {
						return 0
					}
					time.Sleep(tc.takes)
					wait := tc.passes[len(got)-1]
					if wait < 0 {
						panic("a bug")
					}
					return wait
				})
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("%s -want +got\n%s", tc.why, diff)
				}
			})
		})
	}
}
