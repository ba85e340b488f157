package live

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tenon-sh/tenon/engine/disrupt/hold"
	"github.com/tenon-sh/tenon/engine/world"
)

// windows remembers what is said of the budgets of pools, for as long as the same is to be said.
type windows map[world.PoolID]window

type window struct {
	pool   *world.Pool
	minute int64
	counts counts
	text   string
}

// counts are a pool's machines that budgets count, and those that go or are not ready.
type counts struct{ machines, going int }

func (c *counts) add(p *world.Place) {
	counts, going := hold.Counted(p)
	if counts {
		c.machines++
	}
	if counts && going {
		c.going++
	}
}

// of says how many machines of a pool may go at once, and when that changes.
func (ws windows) of(p *world.Pool, c counts, at int64) string {
	if w, ok := ws[p.ID]; ok && w.pool == p && w.minute == at/60 && w.counts == c {
		return w.text
	}
	w := window{p, at / 60, c, budgets(p.Disruption.Budgets, c, at)}
	ws[p.ID] = w
	return w.text
}

// budgets is a clause for all reasons together, or for each that a budget names.
func budgets(all []world.Budget, c counts, at int64) string {
	if len(all) == 0 {
		return ""
	}
	if wrong := hold.Unreadable(all); len(wrong) > 0 {
		return strings.Join(wrong, "; ")
	}
	reasons := hold.Reasons(all)
	var clauses []string
	for _, r := range reasons {
		clause := fmt.Sprintf("%d of %d may go at once", min(hold.Allowed(all, r, c.machines, at), c.machines), c.machines)
		if when, then := hold.Next(all, r, c.machines, at); when > 0 {
			clause += fmt.Sprintf(", %d from %s", min(then, c.machines), time.Unix(when, 0).UTC().Format("Mon 15:04 UTC"))
		}
		clauses = append(clauses, clause)
	}
	if same := slices.Compact(slices.Clone(clauses)); len(same) == 1 {
		clauses = same
	} else {
		for i, r := range reasons {
			clauses[i] = r + ": " + clauses[i]
		}
	}
	if c.going > 0 {
		clauses = append(clauses, fmt.Sprintf("%d going or not ready", c.going))
	}
	return strings.Join(clauses, "; ")
}
