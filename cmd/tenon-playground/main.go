// Command tenon-playground runs a cluster with simulated machines on one computer. `tenon up`, `tenon down` and
// `tenon sim` run it; it is no part of the image.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/tenon-sh/tenon/internal/cli/verb"
	"github.com/tenon-sh/tenon/internal/playground"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	// A second signal ends the program at once: after the first, the default holds again.
	context.AfterFunc(ctx, stop)
	os.Exit(verb.Run(ctx, playground.Command(), os.Args[1:], verb.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
}
