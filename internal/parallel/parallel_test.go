package parallel_test

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenon-sh/tenon/internal/parallel"
)

func TestEach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var now, most atomic.Int64
		var done [10]atomic.Bool
		began := time.Now()
		err := parallel.Each(3, []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"}, func(i int, s string) error {
			if n := now.Add(1); n > most.Load() {
				most.Store(n)
			}
			time.Sleep(time.Second)
			now.Add(-1)
			done[i].Store(true)
			if i%4 == 3 {
				return errors.New(s)
			}
			return nil
		})
		for i := range done {
			if !done[i].Load() {
				t.Errorf("item %d was left out", i)
			}
		}
		if err == nil || err.Error() != "d\nh" {
			t.Errorf("the errors are %v, want d and h in the order of the items", err)
		}
		if most.Load() != 3 || time.Since(began) != 4*time.Second {
			t.Errorf("%d at a time for %s, want 3 for 4s", most.Load(), time.Since(began))
		}
	})
	if err := parallel.Each(3, nil, func(int, int) error { return errors.New("called") }); err != nil {
		t.Errorf("of no items: %v", err)
	}
}

// Where a panic of a goroutine ended the process, the caller can catch it now; the others are done nevertheless.
func TestAPanicIsTheCallers(t *testing.T) {
	var done atomic.Int64
	defer func() {
		if said := fmt.Sprint(recover()); !strings.Contains(said, "item 1 is broken") || !strings.Contains(said, "TestAPanicIsTheCallers") {
			t.Errorf("the caller panics with %s", said)
		}
		if done.Load() != 2 {
			t.Errorf("%d others were done, want 2", done.Load())
		}
	}()
	_ = parallel.Each(3, []int{0, 1, 2}, func(i, _ int) error {
		if i == 1 {
			panic("item 1 is broken")
		}
		done.Add(1)
		return nil
	})
	t.Error("no panic came")
}
