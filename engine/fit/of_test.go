package fit_test

import (
	"errors"
	"testing"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/fit"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
)

// What a node has left is what it reports, or as long as it is forming and reports nothing of it what its claim
// says; less what runs there; less what those daemon sets ask for that will run there and do not yet.
func TestWhatIsLeft(t *testing.T) {
	pool := world.PoolID{Kind: world.NodePool, Name: "p"}
	two := func(cpu, gpu int64) amount.List {
		return amount.Of(amount.Entry{Name: amount.CPU, Value: cpu}, amount.Entry{Name: "gpu", Value: gpu})
	}
	daemon := func(change func(*world.Pod)) *world.DaemonSet {
		d := &world.DaemonSet{Key: world.Key{Namespace: "d", Name: "log"}, Pod: world.Pod{Requests: two(100, 0), Ports: []world.Port{{Port: 81}}}}
		if change != nil {
			change(&d.Pod)
		}
		return d
	}
	for name, tc := range map[string]struct {
		why         string
		node        amount.List
		initialized bool
		daemon      *world.DaemonSet
		runs        string // the name and daemon set of a pod there
		cpu, gpu    int64
		ports       int
	}{
		"Complete":  {"What it reports is what it has.", two(3900, 0), true, nil, "", 3900, 0, 0},
		"Forming":   {"Its device will be there; of its processors it has said how many.", two(3900, 0), false, nil, "", 3900, 1000, 0},
		"Reported":  {"Its device is there.", two(3900, 2000), false, nil, "", 3900, 2000, 0},
		"Comes":     {"A daemon will run there.", two(3900, 0), true, daemon(nil), "", 3800, 0, 1},
		"Runs":      {"It runs already, and what it takes is known.", two(3900, 0), true, daemon(nil), "log", 3850, 0, 0},
		"Another":   {"A daemon of that name in another namespace is another.", two(3900, 0), true, &world.DaemonSet{Key: world.Key{Namespace: "e", Name: "log"}, Pod: world.Pod{Requests: two(100, 0)}}, "log", 3750, 0, 0},
		"Elsewhere": {"It does not run on nodes like this.", two(3900, 0), true, daemon(func(p *world.Pod) { p.NodeSelector = label.SetOf(label.Is("disk", "ssd")) }), "", 3900, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			b := world.NewBuilder()
			errs := []error{
				b.SetPool(world.Pool{ID: pool}), b.SetNode(world.Node{Name: "n", Claim: "c", Pool: pool, Allocatable: tc.node, Ready: true, Labels: map[string]string{}}),
				b.SetClaim(world.Claim{Name: "c", Node: "n", Pool: pool, Launched: true, Registered: true, Initialized: tc.initialized, Allocatable: two(4000, 1000)}),
			}
			if tc.daemon != nil {
				errs = append(errs, b.SetDaemonSet(*tc.daemon))
			}
			if tc.runs != "" {
				errs = append(errs, b.SetPod(world.Pod{Key: world.Key{Namespace: "d", Name: tc.runs}, UID: "u", Node: "n", DaemonSet: tc.runs, Requests: two(50, 0)}))
			}
			if err := errors.Join(errs...); err != nil {
				t.Fatal(err)
			}
			w := b.Snapshot(1000)
			at := fit.Of(w, w.Place("n"))
			if cpu, gpu := at.Free.Value(amount.CPU), at.Free.Value("gpu"); cpu != tc.cpu || gpu != tc.gpu || len(at.Ports) != tc.ports {
				t.Errorf("it has %d of the processors and %d of the devices left, and %d ports taken, want %d, %d and %d: %s", cpu, gpu, len(at.Ports), tc.cpu, tc.gpu, tc.ports, tc.why)
			}
		})
	}
}

// Soft taints, and those that are tolerated, are no objection, also beside others.
func TestSoftTaintsAreNotTold(t *testing.T) {
	soft, hard := world.Taint{Key: "soft", Effect: world.PreferNoSchedule}, world.Taint{Key: "hard", Effect: world.NoSchedule}
	if got := fit.Untolerated([]world.Toleration{{Key: "own", Exists: true}}, []world.Taint{soft, {Key: "own", Effect: world.NoSchedule}, hard}); len(got) != 1 || got[0] != hard {
		t.Errorf("what keeps pods away is %v, want hard alone", got)
	}
}
