package faults

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tenon-sh/tenon/internal/kubetest"
	"github.com/tenon-sh/tenon/test/stage"
)

// keep runs a controller that is started again whenever it ends, as the kubelet
// does with containers, until the test ends. It returns all that they have said.
func keep(t *testing.T, s *stage.Stage, flags ...string) (said func() string) {
	t.Helper()
	program, kubeconfig := stage.Build(t, t.TempDir()), stage.Kubeconfig(t, "")
	first := s.Start(t, program, kubeconfig, flags...)
	var mu sync.Mutex
	logs := []string{first.Log}
	over, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for now := first; ; {
			select {
			case <-over:
				now.Kill()
				<-now.Ended()
				return
			case <-now.Ended():
			}
			var err error
			if now, err = s.Spawn(t.TempDir(), program, kubeconfig, flags...); err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			logs = append(logs, now.Log)
			mu.Unlock()
		}
	}()
	t.Cleanup(func() { close(over); <-done })
	return func() string {
		mu.Lock()
		defer mu.Unlock()
		var all strings.Builder
		for _, path := range logs {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			all.Write(text)
		}
		return all.String()
	}
}

// The API server and etcd die while many nodes join, and come back. Watches are
// opened again, the leader keeps its lease or takes it again, and in the end there
// is a machine, a claim and a node for each pod: none was lost, left or bought twice.
func TestServerDies(t *testing.T) {
	slow(t)
	many, patience := 100, 2*time.Minute
	if os.Getenv("TENON_TEST_BIG") != "" {
		many, patience = 300, 15*time.Minute // for processors that others keep busy
	}
	s, _ := play(t, stage.Options{Boot: time.Second})
	ns := kubetest.Namespace(t)
	said := keep(t, s, "--leader-election-namespace", ns)
	one, _ := holder(t, s, ns, "", soon)
	web := stage.Apart(ns, "web", many)
	s.Make(t, web)
	kubetest.Within(t, patience/2, func() error { // amid it: some have joined, others have not
		nodes, err := s.Nodes()
		if err == nil && len(nodes) < many/4 {
			err = fmt.Errorf("%d nodes", len(nodes))
		}
		return err
	})
	began := time.Now()
	kubetest.Restart(t)
	t.Logf("the API server was away for %s", time.Since(began).Round(time.Second/10))
	s.Runs(t, patience, ns, many)
	t.Logf("all pods run %s after it died", time.Since(began).Round(time.Second/10))
	bought(t, s, many)
	claims, err := s.Claims()
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, c := range claims {
		ids = append(ids, c.Status.ProviderID)
	}
	slices.Sort(ids)
	if ids = slices.Compact(ids); len(claims) != many || len(ids) != many {
		t.Errorf("%d claims of %d machines for %d pods", len(claims), len(ids), many)
	}
	two, _ := holder(t, s, ns, "", soon)
	log := said()
	wrong := 0
	for line := range strings.Lines(log) {
		if strings.Contains(line, "\tERROR\t") || strings.HasPrefix(line, "E") {
			wrong++
		}
	}
	t.Logf("%q led before, %q leads now; %d starts, %d lines of the log are errors", one, two, strings.Count(log, "Starting"), wrong)
	if most := many; wrong > most { // what was under way for a node may be told once
		t.Errorf("%d lines of the log are errors, for one loss of the API server with %d nodes %d are enough", wrong, many, most)
	}
	s.Drop(t, web)
	deleteNodes(t, s)
	bought(t, s, many)
}
