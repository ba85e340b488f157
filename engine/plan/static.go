package plan

import (
	"fmt"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
)

// Static is how a static pool stands: one that has so many machines, whatever pods there are.
type Static struct {
	Pool      world.PoolID `json:"pool"`
	Replicas  int          `json:"replicas"`            // machines that it is to have
	Here      int          `json:"here"`                // machines that it has, those that are being deleted left out
	Replacing int          `json:"replacing,omitempty"` // of these, how many end as soon as what was bought instead is ready
	New       int          `json:"new,omitempty"`       // machines that are asked for now
	Back      int          `json:"back,omitempty"`      // machines that end now
	Missing   int          `json:"missing,omitempty"`   // machines that are wanted and cannot be asked for now
	Why       *reason.Why  `json:"why,omitempty"`       // why they cannot
}

// String names the pool and says how it stands on one line.
func (s Static) String() string {
	return fmt.Sprintf("%s %s: %s", s.Pool.Kind, s.Pool.Name, s.Standing())
}

// Standing says how the pool stands.
func (s Static) Standing() string {
	text := fmt.Sprintf("it has %d of %s", s.Here-s.Replacing, amount.Count(s.Replicas, "replica"))
	if s.Replacing > 0 {
		text += fmt.Sprintf(", and %d that end once others have taken their place", s.Replacing)
	}
	if s.New > 0 {
		text += fmt.Sprintf("; it asks for %d now", s.New)
	}
	if s.Back > 0 {
		text += fmt.Sprintf("; it ends %d now", s.Back)
	}
	return text
}

// lack says how many machines are missing.
func (s Static) lack() string {
	return fmt.Sprintf("%s cannot be asked for now", amount.Count(s.Missing, "node"))
}
