package hold

import (
	"slices"
	"time"

	"github.com/tenon-sh/tenon/engine/world"
)

const (
	// windowLookaheadSeconds is how far it is looked for a change: a week's windows are within it.
	windowLookaheadSeconds = 8 * 24 * 60 * 60
	// maxWindowChanges bounds how many beginnings and ends of windows are looked at: a schedule may hit every minute.
	maxWindowChanges = 256
)

// Next is when Allowed changes within some days, and to what; 0 if it does not.
func Next(budgets []world.Budget, reason string, total int, at int64) (when int64, allowed int) {
	now := Allowed(budgets, reason, total, at)
	for _, t := range changes(budgets, at) {
		if then := Allowed(budgets, reason, total, t); then != now {
			return t, then
		}
	}
	return 0, 0
}

// changes are the times after at when windows begin or end, the next first.
func changes(budgets []world.Budget, at int64) []int64 {
	var out []int64
	for _, b := range budgets {
		s, err := parseSchedule(b.Schedule)
		if err != nil {
			continue // without a schedule, too, nothing begins or ends
		}
		for i, hit := 0, s.after(at-b.Duration, at+windowLookaheadSeconds); hit > 0 && i < maxWindowChanges; i, hit = i+1, s.after(hit, at+windowLookaheadSeconds) {
			out = append(out, hit, hit+b.Duration)
		}
	}
	out = slices.DeleteFunc(out, func(t int64) bool { return t <= at })
	slices.Sort(out)
	return slices.Compact(out)
}

// after is when the schedule next comes up after from, and not after to; 0 if it does not.
func (s schedule) after(from, to int64) int64 {
	const minute, hour, day = 60, 60 * 60, 24 * 60 * 60
	to = min(to, from+rarest)
	for at := from - mod(from, minute) + minute; at <= to; {
		t := time.Unix(at, 0).UTC()
		switch {
		case !s.onDay(t):
			at += day - mod(at, day)
		case s.hour&(1<<t.Hour()) == 0:
			at += hour - mod(at, hour)
		case s.minute&(1<<t.Minute()) == 0:
			at += minute
		default:
			return at
		}
	}
	return 0
}
