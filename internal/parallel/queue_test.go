package parallel_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenon-sh/tenon/internal/parallel"
)

// What comes first may take longest: it is told first, and no more than so many are worked on or under way meanwhile.
func TestQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var now, most atomic.Int64
		var told []int
		begun := 0
		q := parallel.NewQueue(2, 5, func(i int) string {
			most.Store(max(most.Load(), now.Add(1)))
			defer now.Add(-1)
			time.Sleep(time.Duration(20-i) * time.Second)
			return fmt.Sprint(i)
		}, func(i int, text string) error {
			if text != fmt.Sprint(i) {
				t.Errorf("of %d came %s", i, text)
			}
			told = append(told, i)
			return nil
		})
		for i := range 20 {
			if err := q.Put(i); err != nil {
				t.Fatal(err)
			}
			if begun++; begun-len(told) > 5 {
				t.Errorf("%d are under way", begun-len(told))
			}
		}
		if err := q.Flush(); err != nil {
			t.Fatal(err)
		}
		q.Wait()
		if !slices.IsSorted(told) || len(told) != 20 || most.Load() != 2 {
			t.Errorf("told %v, worked on %d at a time, want 20 in order and 2", told, most.Load())
		}
	})
}

// After an error what is under way is waited for, and told no more.
func TestQueueEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var done atomic.Int64
		told := 0
		q := parallel.NewQueue(2, 4, func(int) int {
			time.Sleep(time.Second)
			return int(done.Add(1))
		}, func(int, int) error { told++; return errors.New("the disk is full") })
		var err error
		put := 0
		for ; err == nil && put < 10; put++ {
			err = q.Put(put)
		}
		q.Wait()
		if err == nil || told != 1 || put != 5 || done.Load() != 4 {
			t.Errorf("error %v after %d were put, %d told and %d done; want it with the fifth, after the first was told", err, put, told, done.Load())
		}
		if err := q.Flush(); err != nil || told != 1 {
			t.Errorf("then %v, %d told", err, told)
		}
	})
}

// A panic is that of the goroutine that puts, once its turn comes.
func TestQueuePanics(t *testing.T) {
	told := 0
	q := parallel.NewQueue(2, 4, func(i int) int {
		if i == 1 {
			panic("broken")
		}
		return i
	}, func(int, int) error { told++; return nil })
	defer func() {
		if r := recover(); r == nil || !strings.Contains(fmt.Sprint(r), "broken") || told != 1 {
			t.Errorf("it panics with %v after %d were told", r, told)
		}
		q.Wait()
	}()
	for i := range 3 {
		if err := q.Put(i); err != nil {
			t.Error(err)
		}
	}
	_ = q.Flush()
	t.Error("it does not panic")
}
