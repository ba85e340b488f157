package main

import (
	"os"
	"os/exec"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A file that its generator writes differently is found, edited by hand or
// missing alike; one that git does not keep does not count.
func TestChanges(t *testing.T) {
	t.Chdir(t.TempDir())
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command("git", "init", "-q").CombinedOutput(); err != nil {
		t.Fatalf("git init: %v: %s", err, out)
	}
	write("go.mod", "module example.test\n\ngo 1.26\n")
	write("a.go", "package a\n\n//go:generate cp source edited\n//go:generate cp source missing\n//go:generate cp source same\n//go:generate cp source ignored\n")
	write(".gitignore", "ignored\n")
	write("source", "made\n")
	write("same", "made\n")
	write("edited", "made, then edited\n")

	got, err := changes()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"edited", "missing"}, got); diff != "" {
		t.Error(diff)
	}
	if got, err = changes(); err != nil || len(got) > 0 {
		t.Errorf("the second time nothing changes, got %v, %v", got, err)
	}
}
