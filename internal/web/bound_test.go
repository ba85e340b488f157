package web_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/journal"
	"github.com/tenon-sh/tenon/internal/web"
)

// sleeper is a reader that has asked and does not read.
type sleeper struct {
	http.ResponseWriter

	deadline time.Time
}

func (s *sleeper) SetWriteDeadline(t time.Time) error {
	s.deadline = t
	return nil
}

func (s *sleeper) Write([]byte) (int, error) {
	if s.deadline.IsZero() {
		time.Sleep(time.Hour) // as the network does
	}
	time.Sleep(time.Until(s.deadline))
	return 0, os.ErrDeadlineExceeded
}

// However many ask for Worlds and do not read them, few are made at a time, the
// others are told to come again, and a reader that does not read is disconnected.
func TestReadersAreBounded(t *testing.T) {
	w := scene(t)
	j := journal.New(3, "v1", nil)
	j.Add(journal.Entry{Kind: journal.Buy, World: w, Plan: plan.Plan{}})
	for _, path := range []string{"/journal", "/decisions/" + w.Digest() + "/world", "/decisions/" + w.Digest() + "?o=json", "/"} {
		t.Run(path, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := web.Handler(web.Config{Decisions: j, World: func() *world.World { return w }})
				ask := func() *http.Request { return httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil) }
				done := make(chan struct{}, 50)
				codes := make([]*httptest.ResponseRecorder, 50)
				for i := range codes {
					codes[i] = httptest.NewRecorder()
					go func() {
						h.ServeHTTP(&sleeper{ResponseWriter: codes[i]}, ask())
						done <- struct{}{}
					}()
				}
				synctest.Wait()
				if code, body := get(t, h, path); code != http.StatusServiceUnavailable || !strings.Contains(body, "try again") {
					t.Errorf("while fifty do not read, the next gets %d: %.100s", code, body)
				}
				time.Sleep(11 * time.Minute)
				for range codes {
					select {
					case <-done:
					default:
						t.Fatal("one that does not read is still served")
					}
				}
				if code, _ := get(t, h, path); code != http.StatusOK {
					t.Errorf("afterwards the next gets %d", code)
				}
			})
		})
	}
}
