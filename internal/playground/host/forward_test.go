package host

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// Services of a playground lead to each of its processes in turn, to one that runs where another does not answer, and
// no client in that called another API server.
func TestDoorsLeadToTheProcesses(t *testing.T) {
	const api = "127.0.0.1:6443"
	shared := &Ports{}
	port, err := shared.take()
	if err != nil {
		t.Fatal(err)
	}
	process := func(name string) int {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, name, r.URL.Path) }))
		t.Cleanup(s.Close)
		return portOf(t, s)
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
		if err := shared.open(loopback, port, to, requests(loopback, api)); err != nil {
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
	if err := (&Ports{}).open(loopback, port, first, requests(loopback, api)); err == nil {
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
	if err := shared.open(loopback, port, second, requests(loopback, api)); err != nil {
		t.Errorf("the port cannot be had again: %v", err)
	}
	shared.shut(port, second)
}

// The webhooks of all pods are reached at the port that their Service names, one after the other, and what they say is
// encrypted from end to end. When the last of them has ended nothing of it is left.
func TestDoorsLeadToWebhooks(t *testing.T) {
	shared := &Ports{}
	port, err := shared.take()
	if err != nil {
		t.Fatal(err)
	}
	processes := map[string]*httptest.Server{}
	trusted := x509.NewCertPool()
	for _, name := range []string{"first", "second"} {
		s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, name) }))
		t.Cleanup(s.Close)
		trusted.AddCert(s.Certificate())
		processes[name] = s
		if err := shared.open(loopback, port, portOf(t, s), connections(loopback)); err != nil {
			t.Fatal(err)
		}
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted, ServerName: "example.com"}}}
	call := func() (string, error) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, fmt.Sprintf("https://%s:%d/", loopback, port), nil)
		if err != nil {
			return "", err
		}
		answer, err := client.Do(r)
		if err != nil {
			return "", err
		}
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		return string(body), err
	}
	seen := map[string]int{}
	for range 4 {
		body, err := call()
		if err != nil {
			t.Fatal(err)
		}
		seen[body]++
		client.CloseIdleConnections()
	}
	if seen["first"] != 2 || seen["second"] != 2 {
		t.Errorf("four connections were answered by %v", seen)
	}
	processes["first"].Close() // and it still leads there
	for range 2 {
		if body, err := call(); body != "second" {
			t.Errorf("after the first process ended a call gets %q %v", body, err)
		}
		client.CloseIdleConnections()
	}
	if _, err := call(); err != nil { // which keeps its connection
		t.Fatal(err)
	}
	shared.shut(port, portOf(t, processes["first"]))
	shared.shut(port, portOf(t, processes["second"]))
	if body, err := call(); err == nil {
		t.Errorf("where no process runs a call gets %q", body)
	}
}

// portOf is the port that a process listens at.
func portOf(t *testing.T, s *httptest.Server) int {
	t.Helper()
	return s.Listener.Addr().(*net.TCPAddr).Port
}
