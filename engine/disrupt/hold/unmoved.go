package hold

import (
	"fmt"

	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
)

// Unmoved says that the pool of a machine has no pods moved from it; nil if it does.
func (b *Book) Unmoved(p *world.Place) *reason.Why {
	pool := b.world.Pool(p.Pool())
	switch {
	case pool == nil, pool.Replicas != nil:
		h := Hold{Code: reason.Policy}
		if pool != nil {
			h.Code = reason.Static
		}
		return b.Why(p, h)
	case pool.Disruption.MoveAfter == nil && pool.Disruption.EmptyAfter == nil:
		return &reason.Why{Code: reason.Policy, Subject: p.Name(), Detail: fmt.Sprintf("pool %s gives nothing back by choice", pool.ID.Name), Hint: somethingHint(pool)}
	case pool.Disruption.MoveAfter == nil && IsEmpty(p):
		return Leaves(p)
	case pool.Disruption.MoveAfter == nil:
		return &reason.Why{Code: reason.Policy, Subject: p.Name(), Detail: fmt.Sprintf("pool %s gives only empty nodes back", pool.ID.Name), Hint: movingHint(pool)}
	}
	return nil
}

// Leaves says of an empty machine that it needs nothing to be moved.
func Leaves(p *world.Place) *reason.Why {
	return &reason.Why{Code: reason.Empty, Subject: p.Name(), Detail: "it is empty, and is removed once consolidateAfter and its pool's budgets allow"}
}

// Unplannable says of each pod of the machine for which no place can be planned that it keeps the machine.
func Unplannable(p *world.Place) []*reason.Why {
	var out []*reason.Why
	for _, pod := range p.Pods {
		if pod.Moves() && !pod.Plannable() {
			out = append(out, &reason.Why{Code: reason.Invalid, Subject: pod.String(), Detail: "the pod cannot be planned for, so it is not known where else it would run"})
		}
	}
	return out
}
