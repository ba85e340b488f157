package aws

import (
	"sync"

	"github.com/tenon-sh/tenon/engine/world"
)

// Saying is something the driver did, or could not do, that a person wants to read.
type Saying struct {
	Debug   bool
	Failed  bool // it is an error
	Message string
	Pool    world.PoolID // whose it is; zero if nobody's
	Fields  map[string]string
}

// lasting says what goes on being wrong once, and once more when it is over.
type lasting struct {
	said func(Saying)

	mu    sync.Mutex
	wrong map[string]bool // by what it is about
}

// note takes down how something stands: with an error, it is done without.
func (l *lasting) note(about, without string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case err == nil && l.wrong[about]:
		delete(l.wrong, about)
		l.said(Saying{Message: about + " can be read again"})
	case err != nil && !l.wrong[about]:
		l.wrong[about] = true
		l.said(Saying{Failed: true, Message: about + " cannot be read: " + without, Fields: map[string]string{"error": err.Error()}})
	}
}
