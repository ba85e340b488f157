package launch

import (
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cloud"
)

const (
	// gather is how long no further claim may appear before those that are there
	// are ordered; longestGather bounds it all.
	gather        = 50 * time.Millisecond
	longestGather = time.Second
	// arrival is how long the next claim of an order may take to arrive in the cache.
	arrival = 3 * time.Second
	// lookAgainAfter is how soon a machine is looked for again that may be missing in a list.
	lookAgainAfter = 5 * time.Second
	// classLookedAtAgainAfter is how soon an order is looked at again whose class is being looked at.
	classLookedAtAgainAfter = time.Second
	// remembered is how many orders may be known before those are forgotten that
	// were sent longer than forgetAfter ago.
	remembered  = 10_000
	forgetAfter = 10 * time.Minute
)

// memory is what this process did with orders. All of it can be forgotten: then
// the cloud is asked again.
type memory struct {
	now clock.Now

	mu      sync.Mutex
	began   time.Time            // when this process first looked at an order
	ordered map[types.UID]string // the order each claim was put into
	sent    map[string]time.Time // when each order was sent last
	unclear map[string]bool      // orders whose last answer leaves open whether they bought
	done    map[string]ended     // orders that will buy nothing more
	seen    map[string]arriving  // orders that were seen not to be whole
	writing map[string]bool      // orders that are being written
	trials  cloud.Trials         // of launches, by the claim's uid

	last  int       // how many claims were without an order at the last look
	since time.Time // of the first look at them
}

// ended is an order that will buy nothing more.
type ended struct {
	until time.Time // when its claims may be ordered again
	clear bool      // it is known that it has bought no more than was answered
}

// arriving is how many claims of an order were seen, and since when there are so many.
type arriving struct {
	seen  int
	since time.Time
}

func newMemory(now clock.Now) *memory {
	return &memory{
		now: now, ordered: map[types.UID]string{}, sent: map[string]time.Time{}, unclear: map[string]bool{}, done: map[string]ended{},
		seen: map[string]arriving{}, writing: map[string]bool{},
	}
}

// young reports whether more claims of an order may still arrive: it is being
// written, or some have arrived only just now.
func (m *memory) young(o Order) bool {
	n := 0
	for _, c := range o.Claims {
		if c != nil {
			n++
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.seen) > remembered {
		clear(m.seen)
	}
	if a := m.seen[o.Token]; a.seen != n || m.writing[o.Token] {
		m.seen[o.Token] = arriving{n, m.now()}
	}
	return m.now.Since(m.seen[o.Token].since) < arrival
}

// mark notes which orders are being written.
func (m *memory) mark(orders []Order, writing bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, o := range orders {
		if writing {
			m.writing[o.Token] = true
		} else {
			delete(m.writing, o.Token)
		}
	}
}

// coming reports whether claims without an order are still getting more, for a
// while: one larger order is better than several small ones. It returns how
// long they have been waited for.
func (m *memory) coming(n int) (more bool, waited time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	if m.since.IsZero() {
		m.since = now
	}
	waited = now.Sub(m.since)
	if more = n != m.last && waited < longestGather; more {
		m.last = n
	} else {
		m.since, m.last = time.Time{}, 0
	}
	return more, waited
}

// put notes which order a claim was put into.
func (m *memory) put(claim types.UID, token string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ordered[claim] = token
}

// free reports whether a claim that shows an order, or none, was not put into
// another since: the cache may not show yet what this process wrote.
func (m *memory) free(c *v1.NodeClaim, shown string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	wrote, ok := m.ordered[c.UID]
	return !ok || wrote == shown
}

// send notes that an order is being sent.
func (m *memory) send(token string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.sent) > remembered {
		m.prune()
	}
	m.sent[token] = m.now()
}

// prune forgets orders that were sent long ago. Of those that were sent just now a
// list may not show yet what they bought: that they were sent must not be forgotten.
func (m *memory) prune() {
	for token, at := range m.sent {
		if m.now.Since(at) > forgetAfter {
			delete(m.sent, token)
			delete(m.unclear, token)
		}
	}
	for token, end := range m.done {
		if m.now.Since(end.until) > forgetAfter {
			delete(m.done, token)
		}
	}
	for claim, token := range m.ordered {
		if _, ok := m.sent[token]; !ok {
			delete(m.ordered, claim)
		}
	}
}

// isSent reports whether this process has sent an order.
func (m *memory) isSent(token string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, ok := m.sent[token]
	return ok
}

// answered notes whether the answer to an order leaves open what it bought.
func (m *memory) answered(token string, unclear bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.unclear[token] = unclear; !unclear {
		delete(m.unclear, token)
	}
}

// isUnclear reports whether the last answer to an order left open what it bought.
func (m *memory) isUnclear(token string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.unclear[token]
}

// lastSent is when an order was sent at the latest. One that this process knows
// nothing of was sent by another, before this one looked at any.
func (m *memory) lastSent(token string) time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	if at, ok := m.sent[token]; ok {
		return at
	}
	return m.start()
}

// start is when this process first looked at an order. The memory is locked.
func (m *memory) start() time.Time {
	if m.began.IsZero() {
		m.began = m.now()
	}
	return m.began
}

// fresh reports whether this process has only just begun to look at orders, so
// that not everything is known that they need.
func (m *memory) fresh() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now.Since(m.start()) < cloud.Unlisted
}

// unsent reports whether the order cannot have been sent: this process wrote it
// to the claims that are leaving, and has not sent it.
func (m *memory) unsent(o Order) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.sent[o.Token]; ok {
		return false
	}
	for _, c := range o.Leaving() {
		if m.ordered[c.UID] != o.Token {
			return false
		}
	}
	return true
}

// own reports whether an order has not been sent by any process: this process wrote it to all of its claims, and has not sent it.
func (m *memory) own(o Order) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.sent[o.Token]; ok {
		return false
	}
	return !slices.ContainsFunc(o.Claims, func(c *v1.NodeClaim) bool { return c == nil || m.ordered[c.UID] != o.Token })
}

// close notes that an order ended with cause, and will buy nothing more.
func (m *memory) close(o Order, cause error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	code := cloud.CodeOf(cause)
	m.done[o.Token] = ended{m.now().Add(o.Wait(cause)), code == cloud.Capacity || code == cloud.NotReady}
}

// isClear reports whether an order ended with an answer that says what it bought.
func (m *memory) isClear(token string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.done[token].clear
}

// spent reports whether an order will buy nothing more, and how long its claims have to wait.
func (m *memory) spent(token string) (time.Duration, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	end, ok := m.done[token]
	return m.now.Until(end.until), ok
}
