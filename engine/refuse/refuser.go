package refuse

import (
	"github.com/tenon-sh/tenon/engine/market"
	"github.com/tenon-sh/tenon/engine/packing"
	"github.com/tenon-sh/tenon/engine/reason"
)

// asked is a pool's list of types, by the first, and the pods that it is asked for.
type asked struct {
	types *market.Type
	class *packing.Class
}

// refuser says what is against pods. The packing is what it will be.
type refuser struct {
	*packing.Packing
	against map[*packing.Demands]map[*packing.Bin]string // kinds of objection
	ofTypes map[asked][]*reason.Why                      // what is against all types of a pool
}

func newRefuser(p *packing.Packing) *refuser {
	return &refuser{p, map[*packing.Demands]map[*packing.Bin]string{}, map[asked][]*reason.Why{}}
}
