package domain

import "slices"

// Register numbers the values of one topology key in the order in which they come. Machines are entered by name, and each has a
// hostname that is new and comes after the one before: values that come in rising order need no map to be known as new, or found.
type Register struct {
	Values []string         // by number
	rising int              // so many of them, the first, came in rising order
	others map[string]int32 // the numbers of the rest
}

// Find returns the number of a value, if it has one.
func (r *Register) Find(value string) (int32, bool) {
	if n, known := slices.BinarySearch(r.Values[:r.rising], value); known {
		return int32(n), true
	}
	n, known := r.others[value]
	return n, known
}

// Number returns the number of a value, the next one if it has none yet.
func (r *Register) Number(value string) int32 {
	next := int32(len(r.Values))
	if r.rising == len(r.Values) && (next == 0 || value > r.Values[next-1]) {
		r.Values = append(r.Values, value)
		r.rising++
		return next
	}
	if n, known := r.Find(value); known {
		return n
	}
	if r.others == nil {
		r.others = map[string]int32{}
	}
	r.others[value] = next
	r.Values = append(r.Values, value)
	return next
}

// Expect makes room for so many values.
func (r *Register) Expect(n int) { r.Values = slices.Grow(r.Values, n) }
