package live

import (
	"bufio"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenon-sh/tenon/engine/enginetest"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/journal"
	"github.com/tenon-sh/tenon/internal/panics"
)

// latest is a World that changes.
type latest struct{ atomic.Pointer[world.World] }

func (l *latest) source() Source {
	return Source{World: l.Load, Decided: func() []journal.Entry { return nil }}
}

// events reads the events that a watcher is sent.
func events(t *testing.T, r *bufio.Reader) (string, Frame) {
	t.Helper()
	var name string
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if rest, ok := strings.CutPrefix(line, "event: "); ok {
			name = strings.TrimSpace(rest)
		}
		if rest, ok := strings.CutPrefix(line, "data: "); ok && name != "beat" {
			var f Frame
			if err := json.Unmarshal([]byte(rest), &f); err != nil {
				t.Fatal(err)
			}
			return name, f
		}
	}
}

// A watcher is told all there is, then each change; with the last watcher everything that was drawn is forgotten.
func TestFeed(t *testing.T) {
	var l latest
	w := enginetest.Steady(5, 0)
	l.Store(w)
	f := NewFeed(l.source(), clock.Wall)
	s := httptest.NewServer(f)
	defer s.Close()
	answer, err := http.Get(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if kind := answer.Header.Get("Content-Type"); !strings.HasPrefix(kind, "text/event-stream") {
		t.Errorf("content type %s", kind)
	}
	in := bufio.NewReader(answer.Body)
	if name, all := events(t, in); name != "all" || !all.Whole || len(all.Nodes) != 5 {
		t.Errorf("first event %s with %d nodes", name, len(all.Nodes))
	}
	b := w.Edit()
	b.DeleteNode("node-00002")
	l.Store(b.Snapshot(1))
	if name, change := events(t, in); name != "change" || change.Whole || len(change.Gone) != 1 || change.Gone[0] != "node-00002" {
		t.Errorf("second event %s: %+v", name, change.Gone)
	}
}

// A watcher that does not read is cut off; others are not held up by it.
func TestSlowWatcher(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l latest
		w := enginetest.Steady(3, 0)
		l.Store(w)
		f := NewFeed(l.source(), clock.Wall)
		slow, _, err := f.join()
		if err != nil {
			t.Fatal(err)
		}
		quick, _, err := f.join()
		if err != nil {
			t.Fatal(err)
		}
		told := 0
		for i := range 3 * behind {
			b := w.Edit()
			if err := b.SetPod(world.Pod{Key: world.Key{Namespace: "d", Name: "new"}, Waiting: true, Created: int64(i)}); err != nil {
				t.Fatal(err)
			}
			w = b.Snapshot(int64(i + 1))
			l.Store(w)
			time.Sleep(2 * tick)
			synctest.Wait()
			for range len(quick.frames) {
				<-quick.frames
				told++
			}
		}
		select {
		case <-slow.gone:
		default:
			t.Error("a reader that does not read is still told")
		}
		if told < 3*behind {
			t.Errorf("the reader was told %d changes of %d", told, 3*behind)
		}
		f.leave(slow)
		f.leave(quick)
		if f.view != nil {
			t.Error("what was drawn is kept although no page is open")
		}
	})
}

// What breaks while the page is drawn costs those who watch their connection, and the controller nothing.
func TestABrokenLook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l latest
		l.Store(enginetest.Steady(3, 0))
		s := l.source()
		var broken atomic.Bool
		s.Decided = func() []journal.Entry {
			if broken.Load() {
				panic("a bug")
			}
			return nil
		}
		f := NewFeed(s, clock.Wall)
		me, _, err := f.join()
		if err != nil {
			t.Fatal(err)
		}
		broken.Store(true)
		<-me.gone
		f.leave(me)
		broken.Store(false)
		again, first, err := f.join()
		if err != nil || !strings.Contains(string(first), `"whole":true`) {
			t.Errorf("connected again, it is told %.100s, %v", first, err)
		}
		f.leave(again)
		synctest.Wait()
	})
}

// So many may watch, and one too many is told why.
func TestTooManyWatchers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l latest
		l.Store(enginetest.Steady(1, 0))
		f := NewFeed(l.source(), clock.Wall)
		var all []*watcher
		for range watchers {
			me, _, err := f.join()
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, me)
		}
		answer := httptest.NewRecorder()
		f.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/v1/live", nil))
		if answer.Code != http.StatusServiceUnavailable || !strings.Contains(answer.Body.String(), "32 pages are open already") {
			t.Errorf("%d %s", answer.Code, answer.Body)
		}
		for _, me := range all {
			f.leave(me)
		}
		synctest.Wait()
	})
}

func TestNotSyncedYet(t *testing.T) {
	var l latest
	answer := httptest.NewRecorder()
	NewFeed(l.source(), clock.Wall).ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/v1/live", nil))
	if answer.Code != http.StatusServiceUnavailable || !strings.Contains(answer.Body.String(), "try again") {
		t.Errorf("%d %s", answer.Code, answer.Body)
	}
}

// The history holds the latest figures, oldest first, and no more than it may.
func TestHistory(t *testing.T) {
	var l latest
	h := NewHistory(l.Load, panics.Teller{})
	h.Sample()
	if len(h.All()) != 0 {
		t.Error("there is a sample of no state")
	}
	w := enginetest.Steady(1, 2)
	for i := range samples + 5 {
		l.Store(w.Edit().Snapshot(int64(i)))
		h.Sample()
	}
	all := h.All()
	if len(all) != samples || all[0].At != 5 || all[samples-1].At != samples+4 || all[0].Ready != 1 || all[0].Waiting != 2 {
		t.Errorf("%d samples from %+v", len(all), all[0])
	}
}
