package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	module = "github.com/tenon-sh/tenon"
	// inputs is how many damaged inputs of every format are tried.
	inputs = 100_000
	// fresh is how many cases of every property are drawn with a seed of the moment.
	fresh = 1_000
)

// options are what a person may want otherwise.
type options struct {
	fuzz   time.Duration
	oracle string
}

// part is a suite that ends in a stated time.
type part struct {
	name    string
	what    string
	within  time.Duration
	cluster bool // it needs the control plane, which is built before it
	steps   []step
}

// step is one command of a part.
type step struct {
	dir  string // below the top; empty: the top itself
	env  []string
	args []string
}

// pack is a package of the module.
type pack struct {
	path, dir string
	imports   []string // of its tests as well
	tests     []string // files
}

// packages are those of the module that have tests.
func packages(ctx context.Context) ([]pack, error) {
	const format = `{{.ImportPath}}{{"\t"}}{{.Dir}}{{"\t"}}{{join .Imports " "}} {{join .TestImports " "}} {{join .XTestImports " "}}{{"\t"}}{{join .TestGoFiles " "}} {{join .XTestGoFiles " "}}`
	out, err := exec.CommandContext(ctx, "go", "list", "-e", "-f", format, "./...").Output()
	if err != nil {
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			err = fmt.Errorf("%w: %s", err, exit.Stderr)
		}
		return nil, fmt.Errorf("list the packages: %w", err)
	}
	var all []pack
	for line := range strings.Lines(string(out)) {
		words := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if p := (pack{path: words[0], dir: words[1], imports: strings.Fields(words[2]), tests: strings.Fields(words[3])}); len(p.tests) > 0 {
			all = append(all, p)
		}
	}
	return all, nil
}

func (p pack) uses(path string) bool { return slices.Contains(p.imports, path) }

// parts are all suites. What gates a change comes first, the longest last.
func parts(o options, packages []pack) []part {
	all := []part{
		{name: "tests", what: "what gates a change", within: 30 * time.Minute, cluster: true, steps: []step{{args: []string{"go", "run", "./tools/runtests", "-json", "-count=1"}}}},
		{name: "modules", what: "the tests of the other modules", within: 40 * time.Minute, cluster: true, steps: []step{
			gotest("./...").in("bench"), gotest("./...").in("controlplane"), gotest("./...").in("test/upstream"), gotest("./...").in("test/browser"),
		}},
	}
	all = append(all, races(packages)...)
	all = append(all, stories()...)
	all = append(all, pairs()...)
	return append(all, searches(o, packages)...)
}

// stories are the suites that run on a cluster and take long.
func stories() []part {
	return []part{
		{name: "conformance", what: "every story of upstream's suites", within: 60 * time.Minute, cluster: true, steps: []step{
			gotest("./test/conformance", "-skip", "^TestEras$").with("TENON_TEST_CONFORMANCE=all"),
		}},
		{name: "upstream", what: "Karpenter's regression suite on a playground; what has passed for this commit is not run again", within: 150 * time.Minute, cluster: true, steps: []step{
			{args: []string{"make", "build", "tools"}},
			step{args: []string{"go", "run", ".", "-suite", "regression"}}.in("test/upstream"),
		}},
		{name: "eras", what: "nodes of every generation of Karpenter taken over", within: 30 * time.Minute, cluster: true, steps: []step{
			gotest("./test/conformance", "-run", "^TestEras$").with("TENON_TEST_CONFORMANCE=all"),
		}},
		{name: "faults", what: "everything around it fails", within: 60 * time.Minute, cluster: true, steps: []step{
			gotest("./test/faults").with("TENON_TEST_FAULTS=all"),
			gotest("./internal/app").with("TENON_TEST_FAULTS=all", "TORN=20"),
		}},
		{name: "crash", what: "it dies at every write", within: 90 * time.Minute, cluster: true, steps: []step{
			gotest("./test/crash").with("TENON_TEST_CRASH=all"),
		}},
		{name: "beside", what: "the driver against Moto's server of AWS, which must be in the PATH", within: 40 * time.Minute, steps: []step{
			gotest("./test/beside").with("TENON_TEST_BESIDE=all"),
		}},
		{name: "chart", what: "the whole life of an installed chart", within: 45 * time.Minute, cluster: true, steps: []step{
			gotest("./internal/playground", "-run", "Chart|Release|Devices").with("TENON_TEST_CHART=all"),
		}},
		{name: "swap", what: "objects of v1beta1 in a cluster become v1, in every way", within: 30 * time.Minute, cluster: true, steps: []step{
			gotest("./test/swap").with("TENON_TEST_SWAP=all"),
		}},
		{name: "documents", what: "the documents' walkthroughs", within: 60 * time.Minute, cluster: true, steps: []step{
			gotest("./test/documents/...", "-p", "2"),
		}},
		{name: "size", what: "many nodes and pods", within: 60 * time.Minute, cluster: true, steps: []step{
			gotest("./internal/cluster", "-run", "TestALargeClusterFits").with("TENON_TEST_BIG=1"),
			gotest("./internal/app", "-run", "TestNodesAtScale|TestPodsAtScale|TestSoldOut").with("NODES=200", "PODS=5000", "SOLDOUT=300"),
			gotest("./test/faults", "-run", "TestServerDies").with("TENON_TEST_FAULTS=all", "TENON_TEST_BIG=1"),
		}},
		{name: "limits", what: "the controller under a limit of memory", within: 60 * time.Minute, cluster: true, steps: []step{
			gotest("./test/size").with("TENON_TEST_SIZE=all"),
		}},
		{name: "machines", what: "a thousand simulated machines", within: 30 * time.Minute, cluster: true, steps: []step{
			gotest("./internal/sim/kubelet").with("TENON_TEST_BIG=1"),
		}},
		{name: "days", what: "thirty days in virtual time", within: 60 * time.Minute, steps: []step{
			gotest("./internal/sim/day", "-args", "-days", "30"),
		}},
		{name: "weeks", what: "ten weeks in virtual time", within: 60 * time.Minute, steps: []step{
			gotest("./internal/sim/day", "-run", "^TestWeeks$", "-v").with("TENON_TEST_WEEKS=10"),
		}},
		{name: "matrix", what: "every story with every fault", within: 60 * time.Minute, steps: []step{
			gotest("./test/matrix", "-run", "^TestMatrix$").with("TENON_TEST_MATRIX=all"),
		}},
	}
}

