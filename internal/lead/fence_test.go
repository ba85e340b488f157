package lead

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A term ends by whichever clock says that more time has passed.
func TestTermEnds(t *testing.T) {
	noon := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	tests := map[string]struct {
		why  string
		wall time.Duration
		want bool
	}{
		"Young":   {"A second has passed of two.", time.Second, false},
		"Over":    {"Two have.", 2 * time.Second, true},
		"Forward": {"The clock was set forward, or the computer slept: it cannot be told which.", time.Hour, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := (term{noon, 2 * time.Second}).over(noon.Add(tc.wall)); got != tc.want {
				t.Errorf("over: %t, want %t: %s", got, tc.want, tc.why)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		asked := time.Now()
		time.Sleep(3 * time.Second)
		if back := asked.Add(-time.Hour); !(term{asked, 2 * time.Second}).over(time.Now()) || back.After(asked) {
			t.Error("a term does not end by the steady clock")
		}
	})
}

// Reads pass whichever replica leads. Writes pass while this process does, wait while its
// renewal is late, and are not sent when it leads no more.
func TestTransport(t *testing.T) {
	var got []string
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = append(got, r.Method) }))
	defer server.Close()
	now := time.Now()
	f := NewFence(func() time.Time { return now })
	client := &http.Client{Transport: f.Transport(&http.Transport{DialContext: f.Dial((&net.Dialer{}).DialContext)})}
	send := func(method string) error {
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		r, err := http.NewRequestWithContext(ctx, method, server.URL, strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		res, err := client.Do(r)
		if err == nil {
			err = res.Body.Close()
		}
		return err
	}
	if err := send(http.MethodGet); err != nil {
		t.Error("one that waits for its turn cannot read: ", err)
	}
	if err := send(http.MethodPost); !errors.Is(err, ErrNotLeading) {
		t.Error("one that waits for its turn writes: ", err)
	}
	f.extend(installation, now, 2*time.Second)
	f.extend(wholeCluster, now, 2*time.Second)
	if err := send(http.MethodPatch); err != nil {
		t.Error("the leader cannot write: ", err)
	}
	now = now.Add(3 * time.Second) // it was paused
	if err := send(http.MethodDelete); !errors.Is(err, context.DeadlineExceeded) {
		t.Error("a write does not wait for the renewal: ", err)
	}
	f.extend(installation, now, 2*time.Second)
	f.extend(wholeCluster, now, 2*time.Second)
	if err := send(http.MethodDelete); err != nil {
		t.Error("the leader cannot write after a late renewal: ", err)
	}
	f.shut(ErrNotLeading)
	if err := send(http.MethodPost); !errors.Is(err, ErrNotLeading) {
		t.Error("one that leads no more writes: ", err)
	}
	if want := "GET PATCH DELETE"; strings.Join(got, " ") != want {
		t.Errorf("the server got %v, want %s", got, want)
	}
}

// A request that was let pass, and whose process was paused then, is not written
// to its connection when the process wakes.
func TestConnectionOfAPausedLeader(t *testing.T) {
	here, there := net.Pipe()
	defer there.Close()
	now := time.Now()
	f := NewFence(func() time.Time { return now })
	conn, err := f.Dial(func(context.Context, string, string) (net.Conn, error) { return here, nil })(t.Context(), "", "")
	if err != nil {
		t.Fatal(err)
	}
	f.extend(installation, now, 2*time.Second)
	f.extend(wholeCluster, now, 2*time.Second)
	if err := f.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	now = now.Add(time.Minute) // here it sleeps
	written := make(chan error, 1)
	go func() {
		_, err := conn.Write([]byte("DELETE /api/v1/nodes/n HTTP/1.1"))
		written <- err
	}()
	f.shut(ErrNotLeading) // and finds out
	if err := <-written; !errors.Is(err, ErrNotLeading) {
		t.Errorf("it was written: %v", err)
	}
	if _, err := there.Read(make([]byte, 1)); err == nil {
		t.Error("something arrived")
	}
}
