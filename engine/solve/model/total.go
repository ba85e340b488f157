package model

import (
	"encoding/binary"

	"github.com/tenon-sh/tenon/engine/solve/problem"
)

// No host is filled beyond what all items together need that may go to it. Rooms are taken for no larger than that: a few pods that
// only one pool takes would otherwise be reckoned at the price of a small part of its largest machine, although there is nothing to
// fill the rest of it.

// totals knows what all items together need that hosts welcome.
type totals struct {
	sets  [][]int64 // for each distinct host set of items and dimension what the items that have it need
	known map[string][]int64
	text  []byte
}

func newTotals(p problem.Problem, used []int, sets []problem.Bits, setOf []int32) *totals {
	t := &totals{sets: make([][]int64, len(sets)), known: map[string][]int64{}}
	for s := range t.sets {
		t.sets[s] = make([]int64, len(used))
	}
	need := make([]int64, len(used))
	for i := range p.Items {
		item := &p.Items[i]
		n := item.Count
		if item.PerHost > 0 {
			n = min(n, item.PerHost)
		}
		if n <= 0 {
			continue
		}
		clear(need)
		pick(need, item.Need, used)
		for d, x := range need {
			t.sets[setOf[i]][d] = Plus(t.sets[setOf[i]][d], Product(x, n))
		}
	}
	return t
}

// limit makes the room of a host that welcomes these sets of items no larger than what all of them need.
func (t *totals) limit(room []int64, welcome problem.Bits) {
	t.text = t.text[:0]
	for _, word := range welcome {
		t.text = binary.LittleEndian.AppendUint64(t.text, word)
	}
	sum, ok := t.known[string(t.text)]
	if !ok {
		sum = make([]int64, len(room))
		welcome.Each(func(s int) {
			for d, n := range t.sets[s] {
				sum[d] = Plus(sum[d], n)
			}
		})
		t.known[string(t.text)] = sum
	}
	for d, n := range sum {
		room[d] = min(room[d], n)
	}
}
