package terminate

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cloud"
)

const (
	// recent is how old a list of machines may be to say what is gone.
	recent = 2 * time.Second
	// insist is how long after it was asked to a machine may go on running before it is asked again.
	insist = 30 * time.Second
)

// Machines ends machines and knows when they are gone. The reconcilers of nodes
// and of claims share one, so that neither asks for what the other has asked.
type Machines struct {
	cloud *cloud.Cloud
	now   clock.Now

	mu    sync.Mutex
	asked map[string]time.Time // by provider id
}

// NewMachines returns Machines of a cloud.
func NewMachines(c *cloud.Cloud, now clock.Now) *Machines {
	return &Machines{cloud: c.For(specName), now: now, asked: map[string]time.Time{}}
}

// Gone reports whether a machine is no more.
func (m *Machines) Gone(ctx context.Context, providerID string) (bool, error) {
	_, there, err := m.cloud.Find(ctx, providerID, m.now().Add(-recent))
	return !there, err
}

// End asks for the end of a machine unless it is ending. It reports whether the machine is gone.
func (m *Machines) End(ctx context.Context, providerID string) (gone bool, err error) {
	found, there, err := m.cloud.Find(ctx, providerID, m.now().Add(-recent))
	switch {
	case err != nil:
		return false, err
	case !there:
		m.forget(providerID)
		return true, nil
	case found.Ending, !m.due(providerID):
		return false, nil
	}
	if err := m.cloud.Terminate(ctx, found.ID)[0]; err != nil {
		m.forget(providerID)
		return false, fmt.Errorf("terminate machine %s: %w", found.ID, err)
	}
	return false, nil
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
