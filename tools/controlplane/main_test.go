package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestLinksTakeThePlaceOfOldOnes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "bin")
	for _, binary := range []string{"/old/controlplane", "/new/controlplane"} {
		if err := link(dir, binary); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"controlplane", "kubectl", "helm"} {
			if got, err := os.Readlink(filepath.Join(dir, name)); err != nil || got != binary {
				t.Errorf("%s points to %q, %v, want %q", name, got, err, binary)
			}
		}
	}
}

func TestOneBuilderAtATime(t *testing.T) {
	file := filepath.Join(t.TempDir(), "lock")
	unlock, err := lock(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := lock(ctx, file); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("a second builder got the lock: %v", err)
	}
	unlock()
	again, err := lock(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	again()
}

func TestPruneKeepsWhatIsUsed(t *testing.T) {
	cache, now := t.TempDir(), time.Now()
	for name, age := range map[string]time.Duration{"controlplane-used": time.Hour, "controlplane-old": 2 * keep, "another": 2 * keep} {
		dir := filepath.Join(cache, name)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(dir, now.Add(-age), now.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	if err := prune(cache, now.Add(-keep)); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(filepath.Join(cache, "*"))
	if err != nil || len(left) != 2 || filepath.Base(left[0]) != "another" || filepath.Base(left[1]) != "controlplane-used" {
		t.Errorf("left are %v, %v", left, err)
	}
}

func TestAdvice(t *testing.T) {
	for said, want := range map[string]string{
		"write /tmp/go-build/x.a: no space left on device": "The disk is full",
		"dial tcp: lookup proxy: no such host":             "GOPROXY",
		"compile: signal: killed":                          "for want of memory",
		"internal/up/up.go:12:3: undefined: x":             "",
		"reading modules: 503 Service Unavailable":         "GOPROXY",
	} {
		if got := advice(said); (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("%q is answered with %q, want %q in it", said, got, want)
		}
	}
}

func TestARunThatFailsSaysWhatTheCompilerSaid(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module x\n\ngo 1.26\n", "main.go": "package main\n\nfunc main() { nowhere() }\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	p := newProgress(null)
	defer p.close()
	if _, err := run(t.Context(), p, dir, "build", "-o", filepath.Join(dir, "x"), "."); err == nil || !strings.Contains(err.Error(), "undefined: nowhere") {
		t.Errorf("got %v", err)
	}
}
