package live

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/internal/journal"
)

// Decision is a row of the time line.
type Decision struct {
	Digest  string      `json:"digest"`
	At      int64       `json:"at"`
	Kind    string      `json:"kind"` // as the journal names it
	Text    string      `json:"text"` // what it does
	Waiting int         `json:"waiting"`
	New     int         `json:"new"`
	Refused int         `json:"refused"`
	Back    int         `json:"back"`
	Cost    money.Micro `json:"cost"` // of new nodes, millionths an hour
	Saved   money.Micro `json:"saved"`
	Proven  string      `json:"proven,omitempty"` // the share of Cost that is proven necessary
	Quiet   int         `json:"quiet,omitempty"`  // decisions of the kind before it that changed nothing
	Panic   string      `json:"panic,omitempty"`
}

// decisionOf draws a decision.
func decisionOf(e journal.Entry) Decision {
	d := Decision{
		Digest: e.World.Digest(), At: e.World.At(), Kind: e.Kind, Text: deeds(e.Plan), Waiting: e.Plan.Waiting, New: len(e.Plan.Asks()), Refused: len(e.Plan.Refused),
		Back: len(e.Plan.Back()), Cost: e.Plan.Cost, Proven: e.Plan.Proven(), Quiet: e.Quiet, Panic: e.Panic,
	}
	for _, g := range e.Plan.Back() {
		d.Saved += g.Price
	}
	return d
}

// deeds says in a line what a plan does.
func deeds(p plan.Plan) string {
	var parts []string
	if len(p.New) > 0 {
		shapes := map[string]int{}
		pods := 0
		for _, a := range p.New {
			shapes[a.Shape]++
			pods += len(a.Pods)
		}
		names := slices.SortedFunc(maps.Keys(shapes), func(a, b string) int {
			return cmp.Or(cmp.Compare(shapes[b], shapes[a]), cmp.Compare(a, b))
		})
		var bought []string
		for _, s := range names[:min(len(names), 3)] {
			bought = append(bought, fmt.Sprintf("%d %s", shapes[s], s))
		}
		if more := len(names) - 3; more > 0 {
			bought = append(bought, amount.Count(more, "other type"))
		}
		purpose := amount.Count(pods, "pod")
		if len(p.Static) > 0 {
			purpose = "static pools"
		}
		parts = append(parts, "buys "+strings.Join(bought, ", ")+" for "+purpose)
	}
	if len(p.Filled) > 0 {
		pods := 0
		for _, f := range p.Filled {
			pods += len(f.Pods)
		}
		parts = append(parts, "places "+amount.Count(pods, "pod")+" on "+amount.Count(len(p.Filled), "node")+" that it has")
	}
	if len(p.Back()) > 0 {
		reasons := map[string]int{}
		for _, g := range p.Back() {
			reasons[g.Reason]++
		}
		var why []string
		for _, r := range slices.Sorted(maps.Keys(reasons)) {
			why = append(why, fmt.Sprintf("%d %s", reasons[r], r))
		}
		parts = append(parts, "gives back "+strings.Join(why, ", "))
	}
	if n := p.Missing(); n > 0 {
		parts = append(parts, "lacks "+amount.Count(n, "replica")+" of static pools")
	}
	if len(p.Refused) > 0 {
		parts = append(parts, "refuses "+amount.Count(len(p.Refused), "pod"))
	}
	if len(parts) == 0 {
		return "changes nothing"
	}
	return strings.Join(parts, "; ")
}
