package answers_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenon-sh/tenon/internal/aws/answers"
	"github.com/tenon-sh/tenon/internal/clock"
)

var errDown = errors.New("down")

// script answers a question with the next of its lines, and counts.
type script struct {
	lines []line
	asked int
}

type line struct {
	value string
	holds time.Duration
	err   error
}

func (s *script) ask(context.Context) (string, time.Duration, error) {
	l := s.lines[min(s.asked, len(s.lines)-1)]
	s.asked++
	return l.value, l.holds, l.err
}

func TestLifetimes(t *testing.T) {
	const minute, hour = time.Minute, time.Hour
	// look is a question some time after the one before, and what is to come of it.
	type look struct {
		after time.Duration
		asker string
		want  string
		fails bool
		asked int // in all
	}
	nothing := func(v string) bool { return v == "" }
	tests := map[string]struct {
		why   string
		rules answers.Rules[string]
		lines []line
		looks []look
	}{
		"Fresh": {
			"An answer holds for as long as it says itself.",
			answers.Rules[string]{},
			[]line{{"a", minute, nil}, {"b", hour, nil}, {"c", hour, nil}},
			[]look{{0, "", "a", false, 1}, {59 * time.Second, "", "a", false, 1}, {time.Second, "", "b", false, 2}, {59 * minute, "", "b", false, 2}},
		},
		"FailsAtOnce": {
			"A failure that holds for no time is asked about again, and nothing stands in.",
			answers.Rules[string]{},
			[]line{{"a", minute, nil}, {"", 0, errDown}, {"b", minute, nil}},
			[]look{{0, "", "a", false, 1}, {minute, "", "", true, 2}, {0, "", "b", false, 3}},
		},
		"FailureHolds": {
			"A failure is remembered too.",
			answers.Rules[string]{},
			[]line{{"", minute, errDown}, {"b", minute, nil}},
			[]look{{0, "", "", true, 1}, {59 * time.Second, "", "", true, 1}, {time.Second, "", "b", false, 2}},
		},
		"StandsIn": {
			"What was known last stands in for a failure, for so long.",
			answers.Rules[string]{Stale: hour},
			[]line{{"a", minute, nil}, {"", 0, errDown}},
			[]look{{0, "", "a", false, 1}, {minute, "", "a", true, 2}, {59 * minute, "", "a", true, 3}, {minute, "", "", true, 4}},
		},
		"StandsInBesideAFailure": {
			"A failure that is remembered does not make what stands in younger.",
			answers.Rules[string]{Stale: 2 * minute},
			[]line{{"a", minute, nil}, {"", 90 * time.Second, errDown}},
			[]look{{0, "", "a", false, 1}, {minute, "", "a", true, 2}, {time.Minute, "", "a", true, 2}, {time.Minute, "", "", true, 3}},
		},
		"Nothing": {
			"That something is not there is remembered for the asker alone.",
			answers.Rules[string]{Nothing: nothing},
			[]line{{"", hour, nil}, {"", hour, nil}, {"c", hour, nil}},
			[]look{{0, "x", "", false, 1}, {0, "x", "", false, 1}, {0, "y", "", false, 2}, {0, "z", "c", false, 3}, {0, "x", "c", false, 3}},
		},
		"NothingForAll": {
			"An answer that holds nothing is one for everyone unless a caller says otherwise.",
			answers.Rules[string]{},
			[]line{{"", hour, nil}, {"c", hour, nil}},
			[]look{{0, "x", "", false, 1}, {0, "y", "", false, 1}},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			now := time.Unix(0, 0)
			m, s := answers.New(func() time.Time { return now }, tc.rules), &script{lines: tc.lines}
			for i, l := range tc.looks {
				now = now.Add(l.after)
				got, err := m.GetAs(t.Context(), l.asker, "q", s.ask)
				if got != l.want || (err != nil) != l.fails || s.asked != l.asked {
					t.Fatalf("look %d: %q, %v, asked %d times; want %+v: %s", i, got, err, s.asked, l, tc.why)
				}
			}
		})
	}
}

// Callers with one question wait for the first, and those with another do not.
func TestAskedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := answers.New(clock.Wall, answers.Rules[string]{})
		var asked atomic.Int64
		ask := func(context.Context) (string, time.Duration, error) {
			asked.Add(1)
			time.Sleep(time.Second)
			return "a", time.Minute, nil
		}
		began := time.Now()
		var all sync.WaitGroup
		for i := range 20 {
			all.Go(func() {
				if got, err := m.Get(t.Context(), fmt.Sprint("q", i%2), ask); got != "a" || err != nil {
					t.Errorf("%q, %v", got, err)
				}
			})
		}
		all.Wait()
		if n, took := asked.Load(), time.Since(began); n != 2 || took != time.Second {
			t.Errorf("two questions were asked %d times within %s", n, took)
		}
	})
}

