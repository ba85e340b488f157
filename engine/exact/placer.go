package exact

import (
	"github.com/tenon-sh/tenon/engine/packing"
)

// Placer places pods one by one.
type Placer struct {
	*packing.Packing
	relocated int // pods that were moved for the sake of others
	near      map[int32]nearby
	growth    growing
}

// nearby are the planned machines that hold company that pods want, as of so many changes.
type nearby struct {
	bins    []*packing.Bin
	changes int
}

// growing is which offers machines would become to hold one more pod of a class, as they were when that was last asked.
type growing struct {
	class *packing.Class
	to    map[*packing.Bin]resulting
}

// resulting is an offer, or -1, and what had been done to the machine by then.
type resulting struct{ offer, changes int }
