package exact

import (
	"github.com/tenon-sh/tenon/engine/packing"
)

// Placer places pods one by one.
type Placer struct {
	*packing.Packing
	relocated int // pods that were moved for the sake of others
	near      map[int32]nearby
	growth    growth
}
