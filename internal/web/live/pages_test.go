package live

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/enginetest"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/journal"
)

// busy is a cluster of 5,000 nodes and 150,000 pods, of which 300 wait. Some change all the time.
type busy struct {
	mu      sync.Mutex
	build   *world.Builder
	last    *world.World
	dirty   bool
	decided []journal.Entry
	turn    int
}

// nodes is how many the cluster has, and each how many pods.
const nodes, podsEach = 5000, 30

func newBusy(b *testing.B) *busy {
	b.Helper()
	w := enginetest.Steady(nodes, 300)
	c := &busy{build: w.Edit()}
	pool := w.Pools()[0]
	for i := range nodes {
		name := fmt.Sprintf("node-%05d", i)
		n := *w.Place(name).Node
		n.Claim, n.ProviderID = "claim-"+name, "id-"+name
		claim := world.Claim{
			Name: n.Claim, Node: name, Pool: pool.ID, Template: pool.Template, ProviderID: n.ProviderID, Labels: n.Labels, Capacity: n.Capacity, Allocatable: n.Allocatable,
			Launched: true, Registered: true, Initialized: true,
		}
		if err := c.build.SetNode(n); err != nil {
			b.Fatal(err)
		}
		if err := c.build.SetClaim(claim); err != nil {
			b.Fatal(err)
		}
		for j := 16; j < podsEach; j++ {
			if err := c.build.SetPod(c.pod(i, j, 0)); err != nil {
				b.Fatal(err)
			}
		}
	}
	c.last = c.build.Snapshot(0)
	for i := range 50 { // what a controller has decided before: each says why every node stays
		c.decided = slices.Insert(c.decided, 0, decidedOf(c.build.Snapshot(int64(i))))
	}
	return c
}

func (c *busy) pod(node, n, turn int) world.Pod {
	return world.Pod{
		Key: world.Key{Namespace: "default", Name: fmt.Sprintf("run-%d-%d", node, n)}, UID: fmt.Sprintf("%d-%d-%d", node, n, turn), Node: fmt.Sprintf("node-%05d", node), Labels: map[string]string{"app": fmt.Sprint("app-", n)},
		Requests: amount.Of(amount.Entry{Name: amount.CPU, Value: int64(100 + turn%3*50)}, amount.Entry{Name: amount.Pods, Value: amount.Unit}),
	}
}

func decidedOf(w *world.World) journal.Entry {
	p := plan.Plan{}
	for _, at := range w.Places() {
		p.Kept = append(p.Kept, plan.Kept{Node: at.Name(), Claim: at.Claim.Name, Why: &reason.Why{Code: reason.NotCheaper}})
	}
	return journal.Entry{Kind: journal.GiveBack, World: w, Plan: p}
}

// change has pods on a hundred nodes end and others begin, and makes a decision every tenth time.
func (c *busy) change() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range 100 {
		node := (c.turn*100 + i) % nodes
		key := c.pod(node, 16, 0).Key
		c.build.DeletePod(key)
		_ = c.build.SetPod(c.pod(node, 16, c.turn)) // as the first ones were
	}
	c.turn++
	c.dirty = true
	if c.turn%10 == 0 {
		c.snapshot()
		c.decided = slices.Insert(slices.Clone(c.decided[:len(c.decided)-1]), 0, decidedOf(c.last))
	}
}

func (c *busy) snapshot() {
	c.last = c.build.Snapshot(int64(c.turn) + 100)
	c.dirty = false
}

func (c *busy) world() *world.World {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dirty {
		c.snapshot()
	}
	return c.last
}

func (c *busy) entries() []journal.Entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.decided
}

// used is how much processor time this process has used.
func used(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func heap() float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc) / (1 << 20)
}

// BenchmarkPages is what five open pages cost a second, beside a cluster of 5,000 nodes and 150,000 pods in which pods on
// a hundred nodes change in a second: processor time of the server and of the five clients, who only read, and memory.
// -benchtime 30x measures for half a minute.
func BenchmarkPages(b *testing.B) {
	c := newBusy(b)
	s := httptest.NewServer(NewFeed(Source{World: c.world, Decided: c.entries}, clock.Wall))
	defer s.Close()
	second := time.NewTicker(time.Second)
	defer second.Stop()
	run := func(seconds int) float64 { // percent of a core
		before, began := used(b), time.Now()
		for range seconds {
			c.change()
			<-second.C
		}
		return 100 * float64(used(b)-before) / float64(time.Since(began))
	}
	without, closed := heap(), run(max(b.N/2, 1))
	var read, began sync.WaitGroup
	var bytes atomic.Int64 // of changes
	var bodies []io.Closer
	for range 5 {
		answer, err := http.Get(s.URL)
		if err != nil {
			b.Fatal(err)
		}
		bodies = append(bodies, answer.Body)
		began.Add(1)
		read.Go(func() {
			in := bufio.NewReaderSize(answer.Body, 64<<10)
			for line := 0; line < 3; { // all there is: an event, data and an empty line
				if _, err := in.ReadSlice('\n'); err == nil {
					line++
				} else if !errors.Is(err, bufio.ErrBufferFull) {
					break
				}
			}
			began.Done()
			n, _ := io.Copy(io.Discard, in)
			bytes.Add(n)
		})
	}
	began.Wait()
	b.ResetTimer()
	open := run(b.N)
	with := heap()
	b.ReportMetric(closed, "%core-closed")
	b.ReportMetric(open-closed, "%core-open")
	b.ReportMetric(with-without, "MB")
	for _, body := range bodies {
		_ = body.Close()
	}
	read.Wait()
	b.ReportMetric(float64(bytes.Load())/5/1024/float64(b.N), "kB/page/s")
	runtime.KeepAlive(c)
}
