// Package amount counts resources in fixed point: a pod's requests, a machine's room, a pool's limit.
//
// A value is an int64 in thousandths of the resource's unit: 250m of CPU is
// 250, one GiB of memory is 1073741824000. Values saturate instead of
// overflowing, so that an absurd request stays absurd and never wraps round to
// a small one.
package amount

import (
	"cmp"
	"math"
	"slices"
)

// Names of the resources the engine itself has to know.
const (
	CPU       = "cpu"
	Memory    = "memory"
	Pods      = "pods"
	Ephemeral = "ephemeral-storage"
	Nodes     = "nodes" // only in limits: how many machines
	GPU       = "gpu"   // only in limits: the sum of all GPU resources
)

// Unit is one whole unit of a resource: one core, one byte, one pod.
const Unit = 1000

// Entry is one resource and how much of it.
type Entry struct {
	Name  string
	Value int64 // thousandths
}

// List is a set of resources, sorted by name, without zeros unless a zero was said.
// A List is a value: no function here changes its argument.
type List []Entry

// Of builds a List from entries in any order; entries of one name add up.
func Of(entries ...Entry) List {
	l := slices.Clone(entries)
	slices.SortStableFunc(l, func(a, b Entry) int { return cmp.Compare(a.Name, b.Name) })
	out := l[:0]
	for _, e := range l {
		if n := len(out); n > 0 && out[n-1].Name == e.Name {
			out[n-1].Value = Plus(out[n-1].Value, e.Value)
			continue
		}
		out = append(out, e)
	}
	return List(out)
}

// Value returns how much of name the list holds; zero if it does not name it.
func (l List) Value(name string) int64 {
	v, _ := l.Find(name)
	return v
}

// Find returns how much of name the list holds and whether it names it at all.
func (l List) Find(name string) (int64, bool) {
	for i := range l { // lists are short
		if l[i].Name == name {
			return l[i].Value, true
		}
	}
	return 0, false
}

// With returns the list with name set to value.
func (l List) With(name string, value int64) List {
	out := slices.Clone(l)
	i, ok := slices.BinarySearchFunc(out, name, func(e Entry, n string) int { return cmp.Compare(e.Name, n) })
	if ok {
		out[i].Value = value
		return out
	}
	return slices.Insert(out, i, Entry{Name: name, Value: value})
}

// Plus returns the sum of both lists, name by name.
func (l List) Plus(m List) List { return merge(l, m, Plus) }

// Minus returns l without m, name by name; it may go below zero.
func (l List) Minus(m List) List {
	return merge(l, m, func(a, b int64) int64 { return Plus(a, -b) })
}

// Max returns the larger value of each name; a name one list lacks counts as zero there.
func (l List) Max(m List) List { return merge(l, m, func(a, b int64) int64 { return max(a, b) }) }

// Min returns the smaller value of each name; a name one list lacks counts as zero there.
func (l List) Min(m List) List { return merge(l, m, func(a, b int64) int64 { return min(a, b) }) }

// Floor returns the list with every value below zero raised to zero.
func (l List) Floor() List {
	out := slices.Clone(l)
	for i := range out {
		out[i].Value = max(out[i].Value, 0)
	}
	return out
}

// Times returns the list n times over.
func (l List) Times(n int) List {
	out := slices.Clone(l)
	for i := range out {
		out[i].Value = times(out[i].Value, int64(n))
	}
	return out
}

// Short returns the first resource of which l wants more than room has, and false if all fit.
// A resource of which l wants nothing always fits.
func (l List) Short(room List) (Shortage, bool) {
	j := 0
	for _, e := range l {
		if e.Value <= 0 {
			continue
		}
		for j < len(room) && room[j].Name < e.Name {
			j++
		}
		has := int64(0)
		if j < len(room) && room[j].Name == e.Name {
			has = room[j].Value
		}
		if e.Value > has {
			return Shortage{Name: e.Name, Wants: e.Value, Has: has}, true
		}
	}
	return Shortage{}, false
}

// Fits reports whether room has as much of everything as l wants.
func (l List) Fits(room List) bool {
	_, short := l.Short(room)
	return !short
}

// Total adds up lists in one place. The zero Total is nothing yet.
type Total struct{ list List }

// Add adds a list, name by name.
func (t *Total) Add(l List) {
	i := 0
	for _, e := range l {
		for i < len(t.list) && t.list[i].Name < e.Name {
			i++
		}
		if i < len(t.list) && t.list[i].Name == e.Name {
			t.list[i].Value = Plus(t.list[i].Value, e.Value)
			continue
		}
		t.list = slices.Insert(t.list, i, e)
	}
}

// List returns the sum; what is added after that is not in it.
func (t *Total) List() List { return slices.Clone(t.list) }

// Shortage says of which resource there was too little.
type Shortage struct {
	Name       string
	Wants, Has int64
}

// Plus adds two values and saturates.
func Plus[T ~int64](a, b T) T {
	switch {
	case b > 0 && a > math.MaxInt64-b:
		return math.MaxInt64
	case b < 0 && a < math.MinInt64-b:
		return math.MinInt64
	}
	return a + b
}

func times(a, n int64) int64 {
	if a == 0 || n == 0 {
		return 0
	}
	p := a * n
	if p/n != a {
		if (a < 0) == (n < 0) {
			return math.MaxInt64
		}
		return math.MinInt64
	}
	return p
}

func merge(a, b List, f func(x, y int64) int64) List {
	out := make(List, 0, max(len(a), len(b)))
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(b) == 0 || len(a) > 0 && a[0].Name < b[0].Name:
			out = append(out, Entry{a[0].Name, f(a[0].Value, 0)})
			a = a[1:]
		case len(a) == 0 || b[0].Name < a[0].Name:
			out = append(out, Entry{b[0].Name, f(0, b[0].Value)})
			b = b[1:]
		default:
			out = append(out, Entry{a[0].Name, f(a[0].Value, b[0].Value)})
			a, b = a[1:], b[1:]
		}
	}
	return out
}
