// Command tenon asks for nodes and gives them back, and explains both.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/tenon-sh/tenon/internal/cli"
	"github.com/tenon-sh/tenon/internal/cli/verb"
	"github.com/tenon-sh/tenon/internal/cli/version"
)

// Set by the linker: -X main.release=v1.2.3 -X main.commit=<hash>.
var release, commit string

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A second signal ends the program at once: after the first, the default holds again.
	context.AfterFunc(ctx, stop)

	info, _ := debug.ReadBuildInfo()
	root := cli.Root(version.Of(release, commit, info))
	verb.CalledAs(root, os.Args[0])
	os.Exit(verb.Run(ctx, root, os.Args[1:], verb.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
}
