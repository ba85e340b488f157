package crash

import (
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"

	"github.com/tenon-sh/tenon/internal/kubetest"
	"github.com/tenon-sh/tenon/test/stage"
)

func TestMain(m *testing.M) {
	kubetest.Main(m, kubetest.CRDs("../../api/crds"), kubetest.Scheduler, kubetest.Controllers, kubetest.Machines)
}

const (
	machines = 3
	soon     = 90 * time.Second
)

// play is a stage whose controller can be killed at any of its writes.
type play struct {
	*stage.Stage

	gate       *gate
	program    string
	kubeconfig string

	mu  sync.Mutex
	now *stage.Process
}

func set(t *testing.T) *play {
	t.Helper()
	p := &play{Stage: stage.Set(t, stage.Options{Name: "crash", Deaf: true}), gate: &gate{}, program: stage.Build(t, t.TempDir())}
	p.gate.kill = p.kill
	config := kubetest.Config(t)
	via, err := rest.TransportFor(config)
	if err != nil {
		t.Fatal(err)
	}
	p.kubeconfig = stage.Kubeconfig(t, p.gate.serve(t, config.Host, via, kubeWrite))
	p.Cloud = p.gate.serve(t, p.Cloud, nil, awsWrite)
	return p
}

// live keeps a controller running until the test ends: whenever one dies, the next starts.
func (p *play) live(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	over, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for n := 0; ; n++ {
			p.gate.revive()
			log := filepath.Join(dir, strconv.Itoa(n))
			if err := os.Mkdir(log, 0o700); err != nil {
				t.Error(err)
				return
			}
			next, err := p.Spawn(log, p.program, p.kubeconfig, "--disable-leader-election")
			if err != nil {
				t.Error(err)
				return
			}
			p.mu.Lock()
			p.now = next
			p.mu.Unlock()
			select {
			case <-over:
				next.Kill()
				<-next.Ended()
				return
			case <-next.Ended():
			}
		}
	}()
	t.Cleanup(func() { close(over); <-done })
}

func (p *play) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.now != nil {
		p.now.Kill()
	}
}

// life is one story: pods come, machines are bought for them, pods go, the
// nodes are deleted, and the machines are given back. It returns how many
// writes it took.
func (p *play) life(t *testing.T, at moment) int {
	t.Helper()
	before := len(p.Account.Market.Everything())
	ns := kubetest.Namespace(t)
	d := stage.Apart(ns, "apart", machines)
	p.gate.arm(at)
	p.Make(t, d)
	p.Runs(t, soon, ns, machines)
	if bought := len(p.Account.Market.Everything()) - before; bought != machines {
		t.Errorf("%d machines were bought, %d are needed", bought, machines)
	}
	p.Drop(t, d)
	p.Runs(t, soon, ns, 0) // or they would be given new machines
	if err := p.Client.DeleteAllOf(t.Context(), &corev1.Node{}); err != nil {
		t.Fatal(err)
	}
	kubetest.Within(t, soon, p.Left)
	return p.gate.count()
}

// The controller is killed at its writes: at some of them here, at every one
// with TENON_TEST_CRASH=all.
func TestKilledAtEveryWrite(t *testing.T) {
	p := set(t)
	class, pool := p.Class(), stage.Pool("default")
	p.Make(t, class, pool)
	p.live(t)
	writes := p.life(t, moment{})
	if writes < 10 {
		t.Fatalf("only %d writes in a life: the gate does not see them", writes)
	}
	if all() {
		t.Logf("%d writes in a life: %q", writes, p.gate.writes)
	}
	for _, at := range moments(writes) {
		t.Run(at.String(), func(t *testing.T) {
			defer p.keep(t)
			began := time.Now()
			p.life(t, at)
			t.Logf("the life took %s", time.Since(began).Round(100*time.Millisecond))
			if !p.gate.hit() {
				t.Logf("there was no such write in this life: %q", p.gate.writes)
			}
		})
	}
}

// keep puts the log of the controller that runs now where go test -artifacts keeps it, if the test failed.
func (p *play) keep(t *testing.T) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if text, err := os.ReadFile(p.now.Log); err == nil && t.Failed() {
		_ = os.WriteFile(filepath.Join(t.ArtifactDir(), "controller.log"), text, 0o600)
	}
}

func all() bool { return os.Getenv("TENON_TEST_CRASH") == "all" }

// moments are the writes to die at: those around which most can be lost, or all.
func moments(writes int) []moment {
	if !all() {
		return []moment{{what: "CreateFleet", after: true}}
	}
	var out []moment
	for n := 1; n <= writes; n++ {
		out = append(out, moment{write: n}, moment{write: n, after: true})
	}
	return out
}
