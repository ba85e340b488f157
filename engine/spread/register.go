package spread

import "slices"

// register numbers the values of one topology key in the order in which they come. Machines are entered by name, and each has a
// hostname that is new and comes after the one before: values that come in rising order need no map to be known as new, or found.
type register struct {
	values []string         // by number
	rising int              // so many of them, the first, came in rising order
	others map[string]int32 // the numbers of the rest
}

// find returns the number of a value, if it has one.
func (r *register) find(value string) (int32, bool) {
	if n, known := slices.BinarySearch(r.values[:r.rising], value); known {
		return int32(n), true
	}
	n, known := r.others[value]
	return n, known
}

// number returns the number of a value, the next one if it has none yet.
func (r *register) number(value string) int32 {
	next := int32(len(r.values))
	if r.rising == len(r.values) && (next == 0 || value > r.values[next-1]) {
		r.values = append(r.values, value)
		r.rising++
		return next
	}
	if n, known := r.find(value); known {
		return n
	}
	if r.others == nil {
		r.others = map[string]int32{}
	}
	r.others[value] = next
	r.values = append(r.values, value)
	return next
}
