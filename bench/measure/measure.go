// Package measure tells what the process has used: time on the clock, time on its cores, memory.
package measure

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Use is what some work cost.
type Use struct {
	Wall float64 `json:"wallSeconds"`
	CPU  float64 `json:"cpuSeconds"` // user and system, all threads
}

// Plus returns the cost of both.
func (u Use) Plus(v Use) Use { return Use{u.Wall + v.Wall, u.CPU + v.CPU} }

// Of returns what work costs. The heap is collected first, so that no measurement pays
// for what was thrown away before.
func Of(work func()) Use {
	runtime.GC()
	begin, before := time.Now(), CPU()
	work()
	return Use{Wall: time.Since(begin).Seconds(), CPU: (CPU() - before).Seconds()}
}

// CPU is the time the process has spent on cores so far.
func CPU() time.Duration {
	r := used()
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// PeakMiB is the most memory the process ever had resident. The kernel's status
// file has it for this program alone; getrusage would count what the parent had
// when it started the process.
func PeakMiB() float64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return float64(used().Maxrss) / 1024 // not Linux
	}
	for l := range strings.Lines(string(status)) {
		if text, ok := strings.CutPrefix(l, "VmHWM:"); ok {
			kib, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(text), " kB"), 64)
			if err == nil {
				return kib / 1024
			}
		}
	}
	return float64(used().Maxrss) / 1024
}

func used() syscall.Rusage {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		panic("getrusage: " + err.Error()) // only a bad address or a bad name of who
	}
	return r
}
