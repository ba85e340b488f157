package market

import (
	"container/heap"
	"time"
)

// agenda holds what is to happen, earliest first; equal times keep the order they were added in.
type agenda struct {
	items items
	seq   uint64
}

type item struct {
	at  time.Time
	seq uint64
	do  func(time.Time)
}

func (a *agenda) add(at time.Time, do func(time.Time)) {
	a.seq++
	heap.Push(&a.items, item{at: at, seq: a.seq, do: do})
}

func (a *agenda) next() (time.Time, bool) {
	if len(a.items) == 0 {
		return time.Time{}, false
	}
	return a.items[0].at, true
}

// pop returns the earliest item if it is due by now.
func (a *agenda) pop(now time.Time) (item, bool) {
	if len(a.items) == 0 || a.items[0].at.After(now) {
		return item{}, false
	}
	it, ok := heap.Pop(&a.items).(item)
	return it, ok
}

type items []item

func (s items) Len() int { return len(s) }

func (s items) Less(i, j int) bool {
	if !s[i].at.Equal(s[j].at) {
		return s[i].at.Before(s[j].at)
	}
	return s[i].seq < s[j].seq
}

func (s items) Swap(i, j int) { s[i], s[j] = s[j], s[i] }

func (s *items) Push(x any) {
	if it, ok := x.(item); ok {
		*s = append(*s, it)
	}
}

func (s *items) Pop() any {
	old := *s
	last := old[len(old)-1]
	*s = old[:len(old)-1]
	return last
}
