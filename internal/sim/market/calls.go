package market

import (
	"maps"
	"time"
)

// Call is one request that was answered.
type Call struct {
	Seq     int64             `json:"seq"`
	At      time.Time         `json:"at"`
	Service string            `json:"service"`
	Action  string            `json:"action"`
	Caller  string            `json:"caller"` // ARN
	Params  map[string]string `json:"params,omitempty"`
	Code    string            `json:"code,omitempty"` // of the refusal; empty: it worked
	DryRun  bool              `json:"dryRun,omitempty"`
	Lost    bool              `json:"lost,omitempty"` // done, but the answer never arrived
}

// callLog keeps the last calls and counts all.
type callLog struct {
	keep   int
	seq    int64
	last   []Call
	counts map[string]int
}

// Record keeps a call.
func (m *Market) Record(c Call) {
	m.mu.Lock()
	defer m.mu.Unlock()
	l := &m.calls
	l.seq++
	c.Seq, c.At = l.seq, m.now()
	l.counts[c.Service+":"+c.Action]++
	if len(l.last) >= 2*l.keep {
		l.last = append(l.last[:0], l.last[l.keep:]...)
	}
	l.last = append(l.last, c)
}

// Calls returns the recorded calls after a sequence number, oldest first.
func (m *Market) Calls(after int64) []Call {
	m.mu.Lock()
	defer m.mu.Unlock()
	for k, c := range m.calls.last {
		if c.Seq > after {
			return append([]Call(nil), m.calls.last[k:]...)
		}
	}
	return nil
}

// Counts returns how often each call was made since the start, as "service:Action".
func (m *Market) Counts() map[string]int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.calls.counts)
}
