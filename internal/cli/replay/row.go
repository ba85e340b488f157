package replay

import (
	"fmt"
	"slices"
	"time"

	"github.com/tenon-sh/tenon/engine/plan"
)

// row is one line of the text: a decision, and how often it was made again while it was carried out. A node is marked
// first, and its claim ends when no pod has come to it since: until then each look at the cluster decides the same.
// Decisions in a row that changed nothing are one line, too.
type row struct {
	first decision
	last  int64 // when it was made the last time
	times int
}

// takes adds a decision to the row if it repeats the one before: the same machines are given back, and nothing else
// was decided.
func (r *row) takes(d decision) bool {
	if r.times > 0 && quiet(d) && quiet(r.first) {
		r.last = d.At
		r.times++
		return true
	}
	if r.times == 0 || d.Kind != r.first.Kind || d.Verdict != same || r.first.Verdict != same || d.Was != r.first.Was || !onlyGives(d.plan) || !onlyGives(r.first.plan) || !slices.Equal(given(d.plan), given(r.first.plan)) {
		return false
	}
	r.last = d.At
	r.times++
	return true
}

// text writes the row.
func (r *row) text(wide bool) string {
	if r.times == 0 {
		return ""
	}
	note := ""
	switch {
	case r.times > 1 && quiet(r.first):
		note = fmt.Sprintf(" (and %d more until %s that changed nothing)", r.times-1, time.Unix(r.last, 0).UTC().Format(time.TimeOnly))
	case r.times > 1:
		note = fmt.Sprintf(" (%d decisions until %s, while it was carried out)", r.times, time.Unix(r.last, 0).UTC().Format(time.TimeOnly))
	}
	return r.first.text(note, wide)
}

// quiet reports whether a decision changed nothing, either time.
func quiet(d decision) bool {
	return d.Verdict == same && d.Was == "" && !d.plan.Acts() && len(d.plan.Refused) == 0
}

// onlyGives reports whether a plan does nothing but give machines back.
func onlyGives(p plan.Plan) bool {
	return len(p.Back()) > 0 && p.Waiting == 0 && len(p.Asks()) == 0 && len(p.Spare) == 0 && back(p) == 0
}

// given are the claims that a plan gives back.
func given(p plan.Plan) []string {
	var all []string
	for _, g := range p.Back() {
		all = append(all, g.Claim)
	}
	return slices.Sorted(slices.Values(all))
}
