package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"slices"
	"strconv"
	"sync"
	"time"
)

// A forwarder leads from the address of pods, where the API server looks for what is behind a Service, to the processes,
// which have ports of their own. Pods share that address, so it leads to each of them in turn. It is open to this
// computer alone: it is out of reach of the network.
type forwarder struct {
	serve func(net.Listener) // until the listener is closed
	stop  func()             // ends calls that are under way
	ended chan struct{}      // closed when serve has returned

	mu  sync.Mutex
	to  []int // ports of the loopback interface
	use int
}

// open has port of an address lead to a process that listens at to. It fails if somebody else listens there.
func (p *Ports) open(address string, port, to int, kind func(*forwarder)) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if d := p.forwarders[port]; d != nil {
		d.lead(to)
		return nil
	}
	l, err := net.Listen("tcp", net.JoinHostPort(address, strconv.Itoa(port)))
	if err != nil {
		return err
	}
	d := &forwarder{to: []int{to}, ended: make(chan struct{})}
	kind(d)
	end := d.stop
	d.stop = func() {
		_ = l.Close()
		end()
	}
	go func() {
		defer close(d.ended)
		d.serve(l)
	}()
	if p.forwarders == nil {
		p.forwarders = map[int]*forwarder{}
	}
	p.forwarders[port] = d
	return nil
}

// shut has a forwarder no longer lead to a process.
func (p *Ports) shut(port, to int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	d := p.forwarders[port]
	if d == nil || d.leave(to) > 0 {
		return
	}
	d.stop()
	<-d.ended
	delete(p.forwarders, port)
}

// complain reports whether it is to be said that a port has no forwarder: once.
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

func (d *forwarder) lead(to int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.to = append(d.to, to)
}

// leave forgets a process, and returns how many are left.
func (d *forwarder) leave(to int) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	if i := slices.Index(d.to, to); i >= 0 {
		d.to = slices.Delete(d.to, i, i+1)
	}
	return len(d.to)
}

// turn is the processes, each time beginning with another one.
func (d *forwarder) turn() []int {
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
func (d *forwarder) dial(ctx context.Context, _, _ string) (net.Conn, error) {
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

// ours reports whether a call comes from this computer, whose pods have address.
func ours(remote, address string) bool {
	from, _, err := net.SplitHostPort(remote)
	return err == nil && (from == address || net.ParseIP(from).IsLoopback())
}

// requests is a forwarder for HTTP. It is open to the API server at host, whose client has called it so: another playground
// of this computer, whose Services name the same address, does not get in.
func requests(address, host string) func(*forwarder) {
	return func(d *forwarder) {
		s := &http.Server{Handler: d.handler(address, host), ReadHeaderTimeout: 10 * time.Second}
		d.serve = func(l net.Listener) { _ = s.Serve(l) } // it ends when the last process behind it does
		d.stop = func() { _ = s.Close() }
	}
}

func (d *forwarder) handler(address, host string) http.Handler {
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
		switch {
		case !ours(r.RemoteAddr, address):
			http.Error(w, "pods of a playground are open to its own computer alone", http.StatusForbidden)
		case r.Host != host: // the API server leaves what its client called it
			http.Error(w, fmt.Sprintf("here are pods of the playground whose API server is %s, and not of that at %s", host, r.Host), http.StatusMisdirectedRequest)
		default:
			on.ServeHTTP(w, r)
		}
	})
}

// connections is a forwarder for webhooks, which speak TLS: what is said there is between the API server and the process.
// The API server of another playground does not trust the certificate that it is shown here.
func connections(address string) func(*forwarder) {
	return func(d *forwarder) {
		ctx, stop := context.WithCancel(context.Background())
		d.stop = stop
		d.serve = func(l net.Listener) {
			var all sync.WaitGroup
			defer all.Wait()
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				all.Go(func() { d.join(ctx, c, address) })
			}
		}
	}
}

// join carries what both ends of a connection say, until either ends or ctx does.
func (d *forwarder) join(ctx context.Context, from net.Conn, address string) {
	defer from.Close()
	if !ours(from.RemoteAddr().String(), address) {
		return
	}
	to, err := d.dial(ctx, "", "")
	if err != nil {
		return
	}
	end := sync.OnceFunc(func() {
		_ = from.Close()
		_ = to.Close()
	})
	defer context.AfterFunc(ctx, end)()
	var both sync.WaitGroup
	for _, way := range [][2]net.Conn{{from, to}, {to, from}} {
		both.Go(func() {
			defer end()
			_, _ = io.Copy(way[0], way[1])
		})
	}
	both.Wait()
}
