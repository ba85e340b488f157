package packing

import (
	"slices"
	"testing"

	"github.com/tenon-sh/tenon/engine/world"
)

// TestTurns holds that pods of a class take turns by namespace and name, in whatever order they come.
func TestTurns(t *testing.T) {
	pod := func(namespace, name string) *world.Pod {
		return &world.Pod{Key: world.Key{Namespace: namespace, Name: name}}
	}
	tests := map[string]struct {
		pods []*world.Pod
		want []int
	}{
		"InOrder": {[]*world.Pod{pod("a", "x"), pod("a", "y"), pod("b", "c")}, nil},
		"Mixed":   {[]*world.Pod{pod("b", "c"), pod("a", "y"), pod("c", "a"), pod("a", "x")}, []int{2, 1, 3, 0}},
	}
	for name, tc := range tests {
		if got := turnsOf(tc.pods); !slices.Equal(got, tc.want) {
			t.Errorf("%s: turns %v, want %v", name, got, tc.want)
		}
	}
}
