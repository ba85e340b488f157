// Package repair mends a packing once all pods have been placed: what cannot be bound is placed anew, and machines become cheaper ones.
package repair

import (
	"github.com/tenon-sh/tenon/engine/exact"
)

// Repairer mends a packing once all pods have been placed.
type Repairer struct{ *exact.Placer }
