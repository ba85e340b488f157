package replace

import (
	"github.com/tenon-sh/tenon/engine/disrupt/hold"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
)

// Next returns the machine that is replaced next, as the Back of a plan, and what is to be bought for its
// pods, as its New: nothing if they have places elsewhere. What is too old comes first, as it is to go in
// any case; then what has drifted, of that what runs nothing, then the oldest. What forbids others before
// it is told. w is a World with nothing begun, or Begun.Ending of one.
func Next(w *world.World, o Options) (plan.Plan, []Kept) {
	out := plan.Plan{World: w.Digest(), At: w.At()}
	kept := expire(w, o, &out)
	if len(out.Back) > 0 {
		return out, kept
	}
	w = leaving(w, o)
	book := hold.Open(w, o.Planned)
	rooms := map[world.PoolID]int{}
	left := tries
	for _, p := range drifted(w, o) {
		pool := w.Pool(p.Pool())
		if _, known := rooms[pool.ID]; !known {
			rooms[pool.ID] = hold.RoomOf(w, pool, plan.Drifted).Left()
		}
		why, _ := forbidden(book, p)
		if why == nil && rooms[pool.ID] <= 0 {
			why = &reason.Why{Code: reason.Budget, Subject: pool.ID.Name, Detail: "its budgets let no further node go now"}
		}
		if why != nil {
			kept = append(kept, Kept{p, why})
			continue
		}
		if left--; left < 0 {
			break
		}
		asks, why := instead(w, p, o)
		if why != nil {
			kept = append(kept, Kept{p, why})
			continue
		}
		out.New, out.Back = asks, given(w, p, plan.Drifted)
		break
	}
	return out, kept
}
