package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/onsi/ginkgo/v2/types"
)

const suites = "sigs.k8s.io/karpenter/test/suites/"

// A spec is one of a suite.
type spec struct {
	Suite, Text string
	suite       string // as it calls itself
	program     string
}

// A small spec wants machines so small that its pods need several. Upstream's suites say so for the class of their own
// test provider only, so that the pool has to say it for any other.
func (s spec) small() bool { return strings.HasPrefix(s.Text, "CapacityBuffer ") }

// Some specs look on for five minutes that there are not too many nodes or claims. Without a controller there are none, so that they may pass.
func (s spec) looksOn() bool {
	return strings.HasPrefix(s.Text, "Chaos ") || s.Text == "StaticCapacity Provisioning should respect node limits when provisioning"
}

// compile builds the suites that were asked for and returns their specs, in the order of their texts.
func compile(ctx context.Context, o options) ([]spec, error) {
	dir := filepath.Join(o.state, "suites")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	var all []spec
	for _, name := range o.suites {
		program := filepath.Join(dir, name+".test")
		build := exec.CommandContext(ctx, "go", "test", "-c", "-o", program, suites+name)
		build.Stderr = os.Stderr
		if err := build.Run(); err != nil {
			return nil, fmt.Errorf("compile the suite %s: %w", name, err)
		}
		report := filepath.Join(dir, fmt.Sprintf("%s-%d.json", name, os.Getpid()))
		dry := exec.CommandContext(ctx, program, "--ginkgo.dry-run", "--ginkgo.json-report="+report)
		if out, err := dry.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("list the specs of %s: %w: %s", name, err, out)
		}
		rs, err := read(report)
		if err = errors.Join(err, os.Remove(report)); err != nil {
			return nil, err
		}
		for _, r := range rs {
			for _, s := range r.SpecReports {
				if s.LeafNodeType == types.NodeTypeIt {
					all = append(all, spec{Suite: name, Text: s.FullText(), suite: r.SuiteDescription, program: program})
				}
			}
		}
	}
	slices.SortFunc(all, func(a, b spec) int { return cmp.Or(cmp.Compare(a.Suite, b.Suite), cmp.Compare(a.Text, b.Text)) })
	return all, nil
}

// read reads a report that ginkgo wrote.
func read(file string) ([]types.Report, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var rs []types.Report
	if err := json.Unmarshal(data, &rs); err != nil {
		return nil, fmt.Errorf("report %s: %w", file, err)
	}
	return rs, nil
}
