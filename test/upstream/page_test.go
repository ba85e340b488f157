package main

import (
	"net"
	"strings"
	"testing"
)

// The page counts each spec once, and those that pass without a controller apart.
func TestRender(t *testing.T) {
	specs := []spec{{Suite: "s", Text: "a | b"}, {Suite: "s", Text: "says nothing"}, {Suite: "s", Text: "breaks"}, {Suite: "s", Text: "later"}}
	kept := results{dir: t.TempDir()}
	for _, r := range []struct {
		spec    int
		without bool
		result
	}{
		{0, false, result{Result: passed, Seconds: 61, Commit: "abc"}},
		{1, false, result{Result: passed, Commit: "abc"}},
		{1, true, result{Result: passed}},
		{0, true, result{Result: failed}},
		{2, true, result{Result: failed}},
		{3, true, result{Result: failed}},
		{2, false, result{Result: failed, Why: "Expected `x`\nmore", Commit: "abc"}},
	} {
		if err := kept.keep(specs[r.spec], r.without, r.result); err != nil {
			t.Fatal(err)
		}
	}
	page := render(specs, kept)
	for _, want := range []string{
		"| s | 4 | 2 | 0 | 1 | 1 | 1 | 1 of 3 |", `| s | a \| b | pass | 1m1s |`, "| s | says nothing | pass, also without a controller |", "| s | breaks | **fails** |",
		"| s | later | not run |", "* s: breaks: `Expected 'x'`", "Commits: abc.",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
}

func TestParts(t *testing.T) {
	for text, want := range map[string]part{"1/1": {1, 1}, "2/3": {2, 3}, "0/3": {}, "4/3": {}, "x": {}, "-1/2": {}} {
		got, err := parsePart(text)
		if (err != nil) != (want == part{}) || err == nil && got != want {
			t.Errorf("-part %s: %v, %v, want %v", text, got, err, want)
		}
	}
	in := 0
	for i := range 10 {
		for nth := range 3 {
			if (part{nth + 1, 3}).has(i) {
				in++
			}
		}
	}
	if in != 10 {
		t.Errorf("three parts have %d of 10 specs", in)
	}
}

// A suite does not begin where another has the port at which it reads metrics.
func TestFree(t *testing.T) {
	l, err := net.Listen("tcp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if err := free(port); err == nil || !strings.Contains(err.Error(), "unshare") {
		t.Errorf("somebody listens at the port, and it says %v", err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := free(port); err != nil {
		t.Error(err)
	}
}
