package day

import "container/heap"

// agenda is what will happen, in order of time; of two at the same time the
// one that was added first comes first.
type agenda struct {
	due    entries
	serial int
}

type entry struct {
	at     int64
	serial int
	do     func()
}

func (a *agenda) add(at int64, do func()) {
	a.serial++
	heap.Push(&a.due, entry{at, a.serial, do})
}

// next is when the next thing happens; false if nothing will.
func (a *agenda) next() (int64, bool) {
	if len(a.due) == 0 {
		return 0, false
	}
	return a.due[0].at, true
}

func (a *agenda) take() func() {
	e, _ := heap.Pop(&a.due).(entry)
	return e.do
}

type entries []entry

func (e entries) Len() int      { return len(e) }
func (e entries) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e entries) Less(i, j int) bool {
	return e[i].at < e[j].at || e[i].at == e[j].at && e[i].serial < e[j].serial
}

func (e *entries) Push(x any) {
	if v, ok := x.(entry); ok {
		*e = append(*e, v)
	}
}

func (e *entries) Pop() any {
	old := *e
	last := old[len(old)-1]
	*e = old[:len(old)-1]
	return last
}
