package host

import (
	"errors"
	"fmt"
	"net"
	"sync"
)

// attempts bounds how often a port is given up because a process that has not begun to listen has it.
const attempts = 10

// Ports are the ports of this computer that processes of pods have or may have. Hosts of one computer share them: a
// port that one has found free is the other's as well until the process listens there.
type Ports struct {
	mu         sync.Mutex
	held       map[int]bool
	forwarders map[int]*forwarder
	said       map[int]bool // ports of which was said that they have no forwarder
}

// Free reports whether no process on this computer has a port.
func Free(port int) bool {
	l, err := net.Listen("tcp", fmt.Sprintf(":%d", port))
	if err != nil {
		return false
	}
	return l.Close() == nil
}

// take returns a port that is free.
func (p *Ports) take() (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for range attempts {
		l, err := net.Listen("tcp", ":0")
		if err != nil {
			return 0, err
		}
		got := l.Addr().(*net.TCPAddr).Port
		if err := l.Close(); err != nil {
			return 0, err
		}
		if !p.held[got] {
			if p.held == nil {
				p.held = map[int]bool{}
			}
			p.held[got] = true
			return got, nil
		}
	}
	return 0, errors.New("no port is free")
}

// release gives ports back.
func (p *Ports) release(ports map[int]int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, got := range ports {
		delete(p.held, got)
	}
}
