package apitest

import (
	"time"
	"unsafe"
)

// Set is what a clock shows at t that has been set ahead by whole seconds, or
// back, while the process runs: another time of day, while what passes between
// two of its times is counted as before. Time.Add would change both, as if the
// time had passed. In a bubble of testing/synctest nothing else counts.
func Set(t time.Time, ahead time.Duration) time.Time {
	// Package time has no way to make this: a Time that counts has its highest bit set, the
	// seconds since 1885 and 30 bits of nanoseconds in its first word, and what was counted in its second.
	began := time.Date(1885, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	out := t.Round(0)
	words := (*[2]uint64)(unsafe.Pointer(&out)) //nolint:gosec // tests alone do this
	shown := t.Unix() + int64(ahead/time.Second) - began
	words[0] = 1<<63 | uint64(shown)<<30 | uint64(t.Nanosecond()) //nolint:gosec // they are positive until 2157
	words[1] = uint64(t.UnixNano())                               //nolint:gosec // so is this
	return out
}
