package disrupt_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-sh/tenon/engine/disrupt"
	"github.com/tenon-sh/tenon/engine/disrupt/begun"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
)

// orders writes the commands of a plan: machines, reason and verdict.
func orders(p plan.Plan) string {
	var out []string
	for _, c := range p.Commands {
		out = append(out, fmt.Sprintf("%s %s %s", strings.Join(c.Nodes(), " "), c.Reason, c.Verdict))
	}
	return strings.Join(out, "; ")
}

// cheaper has pods b and c be so small that all three fit on one node: two could go.
func cheaper(e *editor) {
	for _, name := range []string{"b", "c"} {
		pod(func(p *world.Pod) { p.Labels = nil }, name)(e)
	}
}

// strangers are a node that no pool has asked for, and a claim without a node of a pool that is gone. Neither has room.
func strangers(e *editor) {
	e.must(e.SetNode(world.Node{Name: "foreign", Ready: true}))
	e.must(e.SetPod(world.Pod{Key: world.Key{Namespace: "default", Name: "abroad"}, Node: "foreign"}))
	e.must(e.SetClaim(world.Claim{Name: "bare", Pool: world.PoolID{Kind: world.NodePool, Name: "gone"}, ProviderID: "bare", Launched: true, Created: now - 3600}))
}

// Nothing is said of what is not ours, and nothing breaks for it.
func TestStrangers(t *testing.T) {
	w := told(t, town, strangers, pool(func(p *world.Pool) { p.Disruption.Budgets = []world.Budget{{Nodes: "0"}} }))
	if disrupt.TooOld(w, w.Place("foreign")) || disrupt.Replaced(w, w.Place("foreign")) || begun.Intended(w.Place("foreign")) {
		t.Error("a node that no pool has asked for is to go")
	}
	if !disrupt.Settled(w) || disrupt.Eligible(w) != 0 || len(disrupt.Closed(w)) != 1 {
		t.Errorf("settled %t, eligible %d, closed %v", disrupt.Settled(w), disrupt.Eligible(w), disrupt.Closed(w))
	}
}

