package refuse

import (
	"github.com/tenon-sh/tenon/engine/packing"
)

// refuser says what is against pods. The packing is what it will be.
type refuser struct {
	*packing.Packing
	against map[*packing.Demands]map[*packing.Bin]string // kinds of objection
}
