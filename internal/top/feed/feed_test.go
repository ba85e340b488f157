package feed_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenon-sh/tenon/internal/top/feed"
)

// serving answers /v1/live with what a connection says, one after the other; then it goes on for ever without a word.
func serving(connections ...string) (feed.Get, *[]time.Time) {
	var began []time.Time
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/live" || r.URL.Query().Get("from") != "leader" {
			http.Error(w, "there is no "+r.URL.String(), http.StatusNotFound)
			return
		}
		n := len(began)
		began = append(began, time.Now())
		if n < len(connections) {
			_, _ = io.WriteString(w, connections[n]) // a pipe that is read
			if !strings.HasSuffix(connections[n], "silent\n\n") {
				return
			}
		}
		<-r.Context().Done()
	})
	return feed.Local(h), &began
}

func all(seq int) string {
	return fmt.Sprintf("event: all\ndata: {\"seq\": %d, \"whole\": true}\n\n", seq)
}

// A connection that ends, breaks or falls silent is told and made again; a beat keeps it.
func TestFollow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		get, began := serving(
			all(1)+"event: change\ndata: {\"seq\": 2}\n\nevent: beat\ndata: {}\n\n",
			"event: all\ndata: {nonsense\n\n",
			all(3)+": silent\n\n",
		)
		ctx, end := context.WithCancel(t.Context())
		var heard []string
		done := make(chan struct{})
		go func() {
			defer close(done)
			feed.Follow(ctx, get, func(n feed.News) {
				switch {
				case n.Lost != nil:
					heard = append(heard, n.Lost.Error())
				default:
					heard = append(heard, fmt.Sprint(n.Frame.Seq))
				}
			})
		}()
		time.Sleep(50 * time.Second)
		end()
		<-done
		want := []string{"1", "2", "the controller ended the connection", "read what it shows: invalid character 'n' looking for beginning of object key string; it may be of another release", "3", "nothing was heard for 30s"}
		if got := strings.Join(heard, "|"); got != strings.Join(want, "|") {
			t.Errorf("heard\n%s\nwant\n%s", got, strings.Join(want, "|"))
		}
		if len(*began) != 4 {
			t.Errorf("%d connections, want 4", len(*began))
		}
	})
}

// One that cannot be reached is asked again, less and less often.
func TestFollowUnreachable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tries := 0
		refused := func(context.Context, string, url.Values) (io.ReadCloser, error) {
			tries++
			return nil, errors.New("connection refused")
		}
		ctx, end := context.WithTimeout(t.Context(), time.Minute)
		defer end()
		feed.Follow(ctx, refused, func(n feed.News) {
			if n.Lost == nil || n.Lost.Error() != "connection refused" {
				t.Errorf("heard %+v", n)
			}
		})
		if tries < 8 || tries > 12 {
			t.Errorf("%d tries in a minute", tries)
		}
	})
}

func TestAsk(t *testing.T) {
	get := feed.Local(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/v1/nodes/a b":
			_, _ = io.WriteString(w, `{"format": "f", "answer": {}, "text": "it is there"}`)
		case "/v1/labels":
			_, _ = fmt.Fprintf(w, `{"nodes": {"n": ["%s"]}}`, strings.Join(r.URL.Query()["key"], "+"))
		default:
			http.Error(w, "there is no node x; did you mean y?", http.StatusNotFound)
		}
	}))
	if text, err := feed.Ask(t.Context(), get, "v1/nodes/"+url.PathEscape("a b"), nil); err != nil || text != "it is there" {
		t.Errorf("an answer: %q, %v", text, err)
	}
	if _, err := feed.Ask(t.Context(), get, "v1/nodes/x", nil); err == nil || err.Error() != "there is no node x; did you mean y?" {
		t.Errorf("what is not there: %v", err)
	}
	if v, err := feed.Labels(t.Context(), get, []string{"a", "b"}); err != nil || v["n"][0] != "a+b" {
		t.Errorf("labels: %v, %v", v, err)
	}
}
