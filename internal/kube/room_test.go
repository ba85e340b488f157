package kube

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"
)

// Where there is too little room it is said where, how much is left, how much it takes, and what to do.
func TestRoom(t *testing.T) {
	dir := t.TempDir()
	if err := room(dir, 1); err != nil {
		t.Error(err)
	}
	err := room(dir, math.MaxUint64)
	for _, says := range []string{"the disk is full", dir, fmt.Sprint(uint64(math.MaxUint64>>20), " MiB"), "use another directory"} {
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("got %v, want it to say %q", err, says)
		}
	}
	if err := Room(filepath.Join(dir, "none")); err == nil {
		t.Error("there is room in a directory that is not there")
	}
}
