// Package parallel does something to every item of a list, several at a time.
package parallel

import (
	"errors"

	"github.com/sourcegraph/conc/iter"
)

// Writes is how many objects are written to the API server side by side.
const Writes = 32

// Do calls do with every item and its place, limit of them at a time, and
// returns when all calls have. A panic of one is the caller's, with the stack of
// both, so that what catches the caller's panics catches it too: in a goroutine
// of its own it would end the process.
func Do[T any](limit int, items []T, do func(int, T)) {
	iter.Iterator[T]{MaxGoroutines: limit}.ForEachIdx(items, func(i int, item *T) { do(i, *item) })
}

// Each is Do where a call may fail. It returns the errors in the order of the items.
func Each[T any](limit int, items []T, do func(int, T) error) error {
	errs := make([]error, len(items))
	Do(limit, items, func(i int, item T) { errs[i] = do(i, item) })
	return errors.Join(errs...)
}
