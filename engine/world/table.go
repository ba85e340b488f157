package world

import (
	"maps"
	"slices"
)

// table is a run of items sorted by key. What is settled is never written
// again, so snapshots share it; changes collect beside it until the next one.
type table[K comparable, V any] struct {
	key     func(*V) K
	compare func(a, b K) int
	settled []*V
	changes map[K]*V // nil: deleted
}

func newTable[K comparable, V any](key func(*V) K, compare func(a, b K) int) table[K, V] {
	return table[K, V]{key: key, compare: compare}
}

// over returns a table of the same kind that starts from settled items.
func (t table[K, V]) over(settled []*V) table[K, V] {
	return table[K, V]{key: t.key, compare: t.compare, settled: settled}
}

// find returns the item of key k as it stands now; nil if there is none.
func (t *table[K, V]) find(k K) *V {
	if v, ok := t.changes[k]; ok {
		return v
	}
	return find(t.settled, k, t.key, t.compare)
}

func find[K, V any](sorted []*V, k K, key func(*V) K, compare func(a, b K) int) *V {
	i, ok := slices.BinarySearchFunc(sorted, k, func(v *V, k K) int { return compare(key(v), k) })
	if !ok {
		return nil
	}
	return sorted[i]
}

// put sets the item of key k; nil deletes it.
func (t *table[K, V]) put(k K, v *V) {
	if t.changes == nil {
		t.changes = map[K]*V{}
	}
	t.changes[k] = v
}

// settle merges the changes and returns all items in order, and the keys that changed.
func (t *table[K, V]) settle() ([]*V, []K) {
	if len(t.changes) == 0 {
		return t.settled, nil
	}
	keys := slices.SortedFunc(maps.Keys(t.changes), t.compare)
	out := make([]*V, 0, len(t.settled)+len(keys))
	rest := t.settled
	for _, k := range keys {
		i, found := slices.BinarySearchFunc(rest, k, func(v *V, k K) int { return t.compare(t.key(v), k) })
		out = append(out, rest[:i]...)
		rest = rest[i:]
		if found {
			rest = rest[1:]
		}
		if v := t.changes[k]; v != nil {
			out = append(out, v)
		}
	}
	t.settled, t.changes = append(out, rest...), nil
	return t.settled, keys
}
