package disrupt

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/disrupt/consolidate"
	"github.com/tenon-sh/tenon/engine/pack"
)

// Part is a part of the decision.
type Part string

// The parts of the decision, in the order in which they are decided. Each
// knows what those before it have decided.
const (
	Judging       Part = "judge"       // how commands stand that have begun
	Idling        Part = "idle"        // what is empty or too old, and needs no other machine
	Replacing     Part = "replace"     // which machine that is too old or has drifted is replaced next
	Consolidating Part = "consolidate" // what costs more than it has to; only if nothing is replaced
)

// Options are what a caller may choose, and what it knows beside the World. The zero value works.
type Options struct {
	Pack    pack.Options `json:"pack,omitzero"`
	Planned []string     `json:"planned,omitempty"` // machines, by the names of their places, that waiting pods are on their way to
	Only    []Part       `json:"only,omitempty"`    // what is decided; nothing means everything
	Stay    bool         `json:"stay,omitempty"`    // pods are not to be moved: commands that have begun are taken back, and what is too old goes as it is
	AsIs    bool         `json:"asIs,omitempty"`    // what is too old goes as it is: nothing is bought for its pods before
	Busy    bool         `json:"busy,omitempty"`    // pods have just begun to wait, so it is not known yet what room they leave: no command moves pods now
	Skip    []string     `json:"skip,omitempty"`    // claims of machines that were to go lately and stayed
	// Marked is for how many milliseconds each marked node is known to be marked. Of one that is not here nothing is known yet.
	Marked      map[string]int64    `json:"marked,omitempty"`
	Consolidate consolidate.Options `json:"consolidate,omitzero"`

	// Done is called with each part once it has been decided, for measuring. It may be nil.
	Done func(Part) `json:"-"`
}

// decides reports whether a part is to be decided.
func (o Options) decides(p Part) bool { return len(o.Only) == 0 || slices.Contains(o.Only, p) }
