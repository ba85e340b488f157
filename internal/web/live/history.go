package live

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/panics"
)

const (
	// sampleEvery and samples: figures of six hours are kept, 200 kB of them.
	sampleEvery = 10 * time.Second
	samples     = 6 * 360
)

// Sample is what the cluster was like at a moment.
type Sample struct {
	At int64 `json:"at"`

	Totals
}

// History keeps figures of the last hours.
type History struct {
	Panics panics.Teller // called with what breaks while figures are taken

	world func() *world.World

	mu     sync.Mutex
	prices prices
	ring   []Sample
	next   int
}

// NewHistory returns a History of the states that latest gives.
func NewHistory(latest func() *world.World, p panics.Teller) *History {
	return &History{Panics: p, world: latest}
}

// NeedLeaderElection is the manager's: every replica knows what was.
func (h *History) NeedLeaderElection() bool { return false }

// Start samples until ctx ends.
func (h *History) Start(ctx context.Context) error {
	every := time.NewTicker(sampleEvery)
	defer every.Stop()
	for {
		h.Panics.Do("history of the live page", h.Sample)
		select {
		case <-ctx.Done():
			return nil
		case <-every.C:
		}
	}
}

// Sample takes down what the cluster is like now.
func (h *History) Sample() {
	w := h.world()
	if w == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.prices.follow(w)
	s := Sample{At: w.At(), Totals: totalsOf(w, &h.prices)}
	if n := len(h.ring); n < samples {
		h.ring = append(h.ring, s)
		return
	}
	h.ring[h.next] = s
	h.next = (h.next + 1) % samples
}

// All returns the samples, oldest first.
func (h *History) All() []Sample {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := make([]Sample, 0, len(h.ring))
	out = append(out, h.ring[h.next:]...)
	return append(out, h.ring[:h.next]...)
}

// ServeHTTP gives the samples as JSON, oldest first.
func (h *History) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(Figures{int(sampleEvery / time.Second), h.All()}) // the client may have gone
}
