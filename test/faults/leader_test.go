package faults

import (
	"fmt"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tenon-sh/tenon/internal/kubetest"
	"github.com/tenon-sh/tenon/test/stage"
)

// lease is how long a leader's lease lasts.
const lease = 15 * time.Second

// holder waits until somebody but one leads, and returns who and how long that took.
func holder(t *testing.T, s *stage.Stage, ns, but string, limit time.Duration) (string, time.Duration) {
	t.Helper()
	began := time.Now()
	var l coordinationv1.Lease
	kubetest.Within(t, limit, func() error {
		if err := s.Client.Get(t.Context(), client.ObjectKey{Namespace: ns, Name: "karpenter-leader-election"}, &l); err != nil {
			return err
		}
		if l.Spec.HolderIdentity == nil || *l.Spec.HolderIdentity == "" || *l.Spec.HolderIdentity == but {
			return fmt.Errorf("nobody leads but %q", but)
		}
		return nil
	})
	return *l.Spec.HolderIdentity, time.Since(began)
}

// Of two controllers one acts. When it leaves, the other leads within two
// seconds; when it is killed, within its lease and two seconds.
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
	if took > lease/2 { // idle it takes less than two seconds; what matters is that the lease is not waited for
		t.Errorf("the second leads %s after the first left, which is no hand-over", took)
	}
	more := stage.Apart(ns, "more", 2)
	more.Spec.Template.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].LabelSelector.MatchLabels = nil
	s.Make(t, more)
	s.Runs(t, soon, ns, 5)
	bought(t, s, 5)
	<-first.Ended()

	start() // a third, that waits
	second.Kill()
	_, took = holder(t, s, ns, two, 3*lease)
	t.Logf("after a kill, the next led in %s", took)
	deleteNodes(t, s, web, more)
	bought(t, s, 5)
}
