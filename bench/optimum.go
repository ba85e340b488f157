package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/tenon-sh/tenon/bench/report"
	"github.com/tenon-sh/tenon/bench/solver"
	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/enginetest/families"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/provision"
	"github.com/tenon-sh/tenon/engine/world"
)

// solvedChild is the child that has an independent solver look for what the engine plans.
const solvedChild = "solved"

// solvedFamilies are those of which small worlds are told to the solver: of other families too much would be left out.
var solvedFamilies = []string{"lognormal", "pareto", "few", "singles", "spot"}

// The pods of these worlds, from more than a handful, of which plans weigh price more, up to what the solver finishes.
const leastSolved, mostSolved = 26, 40

// solverSeconds is how long it looks for one world.
const solverSeconds = 10

// solved has a child hold plans and bounds against the solver.
func (o *options) solved(ctx context.Context, progress io.Writer) ([]report.Solved, error) {
	var out []report.Solved
	if err := child(ctx, &out, solvedChild, "-solver", strconv.Itoa(o.perSolved)); err != nil {
		return nil, err
	}
	if len(out) == 0 {
		fmt.Fprintf(progress, "-solver is left out: %v\n", solver.ErrMissing)
	}
	for i := range out {
		out[i].Version = commit(ctx)
		fmt.Fprintln(progress, out[i].Line())
	}
	return out, nil
}

// solve does so for small worlds of each family, as JSON; of none if there is no solver.
func (o *options) solve(ctx context.Context, w io.Writer) error {
	s, err := solver.Start(ctx)
	if errors.Is(err, solver.ErrMissing) {
		return json.NewEncoder(w).Encode([]report.Solved{})
	}
	if err != nil {
		return err
	}
	var out []report.Solved
	for _, name := range solvedFamilies {
		f, _ := families.Find(name)
		r := report.Solved{Family: name}
		for seed := uint64(1); seed <= uint64(o.perSolved); seed++ { //nolint:gosec // a small number
			x, err := held(s, small(f, seed), o.steps)
			if err != nil {
				return fmt.Errorf("%s, seed %d: %w", name, seed, err)
			}
			x.Seed = seed
			r.Worlds = append(r.Worlds, x)
		}
		out = append(out, r)
	}
	if err := s.End(); err != nil {
		return err
	}
	return json.NewEncoder(w).Encode(out)
}

// small is a small world of the family, of whose terms those are left that keep a workload's pods from each other's host.
func small(f families.Family, seed uint64) *world.World {
	w := f.World(leastSolved+int(seed%(mostSolved-leastSolved+1)), seed) //nolint:gosec // a small number
	b := world.NewBuilder()
	set := func(err error) {
		if err != nil {
			panic(err) // it was in a World
		}
	}
	for _, p := range w.Pods() {
		p := *p
		p.Spread = nil
		p.PodTerms = slices.DeleteFunc(slices.Clone(p.PodTerms), func(t world.PodTerm) bool { return !t.Anti || t.Key != label.Hostname })
		set(b.SetPod(p))
	}
	for _, p := range w.Pools() {
		set(b.SetPool(*p))
	}
	for _, c := range w.Catalogs() {
		set(b.SetCatalog(*c))
	}
	return b.Snapshot(w.At())
}

// held holds the plan for a world, and its bound, against what the solver finds.
func held(s *solver.Solver, w *world.World, steps int) (report.SolvedWorld, error) {
	p := provision.Decide(w, provision.Options{Steps: steps, ProveSpend: true})
	out := report.SolvedWorld{Pods: p.Waiting, Plan: p.Spend().Units(), Bound: p.SpendBound.Units()}
	if len(p.Refused) > 0 {
		return out, fmt.Errorf("%d pods are refused", len(p.Refused))
	}
	m := model(w, p.Charge.Units())
	m.Slots, m.Seconds = min(2*len(p.New)+1, p.Waiting), solverSeconds
	a, err := s.Solve(m)
	if err != nil {
		return out, err
	}
	out.Optimal, out.Proven = a.Optimal, a.Bound
	if len(a.Machines) > 0 {
		if out.Found, err = m.CostOf(a); err != nil {
			return out, fmt.Errorf("what the solver found is none: %w", err)
		}
	}
	return out, nil
}

// model tells a world in numbers alone, read from its objects.
func model(w *world.World, charge float64) solver.Model {
	var m solver.Model
	var dims []string
	kinds := map[string]int{}
	for _, p := range w.Pods() {
		for _, e := range p.Requests {
			if !slices.Contains(dims, e.Name) {
				dims = append(dims, e.Name)
			}
		}
	}
	numbers := func(l amount.List) []int64 {
		out := make([]int64, len(dims))
		for d, name := range dims {
			out[d] = l.Value(name)
		}
		return out
	}
	for _, p := range w.Pods() {
		apart := len(p.PodTerms) > 0
		id := fmt.Sprint(numbers(p.Requests))
		if apart {
			id += p.Labels["app"]
		}
		k, ok := kinds[id]
		if !ok {
			k = len(m.Need)
			kinds[id] = k
			m.Need, m.Count, m.Most = append(m.Need, numbers(p.Requests)), append(m.Count, 0), append(m.Most, 1)
		}
		m.Count[k]++
		if !apart {
			m.Most[k] = m.Count[k]
		}
	}
	total := make([]int64, len(dims))
	for k, need := range m.Need {
		for d, n := range need {
			total[d] += n * int64(m.Count[k])
		}
	}
	for _, x := range forSale(*w.Pools()[0], *w.Catalogs()[0]) { // the cheapest first
		room := numbers(x.room)
		for d := range room {
			room[d] = min(room[d], total[d])
		}
		if !slices.ContainsFunc(m.Room, func(better []int64) bool { return covers(better, room) }) {
			m.Room, m.Cost = append(m.Room, room), append(m.Cost, x.price.Units()+charge)
		}
	}
	return m
}

// covers reports whether no number of a is below that of b.
func covers(a, b []int64) bool {
	for d := range a {
		if a[d] < b[d] {
			return false
		}
	}
	return true
}
