package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/tenon-sh/tenon/bench/measure"
	"github.com/tenon-sh/tenon/bench/report"
	"github.com/tenon-sh/tenon/engine/enginetest/families"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/provision"
	"github.com/tenon-sh/tenon/engine/world"
)

// familyChild is the child that plans for worlds of one family.
const familyChild = "family"

// families has a child plan for the worlds of each family.
func (o *options) families(ctx context.Context, progress io.Writer) ([]report.Family, error) {
	var out []report.Family
	for _, f := range families.All() {
		if !o.wants(f.Name) {
			continue
		}
		for pods := range strings.SplitSeq(o.familyPods, ",") {
			worlds, err := o.drawn(pods)
			if err != nil {
				return nil, err
			}
			r := report.Family{Says: f.Says}
			if err := child(ctx, &r, familyChild, "-scenario", f.Name, "-n", pods, "-families", strconv.Itoa(worlds), "-steps", strconv.Itoa(o.steps)); err != nil {
				return nil, err
			}
			r.Version = commit(ctx)
			out = append(out, r)
			fmt.Fprintln(progress, r.Line())
		}
	}
	return out, nil
}

// Of worlds of very many pods there are fewer, and so many at least.
const (
	manyPods    = 10_000
	leastWorlds = 3
)

// drawn is how many worlds of so many pods are drawn.
func (o *options) drawn(pods string) (int, error) {
	n, err := strconv.Atoi(pods)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("-family-pods: %q is no number of pods: write numbers and commas, such as 1000,50000", pods)
	}
	return min(o.perFamily, max(o.perFamily*manyPods/n, leastWorlds)), nil
}

// family plans for the worlds of one family, as JSON.
func (o *options) family(w io.Writer) error {
	f, ok := families.Find(o.world.Scenario)
	if !ok {
		return fmt.Errorf("-scenario: there is no family %q", o.world.Scenario)
	}
	r := report.Family{Name: f.Name, Says: f.Says, Pods: o.world.Pods}
	for seed := uint64(1); seed <= uint64(o.perFamily); seed++ { //nolint:gosec // a small number
		r.Worlds = append(r.Worlds, o.member(f.World(o.world.Pods, seed), seed))
	}
	return json.NewEncoder(w).Encode(r)
}

// member plans for one world of a family.
func (o *options) member(w *world.World, seed uint64) report.Member {
	var p plan.Plan
	use := measure.Of(func() { p = provision.Decide(w, provision.Options{Steps: o.steps}) })
	least := provision.Decide(w, provision.Options{Steps: o.steps, ProveSpend: true}).SpendBound
	nodes := len(p.New)
	return report.Member{
		Seed: seed, CPU: use.CPU, Steps: p.Steps, Nodes: nodes, Refused: len(p.Refused), Cost: p.Expected().Units(), Bound: p.Bound.Units(),
		Spend: p.Spend().Units(), Least: least.Units(),
	}
}
