// Bench puts the same worlds through the engine and through Karpenter's own
// scheduler, each in a process of its own, and writes what came out.
//
//	go run . -out ../docs/benchmarks.md      both sides, the page and its plots
//	go run . -side tenon                     ours only, as lines
//	go run . -only diverse -pods 1000        one scenario, other sizes
//	go run . -families 20 -only pareto,spot   worlds of some families, or of all without -only; ours only, as lines
//	go run . -beside 5 -judge 1000           worlds of all families decided by both sides, as lines
//	go run . -solver 20                      small worlds beside an independent solver; ours only, as lines
//	go run . -write DIR -only trace          the objects and the catalogue as files for tenon plan
//	go run . -from ../docs/benchmarks/results.json -out ../docs/benchmarks.md   the page again; what -shrink, -tiny, -races, -solver and -families ask for is measured again
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	var o options
	o.flags(flag.CommandLine)
	if err := flag.CommandLine.Parse(args); err != nil {
		return err
	}
	switch {
	case o.child != "":
		return o.decide(ctx, os.Stdout)
	case o.from != "":
		return o.rewrite(ctx, os.Stderr)
	case o.write != "":
		return o.writeFiles()
	case o.out != "" || o.history != "":
	case o.perSolved > 0:
		_, err := o.solved(ctx, os.Stderr)
		return err
	case o.perBeside > 0:
		return o.judgedBeside(ctx, os.Stderr)
	case o.perFamily > 0:
		_, err := o.families(ctx, os.Stderr)
		return err
	}
	return o.compare(ctx, os.Stderr)
}
