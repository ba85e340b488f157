package faults

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/internal/kubetest"
	"github.com/tenon-sh/tenon/internal/sim/fault"
	"github.com/tenon-sh/tenon/internal/sim/kubelet"
	"github.com/tenon-sh/tenon/internal/sim/market"
	"github.com/tenon-sh/tenon/test/stage"
)

var errNotYet = errors.New("not yet")

// There is no capacity anywhere: it is asked for with patience. A controller
// that knows nothing of that buys it when there is some.
func TestNoCapacity(t *testing.T) {
	slow(t)
	s, _ := play(t, stage.Options{})
	ns := kubetest.Namespace(t)
	in := s.Inside(t, 0, kubetest.Config(t))
	s.Account.Market.SetCapacity(market.Capacity{})
	web := stage.Apart(ns, "web", 2)
	s.Make(t, web)
	event(t, s, "NodeClaim", "InsufficientCapacityError")
	calm := s.Calls("CreateFleet")
	quiet(t, 5*time.Second, func() error {
		if n := s.Calls("CreateFleet") - calm; n > 5 {
			return fmt.Errorf("%d more calls of CreateFleet while there is no capacity", n)
		}
		return nil
	})
	bought(t, s, 0)
	s.Account.Market.ClearCapacity(market.Capacity{})
	in.Stop() // with it goes its memory of what was sold out
	s.Inside(t, 0, kubetest.Config(t))
	s.Runs(t, soon, ns, 2)
	bought(t, s, 2)
	deleteNodes(t, s, web)
}

// Answers of the cloud are lost: the work is done once all the same.
func TestAnswersLost(t *testing.T) {
	slow(t)
	s, _ := play(t, stage.Options{})
	ns := kubetest.Namespace(t)
	s.Inside(t, 0, kubetest.Config(t))
	for _, action := range []string{"CreateFleet", "CreateTags", "TerminateInstances", "CreateLaunchTemplate"} {
		s.Account.Rules.Add(fault.Rule{Service: "ec2", Action: action, Kind: fault.Lose, Times: 2})
	}
	web := stage.Apart(ns, "web", 3)
	s.Make(t, web)
	s.Runs(t, soon, ns, 3)
	bought(t, s, 3)
	deleteNodes(t, s, web)
	bought(t, s, 3)
}

// The controller loses its permissions: it says so, tries with patience, and
// goes on when it has them back.
func TestPermissionsLost(t *testing.T) {
	slow(t)
	s, _ := play(t, stage.Options{Deaf: true})
	ns := kubetest.Namespace(t)
	in := s.Inside(t, 0, kubetest.Config(t))
	first := stage.Apart(ns, "first", 1)
	s.Make(t, first)
	s.Runs(t, soon, ns, 1)
	denied := s.Account.Rules.Add(fault.Rule{Kind: fault.Deny})
	before, errorsBefore := total(s), len(in.Log.Lines("ERROR"))
	web := stage.Apart(ns, "web", 2)
	s.Make(t, web)
	kubetest.Within(t, soon, func() error {
		if len(in.Log.Lines("ERROR", "UnauthorizedOperation")) == 0 {
			return errNotYet
		}
		return nil
	})
	quiet(t, 8*time.Second, func() error {
		calls, said := total(s)-before, len(in.Log.Lines("ERROR"))-errorsBefore
		if calls > 60 || said > 15 {
			return fmt.Errorf("%d calls and %d errors while nothing is permitted", calls, said)
		}
		return nil
	})
	t.Logf("%d calls, and these errors: %q", total(s)-before, in.Log.Lines("ERROR")[errorsBefore:])
	s.Account.Rules.Remove(denied.ID)
	s.Runs(t, 70*time.Second, ns, 3)
	bought(t, s, 3)
	deleteNodes(t, s, first, web)
}

func total(s *stage.Stage) int {
	n := 0
	for _, c := range s.Account.Market.Counts() {
		n += c
	}
	return n
}

// quiet fails a test when something does not hold for a while.
func quiet(t *testing.T, long time.Duration, check func() error) {
	t.Helper()
	end := time.After(long)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		if err := check(); err != nil {
			t.Fatal(err)
		}
		select {
		case <-end:
			return
		case <-tick.C:
		}
	}
}

