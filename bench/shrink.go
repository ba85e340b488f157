package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tenon-sh/tenon/bench/market"
	"github.com/tenon-sh/tenon/bench/measure"
	"github.com/tenon-sh/tenon/bench/peer"
	"github.com/tenon-sh/tenon/bench/report"
	"github.com/tenon-sh/tenon/bench/scenario"
	"github.com/tenon-sh/tenon/engine/disrupt"
	"github.com/tenon-sh/tenon/engine/disrupt/consolidate"
	"github.com/tenon-sh/tenon/engine/enginetest"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
)

// shrinkChild is the child that consolidates.
const shrinkChild = "shrink"

// shrunk has a child consolidate each cluster.
func (o *options) shrunk(ctx context.Context, progress io.Writer) ([]report.Shrink, error) {
	var out []report.Shrink
	for pods := range strings.SplitSeq(o.shrinks, ",") {
		if pods == "" {
			continue
		}
		var s report.Shrink
		if err := child(ctx, &s, shrinkChild, "-n", pods, "-seed", strconv.FormatUint(o.world.Seed, 10), "-cap", o.cap.String(), "-own", strconv.Itoa(o.owned), "-own-cap", o.owning.String()); err != nil {
			return nil, err
		}
		s.Version = commit(ctx)
		out = append(out, s)
		for _, r := range slices.Concat(s.Ours, s.Peer, s.Own) {
			fmt.Fprintf(progress, "shrink %-8s %-28s %.3f of the bound, %d pods moved, %d commands, %.2f CPU-s\n", pods, r.Name, r.Cost/s.Bound, r.Moved, r.Commands, r.CPU)
		}
	}
	return out, nil
}

// shrink consolidates one cluster in both ways, as JSON.
func (o *options) shrink(w io.Writer) error {
	c, err := market.Load()
	if err != nil {
		return err
	}
	c.Template = "catalogue"
	requirements := label.SetOf(
		label.Is(label.CapacityType, label.OnDemand), label.Is(label.Arch, "amd64"), label.Is("karpenter.k8s.aws/instance-category", "c", "m", "r"),
		label.Is("karpenter.k8s.aws/instance-generation", "5", "6", "7", "8"),
	)
	cluster := enginetest.ShrunkFrom(c, requirements, o.world.Pods, o.world.Seed)
	s := report.Shrink{Nodes: len(cluster.Places()), Pods: len(cluster.Pods())}
	for _, level := range []string{consolidate.Normal, consolidate.Cautious, consolidate.Eager} {
		s.Ours = append(s.Ours, planned(cluster, level, &s))
	}
	s.Peer = o.serial(cluster, s.Ours[0])
	if s.Pods <= o.owned {
		if s.Own, err = o.own(cluster, c, s.Ours[0]); err != nil {
			return fmt.Errorf("the peer's own code: %w", err)
		}
	}
	return json.NewEncoder(w).Encode(s)
}

// planned is where one plan comes to at a level.
func planned(w *world.World, level string, s *report.Shrink) report.Rest {
	var p plan.Plan
	o := disrupt.Options{Only: []disrupt.Part{disrupt.Idling, disrupt.Consolidating}, AsIs: true, Consolidate: consolidate.Options{Level: level, Unbudgeted: true}}
	use := measure.Of(func() { p = disrupt.Decide(w, o) })
	cost, commands := p.Price-p.Saving(), 0
	for _, c := range p.Commands {
		if !c.Idle() {
			commands++
			continue
		}
		for _, g := range c.Back {
			cost -= g.Price
		}
	}
	s.Start, s.Bound = p.Price.Units(), p.Least.Units()
	return report.Rest{Name: "level " + level, Cost: cost.Units(), Moved: p.Moved(), Commands: commands, CPU: use.CPU}
}

// serial is where the published rules come to: after as many moves, at equal cost, and in the end, or when the time is up.
func (o *options) serial(w *world.World, ours report.Rest) []report.Rest {
	s := enginetest.NewSerial(w)
	out, _ := watch(o.cap, ours, func() report.Rest {
		return report.Rest{Cost: s.Cost().Units(), Moved: s.Moved, Commands: s.Commands, Looks: s.Simulations}
	}, func() (bool, error) { return s.Step(), nil })
	return out
}

// own is where the peer's own code comes to at the same moments.
func (o *options) own(w *world.World, catalog world.Catalog, ours report.Rest) ([]report.Rest, error) {
	in, err := scenario.Of(w)
	if err != nil {
		return nil, err
	}
	c, err := peer.NewConsolidation(in, catalog)
	if err != nil {
		return nil, err
	}
	end := measure.CPU() + o.owning
	return watch(o.owning, ours, func() report.Rest { return report.Rest{Cost: c.Cost(), Moved: c.Moved, Commands: c.Commands} }, func() (bool, error) { return c.Step(end - measure.CPU()) })
}

// watch carries out one command after another, and says where that has come to after as many moves as ours took, at its cost, and in the end, or
// when the time is up.
func watch(limit time.Duration, ours report.Rest, at func() report.Rest, step func() (bool, error)) ([]report.Rest, error) {
	begin := measure.CPU()
	rest := func(name string) report.Rest {
		r := at()
		r.Name, r.CPU = name, (measure.CPU() - begin).Seconds()
		return r
	}
	moves, cost, ended := report.Stops()
	out := []report.Rest{rest(moves)}
	equal := false
	for {
		more, err := step()
		if err != nil {
			return nil, err
		}
		if measure.CPU()-begin > limit {
			ended = fmt.Sprintf("after %s of CPU time", limit.Round(time.Second))
			break
		}
		if !more {
			break
		}
		now := at()
		if now.Moved <= ours.Moved {
			out[0] = rest(moves)
		}
		if !equal && now.Cost <= ours.Cost {
			out, equal = append(out, rest(cost)), true
		}
	}
	return append(out, rest(ended)), nil
}
