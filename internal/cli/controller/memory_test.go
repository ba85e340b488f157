package controller_test

import (
	"math"
	"os"
	"testing"

	"github.com/tenon-sh/tenon/internal/cli/controller"
)

func TestMemoryLimit(t *testing.T) {
	const gib = 1 << 30
	tests := map[string]struct {
		why   string
		flag  int64
		env   string // GOMEMLIMIT
		files map[string]string
		want  int64
	}{
		"Nothing":   {why: "Where nothing bounds the process Go's own default stays.", flag: -1},
		"Flag":      {why: "The flag comes first: the chart fills it with the container's limit.", flag: gib, files: map[string]string{"/sys/fs/cgroup/memory.max": "512\n"}, want: gib / 100 * 90},
		"Go":        {why: "GOMEMLIMIT is read by Go itself.", flag: gib, env: "500MiB"},
		"Version2":  {why: "A container sees its group as the root.", flag: -1, files: map[string]string{"/sys/fs/cgroup/memory.max": "1073741824\n"}, want: gib / 100 * 90},
		"Max":       {why: "The word max bounds nothing.", flag: -1, files: map[string]string{"/sys/fs/cgroup/memory.max": "max\n"}},
		"Version1":  {why: "Older nodes have version 1.", flag: -1, files: map[string]string{"/sys/fs/cgroup/memory/memory.limit_in_bytes": "1073741824\n"}, want: gib / 100 * 90},
		"Unlimited": {why: "Version 1 says a number near the largest where nothing is bounded.", flag: -1, files: map[string]string{"/sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n"}},
		"Nested": {why: "Outside of a container the group has a path; the least of its bounds counts.", flag: -1, files: map[string]string{
			"/proc/self/cgroup": "4:memory:/a/b\n0::/c\n", "/sys/fs/cgroup/memory/a/b/memory.limit_in_bytes": "1073741824\n", "/sys/fs/cgroup/c/memory.max": "2147483648\n",
		}, want: gib / 100 * 90},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := controller.MemoryLimit(tc.flag, func(string) string { return tc.env }, func(name string) ([]byte, error) {
				if text, ok := tc.files[name]; ok {
					return []byte(text), nil
				}
				return nil, os.ErrNotExist
			})
			if got != tc.want {
				t.Errorf("%s: got %d, want %d", tc.why, got, tc.want)
			}
		})
	}
}

// A process says that memory is short before it runs out, and never where nothing bounds it.
func TestTight(t *testing.T) {
	const limit = 900 << 20
	for _, test := range []struct {
		live, limit uint64
		want        bool
	}{
		{limit / 2, limit, false}, {limit * 8 / 10, limit, true}, {limit, limit, true}, {1 << 40, math.MaxInt64, false},
	} {
		if got := controller.Tight(test.live, test.limit); got != test.want {
			t.Errorf("%d MiB of %d are short: %v", test.live>>20, test.limit>>20, got)
		}
	}
}

func TestWorthReturning(t *testing.T) {
	const mib = 1 << 20
	tests := map[string]struct {
		why                 string
		free, objects, live uint64
		want                bool
	}{
		"Little": {why: "Some megabytes are kept for what comes next.", free: 8 * mib, objects: 32 * mib, live: 30 * mib},
		"Freed":  {why: "What a first list needed is given back.", free: 100 * mib, objects: 32 * mib, live: 30 * mib, want: true},
		"Garbage": {
			why: "A heap at rest may not be collected for long although much of it is garbage.", objects: 60 * mib, live: 30 * mib, want: true,
		},
		"Large": {why: "A collection of a large heap has to be worth it.", free: 100 * mib, objects: 900 * mib, live: 850 * mib},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := controller.WorthReturning(tc.free, tc.objects, tc.live); got != tc.want {
				t.Errorf("%s: got %v", tc.why, got)
			}
		})
	}
}
