// Package say is what the driver tells people: lines for the log.
package say

import (
	"sync"

	"github.com/tenon-sh/tenon/engine/world"
)

// Line is something the driver did, or could not do, that a person wants to read.
type Line struct {
	Debug   bool
	Failed  bool // it is an error
	Message string
	Pool    world.PoolID // whose it is; zero if of none
	Fields  map[string]string
}

// Sink gets lines, from several goroutines at once.
type Sink func(Line)

// Lasting says what goes on being wrong once, and once more when it is over.
type Lasting struct {
	to Sink

	mu    sync.Mutex
	wrong map[string]bool // by what it is about
}

// NewLasting returns a Lasting that has heard of nothing wrong yet.
func NewLasting(to Sink) *Lasting { return &Lasting{to: to, wrong: map[string]bool{}} }

// Note takes down how something stands: with an error, it is done without.
func (l *Lasting) Note(about, without string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case err == nil && l.wrong[about]:
		delete(l.wrong, about)
		l.to(Line{Message: about + " can be read again"})
	case err != nil && !l.wrong[about]:
		l.wrong[about] = true
		l.to(Line{Failed: true, Message: about + " cannot be read: " + without, Fields: map[string]string{"error": err.Error()}})
	}
}
