package hold_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-sh/tenon/engine/disrupt/hold"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
)

// held writes holds by their codes, with the pod and the time of those that have one.
func held(holds []hold.Hold) string {
	var out []string
	for _, h := range holds {
		text := string(h.Code)
		if h.Pod != nil {
			text += " " + h.Pod.Name
		}
		if h.Until != 0 {
			text += " until " + ahead(h.Until-now)
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}

// ahead writes seconds from now.
func ahead(seconds int64) string { return "+" + hold.Span(seconds) }

// bare is a machine that nothing keeps: the pod of the scene is a daemon.
func bare(s *scene) { s.pod.DaemonSet = "log" }

// unjoined has the node of the scene be no node yet: the machine goes by the name of its claim, n.
func unjoined(s *scene) {
	bare(s)
	s.absent, s.claim.Name, s.claim.Node, s.claim.Initialized = true, "n", "", false
	s.pod.Node = ""
}

// Everything that keeps a machine is told, nothing that does not, in an order that holds.
func TestHolds(t *testing.T) {
	waits := world.Pod{Key: world.Key{Namespace: "d", Name: "w"}, Waiting: true, Nominated: "n"}
	for name, tc := range map[string]struct {
		why        string
		change     func(*scene)
		any, empty string
	}{
		"Free":      {"Nothing keeps it.", bare, "", ""},
		"Used":      {"A pod runs there.", func(*scene) {}, "", "in-use a"},
		"Foreign":   {"Of what is not ours nothing else is asked.", func(s *scene) { s.claim, s.node.Claim, s.node.DoNotDisrupt = nil, "", true }, "not-a-pools", "not-a-pools"},
		"Deleting":  {"Of what goes already nothing else is asked.", func(s *scene) { s.claim.Deleting, s.node.DoNotDisrupt = true, true }, "deleting", "deleting"},
		"Leaving":   {"A node that goes takes its claim along.", func(s *scene) { s.node.Deleting = true }, "deleting", "deleting"},
		"Starting":  {"It is not complete, so its emptiness says nothing yet.", func(s *scene) { bare(s); s.claim.Initialized = false }, "not-initialized", "not-initialized"},
		"Unjoined":  {"It has no node.", unjoined, "not-initialized", "not-initialized"},
		"NoNode":    {"It had a node, which is gone.", func(s *scene) { unjoined(s); s.claim.Initialized = true }, "not-initialized", "not-initialized"},
		"Both":      {"All that keeps it is told.", func(s *scene) { bare(s); s.claim.Initialized, s.node.DoNotDisrupt = false, true }, "not-initialized, do-not-disrupt", "not-initialized, do-not-disrupt"},
		"Nominated": {"A pod that waits is promised the node.", func(s *scene) { bare(s); s.waits = &waits }, "promised w", "promised w"},
		"Elsewhere": {"It is promised another one.", func(s *scene) { bare(s); other := waits; other.Nominated = "m"; s.waits = &other }, "", ""},
		"NoPromise": {"It is promised none.", func(s *scene) { bare(s); other := waits; other.Nominated = ""; s.waits = &other }, "", ""},
		"SameName":  {"It is promised a node, and no claim of that name.", func(s *scene) { unjoined(s); s.waits = &waits }, "not-initialized", "not-initialized"},
		"Planned":   {"A plan names the node.", func(s *scene) { bare(s); s.planned = []string{"n"} }, "promised", "promised"},
		"AsClaim":   {"An older plan names the claim, which has become the node.", func(s *scene) { bare(s); s.planned = []string{"c"} }, "promised", "promised"},
		"Twice":     {"Both are told.", func(s *scene) { bare(s); s.waits, s.planned = &waits, []string{"n"} }, "promised w, promised", "promised w, promised"},
		"First":     {"Asked for the first of several it gives one.", func(s *scene) { s.planned, s.pod.Disruption.Forbidden = []string{"n"}, true }, "promised, do-not-disrupt a", "promised, do-not-disrupt a, in-use a"},
		"Pods":      {"Pods come after what is the machine's.", func(s *scene) { s.node.DoNotDisrupt, s.pod.Disruption.Forbidden = true, true }, "do-not-disrupt, do-not-disrupt a", "do-not-disrupt, do-not-disrupt a, in-use a"},
		"Quiet":     {"A minute after the last pod left it may go.", func(s *scene) { bare(s); s.claim.LastPodEvent = now - 60 }, "", ""},
		"TooSoon":   {"It has a second to go.", func(s *scene) { bare(s); s.claim.LastPodEvent = now - 59 }, "", "consolidate-after until +1s"},
		"JustDone":  {"Being complete counts as if a pod had come.", func(s *scene) { bare(s); s.claim.InitializedAt = now - 20 }, "", "consolidate-after until +40s"},
		"NotDone":   {"What is not complete waits for that, and for nothing else.", func(s *scene) { bare(s); s.claim.Initialized, s.claim.LastPodEvent = false, now-5 }, "not-initialized", "not-initialized"},
		"Budget":    {"Its budgets let none go.", func(s *scene) { bare(s); s.pool.Disruption.Budgets = []world.Budget{{Nodes: "0"}} }, "", "disruption-budget"},
		"Other": {"A budget for what has drifted is another one.", func(s *scene) {
			bare(s)
			s.pool.Disruption.Budgets = []world.Budget{{Nodes: "0", Reasons: []string{plan.Drifted}}}
		}, "", ""},
		"Uncounted": {"Budgets do not count what is not complete, nor are they asked.", func(s *scene) {
			bare(s)
			s.claim.Initialized = false
			s.pool.Disruption.Budgets = []world.Budget{{Nodes: "0"}}
		}, "not-initialized", "not-initialized"},
		"Never":  {"Its pool gives nothing back.", func(s *scene) { s.pool.Disruption.EmptyAfter = nil }, "", "policy, in-use a"},
		"Gone":   {"Its pool is gone.", func(s *scene) { s.pool.ID.Name = "q" }, "", "policy"},
		"Static": {"Its pool keeps its number.", func(s *scene) { three := 3; s.pool.Replicas = &three }, "", "static-pool"},
	} {
		t.Run(name, func(t *testing.T) {
			book, n := tell(t, tc.change)
			if diff := cmp.Diff(tc.any, held(book.Any(n))); diff != "" {
				t.Errorf("%s Whatever its pool wants: -want +got\n%s", tc.why, diff)
			}
			if diff := cmp.Diff(tc.empty, held(book.Empty(n))); diff != "" {
				t.Errorf("%s As an empty one: -want +got\n%s", tc.why, diff)
			}
			first, found := book.First(n)
			if all := book.Any(n); found != (len(all) > 0) || found && first.Code != all[0].Code {
				t.Errorf("%s The first is %v, of %s", tc.why, first, held(all))
			}
		})
	}
}

// What a pod forbids keeps it, and so does what guards it, but for what ends with its node in any case.
func TestKeeps(t *testing.T) {
	guarded := func(allowed ...int) func(*scene) { return func(s *scene) { s.allowed = allowed } }
	alone := func(s *scene) { s.pod.Disruption.Alone = true }
	forbidden := func(s *scene) { s.pod.Disruption.Forbidden = true }
	until := func(started int64) func(*scene) {
		return func(s *scene) { s.pod.Disruption.ForbiddenFor, s.pod.Started = 600, started }
	}
	daemon := func(s *scene) { s.pod.DaemonSet = "log" }
	static := func(s *scene) { s.pod.Static = true }
	ending := func(s *scene) { s.pod.Terminating = true }
	virtual := func(s *scene) { s.pod.Virtual = true }
	for name, tc := range map[string]struct {
		why     string
		changes []func(*scene)
		want    string
	}{
		"Free":            {"Nothing keeps it.", nil, ""},
		"Forbidden":       {"It says so.", []func(*scene){forbidden}, "do-not-disrupt a"},
		"ForNow":          {"It says so for some time.", []func(*scene){until(now - 599)}, "do-not-disrupt a until +1s"},
		"NoLonger":        {"The time is over.", []func(*scene){until(now - 600)}, ""},
		"NotStarted":      {"The time has not begun.", []func(*scene){until(0)}, "do-not-disrupt a"},
		"Alone":           {"Nothing would create it again.", []func(*scene){alone}, "no-controller a"},
		"AloneAndDone":    {"It has done what it was there for.", []func(*scene){alone, func(s *scene) { s.pod.Done = true }}, ""},
		"Guarded":         {"A budget allows nothing.", []func(*scene){guarded(0)}, "pod-disruption-budget a"},
		"Overdrawn":       {"It allows less than nothing.", []func(*scene){guarded(-1)}, "pod-disruption-budget a"},
		"Allowed":         {"A budget allows one.", []func(*scene){guarded(1)}, ""},
		"TwoGuards":       {"The API server evicts nothing that two guard, whatever they allow.", []func(*scene){guarded(1, 1)}, "pod-disruption-budget a"},
		"Daemon":          {"It goes with its node.", []func(*scene){daemon, guarded(0), alone}, ""},
		"StaticPod":       {"It is the node's own.", []func(*scene){static, guarded(0), alone}, ""},
		"ForbiddenDaemon": {"It keeps the node all the same.", []func(*scene){daemon, forbidden}, "do-not-disrupt a"},
		"Ending":          {"It goes already.", []func(*scene){ending, forbidden, alone, guarded(0)}, ""},
		"Virtual":         {"There is no such pod.", []func(*scene){virtual, forbidden, alone, guarded(0)}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			book, n := tell(t, func(s *scene) {
				for _, change := range tc.changes {
					change(s)
				}
			})
			if diff := cmp.Diff(tc.want, held(book.Any(n))); diff != "" {
				t.Errorf("%s -want +got\n%s", tc.why, diff)
			}
		})
	}
}

// Where the drain ends in any case, what keeps single pods is no matter; what keeps the machine is.
func TestOfPod(t *testing.T) {
	pod := &world.Pod{}
	for _, tc := range []struct {
		hold hold.Hold
		want bool
	}{
		{hold.Hold{Code: reason.DoNotDisrupt, Pod: pod}, true},
		{hold.Hold{Code: reason.Alone, Pod: pod}, true},
		{hold.Hold{Code: reason.Guarded, Pod: pod}, true},
		{hold.Hold{Code: reason.DoNotDisrupt}, false}, // the node's own
		{hold.Hold{Code: reason.Promised, Pod: pod}, false},
		{hold.Hold{Code: reason.InUse, Pod: pod}, false},
	} {
		if got := tc.hold.OfPod(); got != tc.want {
			t.Errorf("%s is of a pod: %t, want %t", held([]hold.Hold{tc.hold}), got, tc.want)
		}
	}
}

// A machine is there for pods that would have to run elsewhere, unless their owner says that they are worth nothing.
func TestStays(t *testing.T) {
	cost := func(c int32) world.Pod { return world.Pod{Disruption: world.PodDisruption{DeletionCost: c}} }
	for name, tc := range map[string]struct {
		why   string
		pod   world.Pod
		stays bool
		cost  int64
	}{
		"Ordinary":    {"It runs there.", world.Pod{}, true, 1000},
		"Daemon":      {"It goes with its node.", world.Pod{DaemonSet: "log"}, false, 1000},
		"Static":      {"It is the node's own.", world.Pod{Static: true}, false, 1000},
		"Ending":      {"It goes already.", world.Pod{Terminating: true}, false, 1000},
		"Again":       {"It will be created again.", world.Pod{Terminating: true, StatefulOwner: true}, true, 1000},
		"Room":        {"The machine is kept for the room, which costs nothing to move.", world.Pod{Virtual: true, Priority: world.VirtualPriority}, true, 0},
		"Dearer":      {"A deletion cost of 2^27 counts as a second pod.", cost(1 << 27), true, 2000},
		"Cheaper":     {"One of −2^26 is half of one.", cost(-1 << 26), true, 500},
		"Least":       {"It is still worth something.", cost(-1<<27 + 1), true, 0},
		"Worthless":   {"It is worth nothing.", cost(-1 << 27), false, 0},
		"LessThan":    {"It costs no less than nothing.", cost(-1 << 30), false, 0},
		"Important":   {"A priority of 2^25 counts as a second pod.", world.Pod{Priority: 1 << 25}, true, 2000},
		"Unimportant": {"One of −2^25 is as nothing.", world.Pod{Priority: -1 << 25}, false, 0},
		"Most":        {"None counts more than ten.", world.Pod{Priority: 2_000_000_000}, true, 10_000},
	} {
		t.Run(name, func(t *testing.T) {
			if got := hold.Stays(&tc.pod); got != tc.stays {
				t.Errorf("%s It keeps a machine in use: %t", tc.why, got)
			}
			if got := hold.Cost(&tc.pod); got != tc.cost {
				t.Errorf("%s It costs %d, want %d", tc.why, got, tc.cost)
			}
			if got := hold.IsEmpty(&world.Place{Pods: []*world.Pod{{DaemonSet: "log"}, &tc.pod}}); got == tc.stays {
				t.Errorf("%s A machine with it is empty: %t", tc.why, got)
			}
		})
	}
}

// A pod keeps its machine if it has to move and it is not known where to.
func TestUnplannable(t *testing.T) {
	named := func(name string, p world.Pod) *world.Pod { p.Name = name; return &p }
	n := &world.Place{Pods: []*world.Pod{
		named("plain", world.Pod{}), named("claims", world.Pod{Claims: true}), named("daemon", world.Pod{Claims: true, DaemonSet: "log"}),
	}}
	var got []string
	for _, why := range hold.Unplannable(n) {
		got = append(got, why.Subject)
	}
	if want := []string{"/claims"}; !slices.Equal(got, want) {
		t.Errorf("kept by %v, want %v", got, want)
	}
}
