package main

import (
	"encoding/json"
	"fmt"
	"io"

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
func (o *options) decide(w io.Writer) error {
	if o.child == shrinkChild {
		return o.shrink(w)
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
