package verb

import (
	"runtime"
	"syscall"
	"time"

	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/internal/clock"
)

// Usage is what the process has used so far.
type Usage struct {
	wall   time.Time
	cpu    time.Duration
	bytes  uint64
	allocs uint64
	peak   int64 // KiB
}

// UsageNow measures it.
func UsageNow() Usage {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	u := Usage{wall: clock.Wall(), bytes: m.TotalAlloc, allocs: m.Mallocs}
	var r syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &r) == nil {
		u.cpu = time.Duration(r.Utime.Nano() + r.Stime.Nano())
		u.peak = r.Maxrss
	}
	return u
}

// Since is what was used since before; the peak is that of the whole process.
func (u Usage) Since(before Usage) plan.Decision {
	return plan.Decision{
		WallSeconds: u.wall.Sub(before.wall).Seconds(), CPUSeconds: (u.cpu - before.cpu).Seconds(),
		AllocBytes: u.bytes - before.bytes, Allocs: u.allocs - before.allocs, PeakRSSMiB: float64(u.peak) / 1024,
	}
}
