package model

import (
	"encoding/binary"

	"github.com/tenon-sh/tenon/engine/solve/problem"
)

// pick copies the given positions of v to out, where all is 0 and what is missing stays so.
func pick(out, v []int64, at []int) {
	for k, d := range at {
		if d < len(v) {
			out[k] = v[d]
		}
	}
}

// welcomes returns for each host of the problem the set of distinct host sets, among those of the items, that contain it.
// Hosts with equal room differ only by these.
func welcomes(p problem.Problem, sets []problem.Bits) []problem.Bits {
	out := make([]problem.Bits, len(p.Hosts))
	for i := range out {
		out[i] = problem.NewBits(len(sets))
	}
	for s, set := range sets {
		set.Each(func(h int) {
			if h < len(out) {
				out[h].Set(s)
			}
		})
	}
	return out
}

// distinctSets returns the different host sets of the items and, for each item, which of them it has.
func distinctSets(p problem.Problem) ([]problem.Bits, []int32) {
	var sets distinct
	of := make([]int32, len(p.Items))
	for i := range p.Items {
		of[i] = sets.of(p.Items[i].Hosts)
	}
	return sets.all, of
}

// distinct numbers sets, equal ones alike, in the order in which they come.
type distinct struct {
	all  []problem.Bits
	at   map[string]int32
	text []byte
}

// of returns the number of the set.
func (d *distinct) of(b problem.Bits) int32 {
	d.text = d.text[:0]
	for _, word := range b {
		d.text = binary.LittleEndian.AppendUint64(d.text, word)
	}
	n, known := d.at[string(d.text)]
	if !known {
		if d.at == nil {
			d.at = map[string]int32{}
		}
		n = int32(len(d.all))
		d.at[string(d.text)] = n
		d.all = append(d.all, b)
	}
	return n
}
