package loop_test

import (
	"testing"

	"github.com/tenon-sh/tenon/internal/loop"
)

func TestTooMany(t *testing.T) {
	for _, tc := range []struct {
		ill, nodes int
		want       bool
	}{{1, 1, false}, {1, 5, false}, {2, 5, true}, {2, 6, false}, {3, 11, false}, {4, 11, true}} {
		if got := loop.TooMany(tc.ill, tc.nodes); got != tc.want {
			t.Errorf("%d of %d: %t, want %t", tc.ill, tc.nodes, got, tc.want)
		}
	}
}
