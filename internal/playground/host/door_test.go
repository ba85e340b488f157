package host

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
)

// Services of a playground lead to each of its processes in turn, to one that runs where another does not answer, and
// nobody in who called another API server.
func TestDoorsLeadToTheProcesses(t *testing.T) {
	const api = "127.0.0.1:6443"
	shared := &Ports{}
	port, _, err := shared.take(0)
	if err != nil {
		t.Fatal(err)
	}
	process := func(name string) int {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, name, r.URL.Path) }))
		t.Cleanup(s.Close)
		u, err := url.Parse(s.URL)
		if err != nil {
			t.Fatal(err)
		}
		n, err := strconv.Atoi(u.Port())
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	call := func(host string) (int, string, error) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, fmt.Sprintf("http://%s:%d/now", loopback, port), nil)
		if err != nil {
			return 0, "", err
		}
		r.Host, r.Close = host, true
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			return 0, "", err
		}
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		return answer.StatusCode, string(body), err
	}
	first, second := process("first"), process("second")
	for _, to := range []int{first, second} {
		if err := shared.open(loopback, port, to, api); err != nil {
			t.Fatal(err)
		}
	}
	seen := map[string]int{}
	for range 4 {
		if _, body, err := call(api); err == nil {
			seen[body]++
		}
	}
	if seen["first/now"] != 2 || seen["second/now"] != 2 {
		t.Errorf("four calls were answered by %v", seen)
	}
	if code, body, err := call("127.0.0.1:7443"); code != http.StatusMisdirectedRequest || !strings.Contains(body, api) {
		t.Errorf("a call of another playground's API server gets %d %q %v", code, body, err)
	}
	if err := (&Ports{}).open(loopback, port, first, api); err == nil {
		t.Error("two playgrounds have one port")
	}
	shared.shut(port, first)
	for range 2 {
		if _, body, err := call(api); body != "second/now" {
			t.Errorf("after the first process ended a call gets %q %v", body, err)
		}
	}
	shared.shut(port, second)
	if code, body, err := call(api); err == nil {
		t.Errorf("where no process runs a call gets %d %q", code, body)
	}
	shared.release(map[int]int{port: port})
	if err := shared.open(loopback, port, second, api); err != nil {
		t.Errorf("the port cannot be had again: %v", err)
	}
	shared.shut(port, second)
}
