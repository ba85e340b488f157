package cloud

import (
	"context"
	"slices"
	"sync"
	"time"
)

// lists is the last list of all machines.
type lists struct {
	turn chan struct{} // held by the caller that asks for one

	mu       sync.Mutex
	asked    time.Time // when the last that came was asked for
	machines []Machine
	failures int // how many did not come
	failure  error
}

// recent returns the last list if it was asked for at since or later, and how many have failed so far.
func (l *lists) recent(since time.Time) (machines []Machine, ok bool, failures int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.machines, !l.asked.IsZero() && !l.asked.Before(since), l.failures
}

// failed returns why a list failed of which more have than there were; nil if none has.
func (l *lists) failed(before int) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failures == before {
		return nil
	}
	return l.failure
}

// note takes down what became of a list.
func (l *lists) note(asked time.Time, machines []Machine, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		l.failures, l.failure = l.failures+1, err
		return
	}
	l.asked, l.machines = asked, machines
}

// List returns every machine of this cluster as of since or later. Callers
// share lists: however many ask for the same moment, the driver is asked once,
// and when that fails it has failed for all callers that waited for it.
func (c *Cloud) List(ctx context.Context, since time.Time) ([]Machine, error) {
	machines, ok, before := c.lists.recent(since)
	if ok {
		return machines, nil
	}
	if err := take(ctx, c.lists.turn); err != nil {
		return nil, err
	}
	defer func() { <-c.lists.turn }()
	if machines, ok, _ = c.lists.recent(since); ok {
		return machines, nil
	}
	if err := c.lists.failed(before); err != nil {
		return nil, err
	}
	asked := c.cfg.Now()
	err := c.call(ctx, methodList, func() (err error) {
		machines, err = c.cfg.Driver.List(ctx)
		return err
	})
	if err != nil && ctx.Err() != nil {
		return nil, err // this caller was called off, which says nothing of the cloud
	}
	slices.SortFunc(machines, byID)
	c.lists.note(asked, machines, err)
	if err != nil {
		return nil, err
	}
	return machines, nil
}

// take waits for a turn, unless ctx ends first.
func take(ctx context.Context, turn chan struct{}) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case turn <- struct{}{}:
		return nil
	}
}

// questions are machines that are asked for by id.
type questions struct {
	turn chan struct{} // held by the caller that asks

	waiting sync.Mutex
	open    []*question
}

type question struct {
	id       string // of the provider
	answered bool
	machine  Machine
	there    bool
	err      error
}

// add notes that an answer is wanted.
func (q *questions) add(more ...*question) {
	q.waiting.Lock()
	defer q.waiting.Unlock()
	q.open = append(q.open, more...)
}

// all returns the questions that wait for an answer, for a caller that asks them all.
func (q *questions) all() []*question {
	q.waiting.Lock()
	defer q.waiting.Unlock()
	out := q.open
	q.open = nil
	return out
}

// drop forgets a question whose answer is not waited for any more.
func (q *questions) drop(one *question) {
	q.waiting.Lock()
	defer q.waiting.Unlock()
	q.open = slices.DeleteFunc(q.open, func(o *question) bool { return o == one })
}

// Find returns the machine of a provider id as of since or later; false if there
// is none. A list shows only what carries the tags of this cluster, so a machine
// that it does not show is asked for by its id before it is said not to be there.
// One of which the provider knows that it has ended is not there, and says so.
func (c *Cloud) Find(ctx context.Context, providerID string, since time.Time) (Machine, bool, error) {
	all, err := c.List(ctx, since)
	if err != nil {
		return Machine{}, false, err
	}
	if i := slices.IndexFunc(all, func(m Machine) bool { return m.ProviderID == providerID }); i >= 0 {
		return all[i], true, nil
	}
	return c.ask(ctx, providerID)
}

// ask asks for a machine by its id. Those that are wanted while others are asked
// for are asked for together. Where the caller that asks for them is called off, or
// breaks, the others ask again: what was not answered must not count as not there.
func (c *Cloud) ask(ctx context.Context, providerID string) (Machine, bool, error) {
	mine := &question{id: providerID}
	c.questions.add(mine)
	if err := take(ctx, c.questions.turn); err != nil {
		c.questions.drop(mine)
		return Machine{}, false, err
	}
	defer func() { <-c.questions.turn }()
	if mine.answered {
		return mine.machine, mine.there, mine.err
	}
	open := c.questions.all()
	defer func() {
		c.questions.add(slices.DeleteFunc(open, func(q *question) bool { return q.answered || q == mine })...)
	}()
	ids := make([]string, len(open))
	for i, q := range open {
		ids[i] = q.id
	}
	slices.Sort(ids)
	var found []Machine
	err := c.call(ctx, methodFind, func() (err error) {
		found, err = c.cfg.Driver.Find(ctx, slices.Compact(ids))
		return err
	})
	if err != nil && ctx.Err() != nil {
		return Machine{}, false, err // this caller was called off
	}
	for _, q := range open {
		q.answered, q.err = true, err
		if i := slices.IndexFunc(found, func(m Machine) bool { return m.ProviderID == q.id }); i >= 0 && err == nil {
			q.machine, q.there = found[i], !found[i].Ended
		}
	}
	return mine.machine, mine.there, mine.err
}
