package playground

import (
	"errors"
	"os"
	"strings"
	"testing"
)

// What a playground says that does not come up is told as it stands, and never nothing.
func TestLastWords(t *testing.T) {
	for name, c := range map[string]struct{ said, want string }{
		"an error":                 {"tenon: no such region\n", "no such region"},
		"before the reserved room": {"tenon: no such region\n\x00\x00\x00", "no such region"},
		"nothing":                  {"", "the playground in here ended without a word (exit status 1); what its parts said is in here/log"},
		"nothing but what is kept": {"\x00\x00", "the playground in here ended without a word (exit status 1); what its parts said is in here/log"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := lastWords([]byte(c.said), "exit status 1", "here").Error(); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// A full disk is noticed while there is somebody to be told.
func TestReserveNeedsRoom(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_RDWR, 0)
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("there is no /dev/full here")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	if err := reserve(full); err == nil || !strings.Contains(err.Error(), "no space left on device") {
		t.Errorf("got %v", err)
	}
}
