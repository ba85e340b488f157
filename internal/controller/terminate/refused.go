package terminate

import (
	"errors"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/internal/cloud"
	"github.com/tenon-sh/tenon/internal/loop"
)

const (
	// passes is how long an error that passes by itself, such as throttling, is not told.
	passes = time.Minute
	// remembered is of how many machines it is kept since when they cannot be ended.
	remembered = 10_000
)

// lasting is an error that should have passed by itself and has not.
type lasting struct {
	error

	since time.Time
}

func (l lasting) Error() string {
	return l.error.Error() + "; tried since " + l.since.UTC().Format(time.RFC3339)
}
func (l lasting) Unwrap() error { return l.error }

// tried notes how an end that was asked for came out. Of an error that passes by itself it says since when, once that is long.
func (m *Machines) tried(providerID string, err error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err == nil {
		delete(m.vain, providerID)
		return nil
	}
	since, known := m.vain[providerID]
	if !known {
		if len(m.vain) >= remembered {
			clear(m.vain)
		}
		since = m.now()
		m.vain[providerID] = since
	}
	if lasts(err) || m.now.Since(since) < passes {
		return err
	}
	return lasting{err, since}
}

// tellRefused says on a node or a claim why its machine cannot be ended. It goes
// on being tried; what passes by itself, such as throttling, is told if it does not.
func tellRefused(events *loop.Events, o client.Object, err error) {
	if lasts(err) {
		events.Warning(o, "FailedTermination", "The machine cannot be ended: %v", err)
	}
}

// Refused writes to a claim why its machine cannot be ended.
func Refused(c *v1.NodeClaim, err error, now time.Time) {
	if lasts(err) && !c.Conditions().Is(v1.ConditionInstanceTerminating) {
		c.Conditions().False(v1.ConditionInstanceTerminating, v1.ReasonTerminationFailed, err.Error(), now)
	}
}

func lasts(err error) bool {
	if _, long := errors.AsType[lasting](err); long {
		return true
	}
	return err != nil && cloud.CodeOf(err) != cloud.Throttled
}
