package faults

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tenon-sh/tenon/internal/kubetest"
	"github.com/tenon-sh/tenon/test/stage"
)

// The API server goes away while nodes come: watches break, and nothing is
// answered for five seconds. It all goes on afterwards, and nothing is bought twice.
func TestServerGoesAway(t *testing.T) {
	slow(t)
	s, _ := play(t, stage.Options{})
	way, ns := stage.NewWay(t), kubetest.Namespace(t)
	s.Inside(t, 0, way.Config())
	web := stage.Apart(ns, "web", 4)
	s.Make(t, web)
	kubetest.Within(t, soon, func() error {
		if s.Calls("CreateFleet") == 0 {
			return errNotYet
		}
		return nil
	})
	gone := time.Now().Add(5 * time.Second)
	way.Disturb(func(*http.Request) int {
		if time.Now().Before(gone) {
			return -1
		}
		return 0
	})
	way.Cut()
	s.Runs(t, soon, ns, 4)
	bought(t, s, 4)
	deleteNodes(t, s, web)
}

// Every third write meets a conflict, and every fifth request is one too many.
func TestServerRefuses(t *testing.T) {
	slow(t)
	for name, refuse := range map[string]func(n int64, r *http.Request) int{
		"Conflicts": func(n int64, r *http.Request) int {
			if (r.Method == http.MethodPut || r.Method == http.MethodPatch) && n%3 == 0 {
				return http.StatusConflict
			}
			return 0
		},
		"Throttled": func(n int64, r *http.Request) int {
			if n%5 == 0 && !strings.Contains(r.URL.RawQuery, "watch") {
				return http.StatusTooManyRequests
			}
			return 0
		},
		"Errors": func(n int64, r *http.Request) int {
			if r.Method != http.MethodGet && n%4 == 0 {
				return http.StatusInternalServerError
			}
			return 0
		},
	} {
		t.Run(name, func(t *testing.T) {
			if name != "Conflicts" {
				slow(t)
			}
			s, _ := play(t, stage.Options{})
			way, ns := stage.NewWay(t), kubetest.Namespace(t)
			s.Inside(t, 0, way.Config())
			var n atomic.Int64
			way.Disturb(func(r *http.Request) int { return refuse(n.Add(1), r) })
			web := stage.Apart(ns, "web", 4)
			s.Make(t, web)
			s.Runs(t, soon, ns, 4)
			bought(t, s, 4)
			deleteNodes(t, s, web)
			bought(t, s, 4)
		})
	}
}
