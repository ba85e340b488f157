// Package answers asks AWS once and remembers what it said for a while.
package answers

import (
	"context"
	"sync"
	"time"

	"github.com/tenon-sh/tenon/internal/aws/keylock"
	"github.com/tenon-sh/tenon/internal/clock"
)

// Ever is how long an answer stands in for a failure that may do so as long as the process lives.
const Ever = 100 * 365 * 24 * time.Hour

// maxAnswers is how many answers a Memory keeps. A cluster has tens of classes, and each
// asks a few questions of a kind; more come only from classes that are edited all the time.
const maxAnswers = 1_000

// Rules say how the answers to one kind of question are kept. The zero Rules are
// those of answers that stand in for nothing and of which all are for everyone.
type Rules[V any] struct {
	// Stale is how long, after its time, an answer is still what is known where
	// the question cannot be answered again.
	Stale time.Duration
	// Nothing reports an answer that holds nothing. It is remembered for the asker
	// alone: a caller whose question has just changed asks at once.
	Nothing func(V) bool
}

// Memory remembers answers by what was asked. Callers with the same question wait
// for the first, each until its own context ends, and so does a failure that is
// to be remembered. It is safe for several goroutines.
type Memory[V any] struct {
	rules  Rules[V]
	now    clock.Now
	asking keylock.Locks

	mu  sync.Mutex
	all map[string]answer[V]
}

// answer is what is known of a question. A failure stands beside the answer before it.
type answer[V any] struct {
	value V
	err   error
	until time.Time // when the question is due again
	stale time.Time // when the value is no longer what is known
}

// over is when nothing of an answer is of use any more.
func (a answer[V]) over() time.Time {
	if a.stale.After(a.until) {
		return a.stale
	}
	return a.until
}

// Ask asks the question. It returns the answer or a failure, and for how long either
// holds; after a failure that holds for no time the next caller asks again.
type Ask[V any] func(context.Context) (V, time.Duration, error)

// New returns a Memory that knows nothing.
func New[V any](now clock.Now, rules Rules[V]) *Memory[V] {
	return &Memory[V]{rules: rules, now: now, all: map[string]answer[V]{}}
}

// Get returns the answer to a question that is the same for everyone. With an
// error comes what was known before, if that may stand in.
func (m *Memory[V]) Get(ctx context.Context, key string, ask Ask[V]) (V, error) {
	return m.GetAs(ctx, "", key, ask)
}

// GetAs is Get for one of several askers, who do not share answers that hold nothing.
func (m *Memory[V]) GetAs(ctx context.Context, asker, key string, ask Ask[V]) (V, error) {
	if a, ok := m.due(asker, key); !ok {
		return a.value, a.err
	}
	done, err := m.asking.Lock(ctx, key)
	if err != nil {
		return m.standIn(key), err
	}
	defer done()
	if a, ok := m.due(asker, key); !ok {
		return a.value, a.err // an earlier caller has asked
	}
	value, holds, err := ask(ctx)
	if err != nil {
		return m.failed(ctx, key, holds, err), err
	}
	if asker != "" && m.rules.Nothing != nil && m.rules.Nothing(value) {
		key = ofAsker(asker, key)
	}
	m.keep(key, value, holds)
	return value, nil
}

// Known returns what is known of a question, whether or not it is due again.
func (m *Memory[V]) Known(key string) (V, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	a, ok := m.all[key]
	if !ok || a.err == nil && !m.now().Before(a.over()) || a.err != nil && !m.now().Before(a.stale) {
		var none V
		return none, false
	}
	return a.value, true
}

// Forget drops what is known of a question.
func (m *Memory[V]) Forget(key string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.all, key)
}

// Due has every question asked again by the next caller. What was said stands in
// where that fails, as long as it would have without this.
func (m *Memory[V]) Due() {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	for k, a := range m.all {
		if now.Before(a.until) {
			a.until = now
			m.all[k] = a
		}
	}
}

// ofAsker is where an answer that holds nothing is kept.
func ofAsker(asker, key string) string { return key + "\n" + asker }

// due reports whether a question is to be asked, or else what is known.
func (m *Memory[V]) due(asker, key string) (answer[V], bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	keys := []string{key}
	if asker != "" {
		keys = append(keys, ofAsker(asker, key))
	}
	now := m.now()
	for _, k := range keys {
		a, ok := m.all[k]
		if !ok || !now.Before(a.until) {
			continue
		}
		if a.err != nil && !now.Before(a.stale) {
			a.value = answer[V]{}.value // nothing stands in any more
		}
		return a, false
	}
	return answer[V]{}, true
}

// standIn is what was known of a question that is not answered now.
func (m *Memory[V]) standIn(key string) V {
	m.mu.Lock()
	defer m.mu.Unlock()
	if a, ok := m.all[key]; ok && m.now().Before(a.stale) {
		return a.value
	}
	var none V
	return none
}

// failed takes down that a question was not answered, and returns what stands in.
// That a caller gave up says nothing about the question.
func (m *Memory[V]) failed(ctx context.Context, key string, holds time.Duration, err error) V {
	value := m.standIn(key)
	if holds <= 0 || ctx.Err() != nil {
		return value
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.put(key, answer[V]{value: value, err: err, until: m.now().Add(holds), stale: m.all[key].stale})
	return value
}

// keep remembers an answer.
func (m *Memory[V]) keep(key string, value V, holds time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	until := m.now().Add(holds)
	a := answer[V]{value: value, until: until}
	if m.rules.Stale > 0 {
		a.stale = until.Add(m.rules.Stale)
	}
	m.put(key, a)
}

// put remembers an answer and drops what is over and, of too many, those that are
// over first. The lock is held.
func (m *Memory[V]) put(key string, a answer[V]) {
	now, first := m.now(), ""
	for k, old := range m.all {
		switch {
		case !now.Before(old.over()):
			delete(m.all, k)
		case first == "" || old.over().Before(m.all[first].over()):
			first = k
		}
	}
	if _, known := m.all[key]; !known && len(m.all) >= maxAnswers {
		delete(m.all, first)
	}
	m.all[key] = a
}
