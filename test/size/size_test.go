package size

import (
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
)

const mib = 1 << 20

// asked is the variable that asks for the measurement of a large cluster.
const asked = "TENON_TEST_SIZE"

// program is the controller to measure: the one that TENON names, or one built for the tests.
func program(t testing.TB) string {
	t.Helper()
	if named := os.Getenv("TENON"); named != "" {
		return named
	}
	out, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// folder is where the program is made; TestMain removes it.
var folder = sync.OnceValues(func() (string, error) { return os.MkdirTemp("", "tenon-size-") })

// built makes the controller once, with its symbols and without what only debuggers read.
var built = sync.OnceValues(func() (string, error) {
	dir, err := folder()
	if err != nil {
		return "", err
	}
	out := filepath.Join(dir, "tenon")
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-w", "-o", out, "github.com/tenon-sh/tenon/cmd/tenon")
	if text, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build tenon: %w\n%s", err, text)
	}
	return out, nil
})

// until waits until done holds, and says how long that took.
func until(t testing.TB, p *process, limit time.Duration, what string, done func() bool) {
	t.Helper()
	start, told := time.Now(), time.Now()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for ; !done(); <-tick.C {
		if err := p.alive(); err != nil {
			t.Fatal(err)
		}
		if time.Since(told) > time.Minute {
			told = time.Now()
			t.Logf("%s: not yet after %v; %s; %s of processor time", what, time.Since(start).Round(time.Second), p.say(), p.spent())
		}
		if time.Since(start) > limit {
			t.Fatalf("%s: not after %v; %s", what, limit, p.say())
		}
	}
	t.Logf("%s after %v; %s; %s of processor time", what, time.Since(start).Round(100*time.Millisecond), p.say(), p.spent())
}

// say says how much memory the process has.
func (p *process) say() string {
	m, err := p.memory()
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%d MiB resident, %d of them the program's file, %d at most", m.Resident/mib, (m.Resident-m.Anonymous)/mib, m.Peak/mib)
}

// claims is how many claims there are.
func (c *cluster) claims() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.table(claimsOf).objects)
}

// The most that a controller of ten nodes may hold: all that is resident, what of it is not pages of
// its program's file, which are the system's to drop, and what lives on its heap.
const (
	mostResident  = 110 * mib // 115 MB
	mostAnonymous = 56 * mib
	mostLive      = 30 * mib
)

// The program has no method that nothing calls. Where something that is linked calls methods by names
// that are known only when it runs, as text/template and html/template do, the linker keeps every exported
// method of every library, which doubles the program and what of its file is resident.
func TestNoMethodUncalled(t *testing.T) {
	file, err := elf.Open(program(t))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	symbols, err := file.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	client := "github.com/aws/aws-sdk-go-v2/service/ec2.(*Client)."
	called := map[string]bool{client + "CreateFleet": true, client + "CreateVpc": false, client + "DeleteVpnGateway": false}
	there := map[string]bool{}
	for _, s := range symbols {
		there[s.Name] = true
	}
	for name, want := range called {
		if there[name] != want {
			t.Errorf("%s is in the program: %t, want %t;\n"+
				"go build -ldflags=-dumpdep ./cmd/tenon 2>&1 | grep '<ReflectMethod>' shows what calls methods by name", name, there[name], want)
		}
	}
}

