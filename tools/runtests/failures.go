package main

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strings"
)

const (
	followed     = 3  // lines after one that names a test that failed
	followedLong = 25 // and after one that names all that ran when time was up
	mostKept     = 60
)

var (
	failedTest = regexp.MustCompile(`^\s*--- FAIL: `)
	crashed    = regexp.MustCompile(`^(panic: |fatal error: |goleak: |kubetest: )`)
	ended      = regexp.MustCompile(`^FAIL\t`)
	timedOut   = regexp.MustCompile(`^panic: test timed out`)
)

// failures passes on what go test says, and keeps what names that which failed: between the lines of a hundred packages it is easily
// overlooked, and of a long output often only the end is shown.
type failures struct {
	to      io.Writer
	line    []byte // what has come of a line
	kept    []string
	left    int // so many lines more belong to the last that was kept
	dropped int
}

func (f *failures) Write(p []byte) (int, error) {
	f.line = append(f.line, p...)
	for {
		line, rest, ok := bytes.Cut(f.line, []byte("\n"))
		if !ok {
			break
		}
		f.look(string(line))
		f.line = rest
	}
	return f.to.Write(p)
}

func (f *failures) look(line string) {
	switch {
	case timedOut.MatchString(line):
		f.left = followedLong
	case failedTest.MatchString(line), crashed.MatchString(line):
		f.left = followed
	case ended.MatchString(line):
		f.left = 0
	case f.left == 0:
		return
	case strings.TrimSpace(line) == "":
		f.left = 0
		return
	default:
		f.left--
	}
	if len(f.kept) == mostKept {
		f.dropped++
		return
	}
	f.kept = append(f.kept, line)
}

// tell says once more what failed.
func (f *failures) tell(w io.Writer) {
	if len(f.kept) == 0 {
		return
	}
	fmt.Fprintf(w, "\nWhat failed, once more:\n%s\n", strings.Join(f.kept, "\n"))
	if f.dropped > 0 {
		fmt.Fprintf(w, "and %d lines more, above\n", f.dropped)
	}
}
