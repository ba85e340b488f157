package enact

import (
	"strings"
	"sync"
)

// remembered is for how many claims it is known why they were deleted. A claim
// is deleted for as long as its node drains, and more than this do not at once.
const remembered = 4096

// deletions remembers for which reasons claims were deleted lately. The zero value is ready.
type deletions struct {
	mu     sync.Mutex
	why    map[string]string // by the claim's name
	oldest []string
}

func (d *deletions) note(claim, reason string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.why == nil {
		d.why = map[string]string{}
	}
	if _, again := d.why[claim]; !again {
		d.oldest = append(d.oldest, claim)
	}
	d.why[claim] = reason
	if len(d.oldest) > remembered {
		delete(d.why, d.oldest[0])
		d.oldest = append(d.oldest[:0], d.oldest[1:]...)
	}
}

// WhyDeleted says why the claim of that name was deleted; empty if it was not
// deleted here, or long ago.
func (e *Enactor) WhyDeleted(claim string) string { return said(e.DeletedFor(claim)) }

// DeletedFor is WhyDeleted in the words of metrics.
func (e *Enactor) DeletedFor(claim string) string {
	e.deletions.mu.Lock()
	defer e.deletions.mu.Unlock()
	return e.deletions.why[claim]
}

// said words a reason for a person.
func said(reason string) string {
	switch reason {
	case Empty:
		return "it was empty"
	case Underutilized:
		return "its pods have places that cost less"
	case Drifted:
		return "it has drifted"
	case Expired:
		return "it has reached its expireAfter"
	case Unhealthy:
		return "its node was not healthy for too long"
	case InsufficientCapacity:
		return "there was no capacity for it"
	case ClassNotReady:
		return "its node class was not ready"
	case LaunchTimeout:
		return "its machine was not launched in time"
	case RegistrationTimeout:
		return "its node did not register in time"
	case InitializationTimeout:
		return "its node was not initialized in time"
	case Collected:
		return "its machine is gone: it died, or was ended by another client"
	case Released:
		return "its node or its pool is being deleted"
	}
	return strings.ReplaceAll(reason, "_", " ") // as what the cloud gave notice of
}
