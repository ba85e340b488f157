package fill

import "math"

// tournament finds the best of many scores again and again while only the best one changes, and never for the better.
//
// The entries play each other in pairs, the winners of these play each other, and so on. When the best gets worse, or goes, only the
// games on its way to the top are played again: one comparison a level, of which the opponents are known beforehand. A heap
// compares twice a level, and where it goes next depends on the outcome.
type tournament struct {
	keys []int64 // of each entry, its score as a number of the same order; one more is for entries that are not there
	tree []int32 // the winner of each game: that of all at 1, of the game at i after those at 2i and 2i+1
	half int     // where in the tree the entries themselves begin, the first at half
	left int     // how many have not gone
}

// gone is below the key of every score, with room below it.
const gone = math.MinInt64 + 1

// key is a number that is larger than another if the score is. Both zeros are one.
func key(score float64) int64 {
	bits := int64(math.Float64bits(score + 0)) //nolint:gosec // a reading of the same bits
	return bits ^ int64(uint64(bits>>63)>>1)   //nolint:gosec // the sign stays
}

// reset begins again, without entries.
func (t *tournament) reset() { t.keys = t.keys[:0] }

// enter adds an entry. Those that were added before win against it if they have the same score.
func (t *tournament) enter(score float64) { t.keys = append(t.keys, key(score)) }

// play has all entries play.
func (t *tournament) play() {
	n := len(t.keys)
	t.left, t.half = n, 1
	for t.half < n {
		t.half *= 2
	}
	t.keys = append(t.keys, gone)
	if len(t.tree) < 2*t.half {
		t.tree = make([]int32, 2*t.half)
	}
	for i := range n {
		t.tree[t.half+i] = int32(i) //nolint:gosec // entries are classes
	}
	none := int32(n) //nolint:gosec // entries are classes
	for from := t.half; from > 1; from /= 2 {
		if n%2 == 1 {
			t.tree[from+n] = none
			n++
		}
		for i := from; i < from+n; i += 2 {
			first, second := t.tree[i], t.tree[i+1]
			if t.keys[second] > t.keys[first] {
				first = second
			}
			t.tree[i/2] = first
		}
		n /= 2
	}
}

// first is the best entry.
func (t *tournament) first() int32 { return t.tree[1] }

// lower gives the best entry a lower score.
func (t *tournament) lower(score float64) { t.again(key(score)) }

// drop has the best entry go.
func (t *tournament) drop() {
	t.left--
	t.again(gone)
}

// again plays the games of the best entry with another key.
func (t *tournament) again(mine int64) {
	best := t.tree[1]
	keys, tree := t.keys, t.tree
	keys[best] = mine
	for i := t.half + int(best); i > 1; i /= 2 {
		other := tree[i^1]
		its := keys[other]
		if its > mine-int64(i&1) { // those before win if they have the same score
			best = other
		}
		mine = max(mine, its)
		tree[i/2] = best
	}
}
