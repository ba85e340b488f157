// Package soldout remembers what EC2 could not deliver, so that the next plan asks for something else.
package soldout

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/tenon-sh/tenon/internal/clock"
)

// A mark lasts three minutes; one that is made again soon after it ended lasts
// twice as long as before, up to half an hour.
const (
	first   = 3 * time.Minute
	longest = 30 * time.Minute
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
	marks   map[Offer]mark
	version int
}

type mark struct {
	until time.Time
	lasts time.Duration
	why   string
}

// New returns an empty Memory.
func New(now clock.Now) *Memory { return &Memory{now: now, marks: map[Offer]mark{}} }

// Mark notes that offers could not be delivered, and why.
func (m *Memory) Mark(why string, offers ...Offer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	for _, o := range offers {
		was, known := m.marks[o]
		lasts := first
		switch {
		case known && now.Before(was.until):
			lasts = was.lasts // one failure seen by several callers counts once
		case known:
			lasts = min(2*was.lasts, longest)
		}
		m.marks[o] = mark{until: now.Add(lasts), lasts: lasts, why: why}
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
		if _, ok := m.marks[o]; ok {
			delete(m.marks, o)
			m.version++
		}
	}
}

// Why says why an offer is not to be had, in a placement group if there is one;
// empty if it is.
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
		if k, ok := m.marks[o]; ok && now.Before(k.until) {
			return k.why
		}
	}
	return ""
}

// Version changes whenever something is marked, cleared or has come back.
func (m *Memory) Version() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	for o, k := range m.marks {
		switch {
		case now.After(k.until.Add(longest)):
			delete(m.marks, o) // long quiet: the next failure starts afresh
			if k.why != "" {
				m.version++ // nobody asked since it ended
			}
		case !k.until.IsZero() && !now.Before(k.until) && k.why != "":
			k.why = "" // it has ended, and that is news once
			m.marks[o] = k
			m.version++
		}
	}
	return m.version
}

// Marked returns the offers that are sold out now, in order.
func (m *Memory) Marked() []Offer {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	out := slices.DeleteFunc(slices.Collect(maps.Keys(m.marks)), func(o Offer) bool { return !now.Before(m.marks[o].until) })
	slices.SortFunc(out, func(a, b Offer) int {
		return slices.Compare([]string{a.Type, a.Zone, a.CapacityType, a.Group}, []string{b.Type, b.Zone, b.CapacityType, b.Group})
	})
	return out
}
