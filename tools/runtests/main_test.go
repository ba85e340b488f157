package main

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSplit(t *testing.T) {
	alone, beside := split(`
github.com/tenon-sh/tenon/engine/fit 11 errors github.com/google/go-cmp/cmp
github.com/tenon-sh/tenon/engine/empty 00 errors
github.com/tenon-sh/tenon/internal/kubetest 10 testing
github.com/tenon-sh/tenon/internal/enact 01 context github.com/tenon-sh/tenon/internal/kubetest
github.com/tenon-sh/tenon/internal/many 010 context
github.com/tenon-sh/tenon/test/documents/000 01 github.com/tenon-sh/tenon/test/documents/walk
github.com/tenon-sh/tenon/test/documents/001 01 github.com/tenon-sh/tenon/internal/kubetest
`)
	if diff := cmp.Diff([]string{module + "/engine/fit", module + "/internal/many"}, alone); diff != "" {
		t.Errorf("need nothing but Go: %s", diff)
	}
	if diff := cmp.Diff([]string{module + "/internal/kubetest", module + "/internal/enact", shortest}, beside); diff != "" {
		t.Errorf("run beside a control plane: %s", diff)
	}
}

// What takes longest is there, and begins first.
func TestFirst(t *testing.T) {
	for _, p := range longest {
		if _, err := os.Stat("../../" + p); err != nil {
			t.Error(err)
		}
	}
	got := first([]string{module + "/api", module + "/" + longest[1], module + "/charts", module + "/" + longest[0]})
	if diff := cmp.Diff([]string{module + "/" + longest[0], module + "/" + longest[1], module + "/api", module + "/charts"}, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// What is said of a package is not cut by what another run says, however it comes.
func TestWhole(t *testing.T) {
	one := "--- FAIL: TestX (0.00s)\n    x_test.go:3: one\nFAIL\nFAIL\texample.com/b\t0.2s\n"
	two := "ok  \texample.com/a\t0.1s\n?   \texample.com/c\t[no test files]\n"
	asJSON := "{\"Action\":\"start\"}\n"
	var out strings.Builder
	var mu sync.Mutex
	a, b := &whole{to: &out, mu: &mu}, &whole{to: &out, mu: &mu}
	for i := range max(len(one), len(two)) {
		for _, x := range []struct {
			to   *whole
			text string
		}{{a, one}, {b, two}} {
			if i < len(x.text) {
				fmt.Fprint(x.to, x.text[i:i+1])
			}
		}
	}
	fmt.Fprint(a, asJSON+"FAI")
	fmt.Fprint(a, "L\n")
	a.end()
	b.end()
	if diff := cmp.Diff(two+one+asJSON+"FAIL\n", out.String()); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// What failed is said once more at the end, with the first lines of each test, or with all that ran when time was up.
func TestFailures(t *testing.T) {
	text := "ok  \texample.com/a\t0.1s\n--- FAIL: TestX (0.00s)\n    --- FAIL: TestX/one (0.00s)\n        x_test.go:3: it is 1\n        second\n        third\n        fourth\nFAIL\n" +
		"FAIL\texample.com/b\t0.2s\npanic: test timed out after 10m0s\n\trunning tests:\n\t\tTestY (9m59s)\n\ngoroutine 1 [running]:\nFAIL\texample.com/c\t600.1s\nok  \texample.com/d\t0.1s\n"
	want := "\nWhat failed, once more:\n--- FAIL: TestX (0.00s)\n    --- FAIL: TestX/one (0.00s)\n        x_test.go:3: it is 1\n        second\n        third\n" +
		"FAIL\texample.com/b\t0.2s\npanic: test timed out after 10m0s\n\trunning tests:\n\t\tTestY (9m59s)\nFAIL\texample.com/c\t600.1s\n"
	var out, said strings.Builder
	f := &failures{to: &out}
	for part := range strings.SplitAfterSeq(text, "o") {
		fmt.Fprint(f, part)
	}
	f.tell(&said)
	if diff := cmp.Diff(text, out.String()); diff != "" {
		t.Errorf("it is passed on otherwise: %s", diff)
	}
	if diff := cmp.Diff(want, said.String()); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestNothingFailed(t *testing.T) {
	var out, said strings.Builder
	f := &failures{to: &out}
	fmt.Fprint(f, "ok  \texample.com/a\t0.1s\n")
	if f.tell(&said); said.Len() > 0 {
		t.Errorf("it says %q", said.String())
	}
}
