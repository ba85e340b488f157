// Package panics keeps a bug that shows as a panic to the one object, look or decision that met it.
//
// What users, kubelets and clouds write reaches nearly all of our code, and all
// controllers live in one process: without this, one object would end the
// leader, and the next one, and so on. What is done instead of what broke is
// the business of the caller, which says why that is safe.
package panics

import (
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/go-logr/logr"

	"github.com/tenon-sh/tenon/internal/metric"
)

// Caught calls f. It returns nil, or what f panicked with and where, as an error.
func Caught(f func()) (broke error) {
	defer func() {
		if r := recover(); r != nil {
			broke = fmt.Errorf("panic: %v\n%s", r, debug.Stack())
		}
	}()
	f()
	return nil
}

// Teller reports panics that were caught. The zero value only catches.
type Teller struct {
	Log     logr.Logger
	Metrics *metric.Set
}

// Tell logs and counts what broke, if anything did. about are keys and values of the log.
func (t Teller) Tell(where string, broke error, about ...any) {
	if broke == nil {
		return
	}
	t.Metrics.Add(metric.Panics, 1, where)
	t.Log.Error(broke, "a bug in Tenon was caught, please report it; everything else goes on", append([]any{"where", where}, about...)...)
}

// Do calls f and reports it if it breaks. It reports whether it returned.
func (t Teller) Do(where string, f func(), about ...any) bool {
	broke := Caught(f)
	t.Tell(where, broke, about...)
	return broke == nil
}

// errBug is the error of what broke. The log has the rest.
var errBug = errors.New("it meets a bug in Tenon, which is in the controller's log: please report it")

// Try calls f and returns its error. If it breaks that is reported, and it has failed: where
// something is done about many objects, one that breaks our code costs itself.
func (t Teller) Try(where string, f func() error, about ...any) error {
	err := errBug
	t.Do(where, func() { err = f() }, about...)
	return err
}

// Handle keeps what breaks in a handler of objects to the object it was about:
// an informer would end the process.
func (t Teller) Handle(where string, f func(any)) func(any) {
	return func(o any) { t.Do(where, func() { f(o) }, "object", nameOf(o)) }
}

// HandleUpdate is Handle for handlers that receive what an object was before.
func (t Teller) HandleUpdate(where string, f func(was, is any)) func(was, is any) {
	return func(was, is any) { t.Do(where, func() { f(was, is) }, "object", nameOf(is)) }
}

// nameOf is how the log names an object.
func nameOf(o any) string {
	named, ok := o.(interface {
		GetNamespace() string
		GetName() string
	})
	if !ok {
		return fmt.Sprintf("%T", o)
	}
	if named.GetNamespace() == "" {
		return named.GetName()
	}
	return named.GetNamespace() + "/" + named.GetName()
}
