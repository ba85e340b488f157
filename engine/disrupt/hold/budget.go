package hold

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
)

// Room is how many of a pool's machines may go at once for a reason, and how
// many go already or are not ready.
type Room struct{ Machines, Going, Allowed int }

// Left is how many more may go.
func (r Room) Left() int { return max(r.Allowed-r.Going, 0) }

// Allowed is how many of a pool's machines its budgets let go at once for a
// reason at a time. The tightest that is active counts; one that cannot be read
// lets nothing go.
func Allowed(budgets []world.Budget, reason string, total int, at int64) int {
	least := math.MaxInt
	for _, b := range budgets {
		if len(b.Reasons) > 0 && !slices.Contains(b.Reasons, reason) {
			continue
		}
		active, ok := activeAt(b, at)
		n, read := nodes(b.Nodes, total)
		switch {
		case !ok || !read:
			return 0
		case active:
			least = min(least, n)
		}
	}
	return least
}

// Reasons are those for which nodes are given back within budgets, and any
// other that a budget names.
func Reasons(budgets []world.Budget) []string {
	out := []string{plan.Drifted, plan.Empty, plan.Underutilized}
	for _, b := range budgets {
		out = append(out, b.Reasons...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Unreadable says of each budget that cannot be read what is wrong with it. Such a
// budget lets nothing go.
func Unreadable(budgets []world.Budget) []string {
	var out []string
	for _, b := range budgets {
		if _, ok := nodes(b.Nodes, 1); !ok {
			out = append(out, fmt.Sprintf("a disruption budget has nodes %q, want a number or a share of at most 100%%", b.Nodes))
		}
		if b.Schedule == "" {
			continue
		}
		if _, err := parseSchedule(b.Schedule); err != nil {
			out = append(out, fmt.Sprintf("a disruption budget cannot be read: %v", err))
		}
	}
	return out
}

// nodes reads a number or a share of the total, rounded up.
func nodes(text string, total int) (int, bool) {
	share, percent := strings.CutSuffix(text, "%")
	n, err := strconv.Atoi(share)
	if err != nil || n < 0 {
		return 0, false
	}
	if !percent {
		return n, true
	}
	return (n*total + 99) / 100, n <= 100
}

// activeAt reports whether a budget counts at a time. ok is false if its
// schedule cannot be read.
func activeAt(b world.Budget, at int64) (active, ok bool) {
	if b.Schedule == "" {
		return true, true
	}
	s, err := parseSchedule(b.Schedule)
	if err != nil {
		return false, false
	}
	return s.hit(at-b.Duration, at), true
}
