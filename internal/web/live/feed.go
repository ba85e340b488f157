package live

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/journal"
	"github.com/tenon-sh/tenon/internal/panics"
)

const (
	// tick is how often it is looked whether anything has changed, while there is a watcher.
	tick = 400 * time.Millisecond
	// restRatio is how many times as long as a look took the next one waits: all looks together take a small share of a core.
	restRatio = 25
	// keepsTick is how often it is looked what keeps each node: that costs more than all the rest.
	keepsTick = 10 * time.Second
	// beat is how often a watcher is sent that nothing has changed, so that both ends know that the other is there.
	beat = 10 * time.Second
	// behind is how many frames a watcher may be behind before it is cut off: it connects again and gets all there is.
	behind = 16
	// watchers is how many may watch at a time.
	watchers = 32
	// stall is how long a watcher may take to read a frame.
	stall = 20 * time.Second
)

// Source is what is drawn.
type Source struct {
	World   func() *world.World       // the latest state; nil while there is none
	Decided func() []journal.Entry    // what has been decided lately, latest first
	Deleted func(claim string) string // why this controller deleted the claim; may be nil
	Leader  func() string             // the replica that decides, as NAMESPACE/NAME, if it is another one; may be nil
	Panics  panics.Teller             // called with what breaks while it is drawn
}

// Feed sends its watchers what changes in the cluster. Nothing is drawn while there are none.
type Feed struct {
	source Source
	now    clock.Now

	mu       sync.Mutex
	view     *view              // nil while there are none
	watching map[*watcher]bool  // open pages
	end      context.CancelFunc // ends drawing
	looked   time.Time          // when it was last looked what keeps nodes
	rest     time.Duration      // until the next such look
}

// watcher is one open page.
type watcher struct {
	frames chan []byte   // encoded, in order
	gone   chan struct{} // closed when it is too far behind
}

// NewFeed returns a Feed.
func NewFeed(s Source, now clock.Now) *Feed {
	return &Feed{source: s, now: now, watching: map[*watcher]bool{}}
}

// ServeHTTP streams frames as server-sent events: first all there is, then what changes.
func (f *Feed) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	me, first, err := f.join()
	if err != nil {
		w.Header().Set("Retry-After", "5")
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	defer f.leave(me)
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Accel-Buffering", "no") // a proxy in between passes every frame on at once
	out := http.NewResponseController(w)
	send := func(b []byte) bool {
		_ = out.SetWriteDeadline(f.now().Add(stall)) // what has no deadline is no network
		_, err := w.Write(b)
		return err == nil && out.Flush() == nil
	}
	ok := send(first)
	pulse := time.NewTicker(beat)
	defer pulse.Stop()
	for ok {
		select {
		case b := <-me.frames:
			ok = send(b)
		case <-pulse.C:
			ok = send([]byte("event: beat\ndata: {}\n\n"))
		case <-me.gone:
			return
		case <-r.Context().Done():
			return
		}
	}
}

// join adds a watcher, and returns all that is drawn so far.
func (f *Feed) join() (*watcher, []byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.watching) >= watchers {
		return nil, nil, fmt.Errorf("%d pages are open already, and each costs memory; close one and try again", watchers)
	}
	if f.view == nil {
		w := f.source.World()
		if w == nil {
			return nil, nil, errors.New(notSynced)
		}
		f.view = &view{deleted: f.source.Deleted, leader: f.source.Leader}
		decided := f.source.Decided()
		f.hold(w, decided)
		f.view.next(w, decided)
	}
	first, err := event("all", f.view.whole())
	if err != nil {
		return nil, nil, err
	}
	me := &watcher{frames: make(chan []byte, behind), gone: make(chan struct{})}
	f.watching[me] = true
	if f.end == nil {
		ctx, end := context.WithCancel(context.Background())
		f.end = end
		go f.draw(ctx)
	}
	return me, first, nil
}

// leave removes a watcher. With the last one goes all that was drawn.
func (f *Feed) leave(me *watcher) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.watching, me)
	if len(f.watching) == 0 {
		f.forget()
	}
}

// forget ends drawing, and what was drawn.
func (f *Feed) forget() {
	if f.end != nil {
		f.end()
	}
	f.end, f.view, f.looked = nil, nil, time.Time{}
}

// reset cuts everyone off, for what is drawn may be half of it: they connect again and are sent everything again.
func (f *Feed) reset() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for me := range f.watching {
		close(me.gone)
	}
	clear(f.watching)
	f.forget()
}

// draw looks for changes until there are no watchers left.
func (f *Feed) draw(ctx context.Context) {
	for {
		began := f.now()
		if !f.source.Panics.Do("live page", func() { f.look(ctx) }) {
			f.reset()
		}
		wait := time.NewTimer(max(tick, restRatio*f.now.Since(began)))
		select {
		case <-ctx.Done():
			wait.Stop()
			return
		case <-wait.C:
		}
	}
}

// look draws the latest World and sends everyone what has changed.
func (f *Feed) look(ctx context.Context) {
	w := f.source.World()
	if w == nil {
		return
	}
	decided := f.source.Decided()
	f.mu.Lock()
	defer f.mu.Unlock()
	if ctx.Err() != nil {
		return // another one draws by now
	}
	f.hold(w, decided)
	frame, changed := f.view.next(w, decided)
	if !changed {
		return
	}
	b, err := event("change", frame)
	if err != nil {
		return // what is drawn are numbers and texts: they can be written
	}
	for me := range f.watching {
		select {
		case me.frames <- b:
		default:
			delete(f.watching, me)
			close(me.gone)
		}
	}
}

// hold looks now and then what keeps each node.
func (f *Feed) hold(w *world.World, decided []journal.Entry) {
	if began := f.now(); f.looked.IsZero() || began.Sub(f.looked) >= f.rest {
		f.view.keeps = keeps(w, decided)
		f.looked, f.rest = began, max(keepsTick, restRatio*f.now.Since(began))
	}
}

// event writes a server-sent event. JSON has no line breaks of its own.
func event(name string, v any) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString("event: " + name + "\ndata: ")
	if err := json.NewEncoder(&b).Encode(v); err != nil {
		return nil, fmt.Errorf("write what is drawn: %w", err)
	}
	b.WriteString("\n")
	return slices.Clip(bytes.ToValidUTF8(b.Bytes(), []byte("\ufffd"))), nil
}

// Of draws one World by itself: the cluster as it was when a decision was made.
func Of(w *world.World, decided []journal.Entry) Frame {
	v := &view{}
	v.next(w, decided)
	return v.whole()
}
