package matrix

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/cloud"
)

func prefix(i int) netip.Prefix { return netip.MustParsePrefix(fmt.Sprintf("10.%d.0.0/16", i)) }

func keys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

// faultyCloud is a driver with whatever is wrong with its cloud.
type faultyCloud struct {
	cloud.Driver

	cluster *testCluster

	mu     sync.Mutex
	faults map[string]cloudFault
}

// cloudFault is what is wrong with a cloud. The zero value is one that works.
type cloudFault struct {
	After   time.Duration                         // every call takes so long
	Err     func(method string) error             // that calls end with, doing nothing
	Lost    func(method string) error             // that calls end with after they were carried out
	Listed  func([]cloud.Machine) []cloud.Machine // what lists show
	Catalog func(world.Catalog) world.Catalog     // what is on sale
}

// Fail has every call from now on go wrong so, and as what is wrong by other names says; the zero value ends that.
func (s *faultyCloud) Fail(name string, f cloudFault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults[name] = f
}

// call makes one call, with what is wrong.
func (s *faultyCloud) call(ctx context.Context, method string, do func() error) error {
	var after time.Duration
	wrong := s.now()
	for _, f := range wrong {
		after += f.After
	}
	if after > 0 {
		wait := time.NewTimer(after)
		defer wait.Stop()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-wait.C:
		}
	}
	for _, f := range wrong {
		if f.Err != nil {
			if err := f.Err(method); err != nil {
				return err
			}
		}
	}
	err := do()
	for _, f := range wrong {
		if f.Lost != nil {
			if lost := f.Lost(method); lost != nil {
				return lost
			}
		}
	}
	return err
}

// now is what is wrong, sorted by name.
func (s *faultyCloud) now() (out []cloudFault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range keys(s.faults) {
		out = append(out, s.faults[name])
	}
	return out
}

// Catalog implements cloud.Driver.
func (s *faultyCloud) Catalog(ctx context.Context, t cloud.Template) (out world.Catalog, err error) {
	err = s.call(ctx, "catalog", func() error {
		out, err = s.Driver.Catalog(ctx, t)
		for _, f := range s.now() {
			if f.Catalog != nil && err == nil {
				out = f.Catalog(out)
			}
		}
		return err
	})
	return out, err
}

// Launch implements cloud.Driver.
func (s *faultyCloud) Launch(ctx context.Context, orders []cloud.Order) []cloud.Outcome {
	var out []cloud.Outcome
	err := s.call(ctx, "launch", func() error { out = s.Driver.Launch(ctx, orders); return nil })
	if err != nil {
		out = make([]cloud.Outcome, len(orders))
		for i := range out {
			out[i].Err = err
		}
	}
	return out
}

// Terminate implements cloud.Driver.
func (s *faultyCloud) Terminate(ctx context.Context, ids []cloud.MachineID) []error {
	var out []error
	err := s.call(ctx, "terminate", func() error {
		for _, id := range ids {
			s.cluster.terminating(string(id))
		}
		out = s.Driver.Terminate(ctx, ids)
		return nil
	})
	if err != nil {
		return slices.Repeat([]error{err}, len(ids))
	}
	return out
}

// List implements cloud.Driver.
func (s *faultyCloud) List(ctx context.Context) (out []cloud.Machine, err error) {
	err = s.call(ctx, "list", func() error {
		out, err = s.Driver.List(ctx)
		for _, f := range s.now() {
			if f.Listed != nil {
				out = f.Listed(out)
			}
		}
		return err
	})
	return out, err
}

// Find implements cloud.Driver.
func (s *faultyCloud) Find(ctx context.Context, ids []string) (out []cloud.Machine, err error) {
	err = s.call(ctx, "find", func() error { out, err = s.Driver.Find(ctx, ids); return err })
	return out, err
}

// Complete implements cloud.Driver.
func (s *faultyCloud) Complete(ctx context.Context, t cloud.Template, m []cloud.Machine) (out []cloud.Machine, err error) {
	err = s.call(ctx, "complete", func() error { out, err = s.Driver.Complete(ctx, t, m); return err })
	return out, err
}

// mortal is a driver whose process may die.
type mortal struct {
	*faultyCloud

	life *life
}

// Launch implements cloud.Driver.
func (m mortal) Launch(ctx context.Context, orders []cloud.Order) []cloud.Outcome {
	if m.life.dead.Load() {
		out := make([]cloud.Outcome, len(orders))
		for i := range out {
			out[i].Err = errNoAnswer
		}
		return out
	}
	return m.faultyCloud.Launch(ctx, orders)
}

// Terminate implements cloud.Driver.
func (m mortal) Terminate(ctx context.Context, ids []cloud.MachineID) []error {
	if m.life.dead.Load() {
		return slices.Repeat([]error{errNoAnswer}, len(ids))
	}
	return m.faultyCloud.Terminate(ctx, ids)
}