// A caller that gives up leaves the question to the others, and neither waits
// longer than it wants nor makes them wait.
func TestGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := answers.New(clock.Wall, answers.Rules[string]{})
		soon, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		slow := func(ctx context.Context) (string, time.Duration, error) {
			<-ctx.Done()
			return "", time.Hour, ctx.Err()
		}
		var all sync.WaitGroup
		all.Go(func() {
			if _, err := m.Get(soon, "q", slow); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("the first: %v", err)
			}
		})
		synctest.Wait()
		ended, end := context.WithCancel(t.Context())
		end()
		if _, err := m.Get(ended, "q", slow); !errors.Is(err, context.Canceled) {
			t.Errorf("the caller that cannot wait: %v", err)
		}
		got, err := m.Get(t.Context(), "q", func(context.Context) (string, time.Duration, error) { return "a", time.Hour, nil })
		if got != "a" || err != nil {
			t.Errorf("the caller that waited: %q, %v: that another gave up is no answer", got, err)
		}
		all.Wait()
	})
}

// A question that breaks holds no caller up.
func TestPanics(t *testing.T) {
	m := answers.New(clock.Wall, answers.Rules[string]{})
	func() {
		defer func() { _ = recover() }()
		_, _ = m.Get(t.Context(), "q", func(context.Context) (string, time.Duration, error) { panic("a bug") })
	}()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	if got, err := m.Get(ctx, "q", func(context.Context) (string, time.Duration, error) { return "a", time.Hour, nil }); got != "a" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

// What is over goes, and of too many those that would go first.
func TestBounded(t *testing.T) {
	now := time.Unix(0, 0)
	m := answers.New(func() time.Time { return now }, answers.Rules[int]{})
	get := func(i int) {
		_, _ = m.Get(t.Context(), fmt.Sprint(i), func(context.Context) (int, time.Duration, error) {
			return i, time.Duration(i+1) * time.Second, nil
		})
	}
	for i := range 1_500 {
		get(i)
	}
	if n := m.Len(); n != 1_000 {
		t.Errorf("%d answers are kept", n)
	}
	if _, ok := m.Known("1499"); !ok {
		t.Error("what holds longest went first")
	}
	now = now.Add(2 * time.Hour)
	get(0)
	if n := m.Len(); n != 1 {
		t.Errorf("%d answers are kept that are over", n-1)
	}
}

func TestKnown(t *testing.T) {
	now := time.Unix(0, 0)
	m := answers.New(func() time.Time { return now }, answers.Rules[string]{Stale: time.Hour})
	s := &script{lines: []line{{"a", time.Minute, nil}, {"", time.Minute, errDown}}}
	known := func(want bool) {
		t.Helper()
		if got, ok := m.Known("q"); ok != want || ok && got != "a" {
			t.Errorf("%q, %t", got, ok)
		}
	}
	known(false)
	_, _ = m.Get(t.Context(), "q", s.ask)
	known(true)
	now = now.Add(time.Minute)
	known(true) // due, and still what is known
	_, _ = m.Get(t.Context(), "q", s.ask)
	known(true)
	now = now.Add(time.Hour)
	known(false)
	_, _ = m.Get(t.Context(), "q", func(context.Context) (string, time.Duration, error) { return "a", time.Minute, nil })
	m.Forget("q")
	known(false)
}

// What is due again is asked for before its time, and stands in where that fails.
func TestDue(t *testing.T) {
	now := time.Unix(0, 0)
	m := answers.New(func() time.Time { return now }, answers.Rules[string]{Stale: time.Hour})
	s := &script{lines: []line{{"a", time.Minute, nil}, {"", 0, errDown}, {"b", time.Minute, nil}}}
	get := func(want string, fails bool) {
		t.Helper()
		if got, err := m.Get(t.Context(), "q", s.ask); got != want || (err != nil) != fails {
			t.Errorf("%q, %v; want %q", got, err, want)
		}
	}
	get("a", false)
	m.Due()
	get("a", true)
	get("b", false)
	if s.asked != 3 {
		t.Errorf("it is asked %d times", s.asked)
	}
}