// Pods are moved to save money only while nothing is replaced, and never while pods have just come or moving is switched off.
// What goes as it is, and what goes already, is no reason to wait.
func TestWhatComesFirst(t *testing.T) {
	all := []disrupt.Part{disrupt.Judging, disrupt.Idling, disrupt.Replacing, disrupt.Consolidating}
	const saved = "n2 Underutilized begin; n3 Underutilized begin"
	empty := func(e *editor) { e.DeletePod(world.Key{Namespace: "default", Name: "c"}) }
	old := func(c *world.Claim) { c.ExpireAfter = 3590 }
	overstayed := func(c *world.Claim) { c.ExpireAfter = 3600 - disrupt.Overstay }
	for name, tc := range map[string]struct {
		why     string
		changes []func(*editor)
		options disrupt.Options
		want    string
	}{
		"Saves":     {"Two nodes can go.", nil, disrupt.Options{Only: all}, saved},
		"All":       {"If no part is named all are decided.", nil, disrupt.Options{}, saved},
		"Part":      {"A part that is not named is not.", nil, disrupt.Options{Only: all[:3]}, ""},
		"Stay":      {"Moving pods is switched off.", nil, disrupt.Options{Only: all, Stay: true}, ""},
		"Busy":      {"Pods have just come.", nil, disrupt.Options{Only: all, Busy: true}, ""},
		"Drift":     {"One has drifted and is replaced first.", []func(*editor){claim(drifted, "n1")}, disrupt.Options{Only: all}, "n1 Drifted begin"},
		"DriftStay": {"It is not where moving pods is switched off.", []func(*editor){claim(drifted, "n1")}, disrupt.Options{Only: all, Stay: true}, ""},
		"DriftBusy": {"Nor while pods have just come.", []func(*editor){claim(drifted, "n1")}, disrupt.Options{Only: all, Busy: true}, ""},
		"Old":       {"What is too old is replaced.", []func(*editor){claim(old, "n1")}, disrupt.Options{Only: all}, "n1 Expired begin"},
		"TooOld":    {"It was not replaced in time, and goes as it is: nothing is bought for it.", []func(*editor){claim(overstayed, "n1")}, disrupt.Options{Only: all[:3]}, "n1 Expired carry-on"},
		"OldStay":   {"Where pods are not to be moved it goes as it is.", []func(*editor){claim(old, "n1")}, disrupt.Options{Only: all, Stay: true}, "n1 Expired carry-on"},
		"OldAsIs":   {"Where nothing is to be bought for its pods before it goes as it is, once.", []func(*editor){claim(old, "n1")}, disrupt.Options{Only: all[:3], AsIs: true}, "n1 Expired carry-on"},
		"OldEmpty":  {"What is too old and runs nothing needs no other.", []func(*editor){claim(old, "n3"), empty}, disrupt.Options{Only: all[:3]}, "n3 Expired carry-on"},
		"OldGoing":  {"What ends already is neither replaced nor ended again.", []func(*editor){claim(old, "n1"), claim(overstayed, "n2"), claim(func(c *world.Claim) { c.Deleting = true }, "n2"), claim(func(c *world.Claim) { c.Deleting = true }, "n1")}, disrupt.Options{Only: all[:3]}, ""},
		"Empty":     {"What is empty is no reason to move no others.", []func(*editor){empty}, disrupt.Options{Only: all}, "n3 Empty begin; n1 n2 Underutilized begin"},
		"Begun":     {"Nor is what has begun.", []func(*editor){claim(going, "n1")}, disrupt.Options{Only: all, Marked: map[string]int64{"n1": 10_000}}, "n1 Underutilized carry-on; n3 Underutilized begin"},
	} {
		t.Run(name, func(t *testing.T) {
			p := disrupt.Decide(told(t, town, append([]func(*editor){cheaper, strangers}, tc.changes...)...), tc.options)
			if diff := cmp.Diff(tc.want, orders(p)); diff != "" {
				t.Errorf("%s -want +got\n%s", tc.why, diff)
			}
			if saves := slices.ContainsFunc(p.Commands, func(c plan.Command) bool { return c.Reason == plan.Underutilized && !c.Begun }); saves && p.Steps <= 0 {
				t.Errorf("%s It took %d steps to find what could be saved", tc.why, p.Steps)
			}
			goes := map[string]bool{}
			for _, c := range p.Commands {
				for _, node := range c.Nodes() {
					goes[node] = true
				}
			}
			for _, k := range p.Kept {
				if goes[k.Node] {
					t.Errorf("%s %s goes, and is said to be kept: %s", tc.why, k.Node, line(k.Why))
				}
			}
		})
	}
}

// What a node of a static pool waits for is no reason to leave others as they are; what begins there is.
func TestStaticPoolsComeFirst(t *testing.T) {
	const both = `type large cpu=2 memory=8Gi price=0.10 zones=a
type xlarge cpu=4 memory=16Gi price=0.20 zones=a
pool p
pool s replicas=2
node n1 cpu=4 memory=16Gi zone=a pool=p type=xlarge
node s1 cpu=4 memory=16Gi zone=a pool=s type=xlarge
node s2 cpu=4 memory=16Gi zone=a pool=s type=xlarge
pod a cpu=3 node=n1`
	restless := func(names ...string) func(*editor) {
		return claim(func(c *world.Claim) { c.LastPodEvent = now - 1 }, names...)
	}
	for name, tc := range map[string]struct {
		why     string
		changes []func(*editor)
		want    string
	}{
		"Static":   {"It begins there.", []func(*editor){claim(drifted, "n1", "s1")}, "s1 Drifted begin"},
		"Some":     {"So it does if it is one of two.", []func(*editor){claim(drifted, "n1", "s1", "s2"), restless("s2")}, "s1 Drifted begin; s2 Drifted wait"},
		"Restless": {"Nothing begins there.", []func(*editor){claim(drifted, "n1", "s1"), restless("s1")}, "s1 Drifted wait; n1 Drifted begin"},
	} {
		t.Run(name, func(t *testing.T) {
			p := disrupt.Decide(told(t, both, tc.changes...), disrupt.Options{Only: []disrupt.Part{disrupt.Replacing}})
			if diff := cmp.Diff(tc.want, orders(p)); diff != "" {
				t.Errorf("%s -want +got\n%s", tc.why, diff)
			}
		})
	}
}