// pairs tell every story with every two faults at once, in parts of which each is a sample of all.
func pairs() (out []part) {
	const parts = 8
	for i := range parts {
		out = append(out, part{
			name: fmt.Sprintf("pairs-%d", i+1), what: fmt.Sprintf("every story with every two faults at once, part %d of %d", i+1, parts), within: 60 * time.Minute,
			steps: []step{gotest("./test/matrix", "-run", "^TestPairs$").with(fmt.Sprintf("TENON_TEST_PAIRS=%d/%d", i+1, parts))},
		})
	}
	return out
}

// searches are the parts that look for what no test names yet.
func searches(o options, packages []pack) []part {
	var properties []step
	for _, p := range packages {
		if p.uses("pgregory.net/rapid") {
			properties = append(properties, gotest(p.path, "-args", fmt.Sprintf("-rapid.checks=%d", fresh)).with("TENON_TEST_FRESH=1"))
		}
	}
	sums := []string{"go", "run", "./test/oracle/job", "-for", "30m"}
	if o.oracle != "" {
		sums = append(sums, "-state", o.oracle)
	}
	return []part{
		{name: "properties", what: fmt.Sprintf("%d cases of every property, drawn afresh", fresh), within: 90 * time.Minute, steps: properties},
		{name: "oracle", what: "half an hour of clusters for kube-scheduler's plugins and the least price, added to those before", within: 45 * time.Minute, cluster: true, steps: []step{{args: sums}}},
		{name: "binding", what: "plans bound by the default profile, node by node", within: 30 * time.Minute, cluster: true, steps: []step{
			gotest("./test/oracle", "-run", "TestCostAfterBinding", "-v", "-args", "-races", "20"),
		}},
		{name: "damaged", what: fmt.Sprintf("%d damaged inputs of every format, added to those before", inputs), within: 60 * time.Minute, steps: []step{
			{args: []string{"go", "run", "./test/damage/job", "-for", "50m", "-count", strconv.Itoa(inputs)}},
		}},
		{name: "fuzz", what: "every fuzz target", within: 120 * time.Minute, steps: fuzzing(o.fuzz, packages)},
	}
}

// detected are the folders that the race detector is run over, part by part. A package is in the first that covers it.
func detected() []struct {
	name, folders string
	cluster       bool
} {
	return []struct {
		name, folders string
		cluster       bool
	}{
		{"race-engine", "engine", false},
		{"race-aws", "internal/aws internal/cloud internal/cloudtest internal/catalog", false},
		{"race-controller", "internal/controller internal/apitest internal/enact internal/loop", true},
		{"race-sim", "internal/sim internal/playground", true},
		{"race-app", "internal/app internal/kube internal/kubetest internal/webhook", true},
		{"race-cli", "internal/cli cmd", true},
		{"race-test", "test", true},
		{"race-rest", ".", true},
	}
}

// races have the race detector look at every package once.
func races(packages []pack) []part {
	all := detected()
	in := make([][]string, len(all))
	for _, p := range packages {
		if strings.HasPrefix(p.path, module+"/test/documents/") && p.path != module+"/test/documents/000" {
			continue // the same program over again
		}
		for i := range all {
			if covers(all[i].folders, strings.TrimPrefix(p.path, module+"/")) {
				in[i] = append(in[i], p.path)
				break
			}
		}
	}
	var out []part
	for i, x := range all {
		what := "the race detector over " + strings.Join(strings.Fields(x.folders), ", ")
		if x.folders == "." {
			what = "the race detector over everything else"
		}
		// A package at a time: the detector takes ten times the memory.
		steps := []step{gotest(append([]string{"-race", "-p", "1"}, in[i]...)...)}
		out = append(out, part{name: x.name, what: what, within: 90 * time.Minute, cluster: x.cluster, steps: steps})
	}
	return out
}

// covers reports whether a package is in one of the folders.
func covers(folders, path string) bool {
	return slices.ContainsFunc(strings.Fields(folders), func(f string) bool {
		return f == "." || path == f || strings.HasPrefix(path, f+"/")
	})
}

// fuzzing tries damaged inputs of every fuzz target, for so long or so many.
func fuzzing(long time.Duration, packages []pack) []step {
	much := fmt.Sprintf("%dx", inputs)
	if long > 0 {
		much = long.String()
	}
	var out []step
	for _, t := range targets(packages) {
		out = append(out, step{args: []string{"go", "test", t.path, "-run", "^$", "-fuzz", "^" + t.name + "$", "-fuzztime", much}})
	}
	return out
}

// gotest is a run of tests that says what it counted.
func gotest(args ...string) step {
	return step{args: slices.Concat([]string{"go", "test", "-json", "-count=1", "-timeout", "90m"}, args)}
}

func (s step) in(dir string) step { s.dir = dir; return s }

func (s step) with(env ...string) step { s.env = env; return s }

func (s step) String() string {
	words := slices.Concat(s.env, s.args)
	if s.dir != "" {
		words = append(words, "in", s.dir)
	}
	return strings.Join(words, " ")
}
