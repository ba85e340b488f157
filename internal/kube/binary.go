// Package kube finds the control plane binary and runs it as a child of this process.
//
// The binary itself is a module of its own, in controlplane/, and tools/controlplane builds it.
package kube

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// Env names the variable that points at a control plane binary and overrides all other places.
const Env = "TENON_CONTROLPLANE"

// Build is the command that makes the binary, for messages.
const Build = "go run ./tools/controlplane -links bin"

// Flags are what the binary is built with. They are part of its identity: one flag more, and Go compiles all of
// Kubernetes again.
func Flags() []string {
	const kubernetes, helm = "v1.36.3", "v4.2.4"
	return []string{
		"-trimpath", "-buildvcs=false", "-ldflags=" + strings.Join([]string{
			"-s -w",
			"-X k8s.io/component-base/version.gitVersion=" + kubernetes,
			"-X k8s.io/component-base/version.gitMajor=1",
			"-X k8s.io/component-base/version.gitMinor=36",
			"-X k8s.io/component-base/version.gitTreeState=clean",
			"-X k8s.io/client-go/pkg/version.gitVersion=" + kubernetes,
			"-X helm.sh/helm/v4/internal/version.version=" + helm,
		}, " "),
	}
}

// ErrMissing says that there is no control plane binary on this machine yet.
var ErrMissing = errors.New("the control plane binary is not built yet; build it, once for this machine, with: " + Build)

// Find returns the control plane binary: the one that Env names, the build of the clone that the working directory or
// this program is in, or one beside this program. The error is ErrMissing when it has only to be built.
func Find() (string, error) {
	if path := os.Getenv(Env); path != "" {
		if _, err := os.Stat(path); err != nil {
			return "", fmt.Errorf("%s: %w", Env, err)
		}
		return filepath.Abs(path)
	}
	wd, err := os.Getwd()
	if err != nil {
		return "", err
	}
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	if self, err = filepath.EvalSymlinks(self); err != nil {
		return "", err
	}
	for _, dir := range []string{wd, filepath.Dir(self)} {
		root, ok := Root(dir)
		if !ok {
			continue
		}
		path, err := Cached(root)
		if err != nil {
			return "", err
		}
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
		return "", ErrMissing
	}
	beside := filepath.Join(filepath.Dir(self), "controlplane")
	if _, err := os.Stat(beside); err != nil {
		return "", fmt.Errorf("%s is missing and %s is not set: %w", beside, Env, ErrMissing)
	}
	return beside, nil
}

// Root returns the top of the clone that dir is in.
func Root(dir string) (string, bool) {
	for {
		if _, err := os.Stat(filepath.Join(dir, "controlplane", "go.mod")); err == nil {
			return dir, true
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", false
		}
		dir = up
	}
}

// Cached returns where the control plane binary of the clone at root is, or will be once built: outside of the clone,
// under a hash of all that it is made from, so that a second clone does not build it again.
func Cached(root string) (string, error) {
	sum, err := hash(filepath.Join(root, "controlplane"))
	if err != nil {
		return "", fmt.Errorf("hash the sources of the control plane: %w", err)
	}
	cache := os.Getenv("XDG_CACHE_HOME")
	if !filepath.IsAbs(cache) {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("find the cache directory: %w; set XDG_CACHE_HOME or HOME", err)
		}
		cache = filepath.Join(home, ".cache")
	}
	return filepath.Join(cache, "tenon", "controlplane-"+sum, "controlplane"), nil
}

// hash is over the names and contents of everything in dir but tests and texts, in the order of their names, and the compiler.
func hash(dir string) (string, error) {
	h := sha256.New()
	fmt.Fprintln(h, runtime.Version(), runtime.GOOS, runtime.GOARCH, Flags())
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != dir && strings.HasPrefix(d.Name(), ".") {
			return filepath.SkipDir
		}
		if !d.Type().IsRegular() || strings.HasPrefix(d.Name(), ".") || strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, ".md") {
			return nil
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		fmt.Fprintln(h, filepath.ToSlash(rel), info.Size())
		_, err = io.Copy(h, f)
		return err
	})
	return hex.EncodeToString(h.Sum(nil))[:16], err
}
