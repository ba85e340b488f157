package cloudtest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/internal/cloud"
)

// whatever throws faults, crashes and a changing market at orders, by dice that
// fall the same way every time. No order may ever have more machines than it
// asked for, and once all is well again it knows every one it has.
func whatever(t *testing.T, s Stage) {
	s.Hide(3 * time.Second)
	for seed := range uint64(25) {
		dice := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // a test that must repeat itself
		o := s.Order(fmt.Sprintf("dice-%d", seed), 1+dice.IntN(6), label.Spot, label.OnDemand)
		had := len(s.Running())
		story := tumble(t, s, o, dice, had)
		for _, c := range []Call{Buy, Look, End} {
			for _, f := range []Fault{Lose, Drop, Throttle} {
				s.Fault(c, f, 0)
			}
		}
		s.SellOut("", "", -1)
		for _, shape := range s.Menu {
			s.SellOut(shape, "", -1)
		}
		out := settled(t, s.Start(), o)
		if got := len(s.Running()) - had; got != len(out.Machines) || len(out.Machines) != o.Count {
			t.Fatalf("after %v the order of %d has %d machines and knows %d, %v", story, o.Count, got, len(out.Machines), out.Err)
		}
	}
}

// tumble sends an order several times while things go wrong, and reports what it did.
func tumble(t *testing.T, s Stage, o cloud.Order, dice *rand.Rand, had int) []string {
	t.Helper()
	d := s.Start()
	var story []string
	did := func(format string, args ...any) { story = append(story, fmt.Sprintf(format, args...)) }
	for range 8 {
		switch shape := s.Menu[dice.IntN(len(s.Menu))]; dice.IntN(6) {
		case 0:
			c, f := []Call{Buy, Look}[dice.IntN(2)], []Fault{Lose, Drop, Throttle}[dice.IntN(3)]
			n := 1 + dice.IntN(12)
			s.Fault(c, f, n)
			did("%s %d of %s", f, n, c)
		case 1:
			d = s.Start()
			did("crash")
		case 2:
			left := dice.IntN(3)
			s.SellOut(shape, "", left)
			did("%d left of %s", left, shape)
		case 3:
			s.SellOut(shape, "", -1)
			did("%s to be had", shape)
		case 4:
			time.Sleep(time.Duration(dice.IntN(8)) * time.Second)
			did("wait")
		default:
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(1+dice.IntN(3000))*time.Millisecond)
			out := one(ctx, d, o)
			cancel()
			did("launch: %d, %v", len(out.Machines), cloud.CodeOf(out.Err))
		}
		if got := len(s.Running()) - had; got > o.Count {
			t.Fatalf("after %v the order of %d has %d machines", story, o.Count, got)
		}
	}
	return story
}
