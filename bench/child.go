package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"github.com/tenon-sh/tenon/bench/market"
	"github.com/tenon-sh/tenon/bench/ours"
	"github.com/tenon-sh/tenon/bench/outcome"
	"github.com/tenon-sh/tenon/bench/peer"
	"github.com/tenon-sh/tenon/bench/scenario"
	"github.com/tenon-sh/tenon/engine/provision"
	"github.com/tenon-sh/tenon/engine/world"
)

// build makes the objects and the catalogue of a world.
func (w worldID) build() (scenario.Input, world.Catalog, error) {
	if strings.HasPrefix(w.Scenario, ofFamily) {
		return w.drawn()
	}
	s, ok := scenario.Find(w.Scenario)
	if !ok {
		return scenario.Input{}, world.Catalog{}, fmt.Errorf("there is no scenario %q", w.Scenario)
	}
	c, err := market.Load()
	if err != nil {
		return scenario.Input{}, world.Catalog{}, err
	}
	return s.Make(c, w.Pods, w.Seed), c, nil
}

// decide is what a child does: one world, one side, the outcome as JSON.
func (o *options) decide(ctx context.Context, w io.Writer) error {
	switch o.child {
	case shrinkChild:
		return o.shrink(w)
	case raceChild:
		return o.race(ctx, w)
	case tinyChild:
		return o.tinyWorlds(w)
	case familyChild:
		return o.family(w)
	case solvedChild:
		return o.solve(ctx, w)
	}
	in, catalog, err := o.world.build()
	if err != nil {
		return err
	}
	var out outcome.Outcome
	switch o.child {
	case ours.Side:
		out, err = ours.Run(in, catalog, provision.Options{Steps: o.steps})
	case peer.Side:
		out, err = peer.Run(in, catalog, peer.Options{Workers: o.workers, Cap: o.cap})
	default:
		err = fmt.Errorf("-child: there is no side %q", o.child)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", o.world, err)
	}
	return json.NewEncoder(w).Encode(out)
}

// child has a process of its own do something, and reads what it says.
func child(ctx context.Context, into any, name string, args ...string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, self, append([]string{"-child", name}, args...)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, stderr.String())
	}
	if err := json.Unmarshal(stdout.Bytes(), into); err != nil {
		return fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return nil
}
