package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/tenon-sh/tenon/internal/kube"
)

// What a build with empty caches costs, measured with Go 1.26 on Linux, amd64.
const (
	coldCPU    = 560 * time.Second
	coldSpace  = 5 << 30   // modules, build cache and the binary
	leastSpace = 600 << 20 // what the link and the binary alone take
)

// buildOnce builds the binary at path. Of several builders at once one works and the others wait for it.
func buildOnce(ctx context.Context, root, path string) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("%w; set XDG_CACHE_HOME to a directory that can be written to", err)
	}
	unlock, err := lock(ctx, filepath.Join(dir, "lock"))
	if err != nil {
		return err
	}
	defer unlock()
	if _, err := os.Stat(path); err == nil {
		return nil // the builder we waited for made it
	}
	half := path + ".new"
	defer os.Remove(half)
	if err := build(ctx, filepath.Join(root, "controlplane"), half); err != nil {
		return err
	}
	if err := os.Rename(half, path); err != nil {
		return err
	}
	return prune(filepath.Dir(dir), time.Now().Add(-keep))
}

// keep is for how long a build that is not asked for is kept.
const keep = 30 * 24 * time.Hour

// prune removes the builds in cache that have not been asked for since.
func prune(cache string, since time.Time) error {
	old, err := filepath.Glob(filepath.Join(cache, "controlplane-*"))
	if err != nil {
		return err
	}
	for _, dir := range old {
		if info, err := os.Stat(dir); err == nil && info.ModTime().Before(since) {
			if err := os.RemoveAll(dir); err != nil {
				return err
			}
		}
	}
	return nil
}

// lock takes the lock of file, which the kernel takes back from a process that dies.
func lock(ctx context.Context, file string) (unlock func(), err error) {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	told := false
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { f.Close() }, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			f.Close()
			return nil, fmt.Errorf("lock %s: %w", file, err)
		}
		if !told {
			fmt.Fprintln(os.Stderr, "another process builds the control plane; waiting for it")
			told = true
		}
		select {
		case <-ctx.Done():
			f.Close()
			return nil, ctx.Err()
		case <-tick.C:
		}
	}
}

func build(ctx context.Context, dir, out string) error {
	space, err := kube.Free(filepath.Dir(out))
	if err == nil && space < leastSpace {
		return fmt.Errorf("%s has %d MB left, too little for the control plane.%s", filepath.Dir(out), space>>20, advice("no space left on device"))
	}
	p := newProgress(os.Stderr)
	defer p.close()
	cores := min(runtime.NumCPU(), 8) // beyond that the widest package is what is waited for
	p.say("Building the control plane (etcd, Kubernetes, kubectl, helm) from source, once for this machine.")
	p.say("With empty caches that is about %d CPU-seconds, here some %s, and %d GB of disk.",
		int(coldCPU.Seconds()), (coldCPU / time.Duration(cores)).Round(10*time.Second), coldSpace>>30)
	if err == nil && space < coldSpace {
		p.say("Only %.1f GB are free in %s.", float64(space)/(1<<30), filepath.Dir(out))
	}

	p.phase("fetching modules", "modules fetched", 0)
	list, err := run(ctx, p, dir, "list", "-trimpath", "-buildvcs=false", "-deps", "-f", "{{.ImportPath}}", ".")
	if err != nil {
		return err
	}
	p.phase("compiling", "packages compiled", strings.Count(list, "\n"))
	_, err = run(ctx, p, dir, append(append([]string{"build", "-v"}, kube.Flags()...), "-o", out, ".")...)
	return err
}

// run runs the go command in dir, counts each line that it says while at work as a piece of progress, and returns its
// output.
func run(ctx context.Context, p *progress, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	// The module stands alone, and flags of the environment must not change what is compiled.
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	var out bytes.Buffer
	said := &lines{each: p.step}
	cmd.Stdout, cmd.Stderr = &out, said
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		return "", fmt.Errorf("go %s in %s: %w\n%s%s", args[0], dir, err, said.tail(), advice(said.tail()))
	}
	return out.String(), nil
}

// advice says what to do about the failures that are not the fault of the sources.
func advice(said string) string {
	has := func(any ...string) bool {
		for _, s := range any {
			if strings.Contains(said, s) {
				return true
			}
		}
		return false
	}
	switch {
	case has("no space left on device", "disk quota exceeded"):
		return "\nThe disk is full. Free some 5 GB, or move the caches with GOCACHE, GOMODCACHE, GOTMPDIR and XDG_CACHE_HOME."
	case has("no such host", "connection refused", "i/o timeout", "network is unreachable", "proxyconnect", "TLS handshake", "module lookup disabled", "Bad Gateway", "Service Unavailable"):
		return "\nModules could not be fetched. Check the network, or point GOPROXY at a proxy that can be reached; what was fetched is kept."
	case has("signal: killed"):
		return "\nA compiler was killed, perhaps for want of memory: it needs some 3 GB. GOMAXPROCS=1 needs less."
	}
	return ""
}