// A machine that never joins is given back after fifteen minutes, by a
// controller that was not there when it was bought, and another is bought.
func TestNeverJoins(t *testing.T) {
	slow(t)
	s, pool := play(t, stage.Options{})
	ns := kubetest.Namespace(t)
	s.Break(kubelet.Faults{NeverRegisters: true})
	in := s.Inside(t, 0, kubetest.Config(t))
	web := stage.Apart(ns, "web", 1)
	s.Make(t, web)
	var bad v1.NodeClaim
	kubetest.Within(t, soon, func() error {
		claims, err := s.Claims()
		if err != nil {
			return err
		}
		if len(claims) != 1 || !claims[0].Conditions().Is(v1.ConditionLaunched) {
			return fmt.Errorf("%d claims", len(claims))
		}
		bad = claims[0]
		return nil
	})
	in.Stop()
	s.Break(kubelet.Faults{})
	s.Inside(t, 16*time.Minute, kubetest.Config(t))
	s.Runs(t, soon, ns, 1)
	kubetest.Within(t, soon, func() error {
		if err := client.IgnoreNotFound(s.Client.Get(t.Context(), client.ObjectKeyFromObject(&bad), &bad)); err != nil {
			return err
		}
		if alive := s.Alive(); len(alive) != 1 || stage.ProviderID(alive[0]) == bad.Status.ProviderID {
			return fmt.Errorf("machines %v, claim %s", alive, bad.Name)
		}
		return nil
	})
	bought(t, s, 2)
	if err := s.Client.Get(t.Context(), client.ObjectKeyFromObject(pool), pool); err != nil {
		t.Fatal(err)
	}
	deleteNodes(t, s, web)
}

// The clock jumps ahead by two hours, as on a computer that slept: what runs
// stays, and what comes is served.
func TestClockJumps(t *testing.T) {
	slow(t)
	s, _ := play(t, stage.Options{})
	ns := kubetest.Namespace(t)
	in := s.Inside(t, 0, kubetest.Config(t))
	web := stage.Apart(ns, "web", 3)
	s.Make(t, web)
	s.Runs(t, soon, ns, 3)
	in.Turn(2 * time.Hour)
	more := stage.Apart(ns, "more", 2)
	more.Spec.Template.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].LabelSelector.MatchLabels = nil
	s.Make(t, more)
	s.Runs(t, soon, ns, 5)
	quiet(t, 5*time.Second, func() error {
		if n := len(s.Alive()); n != 5 {
			return fmt.Errorf("%d machines", n)
		}
		return nil
	})
	bought(t, s, 5)
	deleteNodes(t, s, web, more)
}

// The clock is set back by an hour, so that everything seems to be still to
// come: pods are served, and what is deleted goes, before it shows the old time again.
func TestClockGoesBack(t *testing.T) {
	slow(t)
	s, _ := play(t, stage.Options{})
	ns := kubetest.Namespace(t)
	in := s.Inside(t, 0, kubetest.Config(t))
	web := stage.Apart(ns, "web", 3)
	s.Make(t, web)
	s.Runs(t, soon, ns, 3)
	in.Turn(-time.Hour)
	more := stage.Apart(ns, "more", 2)
	more.Spec.Template.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].LabelSelector.MatchLabels = nil
	s.Make(t, more)
	s.Runs(t, 2*soon, ns, 5)
	bought(t, s, 5)
	in.Turn(-2 * time.Hour) // while nodes go
	deleteNodes(t, s, web, more)
	bought(t, s, 5)
}

// A machine dies and no notice says so: its pod runs on another, and its node and claim go.
func TestMachineDies(t *testing.T) {
	slow(t)
	s, _ := play(t, stage.Options{Deaf: true})
	ns := kubetest.Namespace(t)
	s.Inside(t, 0, kubetest.Config(t))
	web := stage.Apart(ns, "web", 1)
	s.Make(t, web)
	s.Runs(t, soon, ns, 1)
	dead := s.Alive()[0]
	if err := s.Account.Market.Kill(dead.ID); err != nil {
		t.Fatal(err)
	}
	kubetest.Within(t, 6*time.Minute, func() error {
		nodes, err := s.Nodes()
		if err != nil {
			return err
		}
		if len(nodes) != 1 || nodes[0].Spec.ProviderID == stage.ProviderID(dead) {
			return fmt.Errorf("%d nodes, the dead one may be among them", len(nodes))
		}
		return nil
	})
	s.Runs(t, soon, ns, 1)
	bought(t, s, 2)
	deleteNodes(t, s, web)
}

// A burst of a hundred nodes meets the limits that AWS puts on calls.
func TestBurstWithinLimits(t *testing.T) {
	slow(t)
	s, _ := play(t, stage.Options{Real: true})
	ns := kubetest.Namespace(t)
	in := s.Inside(t, 0, kubetest.Config(t))
	web := stage.Apart(ns, "web", 100)
	s.Make(t, web)
	s.Runs(t, 2*time.Minute, ns, 100)
	bought(t, s, 100)
	t.Logf("calls: %v", s.Account.Market.Counts())
	if said := in.Log.Lines("ERROR"); len(said) > 5 {
		t.Errorf("%d errors in the log, the first: %s", len(said), said[0])
	}
	s.Drop(t, web)
	deleteNodes(t, s)
}

