// Package clock is the one place outside of tests that reads the time.
//
// What needs the time takes a Now as a field or an argument, so that a test
// or a simulation can give its own.
package clock

import "time"

// Now returns the time.
type Now func() time.Time

// Wall is the time of the machine. It is what a program runs on; tests pass
// their own Now or run inside testing/synctest, where Wall is virtual.
func Wall() time.Time { return time.Now() }

// At returns a Now that always says t.
func At(t time.Time) Now {
	return func() time.Time { return t }
}

// Since is the time that has passed since t.
func (now Now) Since(t time.Time) time.Duration { return now().Sub(t) }

// Until is the time that is left before t.
func (now Now) Until(t time.Time) time.Duration { return t.Sub(now()) }