// A controller of ten nodes stays small.
func TestTenNodes(t *testing.T) {
	c := newCluster(t)
	c.open()
	if err := c.wait(45, 9); err != nil {
		t.Fatal(err)
	}
	p := c.start(t, program(t), nil)
	until(t, p, 3*time.Minute, "all pods bound", func() bool { return c.waiting() == 0 })
	ready := func(o client.Object) bool {
		claim, ok := o.(*v1.NodeClaim)
		return ok && claim.Conditions().Is(v1.ConditionInitialized)
	}
	until(t, p, time.Minute, "all nodes initialized", func() bool { return c.count(claimsOf, ready) == c.claims() })
	series, err := p.series(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if s, err := strconv.Atoi(os.Getenv("REST")); err == nil {
		<-time.After(time.Duration(s) * time.Second)
		t.Logf("after %d s of rest: %s", s, p.say())
	}
	live, routines, err := p.heap(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	m, err := p.memory()
	if err != nil {
		t.Fatal(err)
	}
	p.kept(t, "heap")
	t.Logf("%d nodes: %s; %d MiB live on the heap, %d goroutines, %d series; written: %s", c.claims(), p.say(), live/mib, routines, series, asJSON(c.writes()))
	if live > mostLive {
		t.Errorf("%d MiB live on the heap, more than %d", live/mib, mostLive/mib)
	}
	if m.Resident > mostResident {
		t.Errorf("%d MiB are resident, more than %d", m.Resident/mib, mostResident/mib)
	}
	if m.Anonymous > mostAnonymous {
		t.Errorf("%d MiB are resident beside the program's file, more than %d", m.Anonymous/mib, mostAnonymous/mib)
	}
}

// most is how long each step of the measurement may take, on processors that others keep busy.
const most = 25 * time.Minute

// With TENON_TEST_SIZE=all: 5,000 nodes and 150,000 pods of which 50,000 wait, in 1 GiB.
// With a number: so many nodes, and 20 pods that run and 10 that wait for each.
//
// The process is told the limit as the chart tells it, by MEMORY_LIMIT. Where control groups of
// version 1 can be made it is put into one as well, whose limit the kernel enforces.
func TestManyPods(t *testing.T) {
	if os.Getenv(asked) == "" {
		t.Skipf("set %s=all to run it", asked)
	}
	const limit = 1 << 30
	nodes := 5_000
	if n, err := strconv.Atoi(os.Getenv(asked)); err == nil {
		nodes = n
	}
	waiting := 10 * nodes
	c := newCluster(t)
	if err := c.settle(nodes, 20); err != nil {
		t.Fatal(err)
	}
	if err := c.wait(waiting, nodes/10); err != nil {
		t.Fatal(err)
	}
	c.open()
	p := c.start(t, program(t), []string{"MEMORY_LIMIT=" + strconv.Itoa(limit)})
	t.Log("hard limit: ", bounded(t, p, limit), "; pages: http://", p.pages)
	p.scraped(t)
	until(t, p, most, "the first claims", func() bool { return c.claims() > nodes })
	for _, part := range []int{10, 25, 50, 75, 90, 100} {
		until(t, p, most, fmt.Sprint(part, " % of the pods bound"), func() bool { return c.waiting() <= waiting-waiting*part/100 })
	}
	live, routines, err := p.heap(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	series, err := p.series(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p.kept(t, "last")
	t.Logf("%d nodes: %s; %d MiB live on the heap, %d goroutines, %d series; written: %s", c.claims(), p.say(), live/mib, routines, series, asJSON(c.writes()))
	if m, err := p.memory(); err != nil || m.Peak > limit {
		t.Errorf("%d MiB were resident, more than %d: %v", m.Peak/mib, limit/mib, err)
	}
}

// bounded puts the process into a control group of its own with a limit of memory, and says whether that could be done.
func bounded(t *testing.T, p *process, limit int64) string {
	t.Helper()
	group := fmt.Sprintf("/sys/fs/cgroup/memory/tenon-size-%d", p.cmd.Process.Pid)
	if err := os.Mkdir(group, 0o755); err != nil {
		return "none: " + err.Error()
	}
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-p.ended
		if text, err := os.ReadFile(filepath.Join(group, "memory.failcnt")); err == nil {
			t.Logf("the control group's limit was met %s times", text)
		}
		_ = os.Remove(group)
	})
	for _, w := range [][2]string{{"memory.limit_in_bytes", strconv.FormatInt(limit, 10)}, {"cgroup.procs", strconv.Itoa(p.cmd.Process.Pid)}} {
		if err := os.WriteFile(filepath.Join(group, w[0]), []byte(w[1]), 0o600); err != nil {
			return "none: " + err.Error()
		}
	}
	return group
}
