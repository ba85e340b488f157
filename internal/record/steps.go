package record

import (
	"math"
	"reflect"
)

// step is a run of a list that stood in the one before, or items that did not.
type step[T any] struct {
	From  int `json:"from,omitempty"`
	Count int `json:"count,omitempty"`
	New   []T `json:"new,omitempty"`
}

// ahead is how far it is looked for where a list goes on as the one before.
const ahead = 64

// mostListed bounds a list that is written as parts of another.
const mostListed = math.MaxInt32 >> 10

// steps tells a list by the one before it.
func steps[T any](before, after []T) []step[T] {
	var out []step[T]
	next := 0 // of before, where the list may go on
	for i := range after {
		at := find(before, next, &after[i])
		n := len(out) - 1
		switch {
		case at < 0 && n >= 0 && out[n].Count == 0:
			out[n].New = append(out[n].New, after[i])
			continue
		case at < 0:
			out = append(out, step[T]{New: after[i : i+1 : i+1]})
			continue
		case n >= 0 && out[n].Count > 0 && out[n].From+out[n].Count == at:
			out[n].Count++
		default:
			out = append(out, step[T]{From: at, Count: 1})
		}
		next = at + 1
	}
	return out
}

// find returns where an item stands in a list, from a place on and not far behind it; -1 if it does not.
func find[T any](in []T, from int, item *T) int {
	for i := from; i < min(from+ahead, len(in)); i++ {
		if reflect.DeepEqual(&in[i], item) {
			return i
		}
	}
	return -1
}

// walk gives the list that steps tell by the one before; false if they cannot be taken.
func walk[T any](before []T, path []step[T]) (out []T, ok bool) {
	for _, s := range path {
		if s.From < 0 || s.Count < 0 || s.Count > len(before) || s.From > len(before)-s.Count || len(out)+s.Count+len(s.New) > mostListed {
			return nil, false
		}
		out = append(append(out, before[s.From:s.From+s.Count]...), s.New...)
	}
	return out, true
}
