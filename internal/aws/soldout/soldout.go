// Package soldout remembers what EC2 could not deliver, so that the next plan asks for something else.
package soldout

import (
	"slices"
	"sync"
	"time"

	"github.com/tenon-sh/tenon/internal/backoff"
	"github.com/tenon-sh/tenon/internal/clock"
)

// A mark lasts three minutes; one that is made again soon after it ended lasts
// twice as long as before, up to half an hour.
const (
	firstMark   = 3 * time.Minute
	longestMark = 30 * time.Minute
)

// Offer is what was asked for in vain. An empty field stands for anything: a
// zone without free addresses is an Offer with only a zone, a missing right to
// buy spot one with only a capacity type. Group is the placement group in which
// it was asked for: what has no room there may be had elsewhere.
type Offer struct {
	Type, Zone, CapacityType, Group string
}

// Memory is the offers that are sold out. It is safe for several goroutines.
type Memory struct {
	now clock.Now

	mu      sync.Mutex
	marks   backoff.Keyed[Offer]
	why     map[Offer]string // of marks whose end is not known yet
	version int
}

// New returns an empty Memory.
func New(now clock.Now) *Memory {
	return &Memory{now: now, marks: backoff.Keyed[Offer]{First: firstMark, Last: longestMark}, why: map[Offer]string{}}
}

// Mark notes that offers could not be delivered, and why.
func (m *Memory) Mark(why string, offers ...Offer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	for _, o := range offers {
		m.marks.Renew(o, now) // one failure seen by several callers counts once
		m.why[o] = why
	}
	m.version++
}

// Clear forgets a mark, as when a machine of that offer has come. One that came
// in a group could have been had without it.
func (m *Memory) Clear(o Offer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	plain := o
	plain.Group = ""
	for _, o := range []Offer{o, plain} {
		if _, ok := m.why[o]; ok {
			m.version++
		}
		m.marks.Forget(o)
		delete(m.why, o)
	}
}

// Why says why an offer is taken for sold out, in a placement group if there is one;
// empty if it is not.
func (m *Memory) Why(typ, zone, capacityType, group string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	for _, o := range []Offer{
		{Type: typ, Zone: zone, CapacityType: capacityType, Group: group},
		{Type: typ, Zone: zone, CapacityType: capacityType},
		{Zone: zone},
		{CapacityType: capacityType},
		{Zone: zone, CapacityType: capacityType},
		{Type: typ, CapacityType: capacityType},
	} {
		if m.marks.Waits(o, now) {
			return m.why[o]
		}
	}
	return ""
}

// Version changes whenever something is marked, cleared or has come back.
func (m *Memory) Version() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	for o := range m.why {
		if !m.marks.Waits(o, now) {
			delete(m.why, o) // it has ended, and that is news once
			m.version++
		}
	}
	// What was bought for so long is available again: the next failure is counted from the beginning.
	m.marks.Keep(func(_ Offer, until time.Time) bool { return !now.After(until.Add(longestMark)) })
	return m.version
}

// Marked returns the offers that are sold out now, in order.
func (m *Memory) Marked() []Offer {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	out := m.marks.Waiting(now)
	slices.SortFunc(out, func(a, b Offer) int {
		return slices.Compare([]string{a.Type, a.Zone, a.CapacityType, a.Group}, []string{b.Type, b.Zone, b.CapacityType, b.Group})
	})
	return out
}
