// Command mutants changes a package in small ways, one at a time, and lists the
// changes that no test notices.
//
// All mutants of a package are compiled into one test binary, in which an
// environment variable switches one of them on: a mutant costs one run of the
// tests and no compilation, and conditions of a case count like all others.
// Tools that are made for this compile the package again for each mutant, and
// tell what is covered by blocks, of which the conditions of a case are none.
package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

// options are what the command line says.
type options struct {
	packages []string
	tests    string         // packages whose tests may kill as well, each tried after those before it
	run      string         // which of their tests
	skip     string         // tests of the package itself that are left out
	budget   time.Duration  // of one package
	sample   int            // how many mutants of a package are tried; 0 is all
	only     *regexp.Regexp // the functions and files that are changed
	workers  int
}

func run(args []string, out io.Writer) error {
	var o options
	flags := flag.NewFlagSet("mutants", flag.ContinueOnError)
	flags.StringVar(&o.tests, "tests", "", "packages, separated by commas, whose tests may notice a change that the package's own do not")
	flags.StringVar(&o.run, "run", "", "which tests of the packages in -tests are run, as for go test")
	flags.StringVar(&o.skip, "skip", "", "which of the package's own tests are left out, as for go test; with -tests of the same package and -run they look at what the others leave")
	flags.DurationVar(&o.budget, "for", time.Hour, "how long one package may take; what is not tried by then is left out and said so")
	flags.IntVar(&o.sample, "sample", 0, "try so many mutants of a package, always the same ones; 0 tries all")
	only := flags.String("only", "", "change only the files and functions that this regular expression finds in file.go:Func")
	flags.IntVar(&o.workers, "workers", 2, "how many runs of tests go side by side")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil
		}
		return fmt.Errorf("read the flags: %w", err)
	}
	if o.packages = flags.Args(); len(o.packages) == 0 {
		return errors.New("name a package to change: make mutants ARGS=./engine/amount")
	}
	var err error
	if o.only, err = regexp.Compile(*only); err != nil {
		return fmt.Errorf("read -only: %w", err)
	}
	for _, pattern := range o.packages {
		if err := try(pattern, o, out); err != nil {
			return fmt.Errorf("change %s: %w", pattern, err)
		}
	}
	return nil
}

// try changes one package and tells what was noticed.
func try(pattern string, o options, out io.Writer) error {
	began := time.Now() //nolint:forbidigo // a tool's budget is real time
	p, err := load(pattern, o.only)
	if err != nil {
		return err
	}
	picked := sample(len(p.mutants), o.sample)
	dir, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return fmt.Errorf("make a folder for the test binaries: %w", err)
	}
	defer os.RemoveAll(dir)
	suites, err := build(p, dir, o)
	if err != nil {
		return err
	}
	fates := judge(suites, picked, judging{until: began.Add(o.budget), workers: o.workers})
	slices.SortFunc(picked, func(a, b int) int { return cmp.Compare(a, b) })
	var counts, logic [fateCount]int // of all, and of those that change conditions
	for _, id := range picked {
		f := fates[id]
		counts[f]++
		if p.mutants[id].logic {
			logic[f]++
		}
		if f == lived || f == unreached {
			fmt.Fprintf(out, "%-11s %s\n", f, p.mutants[id])
		}
	}
	tried := counts[killed] + counts[lived] + counts[unreached]
	fmt.Fprintf(out, "%s: %s killed, %s of them parts of conditions; %d lived, %d not reached, %d not tried, in %s\n",
		strings.TrimPrefix(p.path, module), share(counts), share(logic),
		counts[lived], counts[unreached], len(p.mutants)-tried, time.Since(began).Round(time.Second)) //nolint:forbidigo // see above
	return nil
}

// share is how many were killed of those that were tried.
func share(counts [fateCount]int) string {
	tried := counts[killed] + counts[lived] + counts[unreached]
	return fmt.Sprintf("%d of %d (%d %%)", counts[killed], tried, 100*counts[killed]/max(tried, 1))
}

// sample picks n of the mutants 0 to all, in an order that is always the same
// and has nothing to do with where they stand.
func sample(all, n int) []int {
	ids := rand.New(rand.NewPCG(1, 1)).Perm(all)
	if n > 0 && n < all {
		ids = ids[:n]
	}
	return ids
}
