package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/tenon-sh/tenon/bench/report"
	"github.com/tenon-sh/tenon/bench/scenario"
	"github.com/tenon-sh/tenon/engine/enginetest/families"
	"github.com/tenon-sh/tenon/engine/world"
)

// ofFamily is what the name of a scenario begins with that is a family of drawn worlds.
const ofFamily = "family "

// beside has both sides decide the worlds of each family.
func (o *options) beside(ctx context.Context, progress io.Writer) ([]report.Row, error) {
	var worlds []worldID
	for _, f := range families.All() {
		if !o.wants(f.Name) {
			continue
		}
		for seed := range o.perBeside {
			worlds = append(worlds, worldID{ofFamily + f.Name, o.besidePods, o.world.Seed + uint64(seed)}) //nolint:gosec // a small number
		}
	}
	return o.rows(ctx, progress, worlds)
}

// judgedBeside does so, and tells of each family.
func (o *options) judgedBeside(ctx context.Context, progress io.Writer) error {
	end, err := o.judge(ctx, progress)
	if err != nil {
		return err
	}
	defer end()
	rows, err := o.beside(ctx, progress)
	if err == nil {
		fmt.Fprint(progress, report.Beside(rows, commit(ctx)))
	}
	return err
}

// drawn makes the objects and the catalogue of a world of a family.
func (w worldID) drawn() (scenario.Input, world.Catalog, error) {
	f, ok := families.Find(strings.TrimPrefix(w.Scenario, ofFamily))
	if !ok {
		return scenario.Input{}, world.Catalog{}, fmt.Errorf("there is no %s", w.Scenario)
	}
	drawn := f.World(w.Pods, w.Seed)
	in, err := scenario.Of(drawn)
	return in, *drawn.Catalogs()[0], err
}
