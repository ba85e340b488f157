// Package label is the algebra of requirements: sets of label values, where two meet, and why they do not.
package label

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Op is the operator of a requirement as a user writes it.
type Op string

// The operators of the API.
const (
	In           Op = "In"
	NotIn        Op = "NotIn"
	Exists       Op = "Exists"
	DoesNotExist Op = "DoesNotExist"
	Gt           Op = "Gt"
	Lt           Op = "Lt"
	Gte          Op = "Gte"
	Lte          Op = "Lte"
)

// Requirement is what one key may be: a set of values, or all values but some,
// within integer bounds, and whether the key may be absent.
type Requirement struct {
	Key     string   `json:"key"`
	Not     bool     `json:"not,omitempty"`     // Values are what it may not be; otherwise what it may be
	Present bool     `json:"present,omitempty"` // absence does not do
	Values  []string `json:"values,omitempty"`  // sorted, distinct
	Min     *int64   `json:"min,omitempty"`     // inclusive; a value that is no integer is outside any bound
	Max     *int64   `json:"max,omitempty"`
	Least   int      `json:"least,omitempty"` // how many distinct values must stay possible (minValues)
}

// New turns a requirement on a node's label, as written, into its normal form.
// Old names of a key become today's.
func New(key string, op Op, values ...string) (Requirement, error) {
	return Plain(Canonical(key), op, values...)
}

// Plain is New for labels of pods and namespaces: no key has another name.
func Plain(key string, op Op, values ...string) (Requirement, error) {
	r := Requirement{Key: key, Present: op != NotIn && op != DoesNotExist}
	switch op {
	case In:
		r.Values = distinct(values)
	case NotIn:
		r.Not, r.Values = true, distinct(values)
	case Exists:
		r.Not = true
	case DoesNotExist:
	case Gt, Lt, Gte, Lte:
		if len(values) != 1 {
			return r, fmt.Errorf("%s %s needs exactly one value, has %d", key, op, len(values))
		}
		n, err := strconv.ParseInt(values[0], 10, 64)
		if err != nil {
			return r, fmt.Errorf("%s %s needs an integer, has %q", key, op, values[0])
		}
		return bounded(r, op, n), nil
	default:
		return r, fmt.Errorf("%s: unknown operator %q: use In, NotIn, Exists, DoesNotExist, Gt, Lt, Gte or Lte", key, op)
	}
	return r, nil
}

func bounded(r Requirement, op Op, n int64) Requirement {
	switch {
	case op == Gt && n == math.MaxInt64, op == Lt && n == math.MinInt64:
		return r
	case op == Gt:
		n++
		r.Min = &n
	case op == Gte:
		r.Min = &n
	case op == Lt:
		n--
		r.Max = &n
	default:
		r.Max = &n
	}
	r.Not = true
	return r
}

// Is returns the requirement that key is one of values.
func Is(key string, values ...string) Requirement {
	return Requirement{Key: Canonical(key), Present: true, Values: distinct(values)}
}

// Any returns the requirement that key exists, whatever its value.
func Any(key string) Requirement { return Requirement{Key: Canonical(key), Not: true, Present: true} }

func distinct(values []string) []string {
	if len(values) == 0 {
		return nil
	}
	v := slices.Clone(values)
	slices.Sort(v)
	return slices.Compact(v)
}

// Op names the requirement's kind: In, NotIn, Exists or DoesNotExist. Bounds count as Exists.
func (r Requirement) Op() Op {
	switch {
	case r.Not && len(r.Values) > 0:
		return NotIn
	case r.Not:
		return Exists
	case len(r.Values) > 0:
		return In
	}
	return DoesNotExist
}

// Negative reports whether a place without the key satisfies r.
func (r Requirement) Negative() bool { return !r.Present && (r.Not || len(r.Values) == 0) }

// Any reports whether every value will do, as long as there is one.
func (r Requirement) Any() bool {
	return r.Present && r.Not && len(r.Values) == 0 && r.Min == nil && r.Max == nil
}

// Impossible reports whether nothing satisfies r, neither a value nor absence.
func (r Requirement) Impossible() bool { return r.Present && !r.Not && len(r.Values) == 0 }

// Has reports whether value satisfies r.
func (r Requirement) Has(value string) bool {
	_, listed := slices.BinarySearch(r.Values, value)
	return listed != r.Not && r.within(value)
}

func (r Requirement) within(value string) bool {
	if r.Min == nil && r.Max == nil {
		return true
	}
	n, err := strconv.ParseInt(value, 10, 64)
	return err == nil && (r.Min == nil || n >= *r.Min) && (r.Max == nil || n <= *r.Max)
}

// Meet returns what satisfies both. The keys must be the same.
func (r Requirement) Meet(o Requirement) Requirement {
	out := Requirement{Key: r.Key, Present: r.Present || o.Present, Least: max(r.Least, o.Least)}
	out.Min, out.Max = tighter(r.Min, o.Min, 1), tighter(r.Max, o.Max, -1)
	if out.Min != nil && out.Max != nil && *out.Min > *out.Max {
		return Requirement{Key: r.Key, Present: true, Least: out.Least}
	}
	switch {
	case r.Not && o.Not:
		out.Not = true
		out.Values = distinct(append(slices.Clone(r.Values), o.Values...))
		return out
	case r.Not:
		out.Values = keep(o.Values, r.Has)
	default:
		out.Values = keep(r.Values, o.Has)
	}
	out.Values = keep(out.Values, out.within)
	out.Min, out.Max = nil, nil
	return out
}

// Meets reports whether some value satisfies both.
func (r Requirement) Meets(o Requirement) bool {
	switch {
	case r.Not && o.Not:
		lo, hi := tighter(r.Min, o.Min, 1), tighter(r.Max, o.Max, -1)
		return lo == nil || hi == nil || *lo <= *hi
	case r.Not:
		return slices.ContainsFunc(o.Values, r.Has)
	default:
		return slices.ContainsFunc(r.Values, o.Has)
	}
}

func tighter(a, b *int64, sign int64) *int64 {
	switch {
	case a == nil:
		return b
	case b == nil || *a*sign >= *b*sign:
		return a
	}
	return b
}

func keep(values []string, ok func(string) bool) []string {
	var out []string
	for _, v := range values {
		if ok(v) {
			out = append(out, v)
		}
	}
	return out
}

// maxValuesShown is how many values a requirement prints before it says how many others there are.
const maxValuesShown = 5

// String writes the requirement as "key In [a b c]".
func (r Requirement) String() string {
	var b strings.Builder
	b.WriteString(r.Key)
	if op := r.Op(); op != Exists || r.Min == nil && r.Max == nil {
		b.WriteString(" " + string(op))
	}
	if n := len(r.Values); n > maxValuesShown+1 {
		fmt.Fprintf(&b, " [%s and %d others]", strings.Join(r.Values[:maxValuesShown], " "), n-maxValuesShown)
	} else if n > 0 {
		fmt.Fprintf(&b, " [%s]", strings.Join(r.Values, " "))
	}
	if r.Min != nil {
		fmt.Fprintf(&b, " >=%d", *r.Min)
	}
	if r.Max != nil {
		fmt.Fprintf(&b, " <=%d", *r.Max)
	}
	return b.String()
}
