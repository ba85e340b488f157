package fill

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestTournament holds that the best is found as by sorting, while the best gets worse or goes, with many of the same score.
func TestTournament(t *testing.T) {
	dice := rand.New(rand.NewPCG(1, 2))
	var order tournament // its buffers serve all sizes
	for n := range 70 {
		order.reset()
		scores := make([]float64, n)
		var there []int
		for i := range scores {
			scores[i] = float64(dice.IntN(9)-4) / 4
			if scores[i] == 0 && dice.IntN(2) == 0 {
				scores[i] = math.Copysign(0, -1)
			}
			order.enter(scores[i])
			there = append(there, i)
		}
		order.play()
		for len(there) > 0 {
			best := slices.MinFunc(there, func(a, b int) int { return cmp.Or(cmp.Compare(scores[b], scores[a]), cmp.Compare(a, b)) })
			if order.left != len(there) || int(order.first()) != best {
				t.Fatalf("of %d entries %d are left and %d is the best; want %d and %d", n, order.left, order.first(), len(there), best)
			}
			if dice.IntN(3) > 0 {
				scores[best] -= float64(dice.IntN(4)) / 4
				order.lower(scores[best])
				continue
			}
			order.drop()
			there = slices.DeleteFunc(there, func(i int) bool { return i == best })
		}
		if order.left != 0 {
			t.Errorf("of %d entries %d are left when all have gone", n, order.left)
		}
	}
}

// TestKeyOrder holds that keys of scores are ordered as the scores, and above that of what has gone.
func TestKeyOrder(t *testing.T) {
	scores := []float64{-math.MaxFloat64, -1e9, -1, -math.SmallestNonzeroFloat64, 0, math.SmallestNonzeroFloat64, 1, 1e9, math.MaxFloat64}
	for i, score := range scores {
		if key(score) <= gone {
			t.Errorf("the key of %v is not above that of what has gone", score)
		}
		if i > 0 && key(score) <= key(scores[i-1]) {
			t.Errorf("the key of %v is not above that of %v", score, scores[i-1])
		}
	}
	if key(math.Copysign(0, -1)) != key(0) {
		t.Error("zeros have different keys")
	}
}
