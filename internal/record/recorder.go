package record

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"strconv"

	"github.com/tenon-sh/tenon/internal/journal"
	"github.com/tenon-sh/tenon/internal/panics"
)

const (
	// backlog is how many entries may wait to be written before more are left out. Worlds share what they have in common.
	backlog = 32
	// quietEvery is how many seconds apart decisions are recorded that did nothing and say what the last of their kind said.
	quietEvery = 10
)

// Recorder writes decisions to a File. Decisions never wait for it: what it cannot write in time it leaves out.
type Recorder struct {
	file   *File
	failed func(error)
	queue  chan journal.Entry
	last   map[string]journal.Entry // of each kind that was written; without their Worlds
	at     map[string]int64
}

// NewRecorder returns a Recorder. What goes wrong is passed to failed.
func NewRecorder(file *File, failed func(error)) *Recorder {
	return &Recorder{file: file, failed: failed, queue: make(chan journal.Entry, backlog), last: map[string]journal.Entry{}, at: map[string]int64{}}
}

// Add has an entry written soon.
func (r *Recorder) Add(e journal.Entry) {
	select {
	case r.queue <- e:
	default:
		r.failed(fmt.Errorf("decision about %s is left out: %d wait to be written", e.World.Digest(), backlog))
	}
}

// NeedLeaderElection is the manager's: the replica that decides also writes.
func (r *Recorder) NeedLeaderElection() bool { return false }

// Start writes until ctx ends, and then what still waits.
func (r *Recorder) Start(ctx context.Context) error {
	for {
		select {
		case e := <-r.queue:
			r.keep(e)
		case <-ctx.Done():
			for {
				select {
				case e := <-r.queue:
					r.keep(e)
				default:
					return r.file.Close()
				}
			}
		}
	}
}

func (r *Recorder) keep(e journal.Entry) {
	if r.repeats(e) {
		return
	}
	var err error
	if broke := panics.Caught(func() { err = r.file.Add(e) }); broke != nil {
		err = fmt.Errorf("record a decision: %w", broke)
	}
	if err != nil {
		r.failed(err)
		return
	}
	r.at[e.Kind] = e.World.At()
	e.World = nil // the next one shares what it shares with the one that the encoder has
	r.last[e.Kind] = e
}

// repeats reports whether a decision did nothing, as the last of its kind some seconds ago. Of the same World little
// else can be decided later, and a whole day of such decisions would take hours to be made again.
func (r *Recorder) repeats(e journal.Entry) bool {
	last, ok := r.last[e.Kind]
	return ok && !e.Acts() && !last.Acts() && len(e.Plan.Refused) == len(last.Plan.Refused) && len(e.Plan.Kept) == len(last.Plan.Kept) && maps.Equal(e.Deleted, last.Deleted) &&
		e.World.At()-r.at[e.Kind] < quietEvery
}

// ServeHTTP gives the recording as it is now.
func (r *Recorder) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	in, size, err := r.file.Snapshot()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	defer func() { _ = in.Close() }()
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Disposition", `attachment; filename="tenon.recording"`)
	w.Header().Set("Content-Length", strconv.FormatInt(size, 10))
	_, _ = copyTo(w, in) // the client may have gone
}