// Hundreds of claims cannot be had at once: each is given up once, and what is
// sold out is not asked for again and again.
func TestManyFail(t *testing.T) {
	slow(t)
	s, _ := play(t, stage.Options{})
	ns := kubetest.Namespace(t)
	in := s.Inside(t, 0, kubetest.Config(t))
	s.Account.Market.SetCapacity(market.Capacity{})
	web := stage.Apart(ns, "web", 300)
	s.Make(t, web)
	event(t, s, "NodeClaim", "InsufficientCapacityError")
	kubetest.Within(t, soon, func() error {
		claims, err := s.Claims()
		if err == nil && len(claims) > 0 {
			err = fmt.Errorf("%d claims", len(claims))
		}
		return err
	})
	made, calls := len(in.Log.Lines("created nodeclaim")), s.Calls("CreateFleet")
	t.Logf("%d claims and %d calls of CreateFleet until all were given up", made, calls)
	if made > 700 || calls > 60 {
		t.Errorf("%d claims were made and %d calls of CreateFleet for 300 pods that nothing is sold for", made, calls)
	}
	quiet(t, 10*time.Second, func() error {
		m, c := len(in.Log.Lines("created nodeclaim"))-made, s.Calls("CreateFleet")-calls
		if m > 300 || c > 10 {
			return fmt.Errorf("%d more claims and %d more calls of CreateFleet", m, c)
		}
		return nil
	})
	bought(t, s, 0)
	s.Drop(t, web)
}

// Every answer of EC2 to launches is an error of its own for a while: claims
// stay and are tried with patience, and are had as soon as it is over.
func TestLaunchesFail(t *testing.T) {
	slow(t)
	s, _ := play(t, stage.Options{})
	ns := kubetest.Namespace(t)
	s.Inside(t, 0, kubetest.Config(t))
	broken := s.Account.Rules.Add(fault.Rule{Service: "ec2", Action: "CreateFleet", Kind: fault.Fail})
	web := stage.Apart(ns, "web", 30)
	s.Make(t, web)
	kubetest.Within(t, soon, func() error {
		claims, err := s.Claims()
		if err != nil {
			return err
		}
		for i := range claims {
			if c := claims[i].Conditions().Get(v1.ConditionLaunched); c == nil || c.Status != "Unknown" || !strings.Contains(c.Message, "InternalError") {
				return fmt.Errorf("claim %s says %+v", claims[i].Name, c)
			}
		}
		if len(claims) != 30 {
			return fmt.Errorf("%d claims", len(claims))
		}
		return nil
	})
	calls := s.Calls("CreateFleet")
	quiet(t, 10*time.Second, func() error {
		if c := s.Calls("CreateFleet") - calls; c > 120 {
			return fmt.Errorf("%d more calls of CreateFleet within seconds", c)
		}
		return nil
	})
	s.Account.Rules.Remove(broken.ID)
	s.Runs(t, 90*time.Second, ns, 30)
	bought(t, s, 30)
	deleteNodes(t, s, web)
}

// The cloud takes a spot machine back: the program hears of it from the queue,
// and the pod runs elsewhere before the notice is over.
func TestInterrupted(t *testing.T) {
	slow(t)
	s, pool := play(t, stage.Options{})
	pool.Spec.Template.Spec.Requirements[0].Values = []string{"spot"}
	if err := s.Client.Update(t.Context(), pool); err != nil {
		t.Fatal(err)
	}
	ns := kubetest.Namespace(t)
	s.Start(t, stage.Build(t, t.TempDir()), stage.Kubeconfig(t, ""), "--disable-leader-election")
	web := stage.Apart(ns, "web", 1)
	s.Make(t, web)
	s.Runs(t, soon, ns, 1)
	taken := s.Alive()[0]
	if err := s.Account.Market.Interrupt(taken.ID); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	kubetest.Within(t, 2*time.Minute, func() error {
		alive := s.Alive()
		if len(alive) != 1 || alive[0].ID == taken.ID {
			return fmt.Errorf("%d machines, the one that goes may be among them", len(alive))
		}
		return nil
	})
	s.Runs(t, soon, ns, 1)
	t.Logf("the pod runs elsewhere %s after the notice", time.Since(began).Round(100*time.Millisecond))
	bought(t, s, 2)
	deleteNodes(t, s, web)
}
