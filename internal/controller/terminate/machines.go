package terminate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cloud"
	"github.com/tenon-sh/tenon/internal/metric"
)

const (
	// recent is how old a list of machines may be to say what is gone.
	recent = 2 * time.Second
	// insist is how long after it was asked to a machine may go on running before it is asked again.
	insist = 30 * time.Second
	// gather is how long machines are collected that end by one call.
	gather = 50 * time.Millisecond
)

// Machines ends machines and knows when they are gone. The reconcilers of nodes
// and of claims share one, so that neither asks for what the other has asked.
type Machines struct {
	cloud   *cloud.Cloud
	metrics *metric.Set
	now     clock.Now

	trials cloud.Trials // of ending and of looking at machines, by provider id

	mu    sync.Mutex
	asked map[string]time.Time // by provider id
	open  *batch               // that is being gathered; nil: none is
}

// errNotSent is why a machine is not ended when the call that was to end it was not made to its end.
var errNotSent = errors.New("the call that was to end it broke off; it is made again")

// batch is machines that end by one call.
type batch struct {
	ids  []cloud.MachineID
	errs []error       // once it is done
	done chan struct{} // closed then
}

// NewMachines returns Machines of a cloud.
func NewMachines(c *cloud.Cloud, metrics *metric.Set, now clock.Now) *Machines {
	return &Machines{cloud: c.For(specName), metrics: metrics, now: now, asked: map[string]time.Time{}}
}

// Found is what the cloud has of a machine that is to end.
type Found struct {
	Gone bool   // nothing
	Over bool   // nothing any more: the cloud remembers a machine that has ended
	Left bool   // a machine that is not this cluster's, and is left alone
	Odd  string // what is odd about it, for people; empty: nothing
}

// Freed says that a machine of a reservation has ended.
func (m *Machines) Freed() { m.cloud.Freed() }

// Look says what there is of a machine. While the cloud does not answer it is not gone.
func (m *Machines) Look(ctx context.Context, providerID string) (Found, error) {
	var found Found
	err := m.trials.Try("look at "+providerID, m.now, func() (err error) {
		_, found, err = m.look(ctx, providerID)
		return err
	})
	return found, err
}

func (m *Machines) look(ctx context.Context, providerID string) (cloud.Machine, Found, error) {
	machine, there, err := m.cloud.Find(ctx, providerID, m.now().Add(-recent))
	switch {
	case err != nil:
		return machine, Found{}, err
	case !there:
		return machine, Found{Gone: true, Over: machine.Ended}, nil
	case machine.Foreign != "":
		return machine, Found{Left: true, Odd: fmt.Sprintf("Machine %s belongs to %s and is left running: end it there, or by hand", machine.ID, machine.Foreign)}, nil
	case machine.Unlisted != "":
		return machine, Found{Odd: fmt.Sprintf("Machine %s was found by its id only, because %s: it is ended all the same", machine.ID, machine.Unlisted)}, nil
	}
	return machine, Found{}, nil
}

// End asks for the end of a machine unless it is ending, and says what there is of it.
func (m *Machines) End(ctx context.Context, providerID string) (Found, error) {
	var found Found
	err := m.trials.Try(providerID, m.now, func() (err error) {
		found, err = m.end(ctx, providerID)
		return err
	})
	return found, err
}

func (m *Machines) end(ctx context.Context, providerID string) (Found, error) {
	machine, found, err := m.look(ctx, providerID)
	switch {
	case err != nil:
		return found, err
	case found.Gone, found.Left:
		m.forget(providerID)
		return found, nil
	case machine.Ending, !m.due(providerID):
		return found, nil
	}
	if found.Odd == "" {
		err = m.terminate(ctx, machine.ID)
	} else { // by itself: the others may still be ended where it may not
		err = m.cloud.Terminate(ctx, machine.ID)[0]
	}
	if err != nil {
		m.forget(providerID)
		return found, fmt.Errorf("terminate machine %s: %w", machine.ID, err)
	}
	return found, nil
}

// terminate ends a machine together with those that are to end at the same time.
func (m *Machines) terminate(ctx context.Context, id cloud.MachineID) error {
	m.mu.Lock()
	b, first := m.open, m.open == nil
	if first {
		b = &batch{done: make(chan struct{})}
		m.open = b
	}
	at := len(b.ids)
	b.ids = append(b.ids, id)
	m.mu.Unlock()
	if first {
		m.send(ctx, b)
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-b.done:
		return b.errs[at]
	}
}

// send ends a batch after it has been gathered. Whatever breaks on the way, those
// that wait for it hear of it, and ask again.
func (m *Machines) send(ctx context.Context, b *batch) {
	defer func() {
		if b.errs == nil {
			b.errs = slices.Repeat([]error{errNotSent}, len(b.ids))
		}
		close(b.done)
	}()
	began, pause := m.now(), time.NewTimer(gather)
	defer pause.Stop()
	select {
	case <-ctx.Done():
	case <-pause.C:
	}
	m.mu.Lock()
	m.open = nil
	m.mu.Unlock()
	m.metrics.Observe(metric.BatchTime, m.now.Since(began).Seconds(), "terminate_instances")
	b.errs = m.cloud.Terminate(ctx, b.ids...)
}

// due reports whether a machine has to be asked for, and notes that it is now.
func (m *Machines) due(providerID string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if at, ok := m.asked[providerID]; ok && m.now.Since(at) < insist {
		return false
	}
	m.asked[providerID] = m.now()
	return true
}

func (m *Machines) forget(providerID string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.asked, providerID)
}
