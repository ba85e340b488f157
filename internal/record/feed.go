package record

import (
	"io"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/journal"
)

const (
	// beatEvery is how often a follower is sent that nothing was decided, so that both ends know that the other is there.
	beatEvery = 10 * time.Second
	// stall is how long a follower may take to read what was written.
	stall = 30 * time.Second
	// followers is how many may follow at a time: each has Worlds written for himself.
	followers = 2
)

// Feed sends decisions as a recording while they are made. It costs nothing while it is not followed.
type Feed struct {
	Kept func() []journal.Entry // decisions that are in memory, latest first
	Now  clock.Now

	mu        sync.Mutex
	following map[chan journal.Entry]bool
}

// Add sends to the followers. What one does not read in time it misses.
func (f *Feed) Add(e journal.Entry) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for to := range f.following {
		select {
		case to <- e:
		default:
		}
	}
}

// join begins to follow; nil if too many do.
func (f *Feed) join() chan journal.Entry {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.following) >= followers {
		return nil
	}
	if f.following == nil {
		f.following = map[chan journal.Entry]bool{}
	}
	me := make(chan journal.Entry, backlog)
	f.following[me] = true
	return me
}

func (f *Feed) leave(me chan journal.Entry) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.following, me)
}

// ServeHTTP streams a recording: what is in memory and was decided after ?since=, in seconds since 1970, and then what
// is decided, until the other end has enough. With ?follow=false it ends with what is in memory.
func (f *Feed) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	since, err := strconv.ParseInt(r.URL.Query().Get("since"), 10, 64)
	if err != nil && r.URL.Query().Has("since") {
		http.Error(w, "since is no number of seconds since 1970", http.StatusBadRequest)
		return
	}
	me := f.join()
	if me == nil {
		w.Header().Set("Retry-After", "10")
		http.Error(w, "others record this controller already, and each costs memory; end one and try again", http.StatusServiceUnavailable)
		return
	}
	defer f.leave(me)
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Accel-Buffering", "no") // a proxy in between passes everything on at once
	out := http.NewResponseController(w)
	to := pacedWriter{w, out, f.Now}
	enc, err := NewEncoder(to)
	sent := map[[2]string]bool{}
	for _, e := range slices.Backward(f.Kept()) {
		if err == nil && e.World.At() > since {
			sent[[2]string{e.Kind, e.World.Digest()}] = true
			err = enc.Add(e)
		}
	}
	if err != nil || out.Flush() != nil || r.URL.Query().Get("follow") == "false" {
		return
	}
	f.follow(r, enc, out, me, sent)
}

// follow sends what is decided and was not sent yet.
func (f *Feed) follow(r *http.Request, enc *Encoder, out *http.ResponseController, me chan journal.Entry, sent map[[2]string]bool) {
	pulse := time.NewTicker(beatEvery)
	defer pulse.Stop()
	for {
		var err error
		select {
		case <-r.Context().Done():
			return
		case <-pulse.C:
			err = enc.Beat()
		case e := <-me:
			if sent[[2]string{e.Kind, e.World.Digest()}] {
				continue
			}
			err = enc.Add(e)
		}
		if err != nil || out.Flush() != nil {
			return
		}
	}
}

// pacedWriter ends an answer whose reader does not read.
type pacedWriter struct {
	io.Writer

	out *http.ResponseController
	now clock.Now
}

// Write is io.Writer's.
func (p pacedWriter) Write(b []byte) (int, error) {
	_ = p.out.SetWriteDeadline(p.now().Add(stall)) // what has no deadline is no network
	return p.Writer.Write(b)
}

func copyTo(w http.ResponseWriter, in io.Reader) (int64, error) {
	return io.Copy(pacedWriter{w, http.NewResponseController(w), clock.Wall}, in)
}
