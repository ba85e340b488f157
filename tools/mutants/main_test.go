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
tools/mutants/testdata/sums: 6 of 10 killed (60 %), 2 lived, 2 not reached, 0 not tried, in TIME
`
	if diff := cmp.Diff(want, regexp.MustCompile(`in \w+\n$`).ReplaceAllString(b.String(), "in TIME\n")); diff != "" {
		t.Error(diff)
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
