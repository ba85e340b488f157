package host

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"slices"
	"strconv"
	"sync"
	"time"
)

// A door leads from the address of pods, where the API server looks for what is behind a Service, to the processes,
// which listen on the loopback interface alone. Pods share that address, so it leads to each of them in turn. It is
// open to the API server of this playground: nobody on the network, and no other playground of this computer, whose
// Services name the same address, gets in.
type door struct {
	server *http.Server
	ended  chan struct{} // closed when the server has ended

	mu  sync.Mutex
	to  []int // ports of the loopback interface
	use int
}

// open has port of an address lead to a process that listens at to, for the API server at host. It fails if somebody
// else listens there.
func (p *Ports) open(address string, port, to int, host string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if d := p.doors[port]; d != nil {
		d.lead(to)
		return nil
	}
	l, err := net.Listen("tcp", net.JoinHostPort(address, strconv.Itoa(port)))
	if err != nil {
		return err
	}
	d := &door{to: []int{to}, ended: make(chan struct{})}
	d.server = &http.Server{Handler: d.handler(address, host), ReadHeaderTimeout: 10 * time.Second}
	go func() {
		defer close(d.ended)
		_ = d.server.Serve(l) // it ends when the last process behind it does
	}()
	if p.doors == nil {
		p.doors = map[int]*door{}
	}
	p.doors[port] = d
	return nil
}

// shut has a door no longer lead to a process.
func (p *Ports) shut(port, to int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	d := p.doors[port]
	if d == nil || d.leave(to) > 0 {
		return
	}
	_ = d.server.Close()
	<-d.ended
	delete(p.doors, port)
}

// complain reports whether it is to be said that a port has no door: once.
func (p *Ports) complain(port int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.said[port] {
		return false
	}
	if p.said == nil {
		p.said = map[int]bool{}
	}
	p.said[port] = true
	return true
}

func (d *door) lead(to int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.to = append(d.to, to)
}

// leave forgets a process, and returns how many are left.
func (d *door) leave(to int) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	if i := slices.Index(d.to, to); i >= 0 {
		d.to = slices.Delete(d.to, i, i+1)
	}
	return len(d.to)
}

// turn is the processes, each time beginning with another one.
func (d *door) turn() []int {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := slices.Clone(d.to)
	if len(out) == 0 {
		return nil
	}
	d.use = (d.use + 1) % len(out)
	return append(out[d.use:], out[:d.use]...)
}

// dial connects to the first of the processes that takes the call.
func (d *door) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	var dialer net.Dialer
	var errs []error
	for _, to := range d.turn() {
		c, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(loopback, strconv.Itoa(to)))
		if err == nil {
			return c, nil
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(append(errs, errors.New("no pod of this node answers"))...)
}

func (d *door) handler(address, host string) http.Handler {
	on := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host = "http", net.JoinHostPort(loopback, "0") // dial knows where
		},
		Transport: &http.Transport{DialContext: d.dial, DisableKeepAlives: true}, // so that each call takes its turn
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			http.Error(w, err.Error(), http.StatusBadGateway)
		},
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		from, _, err := net.SplitHostPort(r.RemoteAddr)
		switch {
		case err != nil || from != address && !net.ParseIP(from).IsLoopback():
			http.Error(w, "pods of a playground are open to its own computer alone", http.StatusForbidden)
		case r.Host != host: // the API server leaves what its client called it
			http.Error(w, fmt.Sprintf("here are pods of the playground whose API server is %s, and not of that at %s", host, r.Host), http.StatusMisdirectedRequest)
		default:
			on.ServeHTTP(w, r)
		}
	})
}
