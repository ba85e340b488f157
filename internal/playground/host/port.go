package host

import (
	"fmt"
	"net"
	"sync"
)

// Ports are the ports of this computer that processes of pods have or may have. Hosts of one computer share them: a
// port that one has found free is the other's as well until the process listens there.
type Ports struct {
	mu    sync.Mutex
	held  map[int]bool
	doors map[int]*door
	said  map[int]bool // ports of which was said that they have no door
}

// Free reports whether no process on this computer has a port.
func Free(port int) bool {
	l, err := net.Listen("tcp", fmt.Sprintf(":%d", port))
	if err != nil {
		return false
	}
	return l.Close() == nil
}

// take returns the wanted port if it is free, or else another. taken tells that a stranger has it, not a pod of a
// host here.
func (p *Ports) take(wanted int) (got int, taken bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, try := range []int{wanted, 0, 0, 0} {
		if p.held[try] {
			continue
		}
		l, err := net.Listen("tcp", fmt.Sprintf(":%d", try))
		if err != nil {
			taken = true
			continue
		}
		got := l.Addr().(*net.TCPAddr).Port
		if err := l.Close(); err != nil {
			return 0, taken, err
		}
		if !p.held[got] {
			if p.held == nil {
				p.held = map[int]bool{}
			}
			p.held[got] = true
			return got, taken, nil
		}
	}
	return 0, taken, fmt.Errorf("no port is free for %d", wanted)
}

// release gives ports back.
func (p *Ports) release(ports map[int]int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, got := range ports {
		delete(p.held, got)
	}
}
