package consolidate_test

import (
	"strconv"
	"testing"

	"github.com/tenon-sh/tenon/engine/disrupt/consolidate"
	"github.com/tenon-sh/tenon/engine/enginetest"
	"github.com/tenon-sh/tenon/engine/money"
)

// (D-11) One plan costs no more than the serial rules reach with as many moves, and
// moves fewer pods than they do until they reach its cost.
func TestBetterThanOneByOne(t *testing.T) {
	for seed := range uint64(3) {
		w := enginetest.Shrunk(1200, seed)
		p := decide(w, consolidate.Options{Unbudgeted: true})
		ours, moved := p.Price-p.Saving(), p.Moved()
		for _, g := range idle(p) {
			ours -= g.Price
		}
		s := enginetest.NewSerial(w)
		atMoves, before := s.Cost(), 0
		for s.Cost() > ours && s.Step() {
			if s.Moved <= moved {
				atMoves = s.Cost()
			}
			if s.Cost() > ours {
				before = s.Moved
			}
		}
		t.Logf("seed %d: ours costs %.3f of the bound and moves %d of %d; with as many moves they cost %.3f, and they cost as little after %d",
			seed, part(ours, p.Least), moved, len(w.Pods()), part(atMoves, p.Least), s.Moved)
		if moved == 0 {
			t.Errorf("seed %d: no pod is moved, of a cluster that costs %.3f of the bound", seed, part(p.Price, p.Least))
		}
		if atMoves < ours {
			t.Errorf("seed %d: with %d moves the serial rules reach %d, one plan %d", seed, moved, atMoves, ours)
		}
		if before < moved {
			t.Errorf("seed %d: one plan moves %d pods, the serial rules come as far with little more than %d", seed, moved, before)
		}
	}
}

func part(a, b money.Micro) float64 { return float64(a) / float64(b) }

// The clusters of docs/guide/scale.md; to make the last one takes minutes.
func BenchmarkDecide(b *testing.B) {
	for _, pods := range []int{30_000, 100_000, 300_000, 940_000} {
		b.Run(strconv.Itoa(pods), func(b *testing.B) {
			w := enginetest.Shrunk(pods, 1)
			for b.Loop() {
				decide(w, consolidate.Options{Unbudgeted: true})
			}
		})
	}
}