// One decision replaces ten nodes of static pools at most: each costs a packing of all pods.
func TestStaticReplacementsAreBounded(t *testing.T) {
	lines := []string{"type large cpu=2 memory=8Gi price=0.10 zones=a", "pool s replicas=12"}
	var names []string
	for i := range 12 {
		names = append(names, fmt.Sprintf("s%02d", i))
		lines = append(lines, "node "+names[i]+" cpu=2 memory=8Gi zone=a pool=s type=large")
	}
	p := disrupt.Decide(told(t, strings.Join(lines, "\n"), claim(drifted, names...)), disrupt.Options{Only: []disrupt.Part{disrupt.Replacing}})
	if len(p.Commands) != 10 || len(p.Kept) != 0 {
		t.Errorf("%d of 12 are replaced, and %d are said to be kept, want 10 and none", len(p.Commands), len(p.Kept))
	}
}

// Commands of which each could go if the others did may not go alone: a pod that follows another has no place while that stays.
func TestJudgedTogether(t *testing.T) {
	const scene = `type large cpu=2 memory=8Gi price=0.10 zones=a
type xlarge cpu=4 memory=16Gi price=0.20 zones=a
pool p
node n1 cpu=4 memory=16Gi zone=a pool=p type=xlarge
node n2 cpu=4 memory=16Gi zone=a pool=p type=xlarge
node n3 cpu=4 memory=16Gi zone=a pool=p type=xlarge
pod lead cpu=1 node=n1
pod stuck cpu=3 node=n1
pod follow cpu=1 node=n2 near=host:lead
pod c cpu=1500m node=n3`
	judge := func(changes ...func(*editor)) string {
		var got []string
		for _, c := range disrupt.Decide(told(t, scene, changes...), judging()).Commands {
			got = append(got, text(c))
		}
		return strings.Join(got, "; ")
	}
	if got, want := judge(claim(going, "n1", "n2")), "no: default/stuck: no-place (the pod has no place elsewhere any more); waits"; got != want {
		t.Errorf("the one that it follows stays: %s, want %s", got, want)
	}
	gone := func(e *editor) { e.DeletePod(world.Key{Namespace: "default", Name: "stuck"}) }
	if got, want := judge(claim(going, "n1", "n2"), gone), "may; may"; got != want {
		t.Errorf("both have places: %s, want %s", got, want)
	}
}

// Nodes that go by themselves may be of one command of which not all is seen yet: they wait for the latest mark. What was bought
// for others holds these together.
func TestLatestMarkCounts(t *testing.T) {
	bought := claim(func(c *world.Claim) { c.Replaces, c.Created = []string{"n1"}, now-60 }, "n3")
	for name, tc := range map[string]struct {
		why     string
		changes []func(*editor)
		marked  map[string]int64
		want    string
	}{
		"Known":  {"All marks are known.", []func(*editor){claim(going, "n1", "n2")}, map[string]int64{"n1": 10_000, "n2": 2000}, "n1 carry-on 0; n2 carry-on 0"},
		"Latest": {"One is not.", []func(*editor){claim(going, "n1", "n2")}, map[string]int64{"n1": 10_000, "n2": 500}, "n1 wait 1500; n2 wait 1500"},
		"Bought": {"That of another command is nothing to it.", []func(*editor){claim(going, "n1", "n2"), bought}, map[string]int64{"n1": 10_000, "n2": 500}, "n1 carry-on 0; n2 wait 1500"},
		"Self":   {"Nor is what others were bought for to one that goes by itself.", []func(*editor){claim(going, "n1", "n2"), bought}, map[string]int64{"n1": 500, "n2": 10_000}, "n1 wait 1500; n2 carry-on 0"},
		"Bare": {"The mark of one of two is gone: it is marked again, and ends not before.", []func(*editor){
			claim(going, "n1", "n2"), claim(func(c *world.Claim) { c.Replaces, c.Created = []string{"n1", "n2"}, now-60 }, "n3"),
		}, map[string]int64{"n2": 10_000}, "n1 n2 begin 2000"},
	} {
		t.Run(name, func(t *testing.T) {
			w := told(t, town, tc.changes...)
			if tc.marked["n1"] == 0 {
				b := w.Edit()
				n := *w.Place("n1").Node
				n.Taints = nil
				must(b.SetNode(n))
				w = b.Snapshot(now)
			}
			var got []string
			for _, c := range disrupt.Decide(w, disrupt.Options{Only: []disrupt.Part{disrupt.Judging}, Marked: tc.marked}).Commands {
				got = append(got, fmt.Sprintf("%s %s %d", strings.Join(c.Nodes(), " "), c.Verdict, c.Again))
			}
			if diff := cmp.Diff(tc.want, strings.Join(got, "; ")); diff != "" {
				t.Errorf("%s -want +got\n%s", tc.why, diff)
			}
		})
	}
}

