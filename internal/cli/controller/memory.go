package controller

import (
	"context"
	"path"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
)

// How the heap is kept small. A state of a cluster lives long and changes
// little, so that a collection frees what was made since the last one and hardly
// costs more often than it is due. Within the limit of the container it is due earlier.
const (
	heapGrowthPercent   = 50          // percent that the heap may grow until it is collected; Go's own default is 100
	plannedLimitPercent = 90          // percent of the container's memory that Go plans for: the rest is for what is not on the heap
	memoryLookEvery     = time.Minute // how often freed memory is looked at
	keepFree            = 16 << 20    // bytes of freed memory that are worth keeping for what comes next
	sayAgain            = 10          // looks after which it is said again that memory is short
)

// limitMemory sets how the heap is collected, in a process whose memory the flag, the
// environment or the container bounds. What GOGC and GOMEMLIMIT say stands.
func limitMemory(flag int64, getenv func(string) string, read func(string) ([]byte, error)) {
	if getenv("GOGC") == "" {
		debug.SetGCPercent(heapGrowthPercent)
	}
	if limit := memoryLimit(flag, getenv, read); limit > 0 {
		debug.SetMemoryLimit(limit)
	}
}

// memoryLimit is what Go is to plan for; 0: no more than it was given otherwise.
func memoryLimit(flag int64, getenv func(string) string, read func(string) ([]byte, error)) int64 {
	if getenv("GOMEMLIMIT") != "" {
		return 0
	}
	if flag <= 0 {
		flag = containerLimit(read)
	}
	return flag / 100 * plannedLimitPercent
}

// unlimited is about what version 1 of control groups says where nothing is bounded.
const unlimited = 1 << 60

// containerLimit is how much memory the control group of this process may have, in bytes; 0 if
// that is not bounded or not known. In a container its own group is what it sees as the root.
func containerLimit(read func(string) ([]byte, error)) int64 {
	files := []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}
	if groups, err := read("/proc/self/cgroup"); err == nil {
		for line := range strings.Lines(string(groups)) { // 0::/path, or 4:memory:/path
			parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
			switch {
			case len(parts) < 3:
			case parts[1] == "":
				files = append(files, path.Join("/sys/fs/cgroup", parts[2], "memory.max"))
			case parts[1] == "memory":
				files = append(files, path.Join("/sys/fs/cgroup/memory", parts[2], "memory.limit_in_bytes"))
			}
		}
	}
	least := int64(0)
	for _, f := range files {
		text, err := read(f)
		if err != nil {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
		if err == nil && n > 0 && n < unlimited && (least == 0 || n < least) {
			least = n
		}
	}
	return least
}

// untilReturned has freed memory returned until ctx ends or the function is called that it returns, which waits for that.
func untilReturned(ctx context.Context, log logr.Logger) func() {
	ctx, stop := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { returnMemory(ctx, log) })
	return func() { stop(); running.Wait() }
}

// returnMemory gives back to the system what was freed, now and then until ctx ends.
// By itself Go keeps what its heap once needed for long, such as for a first list
// or a decision about many pods. It logs when what lives is about all that the limit allows.
func returnMemory(ctx context.Context, log logr.Logger) {
	tick := time.NewTicker(memoryLookEvery)
	defer tick.Stop()
	quiet := 0 // looks until it is said again
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		s := []metrics.Sample{{Name: "/memory/classes/heap/free:bytes"}, {Name: "/memory/classes/heap/objects:bytes"}, {Name: "/gc/heap/live:bytes"}}
		metrics.Read(s)
		limit := uint64(max(debug.SetMemoryLimit(-1), 0)) // a negative one changes nothing
		if quiet--; quiet <= 0 && tight(s[2].Value.Uint64(), limit) {
			quiet = sayAgain
			log.Error(nil, "nearly all memory that the controller may use is in use: raise its memory limit; near it most of the processor time goes into collecting memory, and beyond it the container is ended",
				"inUseMiB", s[2].Value.Uint64()>>20, "plannedForMiB", limit>>20)
		}
		if worthReturning(s[0].Value.Uint64(), s[1].Value.Uint64(), s[2].Value.Uint64()) {
			debug.FreeOSMemory()
		}
	}
}

// tight reports whether what lives on the heap leaves less than a quarter of the limit to work with.
func tight(live, limit uint64) bool { return live > limit/4*3 }

// worthReturning reports whether so much is free, or will be after a collection, that one
// is worth its cost, which grows with what lives.
func worthReturning(free, objects, live uint64) bool {
	garbage := uint64(0)
	if objects > live {
		garbage = objects - live
	}
	return free+garbage > max(keepFree, live/4)
}
