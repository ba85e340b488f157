package disrupt

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/cluster"
)

// borrowed is a World with machines a, b and x, of which x is still to come, y has no node yet, and f is of no pool.
func borrowed(t *testing.T, changes ...func(*world.Builder) error) *world.World {
	t.Helper()
	b := world.NewBuilder()
	id := world.PoolID{Kind: world.NodePool, Name: "p"}
	errs := []error{
		b.SetPool(world.Pool{ID: id, Template: "t"}), b.SetNode(world.Node{Name: "f", Ready: true}),
		b.SetNode(world.Node{Name: "n-a", Claim: "a", Pool: id, Ready: true}), b.SetClaim(world.Claim{Name: "a", Node: "n-a", Pool: id, Initialized: true}),
		b.SetNode(world.Node{Name: "n-b", Claim: "b", Pool: id, Ready: true}), b.SetClaim(world.Claim{Name: "b", Node: "n-b", Pool: id, Initialized: true}),
		b.SetNode(world.Node{Name: "n-x", Claim: "x", Pool: id, Ready: true}), b.SetClaim(world.Claim{Name: "x", Node: "n-x", Pool: id}),
		b.SetClaim(world.Claim{Name: "y", Pool: id}),
	}
	for _, change := range changes {
		errs = append(errs, change(b))
	}
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	return b.Snapshot(1000)
}

// What a plan says is taken step by step: what is new is begun elsewhere, what is taken back says why, what waits says for what.
func TestStepsOfCommands(t *testing.T) {
	a, b := plan.Give{Claim: "a", Node: "n-a"}, plan.Give{Claim: "b", Node: "n-b"}
	why := &reason.Why{Code: reason.Policy, Subject: "n-a", Detail: "its expireAfter is longer now"}
	for name, tc := range map[string]struct {
		why  string
		plan plan.Plan
		want []Step
		wait time.Duration
	}{
		"New": {"It has not begun.", plan.Plan{Commands: []plan.Command{{Reason: plan.Drifted, Verdict: plan.Begin, Back: []plan.Give{a}, Again: 1000}}}, nil, 0},
		"Moves": {"Both end, and others were bought for them.", plan.Plan{Commands: []plan.Command{{Reason: plan.Drifted, Verdict: plan.CarryOn, Begun: true, Back: []plan.Give{a, b}, Bought: []string{"x"}}}}, []Step{
			{Kind: End, Claim: "a", Node: "n-a", Reason: plan.Drifted, Begun: true, Bought: true, Many: true, First: true},
			{Kind: End, Claim: "b", Node: "n-b", Reason: plan.Drifted, Begun: true, Bought: true, Many: true},
		}, 0},
		"Alone":   {"It ends alone, and nothing was bought.", plan.Plan{Commands: []plan.Command{{Reason: plan.Drifted, Verdict: plan.CarryOn, Begun: true, Back: []plan.Give{a}}}}, []Step{{Kind: End, Claim: "a", Node: "n-a", Reason: plan.Drifted, Begun: true, First: true}}, 0},
		"Again":   {"Its mark is gone.", plan.Plan{Commands: []plan.Command{{Reason: plan.Drifted, Verdict: plan.Begin, Begun: true, Back: []plan.Give{a}, Again: 2000}}}, []Step{{Kind: Mark, Claim: "a", Node: "n-a", Reason: plan.Drifted, Begun: true, First: true}}, 2 * time.Second},
		"Stays":   {"It stays, and says why.", plan.Plan{Commands: []plan.Command{{Reason: plan.Drifted, Verdict: plan.TakeBack, Begun: true, Back: []plan.Give{a}, Why: why}}}, []Step{{Kind: Unmark, Claim: "a", Node: "n-a", Reason: plan.Drifted, Why: why.Line(), Begun: true, First: true}}, 0},
		"Unknown": {"A mark that nothing accounts for is of no command.", plan.Plan{Commands: []plan.Command{{Verdict: plan.TakeBack, Begun: true, Back: []plan.Give{a}}}}, []Step{{Kind: Unmark, Claim: "a", Node: "n-a", First: true}}, 0},
		"Goes":    {"Why something waited is nothing to one that goes.", plan.Plan{Commands: []plan.Command{{Reason: plan.Drifted, Verdict: plan.CarryOn, Begun: true, Back: []plan.Give{a}, Why: why}}}, []Step{{Kind: End, Claim: "a", Node: "n-a", Reason: plan.Drifted, Begun: true, First: true}}, 0},
		"Awaits": {"What was bought is waited for, but for what is there or gone.", plan.Plan{Commands: []plan.Command{{Reason: plan.Drifted, Verdict: plan.Wait, Begun: true, Back: []plan.Give{a}, Bought: []string{"x", "y", "b", "gone"}, Again: 5000}}}, []Step{
			{Kind: Await, Claim: "x", Node: "n-x", Reason: plan.Drifted}, {Kind: Await, Claim: "y", Reason: plan.Drifted},
		}, 5 * time.Second},
		"Soonest": {"The soonest counts, and what need not be looked at again does not.", plan.Plan{Commands: []plan.Command{
			{Reason: plan.Drifted, Verdict: plan.Wait, Begun: true, Again: 5000}, {Reason: plan.Drifted, Verdict: plan.Wait, Begun: true}, {Reason: plan.Empty, Verdict: plan.Wait, Begun: true, Again: 2000}, {Reason: plan.Drifted, Verdict: plan.Wait, Begun: true, Again: 3000},
		}}, nil, 2 * time.Second},
		"Spare": {"What was bought in vain is given back, or kept for others.", plan.Plan{Spare: []plan.Spare{{Claim: "x"}, {Claim: "y", Used: true}}}, []Step{{Kind: Return, Claim: "x"}, {Kind: Adopt, Claim: "y"}}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			got, wait := Steps(borrowed(t), tc.plan)
			if diff := cmp.Diff(tc.want, got); diff != "" || wait != tc.wait {
				t.Errorf("%s Looked at again after %s, want %s; -want +got\n%s", tc.why, wait, tc.wait, diff)
			}
		})
	}
}

