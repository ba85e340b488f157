package cloud_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cloud"
)

// slow is a driver that takes its time for every answer.
type slow struct {
	cloud.Driver
	takes time.Duration
	fail  error
	lists atomic.Int64
	finds atomic.Int64
}

func (s *slow) wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(s.takes):
		return s.fail
	}
}

func (s *slow) List(ctx context.Context) ([]cloud.Machine, error) {
	s.lists.Add(1)
	return nil, s.wait(ctx)
}

func (s *slow) Find(ctx context.Context, ids []string) ([]cloud.Machine, error) {
	s.finds.Add(1)
	err := s.wait(ctx)
	var out []cloud.Machine
	for _, id := range ids {
		if id != "gone" {
			out = append(out, cloud.Machine{ID: cloud.MachineID(id), ProviderID: id})
		}
	}
	return out, err
}

// Callers that waited for a list share its failure: while a cloud does not answer, a
// hundred callers are told so as soon as one is, and it is not asked by each in turn.
func TestWhoWaitedForAListSharesItsFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slow{takes: 10 * time.Second, fail: errors.New("no answer")}
		c := cloud.New(cloud.Config{Driver: s, Now: clock.Wall})
		began := time.Now()
		var wg sync.WaitGroup
		for range 100 {
			wg.Go(func() {
				if _, err := c.List(t.Context(), time.Now()); err == nil {
					t.Error("the cloud did not answer, and there is a list")
				}
			})
		}
		wg.Wait()
		if took := time.Since(began); took > time.Minute || s.lists.Load() > 4 {
			t.Errorf("100 callers waited for %s and %d calls, want one with its retries", took, s.lists.Load())
		}
		s.fail = nil
		if _, err := c.List(t.Context(), time.Now()); err != nil {
			t.Errorf("the cloud answers again: %v", err)
		}
	})
}

// A caller that is cancelled does not cancel the list of others.
func TestACallerThatIsCalledOffHasNotFailedForOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slow{takes: 10 * time.Second}
		c := cloud.New(cloud.Config{Driver: s, Now: clock.Wall})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := c.List(ctx, time.Now()); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("called off it returned %v", err)
			}
		})
		synctest.Wait()
		for range 10 {
			wg.Go(func() {
				if _, err := c.List(t.Context(), time.Now()); err != nil {
					t.Errorf("another was called off, and this one got %v", err)
				}
			})
		}
		wg.Wait()
		if s.lists.Load() != 2 {
			t.Errorf("asked %d times, want 2", s.lists.Load())
		}
	})
}

// What no list shows is asked for by its id before it is said to be gone, many
// machines by few calls; and without an answer a machine is not gone.
func TestGoneIsSaidOnlyWhenAskedByID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slow{takes: time.Second}
		c := cloud.New(cloud.Config{Driver: s, Now: clock.Wall})
		if _, err := c.List(t.Context(), time.Now()); err != nil {
			t.Fatal(err)
		}
		since := time.Now().Add(-time.Minute)
		var wg sync.WaitGroup
		for i := range 100 {
			wg.Go(func() {
				id := fmt.Sprint("i-", i)
				if m, there, err := c.Find(t.Context(), id, since); err != nil || !there || m.ProviderID != id {
					t.Errorf("%s is there, and found is %q, %t, %v", id, m.ProviderID, there, err)
				}
				if _, there, err := c.Find(t.Context(), "gone", since); err != nil || there {
					t.Errorf("what is gone is there %t, %v", there, err)
				}
			})
		}
		wg.Wait()
		if n := s.finds.Load(); n > 5 {
			t.Errorf("asked %d times for 101 machines at once", n)
		}
		s.fail = errors.New("no answer")
		if _, there, err := c.Find(t.Context(), "gone", since); err == nil || there {
			t.Errorf("the cloud did not answer, and the answer is %t, %v", there, err)
		}
	})
}

// strict is a driver whose machines are ended by its word.
type strict struct{ cloud.Driver }

func (strict) Terminate(_ context.Context, ids []cloud.MachineID) []error {
	return make([]error, len(ids))
}

func (strict) Launch(_ context.Context, orders []cloud.Order) []cloud.Outcome {
	return make([]cloud.Outcome, len(orders))
}

// A call that is refused before it is sent, because its turn comes after its
// deadline, has ended nothing and bought nothing, and says so.
func TestWhatIsNotSentHasFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := cloud.New(cloud.Config{Driver: strict{}, Now: clock.Wall, Rate: 0.1, Burst: 1})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		for i, want := range []bool{false, true} {
			if errs := c.Terminate(ctx, "i-1", "i-2"); (errs[0] != nil) != want || (errs[1] != nil) != want {
				t.Errorf("call %d: %v", i, errs)
			}
			if out := c.Launch(ctx, []cloud.Order{{Token: "o", Count: 1}}); (out[0].Err != nil) != want {
				t.Errorf("call %d: %+v", i, out)
			}
		}
	})
}

// breaking is a driver of which the second search for machines breaks.
type breaking struct{ slow }

func (b *breaking) Find(ctx context.Context, ids []string) ([]cloud.Machine, error) {
	out, err := b.slow.Find(ctx, ids)
	if b.finds.Load() == 2 {
		panic("an answer that nothing foresaw")
	}
	return out, err
}

// What was not answered because the caller that asked for it broke is asked for
// again: it has not been said to be gone. The second search is for all that came
// while the first was under way.
func TestASearchThatBreaksSaysNothingIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &breaking{slow{takes: time.Second}}
		c := cloud.New(cloud.Config{Driver: b, Now: clock.Wall})
		if _, err := c.List(t.Context(), time.Now()); err != nil {
			t.Fatal(err)
		}
		since, broke := time.Now().Add(-time.Minute), atomic.Int64{}
		var wg sync.WaitGroup
		for i := range 10 {
			wg.Go(func() {
				defer func() {
					if recover() != nil {
						broke.Add(1)
					}
				}()
				id := fmt.Sprint("i-", i)
				if m, there, err := c.Find(t.Context(), id, since); err != nil || !there || m.ProviderID != id {
					t.Errorf("%s is there, and found is %q, %t, %v", id, m.ProviderID, there, err)
				}
			})
		}
		wg.Wait()
		if broke.Load() != 1 {
			t.Errorf("%d searches broke, want one", broke.Load())
		}
	})
}
