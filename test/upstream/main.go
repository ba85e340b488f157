// Upstream runs Karpenter's own black-box suites against Tenon on playgrounds, and writes what came of each spec.
//
//	go run .                                   all specs that have no result for this commit, then the page
//	go run . -suite regression -focus Buffer   some of them; -focus is a regular expression
//	go run . -part 1/3                         the first third; run the others beside it
//	go run . -without                          without any controller: what passes then says nothing
//	go run . -out ../../docs/upstream.md       the page, of all results that there are and, of the others, what it said before; with -list nothing is run
//
// Some specs serve metrics at port 8080 themselves. Where something else does, and to run parts side by side, give each
// run a network of its own. The performance suite reads the controller's metrics through the API server, which proxies
// to no loopback address: it needs another one.
//
//	unshare -rn sh -c 'ip link set lo up && ip addr add 192.0.2.1/32 dev lo && go run . -part 1/3'
//
// The suites are compiled from the module cache: nothing of them is kept here. They see a cluster, a node class and a
// pool, and no more of Tenon than of Karpenter.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	// The suites consist of tests alone, which nothing can import. What they import keeps go.mod whole.
	_ "github.com/onsi/gomega"
	_ "sigs.k8s.io/karpenter/dra-kwok-driver/pkg/controllers" // of the driver of devices, which is a program
	_ "sigs.k8s.io/karpenter/kwok/apis/v1alpha1"
	_ "sigs.k8s.io/karpenter/test/pkg/environment/common"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) { // with the latter the usage has been printed
		fmt.Fprintln(os.Stderr, "upstream:", err)
		os.Exit(1)
	}
}

// options are what a person asks for.
type options struct {
	suites  []string
	focus   *regexp.Regexp
	part    part
	state   string // directory of results, logs and compiled suites
	without bool
	again   bool
	list    bool
	out     string
	limit   time.Duration
}

func parse(args []string) (options, error) {
	var o options
	flags := flag.NewFlagSet("upstream", flag.ContinueOnError)
	suites := flags.String("suite", "regression,performance,dra", "which suites, separated by commas")
	focus := flags.String("focus", "", "a regular expression that specs must match")
	only := flags.String("part", "1/1", "which part of the specs to run: 2/3 is the second third")
	flags.StringVar(&o.state, "state", "", "the directory of results and logs; by default one in the user's cache folder")
	flags.BoolVar(&o.without, "without", false, "run them without any controller")
	flags.BoolVar(&o.again, "again", false, "run specs again that have a result for this commit")
	flags.BoolVar(&o.list, "list", false, "list the specs and what came of them, and run nothing")
	flags.StringVar(&o.out, "out", "", "write the page of all results to this file")
	flags.DurationVar(&o.limit, "limit", 0, "how long a spec may take; by default 30 minutes, and without a controller a minute and a half, or seven minutes where it only looks on")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	o.suites = strings.Split(*suites, ",")
	var wrong error
	o.focus, wrong = regexp.Compile(*focus)
	if wrong != nil {
		return o, fmt.Errorf("-focus: %w", wrong)
	}
	if o.part, wrong = parsePart(*only); wrong != nil {
		return o, wrong
	}
	if o.state == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return o, fmt.Errorf("directory for results (name one with -state): %w", err)
		}
		o.state = filepath.Join(cache, "tenon", "upstream")
	}
	return o, nil
}

// limitOf is how long a spec may take.
func (o options) limitOf(s spec) time.Duration {
	switch {
	case o.limit > 0:
		return o.limit
	case o.without && s.looksOn():
		return 7 * time.Minute
	case o.without:
		return 90 * time.Second
	}
	return 30 * time.Minute
}

// A part is every of-th spec, beginning with the nth.
type part struct{ nth, of int }

func parsePart(text string) (part, error) {
	var p part
	if n, err := fmt.Sscanf(text, "%d/%d", &p.nth, &p.of); n != 2 || err != nil || p.nth < 1 || p.nth > p.of {
		return p, fmt.Errorf("-part %s: it is N/M, such as 2/3", text)
	}
	return p, nil
}

func (p part) has(i int) bool { return i%p.of == p.nth-1 }

func run(ctx context.Context, args []string) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	specs, err := compile(ctx, o)
	if err != nil {
		return err
	}
	kept := results{dir: filepath.Join(o.state, "results")}
	if o.list {
		return errors.Join(list(specs, kept), page(o, specs, kept))
	}
	if err := o.attempt(ctx, specs, kept); err != nil {
		return err
	}
	return errors.Join(page(o, specs, kept), o.news(specs, kept))
}

// news is an error if a spec of this run failed of which it is not known that it does.
func (o options) news(specs []spec, kept results) error {
	var all []error
	for _, s := range specs {
		if came, ok := kept.of(s, false); ok && came.Result == failed && !o.without && o.focus.MatchString(s.Suite+" "+s.Text) && !expected(s) {
			all = append(all, fmt.Errorf("%s %s: failed: %s; its log is in %s", s.Suite, s.Text, firstLine(came.Why), filepath.Join(o.state, "logs")))
		}
	}
	return errors.Join(all...)
}

// attempt runs the specs that were asked for and have no result for this commit.
func (o options) attempt(ctx context.Context, specs []spec, kept results) error {
	now, err := commit(ctx)
	if err != nil {
		return err
	}
	chosen := slices.DeleteFunc(slices.Clone(specs), func(s spec) bool { return !o.focus.MatchString(s.Suite + " " + s.Text) })
	g := &ground{dir: filepath.Join(o.state, fmt.Sprintf("playground-%d-of-%d", o.part.nth, o.part.of)), without: o.without}
	defer g.down()
	for i, s := range chosen {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if was, ok := kept.of(s, o.without); !o.part.has(i) || ok && was.Commit == now && !o.again {
			continue
		}
		if err := g.up(ctx, s.Suite); err != nil {
			return fmt.Errorf("playground in %s: %w", g.dir, err)
		}
		came := g.run(ctx, s, o)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		came.Commit = now
		fmt.Printf("%s %s: %s after %s %s\n", s.Suite, s.Text, came.Result, came.took(), firstLine(came.Why))
		if err := kept.keep(s, o.without, came); err != nil {
			return err
		}
		if came.Result == failed || came.Result == waiting { // what it left behind must not touch the next
			g.down()
		}
	}
	return nil
}

func list(specs []spec, kept results) error {
	for _, s := range specs {
		with, _ := kept.of(s, false)
		without, _ := kept.of(s, true)
		fmt.Printf("%s\t%s\twith: %s %s\twithout: %s\n", s.Suite, s.Text, with.Result, with.took(), without.Result)
	}
	return nil
}

// commit is what the working tree is of.
func commit(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "git", "describe", "--always", "--abbrev=7", "--dirty", "--exclude", "*").Output()
	if err != nil {
		return "", fmt.Errorf("commit that is tried: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}