// What was bought for nodes that stay is told by its claim, and a plan names it by its claim or by the node that it became.
func TestStrayByItsNames(t *testing.T) {
	for _, planned := range []string{"c3", "n3", "n4"} {
		b := told(t, town, func(e *editor) { e.DeletePod(world.Key{Namespace: "default", Name: "c"}) }).Edit()
		n, c := *b.Snapshot(now).Place("n3").Node, *b.Snapshot(now).Place("n3").Claim
		b.DeleteClaim("n3")
		n.Claim, c.Name, c.Replaces, c.Created, c.InitializedAt = "c3", "c3", []string{"n1"}, now-60, now-30
		must(b.SetNode(n))
		must(b.SetClaim(c))
		p := disrupt.Decide(b.Snapshot(now), disrupt.Options{Only: []disrupt.Part{disrupt.Judging}, Planned: []string{planned}})
		if len(p.Spare) != 1 || p.Spare[0].Claim != "c3" || p.Spare[0].Used != (planned != "n4") {
			t.Errorf("pods are on their way to %s, and of what was bought it is said: %+v", planned, p.Spare)
		}
	}
}

// A command says how many pods it moves: daemons end with their node.
func TestPodsOfACommand(t *testing.T) {
	daemon := func(e *editor) {
		e.must(e.SetPod(world.Pod{Key: world.Key{Namespace: "default", Name: "log"}, DaemonSet: "default/log", Node: "n1"}))
		e.must(e.SetPod(world.Pod{Key: world.Key{Namespace: "default", Name: "a2"}, Node: "n1"}))
	}
	moves := disrupt.Decide(told(t, town, daemon, claim(drifted, "n1")), disrupt.Options{Only: []disrupt.Part{disrupt.Replacing}}).Commands[0].Moves
	if len(moves) != 1 || moves[0].Node != "n2" || moves[0].Claim != "n2" || len(moves[0].Pods) != 2 || moves[0].Pods[0].Name != "a" {
		t.Errorf("its pods are to go to %+v, want a and a2 to n2", moves)
	}
	for name, p := range map[string]plan.Plan{
		"begins":    disrupt.Decide(told(t, town, daemon, claim(drifted, "n1")), disrupt.Options{Only: []disrupt.Part{disrupt.Replacing}}),
		"has begun": disrupt.Decide(told(t, town, daemon, claim(going, "n1")), judging()),
	} {
		if len(p.Commands) != 1 || p.Commands[0].Pods != 2 {
			t.Errorf("one that %s moves %+v, want two pods", name, p.Commands)
		}
	}
}

// It is decided again when the first of all that is due comes, whichever part finds it.
func TestAgainOfAllParts(t *testing.T) {
	old := claim(func(c *world.Claim) { c.ExpireAfter = 3600 }, "n1") // may stay for its pods to be moved, and then goes as it is
	p := disrupt.Decide(told(t, town, old), disrupt.Options{Only: []disrupt.Part{disrupt.Idling, disrupt.Consolidating}})
	if p.Again != now+disrupt.Overstay {
		t.Errorf("it is decided again after %d, want %d", p.Again-now, disrupt.Overstay)
	}
	restless := claim(func(c *world.Claim) { c.LastPodEvent = now - 5 }, "n2")
	p = disrupt.Decide(told(t, town, old, restless, claim(drifted, "n2"), claim(func(c *world.Claim) { c.ExpireAfter = 7200 }, "n1")), disrupt.Options{Only: []disrupt.Part{disrupt.Idling, disrupt.Replacing}})
	if p.Again != now+disrupt.Calm-5 {
		t.Errorf("it is decided again after %d, want %d", p.Again-now, disrupt.Calm-5)
	}
}
