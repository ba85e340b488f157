package parallel

import "github.com/sourcegraph/conc/panics"

// Queue does something to items, several at a time, while more are put into it, and reports what came of each in the order
// in which they were put. Reports are made by the goroutine that puts.
type Queue[T, R any] struct {
	do     func(T) R
	report func(T, R) error
	slots  chan struct{}
	most   int
	under  []underway[T, R]
}

// underway is an item that was put and not reported yet.
type underway[T, R any] struct {
	item T
	done chan result[R]
}

type result[R any] struct {
	value R
	broke *panics.Recovered
}

// NewQueue returns a Queue that works on limit items at a time, and has most of them under way: to be worked on, or to be
// reported when those before them have been.
func NewQueue[T, R any](limit, most int, do func(T) R, report func(T, R) error) *Queue[T, R] {
	return &Queue[T, R]{do: do, report: report, slots: make(chan struct{}, limit), most: max(limit, most)}
}

// Put adds an item. Where most are under way it first waits for the oldest, and reports what came of it.
func (q *Queue[T, R]) Put(item T) error {
	for len(q.under) >= q.most {
		if err := q.next(); err != nil {
			return err
		}
	}
	u := underway[T, R]{item, make(chan result[R], 1)}
	q.under = append(q.under, u)
	go func() {
		q.slots <- struct{}{}
		defer func() { <-q.slots }()
		var r result[R]
		r.broke = panics.Try(func() { r.value = q.do(item) })
		u.done <- r
	}()
	return nil
}

// next waits for the oldest and reports what came of it. A panic of what is done becomes the caller's.
func (q *Queue[T, R]) next() error {
	u := q.under[0]
	q.under = q.under[1:]
	r := <-u.done
	if r.broke != nil {
		q.Wait()
		panic(r.broke.String())
	}
	return q.report(u.item, r.value)
}

// Flush reports what comes of all that was put.
func (q *Queue[T, R]) Flush() error {
	for len(q.under) > 0 {
		if err := q.next(); err != nil {
			return err
		}
	}
	return nil
}

// Wait waits for what is under way, and reports nothing of it. The goroutine that puts calls it in the end.
func (q *Queue[T, R]) Wait() {
	for _, u := range q.under {
		<-u.done
	}
	q.under = nil
}
