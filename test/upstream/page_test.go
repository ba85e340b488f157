package main

import (
	"net"
	"strings"
	"testing"
	"time"
)

// The page counts each spec once, and those that pass without a controller apart. It keeps what it said of specs that were not run since.
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
		{3, true, result{Result: waiting}},
		{2, false, result{Result: failed, Why: "Expected `x`\nmore", Commit: "abc"}},
	} {
		if err := kept.keep(specs[r.spec], r.without, r.result); err != nil {
			t.Fatal(err)
		}
	}
	page := render(specs, kept)
	for _, want := range []string{
		"| s | 4 | 2 | 0 | 1 | 1 | 1 | 1 of 3 |", `| s | a \| b | pass | fails | 1m1s |`, "| s | says nothing | pass | passes |", "| s | breaks | **fails** | fails |",
		"| s | later | not run | waits |", "* s: breaks: `Expected 'x'`", "Commits: abc.",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
	elsewhere := results{dir: t.TempDir(), was: rowsOf(page)}
	if again := render(specs, elsewhere); again != page {
		t.Errorf("written again where nothing was run, the page became\n%s\nand was\n%s", again, page)
	}
	if err := elsewhere.keep(specs[3], false, result{Result: passed, Seconds: 2, Commit: "def"}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| s | later | pass | waits | 2s |", "Commits: abc, def.", "| s | 4 | 3 | 0 | 1 | 0 | 1 | 2 of 3 |"} {
		if again := render(specs, elsewhere); !strings.Contains(again, want) {
			t.Errorf("the page lacks %q, which was run since:\n%s", want, again)
		}
	}
}

// What a page says of a spec that differs is known when it is written again.
func TestDifferencesAreKept(t *testing.T) {
	differs := []spec{{Suite: "s", Text: differences()[0].text}}
	kept := results{dir: t.TempDir()}
	if err := kept.keep(differs[0], false, result{Result: failed, Why: "Expected", Commit: "abc"}); err != nil {
		t.Fatal(err)
	}
	page := render(differs, kept)
	if again := render(differs, results{dir: t.TempDir(), was: rowsOf(page)}); again != page || !strings.Contains(page, "| s | 1 | 0 | 1 | 0 |") {
		t.Errorf("the page was\n%s\nand became\n%s", page, again)
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

// Without a controller a spec that would wait for nodes does not have long; one that looks on that there are few has as long as it looks.
func TestLimits(t *testing.T) {
	chaos, other := spec{Text: "Chaos Runaway Scale-Up"}, spec{Text: "Drift"}
	for _, c := range []struct {
		o    options
		s    spec
		want time.Duration
	}{{options{}, other, 30 * time.Minute}, {options{}, chaos, 30 * time.Minute}, {options{without: true}, other, 90 * time.Second}, {options{without: true}, chaos, 7 * time.Minute}, {options{without: true, limit: time.Hour}, chaos, time.Hour}} {
		if got := c.o.limitOf(c.s); got != c.want {
			t.Errorf("%+v: %s has %s, want %s", c.o, c.s.Text, got, c.want)
		}
	}
}
