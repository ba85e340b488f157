package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Of a small package it is known which changes make no difference to its test.
func TestMutants(t *testing.T) {
	var b strings.Builder
	if err := run([]string{"./testdata/sums"}, &b); err != nil {
		t.Fatal(err)
	}
	want := `LIVED       sums.go:9:10 Capped: v > 0 → >=
LIVED       sums.go:13:9 Capped: sum >= limit → >
NOT REACHED sums.go:20:42 Spare: -(used - limit) → (used - limit)
NOT REACHED sums.go:20:49 Spare: used - limit → +
LIVED       sums.go:27:9 Within: limited && (v <= limit || v == 0) without limited
LIVED       sums.go:27:35 Within: v <= limit || v == 0 without v == 0
tools/mutants/testdata/sums: 12 of 18 (66 %) killed, 3 of 5 (60 %) of them parts of conditions; 4 lived, 2 not reached, 0 not tried, in TIME
`
	if diff := cmp.Diff(want, regexp.MustCompile(`in \w+\n$`).ReplaceAllString(b.String(), "in TIME\n")); diff != "" {
		t.Error(diff)
	}
}

// A test that is left out kills nothing.
func TestSkip(t *testing.T) {
	var b strings.Builder
	if err := run([]string{"-skip", "TestCapped", "-only", "Capped", "./testdata/sums"}, &b); err != nil {
		t.Fatal(err)
	}
	if got := b.String(); !strings.Contains(got, ": 0 of 8 (0 %) killed, 0 of 0 (0 %) of them parts of conditions; 0 lived, 8 not reached") {
		t.Errorf("it says\n%s", got)
	}
}

// What cannot be changed is an error, and so is a package without a name.
func TestMistakes(t *testing.T) {
	for _, args := range [][]string{nil, {"./nowhere"}, {"-only", "(", "./testdata/sums"}} {
		if err := run(args, new(strings.Builder)); err == nil {
			t.Errorf("%v: no error", args)
		}
	}
}
