package label

import (
	"cmp"
	"slices"
	"strings"
)

// Set is a requirement per key, sorted by key. A Set is a value: no function changes its argument.
type Set []Requirement

// SetOf builds a Set; requirements of one key meet.
func SetOf(rs ...Requirement) Set {
	var s Set
	for _, r := range rs {
		s = s.And(r)
	}
	return s
}

// Exactly builds the Set that demands just these labels.
func Exactly(labels map[string]string) Set {
	s := make(Set, 0, len(labels))
	for k, v := range labels {
		s = append(s, Is(k, v))
	}
	slices.SortFunc(s, byKey)
	return s
}

func byKey(a, b Requirement) int { return cmp.Compare(a.Key, b.Key) }

// Find returns the requirement on key.
func (s Set) Find(key string) (Requirement, bool) {
	from, to := 0, len(s)
	for from < to {
		if i := (from + to) / 2; s[i].Key < key { // requirements are large: none is copied to be compared
			from = i + 1
		} else {
			to = i
		}
	}
	if from == len(s) || s[from].Key != key {
		return Requirement{}, false
	}
	return s[from], true
}

// And returns the Set with r added; a requirement already there meets it.
func (s Set) And(r Requirement) Set {
	i, ok := slices.BinarySearchFunc(s, r, byKey)
	out := slices.Clone(s)
	if ok {
		out[i] = out[i].Meet(r)
		return out
	}
	return slices.Insert(out, i, r)
}

// Meet returns what satisfies both Sets.
func (s Set) Meet(o Set) Set {
	out := make(Set, 0, len(s)+len(o))
	for len(s) > 0 || len(o) > 0 {
		switch {
		case len(o) == 0 || len(s) > 0 && s[0].Key < o[0].Key:
			out, s = append(out, s[0]), s[1:]
		case len(s) == 0 || o[0].Key < s[0].Key:
			out, o = append(out, o[0]), o[1:]
		default:
			out, s, o = append(out, s[0].Meet(o[0])), s[1:], o[1:]
		}
	}
	return out
}

// Without returns the Set less the keys.
func (s Set) Without(keys ...string) Set {
	out := make(Set, 0, len(s))
	for _, r := range s {
		if !slices.Contains(keys, r.Key) {
			out = append(out, r)
		}
	}
	return out
}

// Clash is one key on which a demand and an offer do not meet.
type Clash struct {
	Want    Requirement
	Offer   Requirement // meaningless if Unknown
	Unknown bool        // the offering side does not define the key
}

// String writes the clash as "a In [x] not in a In [y]".
func (c Clash) String() string {
	if c.Unknown {
		return c.Want.String() + ", but the label is not defined there"
	}
	return c.Want.String() + " not in " + c.Offer.String()
}

// Clashes returns every key on which what s offers cannot meet what want
// demands. A key that s does not define is a clash unless free says that the
// label may still become anything, or the demand is satisfied by its absence.
func (s Set) Clashes(want Set, free func(key string) bool) []Clash {
	var out []Clash
	for _, w := range want {
		o, ok := s.Find(w.Key)
		switch {
		case !ok && (w.Negative() || free != nil && free(w.Key)):
		case !ok:
			out = append(out, Clash{Want: w, Unknown: true})
		case !o.Meets(w) && !(o.Negative() && w.Negative()):
			out = append(out, Clash{Want: w, Offer: o})
		}
	}
	return out
}

// Compatible reports whether Clashes would be empty, without building it.
func (s Set) Compatible(want Set, free func(key string) bool) bool {
	for _, w := range want {
		o, ok := s.Find(w.Key)
		if !ok {
			if w.Negative() || free != nil && free(w.Key) {
				continue
			}
			return false
		}
		if !o.Meets(w) && !(o.Negative() && w.Negative()) {
			return false
		}
	}
	return true
}

// Match reports whether labels satisfy every requirement, as a node's labels must.
func (s Set) Match(labels map[string]string) bool {
	for _, r := range s {
		v, ok := labels[r.Key]
		if !ok && !r.Negative() || ok && !r.Has(v) {
			return false
		}
	}
	return true
}

// String joins the requirements with commas.
func (s Set) String() string {
	parts := make([]string, len(s))
	for i, r := range s {
		parts[i] = r.String()
	}
	return strings.Join(parts, ", ")
}
