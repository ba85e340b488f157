// Command testall runs every suite there is, in parts that each end in a stated time, and prints one table.
//
// What came of a part is kept in a file for the commit (and for what is not
// committed), so that a run that was interrupted goes on with the parts that
// have not passed.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"text/tabwriter"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	ok, err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "testall:", err)
	}
	if !ok || err != nil {
		os.Exit(1)
	}
}

// run reports whether all parts that were asked for have passed.
func run(ctx context.Context, args []string, out io.Writer) (bool, error) {
	flags := flag.NewFlagSet("testall", flag.ContinueOnError)
	var o options
	only := flags.String("part", "", "which parts, separated by commas; a star stands for any characters; all if it is empty")
	list := flags.Bool("list", false, "list the parts, with the time that each may take")
	matrix := flags.Bool("matrix", false, "list them as JSON for a matrix of jobs")
	again := flags.Bool("again", false, "run parts again that have passed")
	state := flags.String("state", "", "the folder of what came of them, and of their output; by default one in the user's cache folder")
	flags.DurationVar(&o.fuzz, "fuzz", 0, "for how long each fuzz target runs; by default each tries 100,000 inputs")
	flags.StringVar(&o.oracle, "oracle", "", "the file that the oracle's job adds its sums to; by default one in the user's cache folder")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return true, nil // the usage has been printed
	} else if err != nil {
		return false, err
	}
	packages, err := packages(ctx)
	if err != nil {
		return false, err
	}
	chosen, err := choose(parts(o, packages), *only)
	if err != nil {
		return false, err
	}
	switch {
	case *matrix:
		return true, json.NewEncoder(out).Encode(jobs(chosen))
	case *list:
		return true, describe(out, chosen)
	}
	if *state == "" {
		if *state, err = folder(ctx); err != nil {
			return false, err
		}
	}
	r, err := open(filepath.Join(*state, "results.json"))
	if err != nil {
		return false, err
	}
	for _, p := range chosen {
		if was, ok := r.of(p.name); ok && was.Result == passed && !*again {
			continue
		}
		if ctx.Err() != nil {
			break
		}
		fmt.Fprintf(out, "%s: %s, at most %s\n", p.name, p.what, p.within)
		came := p.run(ctx, filepath.Join(*state, p.name+".log"))
		fmt.Fprintf(out, "%s: %s after %s, %s\n", p.name, came.Result, came.took(), came.Counted)
		if err := r.keep(came); err != nil {
			return false, err
		}
	}
	fmt.Fprintf(out, "\n%s\nwhat they said is in %s\n", r.table(chosen), *state)
	return r.allPassed(chosen), ctx.Err()
}

// choose are the parts that match one of the patterns.
func choose(all []part, patterns string) ([]part, error) {
	if patterns == "" {
		return all, nil
	}
	var out []part
	for pattern := range strings.SplitSeq(patterns, ",") {
		found := false
		for _, p := range all {
			ok, err := filepath.Match(pattern, p.name)
			if err != nil {
				return nil, fmt.Errorf("read -part %q: %w", pattern, err)
			}
			if ok {
				out, found = append(out, p), true
			}
		}
		if !found {
			return nil, fmt.Errorf("no part is called %q; -list says what there is", pattern)
		}
	}
	return out, nil
}

// job is a part as a matrix of jobs wants it.
type job struct {
	Part    string `json:"part"`
	Limit   int    `json:"limit"` // minutes, with those for what comes before and after
	Cluster bool   `json:"cluster"`
}

func jobs(parts []part) []job {
	var out []job
	for _, p := range parts {
		out = append(out, job{Part: p.name, Limit: int(p.within.Minutes()) + 20, Cluster: p.cluster})
	}
	return out
}

func describe(out io.Writer, parts []part) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, p := range parts {
		fmt.Fprintf(w, "%s\t%s\t%s\n", p.name, p.within, p.what)
	}
	return w.Flush()
}
