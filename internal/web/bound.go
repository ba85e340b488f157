package web

import (
	"net/http"
	"time"

	"github.com/tenon-sh/tenon/internal/clock"
)

const (
	// atOnce is how many answers of a kind are made at a time. An answer can be as
	// large as all that is known of the cluster, and is in memory while it is made.
	atOnce = 2
	// readStallTimeout is how long a reader may take for what fits between here and there, and
	// answerTimeout how long for all of an answer: until then it keeps others from reading.
	readStallTimeout = 30 * time.Second
	answerTimeout    = 10 * time.Minute
)

// Bounded has at most n requests at a time served by next, each for as long as
// its reader reads. Others are asked to come again.
func Bounded(n int, next http.Handler) http.Handler {
	places := make(chan struct{}, n)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w = &paced{ResponseWriter: w, end: clock.Wall().Add(answerTimeout)}
		select {
		case places <- struct{}{}:
			defer func() { <-places }()
			next.ServeHTTP(w, r)
		default:
			w.Header().Set("Retry-After", "5")
			http.Error(w, "others are reading this, and all of it at once would take too much memory; try again in some seconds", http.StatusServiceUnavailable)
		}
	})
}

// paced ends an answer whose reader does not read.
type paced struct {
	http.ResponseWriter

	end time.Time
}

// chunk is how much is written under one deadline.
const chunk = 64 << 10

// Write is http.ResponseWriter's.
func (p *paced) Write(b []byte) (n int, err error) {
	for len(b) > 0 && err == nil {
		at := clock.Wall().Add(readStallTimeout)
		if at.After(p.end) {
			at = p.end
		}
		_ = http.NewResponseController(p.ResponseWriter).SetWriteDeadline(at) // what has no deadline is no network
		var m int
		m, err = p.ResponseWriter.Write(b[:min(len(b), chunk)])
		n, b = n+m, b[m:]
	}
	return n, err
}

// Unwrap is for http.ResponseController.
func (p *paced) Unwrap() http.ResponseWriter { return p.ResponseWriter }
