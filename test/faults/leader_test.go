package faults

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tenon-sh/tenon/internal/kubetest"
	"github.com/tenon-sh/tenon/test/stage"
)

// handOver is within how long the next replica leads, however the last one went.
const handOver = 5 * time.Second

// holder waits until another replica than one leads, and returns which and how long that took.
func holder(t *testing.T, s *stage.Stage, ns, but string, limit time.Duration) (string, time.Duration) {
	t.Helper()
	began := time.Now()
	var l coordinationv1.Lease
	kubetest.Within(t, limit, func() error {
		if err := s.Client.Get(t.Context(), client.ObjectKey{Namespace: ns, Name: "karpenter-leader-election"}, &l); err != nil {
			return err
		}
		if l.Spec.HolderIdentity == nil || *l.Spec.HolderIdentity == "" || *l.Spec.HolderIdentity == but {
			return fmt.Errorf("no replica leads but %q", but)
		}
		return nil
	})
	return *l.Spec.HolderIdentity, time.Since(began)
}

// waits waits until a process looks at the Lease, and that is as short as it is while nothing is slow.
func waits(t *testing.T, s *stage.Stage, ns string, p *stage.Process) {
	t.Helper()
	kubetest.Within(t, 2*soon, func() error {
		if text, err := os.ReadFile(p.Log); err != nil || !strings.Contains(string(text), "Attempting to acquire leader lease") {
			return fmt.Errorf("it does not wait yet: %w", err)
		}
		var l coordinationv1.Lease
		if err := s.Client.Get(t.Context(), client.ObjectKey{Namespace: ns, Name: "karpenter-leader-election"}, &l); err != nil {
			return err
		}
		if l.Spec.LeaseDurationSeconds == nil || *l.Spec.LeaseDurationSeconds > 3 {
			return errors.New("the leader thinks that the API server is slow")
		}
		return nil
	})
}

// Of two controllers one acts. When it leaves or is killed, the other leads within five seconds.
func TestTwoControllers(t *testing.T) {
	slow(t)
	s, _ := play(t, stage.Options{})
	program, ns := stage.Build(t, t.TempDir()), kubetest.Namespace(t)
	start := func() *stage.Process {
		return s.Start(t, program, stage.Kubeconfig(t, ""), "--leader-election-namespace", ns)
	}
	first := start()
	one, _ := holder(t, s, ns, "", soon)
	second := start()
	web := stage.Apart(ns, "web", 3)
	s.Make(t, web)
	s.Runs(t, soon, ns, 3)
	bought(t, s, 3)

	first.Stop()
	two, took := holder(t, s, ns, one, soon)
	t.Logf("after the first left, the next led in %s", took)
	if took > handOver {
		t.Errorf("the second leads %s after the first left, which is no hand-over", took)
	}
	more := stage.Apart(ns, "more", 2)
	more.Spec.Template.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].LabelSelector.MatchLabels = nil
	s.Make(t, more)
	s.Runs(t, soon, ns, 5)
	bought(t, s, 5)
	<-first.Ended()

	waits(t, s, ns, start()) // a third
	second.Kill()
	_, took = holder(t, s, ns, two, soon)
	t.Logf("after a kill, the next led in %s", took)
	if took > handOver {
		t.Errorf("the next leads %s after a kill, want %s", took, handOver)
	}
	deleteNodes(t, s, web, more)
	bought(t, s, 5)
}

// A controller that is stopped in the middle of its work, and goes on when
// another leads, sends no write any more, to the API server or to the cloud, and ends.
func TestAPausedLeader(t *testing.T) {
	slow(t)
	s, _ := play(t, stage.Options{})
	program, ns, way := stage.Build(t, t.TempDir()), kubetest.Namespace(t), stage.NewWay(t)
	var woken atomic.Bool
	var mu sync.Mutex
	var sent []string
	way.Disturb(func(r *http.Request) int {
		if woken.Load() && r.Method != http.MethodGet {
			mu.Lock()
			defer mu.Unlock()
			sent = append(sent, r.Method+" "+r.URL.Path+" as "+r.UserAgent())
		}
		return 0
	})
	first := s.Start(t, program, stage.Kubeconfig(t, way.URL), "--leader-election-namespace", ns)
	one, _ := holder(t, s, ns, "", soon)
	waits(t, s, ns, s.Start(t, program, stage.Kubeconfig(t, ""), "--leader-election-namespace", ns))
	web := stage.Apart(ns, "web", 6)
	s.Make(t, web)
	kubetest.Within(t, soon, func() error {
		if claims, err := s.Claims(); err != nil || len(claims) == 0 {
			return fmt.Errorf("no claim yet: %w", err)
		}
		return nil
	})
	first.Pause()
	_, took := holder(t, s, ns, one, soon)
	t.Logf("after the first stopped, the next led in %s", took)
	s.Runs(t, soon, ns, 6)
	woken.Store(true)
	first.Wake()
	select {
	case <-first.Ended():
	case <-time.After(soon):
		t.Error("the first has not ended")
	}
	mu.Lock()
	for _, r := range sent {
		// The election asks for the Lease, which tells it that this is another's now, and says by an event that it
		// ended, if there is time before the program does.
		election := strings.HasSuffix(r, "/leader-election")
		if !election || !strings.HasPrefix(r, "PUT /apis/coordination.k8s.io/v1/namespaces/"+ns+"/leases/karpenter-leader-election ") && !strings.HasPrefix(r, "POST /api/v1/namespaces/"+ns+"/events ") {
			t.Errorf("after it woke the first sent %s", r)
		}
	}
	mu.Unlock()
	bought(t, s, 6)
	s.Drop(t, web)
}
