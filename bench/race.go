package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"

	"golang.org/x/sync/errgroup"

	"github.com/tenon-sh/tenon/bench/peer"
	"github.com/tenon-sh/tenon/bench/report"
	"github.com/tenon-sh/tenon/test/oracle"
)

// Times of a race, in seconds.
const (
	within = 30 // in which machines join that were bought at the same time
	hold   = 20 // that a machine of ours which has joined may be kept closed to pods
	every  = 10 // from one pass of the peer to the next
)

// raceChild is the child that has pods of one cluster bound.
const raceChild = "race"

// raced has pods of clusters bound, two clusters at a time: nothing here is measured in seconds.
func (o *options) raced(ctx context.Context, progress io.Writer) ([]report.Race, error) {
	out := make([]report.Race, o.races)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(2)
	for i := range out {
		group.Go(func() error {
			return child(ctx, &out[i], raceChild, "-n", strconv.Itoa(o.racing), "-seed", strconv.Itoa(i+1), "-cap", o.cap.String())
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	for _, r := range out {
		for _, b := range r.Bound {
			fmt.Fprintf(progress, "race %d %-24s planned %.3f of the bound, %d of %d pods stranded, %.3f in the end\n", r.Seed, b.By, b.Planned/r.Least, b.Stranded, b.Placed, b.Cost/r.Least)
		}
	}
	return out, nil
}

// race has every planner's machines join and the pods of one cluster be bound, as JSON.
func (o *options) race(ctx context.Context, w io.Writer) error {
	scheduler, err := oracle.Converse(ctx, os.Stderr)
	if err != nil {
		return err
	}
	defer scheduler.End()
	out := report.Race{Version: commit(ctx), Seed: o.world.Seed, Pods: o.world.Pods}
	nominated, alone, other := report.Planners()
	for _, by := range []struct {
		name   string
		closed bool
		oracle.Planner
	}{
		{nominated, true, &oracle.Tenon{Nominate: true, Hold: hold}},
		{alone, false, &oracle.Tenon{}},
		{other, false, &peer.Planner{Options: peer.Options{Workers: 1, Cap: o.cap}, Every: every}},
	} {
		r := oracle.Race{Cluster: oracle.Settle(o.world.Seed, o.world.Pods), Planner: by.Planner, Oracle: scheduler, Within: within, Closed: by.closed}
		f, err := r.Run(o.world.Seed)
		if err != nil {
			return fmt.Errorf("%s: %w", by.name, err)
		}
		out.Least = max(out.Least, f.First.Bound.Units())
		out.Bound = append(out.Bound, report.Bound{
			By: by.name, Planned: f.Planned().Units(), Cost: f.Cost.Units(), Idle: f.Idle.Units(), Nodes: len(f.First.New), Machines: f.Machines,
			Placed: f.Placed, Stranded: f.Stranded, Homeless: f.Homeless,
		})
	}
	return json.NewEncoder(w).Encode(out)
}
