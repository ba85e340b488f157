// Command runtests runs the tests of the module in two runs of go test at once:
// those that need nothing but Go compute, and those that start a real control
// plane mostly wait. Arguments are passed on to both.
package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	module   = "github.com/tenon-sh/tenon"
	kubetest = module + "/internal/kubetest"
	kube     = module + "/internal/kube" // finds the control plane's program
	// walkthroughs have a target of their own: make test-documents. The shortest is run with the other tests as well.
	walkthroughs = module + "/test/documents"
	shortest     = walkthroughs + "/000"
	// planes is how many control planes there are at once: what starts one waits more than it computes.
	planes = "3"
	// kindness leaves the processors to what waits for answers, where the others would only compute.
	kindness = "5"
	// garbage lets heaps, which are small here, grow to four times what is alive before it is collected: a tenth less to compute.
	garbage = "GOGC=300"
	// noVet leaves vetting to make lint, which does all of it: half a minute of one processor.
	noVet = "-vet=off"
)

// longest take longest beside a control plane, and begin first, so that none of them is left alone at the end.
var longest = []string{"internal/app", "internal/playground", "test/swap", "test/conformance"}

func main() {
	ok, err := run(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "runtests:", err)
	}
	if !ok || err != nil {
		os.Exit(1)
	}
}

// run reports whether all tests passed; what failed, go test has said last.
func run(flags []string) (ok bool, err error) {
	listed, err := exec.Command("go", "list", "-e", "-f", // what does not build, go test reports
		`{{.ImportPath}} {{len .TestGoFiles}}{{len .XTestGoFiles}} {{join .Imports " "}} {{join .TestImports " "}} {{join .XTestImports " "}}`,
		"./...").Output()
	if err != nil {
		return false, fmt.Errorf("list the packages: %w", explain(err))
	}
	alone, beside := split(string(listed))
	if len(beside) > 0 {
		build := exec.Command("go", "run", "./tools/controlplane") // prints a path that is not needed here
		build.Stderr = os.Stderr
		if err := build.Run(); err != nil {
			return false, fmt.Errorf("build the control plane that tests run against: %w", err)
		}
	}
	seen := &failures{to: os.Stdout}
	defer func() { seen.tell(os.Stdout) }()
	var mu sync.Mutex // over seen
	halves := []struct{ args, packages []string }{
		{[]string{"nice", "-n", kindness, "go", "test", noVet}, alone},
		{[]string{"go", "test", noVet, "-p", planes}, first(beside)},
	}
	var all sync.WaitGroup
	passed := make([]bool, len(halves))
	for i, half := range halves {
		all.Go(func() {
			out := &whole{to: seen, mu: &mu}
			passed[i] = len(half.packages) == 0 || gotest(out, slices.Concat(half.args, flags, half.packages))
			out.end()
		})
	}
	all.Wait()
	return !slices.Contains(passed, false), nil
}

// first puts those in front that take longest.
func first(packages []string) []string {
	at := func(p string) int {
		if i := slices.Index(longest, strings.TrimPrefix(p, module+"/")); i >= 0 {
			return i
		}
		return len(longest)
	}
	return slices.SortedStableFunc(slices.Values(packages), func(a, b string) int { return cmp.Compare(at(a), at(b)) })
}

// split sorts the packages with tests into those that need nothing beside them
// and those that run beside a control plane.
func split(listed string) (alone, beside []string) {
	for line := range strings.Lines(listed) {
		words := strings.Fields(line)
		if len(words) < 2 || words[1] == "00" || strings.HasPrefix(words[0], walkthroughs) && words[0] != shortest {
			continue
		}
		if words[0] == kubetest || words[0] == shortest || slices.Contains(words[2:], kubetest) || slices.Contains(words[2:], kube) {
			beside = append(beside, words[0])
		} else {
			alone = append(alone, words[0])
		}
	}
	return alone, beside
}

// gotest runs one half.
func gotest(out io.Writer, args []string) bool {
	cmd := exec.Command(args[0], args[1:]...)            //nolint:gosec // it is go test
	cmd.Env = append([]string{garbage}, os.Environ()...) // of two values the last counts
	cmd.Stdout, cmd.Stderr = out, os.Stderr
	cmd.WaitDelay = 10 * time.Second // a process that a test left behind may hold on to the output
	err := cmd.Run()
	return err == nil || errors.Is(err, exec.ErrWaitDelay)
}

// explain adds what a command said to the error it ended with.
func explain(err error) error {
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return fmt.Errorf("%w: %s", err, strings.TrimSpace(string(exit.Stderr)))
	}
	return err
}
