package app_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"k8s.io/client-go/rest"

	"github.com/tenon-sh/tenon/internal/app"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/kubetest"
)

// The API server dates its answers, and a machine whose clock is wrong goes by that.
func TestFollow(t *testing.T) {
	for name, tc := range map[string]struct {
		ahead time.Duration
		says  int
	}{"Right": {0, 0}, "Ahead": {30 * time.Minute, 1}, "Behind": {-24 * time.Hour, 1}} {
		t.Run(name, func(t *testing.T) {
			said := 0
			own := clock.Now(func() time.Time { return time.Now().Add(tc.ahead) })
			f, err := app.Follow(t.Context(), kubetest.Config(t), own, funcr.New(func(string, string) { said++ }, funcr.Options{}))
			if err != nil {
				t.Fatal(err)
			}
			if off := (f.Ahead() - tc.ahead).Abs(); off > 10*time.Second || said != tc.says {
				t.Errorf("corrected by %s, want %s, with %d lines of log, want %d", f.Ahead(), tc.ahead, said, tc.says)
			}
		})
	}
}

// What stands between may drop the date, or answer for the API server; what does not answer says nothing.
func TestFollowWithoutDate(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Header()["Date"] = nil }))
	quiet := funcr.New(func(string, string) {}, funcr.Options{})
	f, err := app.Follow(t.Context(), &rest.Config{Host: s.URL}, clock.Wall, quiet)
	if err != nil || f.Ahead() != 0 {
		t.Errorf("without a date: %v, %v", f, err)
	}
	s.Close()
	if _, err := app.Follow(t.Context(), &rest.Config{Host: s.URL}, clock.Wall, quiet); err == nil {
		t.Error("without an answer there is a clock")
	}
}
