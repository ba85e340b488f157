// Command controlplane builds the control plane binary of this clone, unless this machine has it already, and prints
// its path.
//
//	go run ./tools/controlplane [-links DIR]
//
// The binary holds all of Kubernetes and takes minutes to compile the first time, so it is kept outside of the clone
// (see internal/kube). With -links, DIR gets links to it under the names people know: kubectl, helm.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/tenon-sh/tenon/internal/kube"
)

func main() {
	links := flag.String("links", "", "`directory` to put links to kubectl, helm and controlplane in")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "Usage: go run ./tools/controlplane [-links DIR]")
		flag.PrintDefaults()
	}
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	path, err := ensure(ctx, *links)
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(os.Stderr, "controlplane: interrupted; what is compiled is kept, so the next time takes less")
		os.Exit(1)
	case err != nil:
		fmt.Fprintln(os.Stderr, "controlplane:", err)
		os.Exit(1)
	}
	fmt.Println(path)
}

// ensure builds the binary if it is not there, makes the links, and returns the path of the binary.
func ensure(ctx context.Context, links string) (string, error) {
	wd, err := os.Getwd()
	if err != nil {
		return "", err
	}
	root, ok := kube.Root(wd)
	if !ok {
		return "", errors.New("no controlplane/go.mod here or above; run this inside a clone of the project")
	}
	path, err := kube.Cached(root)
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		if err := buildOnce(ctx, root, path); err != nil {
			return "", err
		}
	} else if err != nil {
		return "", err
	}
	now := time.Now()
	if err := os.Chtimes(filepath.Dir(path), now, now); err != nil {
		return "", err // prune would take it for unused
	}
	if links == "" {
		return path, nil
	}
	return path, link(links, path)
}

// link makes the links in dir, each in one step, in place of what was there.
func link(dir, binary string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, name := range []string{"controlplane", "kubectl", "helm"} {
		half := filepath.Join(dir, "."+name+".new")
		if err := os.Remove(half); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		if err := os.Symlink(binary, half); err != nil {
			return err
		}
		if err := os.Rename(half, filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}
