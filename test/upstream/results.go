package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// The results.
const (
	passed  = "passed"
	failed  = "failed"
	skipped = "skipped"
	waiting = "waiting" // without a controller, it had not ended in time
)

// A result is what came of a spec.
type result struct {
	Suite, Text string
	Result      string
	Why         string // it failed
	Seconds     float64
	Commit      string

	timedOut bool
}

func (r result) took() time.Duration {
	return time.Duration(r.Seconds * float64(time.Second)).Round(time.Second)
}

// results are kept a file each, so that parts can run side by side.
type results struct {
	dir string
	was map[string]result // of the page that is to be written again, by keyOf
}

func (r results) file(s spec, without bool) string {
	sum := sha256.Sum256([]byte(s.Suite + "\n" + s.Text))
	name := hex.EncodeToString(sum[:8])
	if without {
		name += "-without"
	}
	return filepath.Join(r.dir, name+".json")
}

// of is what came of a spec last, if it was ever run: here, or else where the page was written before.
func (r results) of(s spec, without bool) (result, bool) {
	var came result
	data, err := os.ReadFile(r.file(s, without))
	if errors.Is(err, fs.ErrNotExist) {
		came, ok := r.was[keyOf(s.Suite, cell(s.Text), without)]
		return came, ok
	}
	return came, err == nil && json.Unmarshal(data, &came) == nil // one that cannot be read is made again
}

func (r results) keep(s spec, without bool, came result) error {
	if err := os.MkdirAll(r.dir, 0o755); err != nil {
		return err
	}
	came.Suite, came.Text = s.Suite, s.Text
	data, err := json.MarshalIndent(came, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(r.file(s, without), append(data, '\n'), 0o644)
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}