// What may be given back as empty is counted: what is ours, complete, stays and runs nothing.
func TestEligibleAreEmpty(t *testing.T) {
	if n := eligible(borrowed(t)); n != 2 {
		t.Errorf("%d may go, want a and b", n)
	}
	used := func(b *world.Builder) error {
		return b.SetPod(world.Pod{Key: world.Key{Namespace: "d", Name: "web"}, Node: "n-a"})
	}
	going := func(b *world.Builder) error {
		return b.SetNode(world.Node{Name: "n-b", Claim: "b", Deleting: true})
	}
	bare := func(b *world.Builder) error { return b.SetClaim(world.Claim{Name: "z", Initialized: true}) }
	if n := eligible(borrowed(t, used, going, bare)); n != 0 {
		t.Errorf("%d may go, and one is used, one goes, one has no node", n)
	}
}

// Every reason that package disrupt has for taking a command back is among those that were thought of.
func TestEveryRejectionHasAWord(t *testing.T) {
	read := func(file string) string {
		text, err := os.ReadFile(filepath.Join("..", "..", "..", "engine", file))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	codes := map[string]reason.Code{} // by the names of their constants
	for _, m := range regexp.MustCompile(`(?m)^\t(\w+) +Code = "(.+)"`).FindAllStringSubmatch(read("reason/reason.go"), -1) {
		codes[m[1]] = reason.Code(m[2])
	}
	said := map[reason.Code]bool{}
	for _, file := range []string{"disrupt/judge.go", "disrupt/hold/hold.go", "disrupt/hold/pods.go", "disrupt/hold/unmoved.go"} {
		for _, m := range regexp.MustCompile(`Code(?:: | = )reason\.(\w+)`).FindAllStringSubmatch(read(file), -1) {
			said[codes[m[1]]] = true
		}
	}
	words := rejections()
	for code := range said {
		if _, known := words[code]; !known {
			t.Errorf("a command may be taken back for %s: say in rejections, weighed.go, what Karpenter calls that, or that it has no word for it", code)
		}
	}
	for code := range words {
		if !said[code] {
			t.Errorf("no command is taken back for %s: leave it out of rejections", code)
		}
	}
}

// Commands, and why they are taken back, have the words that Karpenter has for them.
func TestKarpentersWords(t *testing.T) {
	for want, codes := range map[string][]reason.Code{
		"budget": {reason.Budget}, "scheduling": {reason.NoPlace, reason.Starting},
		"churn": {reason.Policy, reason.DoNotDisrupt, reason.Guarded, reason.Alone, reason.Promised}, "unknown": {reason.NotCheaper, reason.Static},
	} {
		for _, code := range codes {
			if got := rejection(&reason.Why{Code: code}); got != want {
				t.Errorf("%s is %q, want %q", code, got, want)
			}
		}
	}
	if got := rejection(nil); got != "unknown" {
		t.Errorf("nothing is %q", got)
	}
	a, b := plan.Give{Node: "n1"}, plan.Give{Node: "n2"}
	for want, c := range map[string]plan.Command{
		"delete: [n1]": {Back: []plan.Give{a}},
		"delete: [n1] (part of 2-node consolidation)":  {Back: []plan.Give{a, b}},
		"replace: [n1] -> [1 replacement]":             {Back: []plan.Give{a}, New: []plan.Ask{{}}},
		"replace: [n1] -> [3 replacements]":            {Back: []plan.Give{a}, New: []plan.Ask{{}}, Bought: []string{"x", "y"}},
		"replace: [n1] (part of 2-node consolidation)": {Back: []plan.Give{a, b}, Bought: []string{"x"}},
	} {
		if got := commandText(c, a); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for want, of := range map[string]struct {
		reason string
		many   bool
	}{"": {plan.Drifted, true}, "multi": {plan.Underutilized, true}, "single": {plan.Underutilized, false}} {
		if got := kindOf(of.reason, of.many); got != want {
			t.Errorf("%v is of kind %q, want %q", of, got, want)
		}
	}
}

// Of a node that stays it is told what it is, how it differs, and what keeps it.
func TestStayingText(t *testing.T) {
	changed := func(b *world.Builder) error {
		return b.SetClaim(world.Claim{Name: "a", Node: "n-a", Pool: world.PoolID{Kind: world.NodePool, Name: "p"}, Initialized: true, Change: "spec.template.labels"})
	}
	held := &reason.Why{Code: reason.Budget, Subject: "p", Detail: "its budgets let no node go now"}
	const end = "p: its budgets let no node go now"
	for name, tc := range map[string]struct {
		kept plan.Kept
		more []func(*world.Builder) error
		want string
	}{
		"Empty":   {plan.Kept{Node: "n-a", Reason: plan.Empty, Why: held}, nil, "It is empty and stays: "},
		"Expired": {plan.Kept{Node: "n-a", Reason: plan.Expired, Why: held}, nil, "It has expired, and cannot be replaced before it is drained, which begins 15 minutes after it expired: "},
		"Drifted": {plan.Kept{Node: "n-a", Reason: plan.Drifted, Why: held}, nil, "It has drifted and stays: "},
		"Changed": {plan.Kept{Node: "n-a", Reason: plan.Drifted, Why: held}, []func(*world.Builder) error{changed}, "It has drifted (spec.template.labels) and stays: "},
		"Bare":    {plan.Kept{Claim: "y", Reason: plan.Drifted, Why: held}, nil, "It has drifted and stays: "},
		"Foreign": {plan.Kept{Node: "f", Reason: plan.Drifted, Why: held}, nil, "It has drifted and stays: "},
		"Gone":    {plan.Kept{Node: "gone", Reason: plan.Drifted, Why: held}, nil, "It has drifted and stays: "},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want+end, stayingText(borrowed(t, tc.more...), tc.kept)); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
	for code, want := range map[reason.Code]bool{reason.Policy: false, reason.TooSoon: false, reason.Empty: false, reason.Budget: true, reason.Alone: true, reason.NotCheaper: true} {
		if worthAnEvent(code) != want {
			t.Errorf("a node that is kept for %s is told so: %t", code, !want)
		}
	}
}

// A pod that cannot be read is remembered until it can, or is gone.
func TestMisread(t *testing.T) {
	web := &world.Pod{Key: world.Key{Namespace: "d", Name: "web"}, UID: "1"}
	no := errors.New("it means nothing")
	for name, tc := range map[string]struct {
		heard []cluster.Change
		want  int
	}{
		"Well":    {[]cluster.Change{{Kind: cluster.Pod, Is: web}}, 0},
		"Misread": {[]cluster.Change{{Kind: cluster.Pod, Is: web, Misread: no}}, 1},
		"Node":    {[]cluster.Change{{Kind: cluster.Node, Is: web, Misread: no}}, 0},
		"Mended":  {[]cluster.Change{{Kind: cluster.Pod, Is: web, Misread: no}, {Kind: cluster.Pod, Was: web, Is: web}}, 0},
		"Gone":    {[]cluster.Change{{Kind: cluster.Pod, Is: web, Misread: no}, {Kind: cluster.Pod, Was: web}}, 0},
		"Still":   {[]cluster.Change{{Kind: cluster.Pod, Is: web, Misread: no}, {Kind: cluster.Pod, Was: web, Is: web, Misread: no}}, 1},
	} {
		var m unreadable
		for _, c := range tc.heard {
			m.heard(c)
		}
		if len(m.pods) != tc.want {
			t.Errorf("%s: %d are unreadable, want %d", name, len(m.pods), tc.want)
		}
	}
}

// Where pods are to go is told of the pods of the machine that they leave.
func TestMovesFrom(t *testing.T) {
	key := func(name string) world.Key { return world.Key{Namespace: "d", Name: name} }
	from := &world.Place{Pods: []*world.Pod{{Key: key("a")}, {Key: key("b")}, {Key: key("c")}}}
	moves := []plan.Fill{{Node: "x", Pods: []world.Key{key("a"), key("other"), key("b")}}, {Node: "y", Pods: []world.Key{key("another")}}}
	want := []world.Move{{To: "x", Pods: []world.Key{key("a"), key("b")}}}
	if diff := cmp.Diff(want, movesFrom(from, moves)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if got := movesFrom(nil, moves); len(got) > 0 {
		t.Errorf("nothing is known of the machine, and its pods go to %v", got)
	}
}
