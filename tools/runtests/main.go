// Command runtests runs the tests of the module: first, side by side, those
// that need nothing but Go, then three at a time those that start a real control
// plane: they wait more than they compute. Arguments are passed on to go test.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

const (
	module   = "github.com/tenon-sh/tenon"
	kubetest = module + "/internal/kubetest"
	kube     = module + "/internal/kube" // finds the control plane's program
	// walkthroughs have a target of their own: make test-documents. The shortest is run with the other tests as well.
	walkthroughs = module + "/test/documents"
	shortest     = walkthroughs + "/000"
)

func main() {
	ok, err := run(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "runtests:", err)
	}
	if !ok || err != nil {
		os.Exit(1)
	}
}

// run tells whether all tests passed; what failed, go test has said last.
func run(flags []string) (ok bool, err error) {
	listed, err := exec.Command("go", "list", "-e", "-f", // what does not build, go test reports
		`{{.ImportPath}} {{len .TestGoFiles}}{{len .XTestGoFiles}} {{join .Imports " "}} {{join .TestImports " "}} {{join .XTestImports " "}}`,
		"./...").Output()
	if err != nil {
		return false, fmt.Errorf("list the packages: %w", explain(err))
	}
	alone, beside := split(string(listed))
	seen := &failures{to: os.Stdout}
	defer func() { seen.tell(os.Stdout) }()
	// The second half is worth running when something failed in the first.
	ok = gotest(seen, slices.Concat(flags, alone))
	if len(beside) == 0 {
		return ok, nil
	}
	build := exec.Command("go", "run", "./tools/controlplane") // prints a path that is not needed here
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return false, fmt.Errorf("build the control plane that tests run against: %w", err)
	}
	return gotest(seen, slices.Concat([]string{"-p", "3"}, flags, beside)) && ok, nil
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

func gotest(out io.Writer, args []string) bool {
	cmd := exec.Command("go", slices.Concat([]string{"test"}, args)...)
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
