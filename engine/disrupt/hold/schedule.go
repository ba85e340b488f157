package hold

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// schedule is a cron expression: for each field the values that match, as bits.
type schedule struct {
	minute, hour, day, month, weekday uint64
	anyDay, anyWeekday                bool // the field was a star: then the other alone decides
}

// parseSchedule reads five cron fields or a macro.
func parseSchedule(text string) (schedule, error) {
	switch text {
	case "@yearly", "@annually":
		text = "0 0 1 1 *"
	case "@monthly":
		text = "0 0 1 * *"
	case "@weekly":
		text = "0 0 * * 0"
	case "@daily", "@midnight":
		text = "0 0 * * *"
	case "@hourly":
		text = "0 * * * *"
	}
	f := strings.Fields(text)
	if len(f) != 5 {
		return schedule{}, fmt.Errorf("schedule %q has %d fields, want 5", text, len(f))
	}
	var s schedule
	for i, field := range []struct {
		bits   *uint64
		lo, hi int
		names  string
	}{
		{&s.minute, 0, 59, ""},
		{&s.hour, 0, 23, ""},
		{&s.day, 1, 31, ""},
		{&s.month, 1, 12, "jan feb mar apr may jun jul aug sep oct nov dec"},
		{&s.weekday, 0, 7, "sun mon tue wed thu fri sat"},
	} {
		bits, err := parseField(f[i], field.lo, field.hi, strings.Fields(field.names))
		if err != nil {
			return schedule{}, fmt.Errorf("schedule %q: %w", text, err)
		}
		*field.bits = bits
	}
	if s.weekday&(1<<7) != 0 {
		s.weekday |= 1 // Sunday is 0 and 7
	}
	s.anyDay, s.anyWeekday = star(f[2]), star(f[4])
	return s, nil
}

func star(field string) bool { return strings.HasPrefix(field, "*") || field == "?" }

// parseField reads a list of values, ranges and steps.
func parseField(text string, lo, hi int, names []string) (uint64, error) {
	var bits uint64
	for part := range strings.SplitSeq(strings.ToLower(text), ",") {
		span, stepText, stepped := strings.Cut(part, "/")
		step := 1
		if stepped {
			n, err := strconv.Atoi(stepText)
			if err != nil || n < 1 {
				return 0, fmt.Errorf("%q has no step of at least 1", part)
			}
			step = min(n, hi+1) // one beyond the end leaves the beginning, and no step may overflow
		}
		from, to := lo, hi
		if span != "*" && span != "?" {
			first, last, ranged := strings.Cut(span, "-")
			var err error
			if from, err = parseValue(first, lo, names); err != nil {
				return 0, err
			}
			switch {
			case ranged:
				if to, err = parseValue(last, lo, names); err != nil {
					return 0, err
				}
			case !stepped:
				to = from
			}
		}
		if from < lo || to > hi || from > to {
			return 0, fmt.Errorf("%q is not within %d and %d", part, lo, hi)
		}
		for v := from; v <= to; v += step {
			bits |= 1 << v
		}
	}
	return bits, nil
}

func parseValue(text string, lo int, names []string) (int, error) {
	for i, name := range names {
		if name == text {
			return lo + i, nil
		}
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, fmt.Errorf("%q is not a number", text)
	}
	return n, nil
}

// rarest is the longest that a schedule which comes up at all can take to come up
// again: a 29 February on one day of the week, over a century without a leap year.
const rarest = 41 * 366 * 24 * 60 * 60

// hit reports whether the schedule comes up after from, and not after to.
func (s schedule) hit(from, to int64) bool {
	const minute, day = 60, 24 * 60 * 60
	from = max(from, to-rarest)
	for at := to - mod(to, minute); at > from; {
		t := time.Unix(at, 0).UTC()
		switch {
		case !s.onDay(t):
			at -= mod(at, day) + minute // the last minute of the day before
		case s.hour&(1<<t.Hour()) == 0:
			at -= mod(at, 60*minute) + minute
		case s.minute&(1<<t.Minute()) == 0:
			at -= minute
		default:
			return true
		}
	}
	return false
}

func (s schedule) onDay(t time.Time) bool {
	day, weekday := s.day&(1<<t.Day()) != 0, s.weekday&(1<<int(t.Weekday())) != 0
	if s.month&(1<<int(t.Month())) == 0 {
		return false
	}
	if s.anyDay || s.anyWeekday {
		return day && weekday
	}
	return day || weekday
}

func mod(a, b int64) int64 { return ((a % b) + b) % b }
