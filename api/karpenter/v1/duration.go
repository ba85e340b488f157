package v1

import (
	"fmt"
	"time"
)

// NillableDuration is a length of time or Never, kept as it was written, so that what a user reads back is byte for
// byte what the user wrote.
type NillableDuration string

// Never is a time that does not come.
const Never NillableDuration = "Never"

// After returns d as a NillableDuration.
func After(d time.Duration) NillableDuration { return NillableDuration(d.String()) }

// Span returns the length of time. It is false for Never, for nothing, and for a length too long to count, which is
// as good as never.
func (d NillableDuration) Span() (time.Duration, bool) {
	if d == Never || d == "" {
		return 0, false
	}
	span, err := time.ParseDuration(string(d))
	return span, err == nil
}

// Canonical is the one spelling of equal lengths: 1h and 60m are the same to a digest.
func (d NillableDuration) Canonical() string {
	if span, ok := d.Span(); ok {
		return span.String()
	}
	return string(d)
}

// problem says why d is no length of time, or "".
func (d NillableDuration) problem() string {
	if d == Never || d == "" {
		return ""
	}
	if _, err := time.ParseDuration(string(d)); err != nil {
		return fmt.Sprintf("%v: use a length such as 30s, 10m or 720h, at most 2562047h, or Never", err)
	}
	return ""
}
