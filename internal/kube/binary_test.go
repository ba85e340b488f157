package kube

import (
	"os"
	"path/filepath"
	"testing"
)

func write(t *testing.T, root, name, text string) {
	t.Helper()
	path := filepath.Join(root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestCachedDependsOnWhatTheBinaryIsMadeFrom(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	clone := func(t *testing.T) string {
		root := t.TempDir()
		write(t, root, "controlplane/go.mod", "module x\n")
		write(t, root, "controlplane/main.go", "package main\n")
		return root
	}
	path := func(t *testing.T, root string) string {
		p, err := Cached(root)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	first := path(t, clone(t))
	for name, c := range map[string]struct {
		file, text string
		same       bool
	}{
		"a second clone shares the build":      {"controlplane/go.mod", "module x\n", true},
		"another pin is another build":         {"controlplane/go.mod", "module x\nrequire y v1.0.0\n", false},
		"a changed source is another build":    {"controlplane/main.go", "package main // changed\n", false},
		"a new source is another build":        {"controlplane/internal/a/a.go", "package a\n", false},
		"an embedded file is a source":         {"controlplane/internal/a/a.yaml", "a: 1\n", false},
		"a text is no part of the binary":      {"controlplane/README.md", "# Read me\n", true},
		"a test is no part of the binary":      {"controlplane/main_test.go", "package main\n", true},
		"the product is no part of it":         {"engine/fit/fit.go", "package fit\n", true},
		"hidden files of editors do not count": {"controlplane/.main.go.swp", "x", true},
	} {
		t.Run(name, func(t *testing.T) {
			root := clone(t)
			write(t, root, c.file, c.text)
			if got := path(t, root); (got == first) != c.same {
				t.Errorf("%s against %s: same should be %t", got, first, c.same)
			}
		})
	}
}

func TestFind(t *testing.T) {
	root := t.TempDir()
	write(t, root, "controlplane/go.mod", "module x\n")
	write(t, root, "internal/deep/er/x", "")
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv(Env, "")
	t.Chdir(filepath.Join(root, "internal/deep/er"))
	if _, err := Find(); err != ErrMissing {
		t.Fatalf("nothing is built, but the error is %v", err)
	}
	want, err := Cached(root)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Dir(want), "controlplane", "x")
	if got, err := Find(); err != nil || got != want {
		t.Errorf("got %q, %v, want the build of the clone around the working directory, %q", got, err, want)
	}
	other := filepath.Join(t.TempDir(), "cp")
	t.Setenv(Env, other)
	if _, err := Find(); err == nil {
		t.Error("a variable that points nowhere must not be passed over")
	}
	write(t, filepath.Dir(other), "cp", "x")
	if got, err := Find(); err != nil || got != other {
		t.Errorf("got %q, %v, want what the variable names", got, err)
	}
}
