package disrupt_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/disrupt"
	"github.com/tenon-sh/tenon/engine/disrupt/begun"
	"github.com/tenon-sh/tenon/engine/enginetest"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
)

const now = 1_000_000

// told is a World of a pool that moves pods at once, whose nodes have joined an
// hour ago, and then changed.
func told(t *testing.T, scene string, changes ...func(*editor)) *world.World {
	t.Helper()
	s := enginetest.NewScene()
	for line := range strings.SplitSeq(scene, "\n") {
		if err := s.Line(line); err != nil {
			t.Fatal(err)
		}
	}
	e := &editor{t: t, Builder: s.World().Edit()}
	for _, p := range e.Snapshot(now).Pools() {
		pool, after := *p, int64(0)
		pool.Disruption = world.PoolDisruption{EmptyAfter: &after, MoveAfter: &after}
		e.must(e.SetPool(pool))
	}
	for _, p := range e.Snapshot(now).Places() {
		n := *p.Node
		n.Claim, n.Labels = n.Name, maps.Clone(n.Labels)
		n.Labels[label.CapacityType] = label.OnDemand
		e.must(e.SetNode(n))
		e.must(e.SetClaim(world.Claim{
			Name: n.Name, Node: n.Name, Pool: n.Pool, Template: "t", ProviderID: n.Name, Launched: true, Registered: true, Initialized: true,
			Created: now - 3600, InitializedAt: now - 3600,
		}))
	}
	for _, change := range changes {
		change(e)
	}
	for _, p := range e.Snapshot(now).Places() {
		if begun.Intended(p) {
			n := *p.Node
			n.Taints = append(n.Taints, begun.Mark())
			e.must(e.SetNode(n))
		}
	}
	return e.Snapshot(now)
}

// judging are options of a decision about what has begun, of which all marks are known for ten seconds.
func judging() disrupt.Options {
	return disrupt.Options{Only: []disrupt.Part{disrupt.Judging}, Marked: map[string]int64{"n1": 10_000, "n2": 10_000, "n3": 10_000}}
}

type editor struct {
	*world.Builder
	t *testing.T
}

func (e *editor) must(err error) {
	e.t.Helper()
	if err != nil {
		e.t.Fatal(err)
	}
}

// claim changes the claims of nodes.
func claim(change func(*world.Claim), names ...string) func(*editor) {
	return func(e *editor) {
		for _, name := range names {
			c := *e.Snapshot(now).Place(name).Claim
			change(&c)
			e.must(e.SetClaim(c))
		}
	}
}

func pod(change func(*world.Pod), name string) func(*editor) {
	return func(e *editor) {
		p := *e.Snapshot(now).Pod(world.Key{Namespace: "default", Name: name})
		change(&p)
		e.must(e.SetPod(p))
	}
}

// virtual has a pod be room that is held.
func virtual(name string) func(*editor) {
	return pod(func(p *world.Pod) { p.Virtual, p.Priority = true, world.VirtualPriority }, name)
}

func pool(change func(*world.Pool)) func(*editor) {
	return func(e *editor) {
		p := *e.Snapshot(now).Pools()[0]
		change(&p)
		e.must(e.SetPool(p))
	}
}

func guard(allowed int) func(*editor) {
	return func(e *editor) {
		e.must(e.SetGuard(world.Guard{Key: world.Key{Namespace: "default", Name: "g"}, Allowed: allowed, Selector: world.Selector{Some: true, Set: label.SetOf(label.Is("app", "web"))}}))
	}
}

// ends says of claims that their drain ends in any case.
func ends(names ...string) func(*editor) {
	return claim(func(c *world.Claim) { c.DrainEnds = true }, names...)
}

// forbid has a node be annotated.
func forbid(name string) func(*editor) {
	return func(e *editor) {
		n := *e.Snapshot(now).Place(name).Node
		n.DoNotDisrupt = true
		e.must(e.SetNode(n))
	}
}

func going(c *world.Claim)   { c.Going = plan.Underutilized }
func expired(c *world.Claim) { c.Going, c.ExpireAfter = plan.Expired, 60 }
func drifted(c *world.Claim) { c.Drifted = "NodePoolDrifted" }

// town has two nodes with a pod each, and one more that holds both.
const town = `type large cpu=2 memory=8Gi price=0.10 zones=a
type xlarge cpu=4 memory=16Gi price=0.20 zones=a
pool p
node n1 cpu=4 memory=16Gi zone=a pool=p type=xlarge
node n2 cpu=4 memory=16Gi zone=a pool=p type=xlarge
node n3 cpu=4 memory=16Gi zone=a pool=p type=xlarge
pod a cpu=1 app=web node=n1
pod b cpu=1 app=web node=n2
pod c cpu=1 node=n3`

// Whether a command that has begun still stands is asked of each later World (D-9).
func TestJudge(t *testing.T) {
	one := func(more ...func(*editor)) []func(*editor) {
		return append([]func(*editor){claim(going, "n1")}, more...)
	}
	// bought has n3 be what was bought for n1 and n2.
	bought := func(more ...func(*editor)) []func(*editor) {
		return append([]func(*editor){
			claim(going, "n1", "n2"), pod(func(p *world.Pod) { p.Node = "n1" }, "c"),
			claim(func(c *world.Claim) { c.Replaces = []string{"n1", "n2"}; c.Created = now - 60 }, "n3"),
		}, more...)
	}
	starting := claim(func(c *world.Claim) { c.Initialized = false }, "n3")
	replicas := func(n int) func(*editor) { return pool(func(p *world.Pool) { p.Replicas = &n }) }
	for name, tc := range map[string]struct {
		why     string
		changes []func(*editor)
		busy    bool
		want    string
	}{
		"Fits":      {"Its pod fits on others.", one(), false, "may"},
		"Two":       {"So do those of two, each by itself.", []func(*editor){claim(going, "n1", "n2")}, false, "may; may"},
		"Full":      {"Somebody took the room.", one(pod(func(p *world.Pod) { p.Requests = p.Requests.Plus(p.Requests).Plus(p.Requests) }, "b"), pod(func(p *world.Pod) { p.Requests = p.Requests.Plus(p.Requests).Plus(p.Requests).Plus(p.Requests) }, "c"), pod(func(p *world.Pod) { p.Requests = p.Requests.Plus(p.Requests) }, "a")), false, "no: default/a: no-place (the pod has no place elsewhere any more)"},
		"Busy":      {"Pods have just come, and it is not known yet where they go.", one(), true, "waits"},
		"Forbidden": {"A pod may not be moved any more.", one(pod(func(p *world.Pod) { p.Disruption.Forbidden = true }, "a")), false, "no: default/a: do-not-disrupt (it is annotated karpenter.sh/do-not-disrupt)"},
		"Alone":     {"No controller would recreate the pod.", one(pod(func(p *world.Pod) { p.Disruption.Alone = true }, "a")), false, "no: default/a: no-controller (the pod has no controller that would recreate it)"},
		"Guarded":   {"Its budget may allow it again in a moment.", one(guard(0)), false, "passing: default/a: pod-disruption-budget (PodDisruptionBudget default/g allows no eviction now)"},
		"Open":      {"Its budget allows it.", one(guard(1)), false, "may"},
		"Expired":   {"Age asks no budget and no pod.", []func(*editor){claim(expired, "n1"), guard(0), pool(func(p *world.Pool) { p.Disruption.Budgets = []world.Budget{{Nodes: "0"}} })}, false, "may"},
		"Stuck": {"What cannot be evicted needs no place.", []func(*editor){claim(expired, "n1"), pod(func(p *world.Pod) {
			p.Disruption.Forbidden, p.Requests = true, p.Requests.Plus(p.Requests).Plus(p.Requests).Plus(p.Requests)
		}, "a")}, false, "may"},
		"Young":    {"It may be older now.", []func(*editor){claim(expired, "n1"), claim(func(c *world.Claim) { c.ExpireAfter = 1e6 }, "n1")}, false, "no: n1: policy (its expireAfter is longer now)"},
		"Policy":   {"The pool has pods moved no longer.", one(pool(func(p *world.Pool) { p.Disruption.MoveAfter = nil })), false, "no: n1: policy (pool p gives only empty nodes back)"},
		"Window":   {"A time began in which nothing goes.", one(pool(func(p *world.Pool) { p.Disruption.Budgets = []world.Budget{{Nodes: "0"}} })), false, "no: p: disruption-budget (its budgets let no node go now)"},
		"Restored": {"It is what its pool asks for again.", []func(*editor){claim(func(c *world.Claim) { c.Going = plan.Drifted }, "n1")}, false, "no: n1: policy (it is no longer drifted)"},
		"Drifted":  {"It still is not.", []func(*editor){claim(func(c *world.Claim) { c.Going = plan.Drifted; c.Drifted = "x" }, "n1")}, false, "may"},
		"Ends":     {"No pod holds up a drain that ends in any case.", []func(*editor){claim(func(c *world.Claim) { c.Going = plan.Drifted; c.Drifted = "x" }, "n1"), ends("n1"), pod(func(p *world.Pod) { p.Disruption.Alone = true }, "a")}, false, "may"},
		"EndsNot":  {"That is for what has drifted.", one(ends("n1"), pod(func(p *world.Pod) { p.Disruption.Alone = true }, "a")), false, "no: default/a: no-controller (the pod has no controller that would recreate it)"},
		"Bought":   {"All fit on what was bought.", bought(), false, "may"},
		"Coming":   {"It is not complete yet.", bought(starting), false, "waits"},
		"Awaited":  {"It has a second left.", bought(starting, claim(func(c *world.Claim) { c.Created = now - 600 }, "n3")), false, "waits"},
		"Late":     {"It does not come.", bought(starting, claim(func(c *world.Claim) { c.Created = now - 601 }, "n3")), false, "no: n3: not-initialized (its replacement did not become usable within 10 minutes)"},
		"Lost":     {"It was not to be had.", bought(func(e *editor) { e.DeleteNode("n3"); e.DeleteClaim("n3") }), false, "no: default/a: no-place (the pod has no place elsewhere any more); no: default/b: no-place (the pod has no place elsewhere any more)"},
		"Broken":   {"The mark of one was removed.", bought(claim(func(c *world.Claim) { c.Going = "" }, "n2")), false, "no: policy (the taint karpenter.sh/disrupted of one of its nodes was removed by hand)"},
		"Nominated": {"A pod that kube-scheduler has nominated is on its way there.", one(func(e *editor) {
			e.must(e.SetPod(world.Pod{Key: world.Key{Namespace: "default", Name: "w"}, Waiting: true, Created: now - 60, Nominated: "n1"}))
		}), false, "passing: default/w: promised (waiting pods are on their way there)"},
		"Static":    {"Its pool is to keep its number from now on.", one(replicas(3)), false, "no: n1: static-pool (NodePool p is static and keeps 3 nodes)"},
		"OldStatic": {"What is too old goes in any case.", []func(*editor){claim(expired, "n1"), replicas(3)}, false, "may"},
		"Unknown":   {"What its pool sells is nothing to a node that goes for its price.", bought(pool(func(p *world.Pool) { p.NotReady = "its class is broken" })), false, "may"},
		"Known":     {"That it has drifted is known.", bought(claim(func(c *world.Claim) { c.Going, c.Drifted = plan.Drifted, "x" }, "n1", "n2"), pool(func(p *world.Pool) { p.NotReady = "its class is broken" })), false, "may"},
		"Unread":    {"It may only seem to be what its pool asks for.", bought(claim(func(c *world.Claim) { c.Going = plan.Drifted }, "n1", "n2"), pool(func(p *world.Pool) { p.NotReady = "its class is broken" })), false, "passing: n2: not-ready (what its pool asks for cannot be read now, so it is not known whether it has drifted)"},
		"Unbought":  {"Nothing was bought for it: it stays, and nothing is lost by that.", one(claim(func(c *world.Claim) { c.Going = plan.Drifted }, "n1"), pool(func(p *world.Pool) { p.NotReady = "its class is broken" })), false, "no: n1: policy (it is no longer drifted)"},
		"PartlyOnItsWay": {"One pod has room only on a machine that is not complete yet, the other on one that is.", one(claim(func(c *world.Claim) { c.Initialized = false }, "n3"), func(e *editor) {
			e.DeletePod(world.Key{Namespace: "default", Name: "c"})
			p := *e.Snapshot(now).Pod(world.Key{Namespace: "default", Name: "a"})
			p.Name = "z"
			e.must(e.SetPod(p))
			p.Name, p.Requests = "a", p.Requests.Plus(p.Requests).Plus(p.Requests).Plus(amount.Of(amount.Entry{Name: amount.CPU, Value: amount.Unit / 2}))
			e.must(e.SetPod(p))
		}), false, "waits"},
		"PoolGone": {"Nothing says any more that it is to go.", bought(claim(func(c *world.Claim) { c.Going = plan.Drifted }, "n1", "n2"), func(e *editor) {
			e.DeletePool(world.PoolID{Kind: world.NodePool, Name: "p"})
		}), false, "no: n1: policy (its pool is gone, so nothing says when it may be given back)"},
		"CameLate":   {"It came after ten minutes, and all fit.", bought(claim(func(c *world.Claim) { c.Created = now - 601 }, "n3")), false, "may"},
		"LateBroken": {"What a person did is told, not how long it took.", bought(starting, claim(func(c *world.Claim) { c.Going = "" }, "n2"), claim(func(c *world.Claim) { c.Created = now - 601 }, "n3")), false, "no: policy (the taint karpenter.sh/disrupted of one of its nodes was removed by hand)"},
		"LateGuard":  {"A budget may allow it again, but not for ever.", bought(guard(0), claim(func(c *world.Claim) { c.Created = now - 601 }, "n3")), false, "no: n3: not-initialized (its replacement did not become usable within 10 minutes)"},
		"OnItsWay": {"There is room only on a machine that is not complete yet.", one(claim(func(c *world.Claim) { c.Initialized = false }, "n3"), func(e *editor) {
			n := *e.Snapshot(now).Place("n2").Node
			n.Cordoned = true
			e.must(e.SetNode(n))
		}), false, "waits"},
		"Unplanned": {"It is not known where else the pod would run.", one(pod(func(p *world.Pod) { p.Claims = true }, "a")), false, "no: default/a: invalid (the pod cannot be planned for, so it is not known where else it would run)"},
	} {
		t.Run(name, func(t *testing.T) {
			w := told(t, town, tc.changes...)
			var got []string
			o := judging()
			o.Busy = tc.busy
			for _, c := range disrupt.Decide(w, o).Commands {
				got = append(got, text(c))
			}
			if diff := cmp.Diff(tc.want, strings.Join(got, "; ")); diff != "" {
				t.Errorf("%s -want +got\n%s", tc.why, diff)
			}
		})
	}
}

// text is what is to be done about a command.
func text(c plan.Command) string {
	switch {
	case c.Verdict == plan.CarryOn:
		return "may"
	case c.Verdict == plan.TakeBack:
		return "no: " + line(c.Why)
	case c.Verdict == plan.Wait && c.Why != nil:
		return "passing: " + line(c.Why)
	case c.Verdict == plan.Wait:
		return "waits"
	}
	return string(c.Verdict)
}

// line is the reason without causes and hints.
func line(why *reason.Why) string {
	text, _, _ := strings.Cut(why.Line(), " [")
	text, _, _ = strings.Cut(text, " →")
	return text
}

func TestDrift(t *testing.T) {
	big := func(names ...string) func(*editor) {
		return func(e *editor) {
			for _, n := range names {
				pod(func(p *world.Pod) { p.Requests = p.Requests.Plus(p.Requests).Plus(p.Requests) }, n)(e)
			}
		}
	}
	budget := func(nodes string) func(*editor) {
		return pool(func(p *world.Pool) { p.Disruption.Budgets = []world.Budget{{Nodes: nodes}} })
	}
	for name, tc := range map[string]struct {
		why     string
		changes []func(*editor)
		skip    []string
		want    string
	}{
		"Nothing":  {"Nothing has drifted.", nil, nil, ""},
		"Fits":     {"Its pod fits on others: nothing is bought.", []func(*editor){claim(drifted, "n2")}, nil, "n2"},
		"Replaced": {"It does not.", []func(*editor){claim(drifted, "n2"), big("a", "b", "c")}, nil, "n2 + xlarge b"},
		"Chain":    {"Its pod would have to move again from the other: it gets a node of its own.", []func(*editor){claim(drifted, "n1", "n2", "n3")}, nil, "n1 + large a, n2 + large b, n3 + large c"},
		"Oldest":   {"The oldest goes first, and no more than budgets let go.", []func(*editor){claim(drifted, "n1", "n2", "n3"), claim(func(c *world.Claim) { c.Created-- }, "n3"), budget("2")}, nil, "n3 + large c, n1 + large a"},
		"Restless": {"One to which a pod has just come waits, and keeps no other from going.", []func(*editor){claim(drifted, "n1", "n2"), claim(func(c *world.Claim) { c.LastPodEvent = now - 1 }, "n1")}, nil, "n2, n1 (waits)"},
		"NotTwice": {"There is room for one of two pods: the other gets a node of its own.", []func(*editor){claim(drifted, "n1", "n2"), big("a", "b")}, nil, "n1, n2 + xlarge b"},
		"Others":   {"For the pod of one nothing can be bought: the others go.", []func(*editor){claim(drifted, "n1", "n2", "n3"), big("a"), big("a"), budget("2")}, nil, "n2 + large b, n3 + large c; n1 stays: default/a: no-place (the pod would find no place)"},
		"Empty": {"One that runs nothing goes before it.", []func(*editor){claim(drifted, "n1", "n2"), pool(func(p *world.Pool) { p.Disruption.EmptyAfter = nil }), func(e *editor) {
			e.DeletePod(world.Key{Namespace: "default", Name: "b"})
		}}, nil, "n2, n1"},
		"Going":    {"One that goes for being empty is no longer to be replaced.", []func(*editor){claim(drifted, "n1", "n2"), func(e *editor) { e.DeletePod(world.Key{Namespace: "default", Name: "b"}) }}, nil, "n1"},
		"Skipped":  {"It was tried in vain: the next.", []func(*editor){claim(drifted, "n1", "n2")}, []string{"n1"}, "n2"},
		"Kept":     {"A pod may not be moved: the next.", []func(*editor){claim(drifted, "n1", "n2"), pod(func(p *world.Pod) { p.Disruption.Forbidden = true }, "a")}, nil, "n2; n1 stays: default/a: do-not-disrupt (it is annotated karpenter.sh/do-not-disrupt)"},
		"Ends":     {"No pod holds up a drain that ends in any case. One that may not be moved needs no place until then; for another a place is planned.", []func(*editor){claim(drifted, "n1", "n2"), ends("n1", "n2"), pod(func(p *world.Pod) { p.Disruption.Forbidden = true }, "a"), big("a", "b", "c"), guard(0)}, nil, "n1, n2 + xlarge b"},
		"EndsNot":  {"What the node itself forbids does.", []func(*editor){claim(drifted, "n1"), ends("n1"), forbid("n1")}, nil, "; n1 stays: n1: do-not-disrupt (it is annotated karpenter.sh/do-not-disrupt)"},
		"Budget":   {"The pool lets none go.", []func(*editor){claim(drifted, "n1"), pool(func(p *world.Pool) { p.Disruption.Budgets = []world.Budget{{Nodes: "0", Reasons: []string{"Drifted"}}} })}, nil, "; n1 stays: p: disruption-budget (its budgets let no further node go now)"},
		"Both":     {"What keeps it is told, and not that others go first.", []func(*editor){claim(drifted, "n1"), forbid("n1"), budget("0")}, nil, "; n1 stays: n1: do-not-disrupt (it is annotated karpenter.sh/do-not-disrupt)"},
		"Starting": {"What is not complete is not looked at.", []func(*editor){claim(drifted, "n1"), claim(func(c *world.Claim) { c.Initialized = false }, "n1")}, nil, ""},
		"Nodeless": {"Nor is what has no node.", []func(*editor){claim(drifted, "n1"), func(e *editor) { e.DeletePod(world.Key{Namespace: "default", Name: "a"}); e.DeleteNode("n1") }}, nil, ""},
		"PoolGone": {"Nor is what has no pool.", []func(*editor){claim(drifted, "n1"), claim(func(c *world.Claim) { c.Pool.Name = "q" }, "n1")}, nil, ""},
		"Older": {"A Provisioner knows of no drift.", []func(*editor){claim(drifted, "n1"), claim(func(c *world.Claim) { c.Pool.Kind = world.Provisioner }, "n1"), func(e *editor) {
			p := *e.Snapshot(now).Pools()[0]
			p.ID.Kind = world.Provisioner
			e.must(e.SetPool(p))
		}}, nil, ""},
		"Homeless": {"Nothing can be bought for its pod.", []func(*editor){claim(drifted, "n1"), big("a", "b", "c"), pool(func(p *world.Pool) { p.NotReady = "its class is broken" })}, nil, "; n1 stays: default/a: no-place (the pod would find no place)"},
		"Room":     {"Room for pods to come for which nothing can be bought is bought again.", []func(*editor){claim(drifted, "n1"), big("a", "b", "c"), virtual("a"), pool(func(p *world.Pool) { p.NotReady = "its class is broken" })}, nil, "n1"},
		"Bought":   {"Where it can be it is bought before.", []func(*editor){claim(drifted, "n1"), big("a", "b", "c"), virtual("a")}, nil, "n1 + xlarge a"},
		"Beside": {"It lets no pod go that has no place.", []func(*editor){claim(drifted, "n1"), big("a", "b", "c"), virtual("a"), func(e *editor) {
			p := *e.Snapshot(now).Pod(world.Key{Namespace: "default", Name: "b"})
			p.Node = "n1"
			e.must(e.SetPod(p))
		}, pool(func(p *world.Pool) { p.NotReady = "its class is broken" })}, nil, "; n1 stays: default/b: no-place (the pod would find no place)"},
		"Stuck": {"A pod that is never evicted from a node that ends needs no place, and holds up nothing.", []func(*editor){claim(drifted, "n2"), claim(func(c *world.Claim) { c.Deleting = true }, "n1"), pod(func(p *world.Pod) { p.Disruption.Forbidden = true }, "a")}, nil, "n2"},
	} {
		t.Run(name, func(t *testing.T) {
			p := disrupt.Decide(told(t, town, tc.changes...), disrupt.Options{Only: []disrupt.Part{disrupt.Replacing}, Skip: tc.skip})
			kept := p.Kept
			var got []string
			var begun []string
			for _, c := range p.Commands {
				begun = append(begun, replacement(c))
			}
			got = append(got, strings.Join(begun, ", "))
			for _, k := range kept {
				got = append(got, k.Node+" stays: "+line(k.Why))
			}
			if diff := cmp.Diff(tc.want, strings.Join(got, "; ")); diff != "" {
				t.Errorf("%s -want +got\n%s", tc.why, diff)
			}
			if len(p.Back()) > 0 && !slices.ContainsFunc(p.Back(), func(g plan.Give) bool { return g.Reason == plan.Drifted }) {
				t.Error("it does not say why")
			}
		})
	}
}

// What was bought for a node that stays after all is given back, unless it does not come: that is kept, and until it
// comes or goes nothing more is bought in its place.
func TestOverdue(t *testing.T) {
	// stray has n3 be what was bought for n1 so many seconds ago, and initialized after so many; negative: it is not yet.
	stray := func(ago, after int64) func(*editor) {
		return claim(func(c *world.Claim) {
			c.Replaces, c.Created, c.InitializedAt, c.Initialized = []string{"n1"}, now-ago, now-ago+after, after >= 0
		}, "n3")
	}
	elsewhere := func(e *editor) { e.DeletePod(world.Key{Namespace: "default", Name: "c"}) }
	// whole has pods that fill a node each.
	whole := func(names ...string) func(*editor) {
		return func(e *editor) {
			for _, n := range names {
				pod(func(p *world.Pod) { two := p.Requests.Plus(p.Requests); p.Requests = two.Plus(two) }, n)(e)
			}
		}
	}
	full := whole("a", "b")
	const awaited = "n3: not-initialized (it was bought to replace a node and is not initialized after 10 minutes, so nothing more is bought in its place)"
	second := func(e *editor) {
		q := *e.Snapshot(now).Pool(world.PoolID{Kind: world.NodePool, Name: "p"})
		q.ID.Name, q.Weight = "q", 10
		e.must(e.SetPool(q))
	}
	for name, tc := range map[string]struct {
		why     string
		changes []func(*editor)
		planned []string
		want    string // what becomes of what was bought; what goes, waits or stays
	}{
		"New":        {"It is not needed.", []func(*editor){stray(60, -1), full}, nil, "n3 goes"},
		"Came":       {"It is not needed.", []func(*editor){stray(3000, 300), full}, nil, "n3 goes"},
		"Unlaunched": {"There is nothing to look at.", []func(*editor){stray(601, -1), full, claim(func(c *world.Claim) { c.Launched = false }, "n3")}, nil, "n3 goes"},
		"Overdue":    {"What keeps it from coming is told.", []func(*editor){stray(601, -1), full}, nil, ""},
		"CameLate":   {"Its node is to be replaced again, and finds it.", []func(*editor){stray(3000, 601), full}, nil, "n3 stays"},
		"Used":       {"A pod that waits is on its way to it.", []func(*editor){stray(601, -1), full}, []string{"n3"}, "n3 stays"},
		"Patient":    {"It has a second left, and is not needed.", []func(*editor){stray(600, -1), full}, nil, "n3 goes"},
		"JustInTime": {"It came in its last second, and is not needed.", []func(*editor){stray(3000, 600), full}, nil, "n3 goes"},
		"First":      {"What is not needed goes before anything else does.", []func(*editor){stray(60, -1), claim(drifted, "n1"), full}, nil, "n3 goes; n1 waits: after-others (replacements of nodes that stay after all are terminated first)"},
		"Inhabited": {"A pod runs on it.", []func(*editor){stray(60, 30), full, func(e *editor) {
			e.must(e.SetPod(world.Pod{Key: world.Key{Namespace: "default", Name: "d"}, Node: "n3"}))
		}}, nil, "n3 stays; n3 waits: after-others (replacements of nodes that stay after all are terminated first)"},
		"Ordinary":    {"A machine that was bought for pods that wait may be late: its room counts.", []func(*editor){stray(3000, -1), claim(func(c *world.Claim) { c.Replaces = nil }, "n3"), claim(drifted, "n2"), whole("a")}, nil, "n2 goes"},
		"SameNode":    {"Its node waits for it, though it would be bought of another pool now.", []func(*editor){stray(601, -1), claim(drifted, "n1"), full, second}, nil, "n1 stays: " + awaited},
		"FirstOfTwo":  {"One that waits for that says so for all.", []func(*editor){stray(60, -1), claim(drifted, "n1", "n2"), full}, nil, "n3 goes; n1 waits: after-others (replacements of nodes that stay after all are terminated first)"},
		"Same":        {"Its node waits for it.", []func(*editor){stray(601, -1), claim(drifted, "n1"), full}, nil, "n1 stays: " + awaited},
		"Another":     {"The next of the same pool would fare no better.", []func(*editor){stray(601, -1), claim(drifted, "n2"), full}, nil, "n2 stays: " + awaited},
		"Fits":        {"Its pod has a place that is there: nothing is bought.", []func(*editor){stray(601, -1), claim(drifted, "n2")}, nil, "n2 goes"},
		"Unjoined":    {"It has no node, and its room does not count either.", []func(*editor){stray(601, -1), claim(drifted, "n2"), full, func(e *editor) { e.DeleteNode("n3") }}, nil, "n2 stays: " + awaited},
		"OtherPool":   {"What another pool sells may come.", []func(*editor){stray(601, -1), claim(drifted, "n2"), full, second}, nil, "n2 goes for another of q"},
		"Consolidate": {"A cheaper node of the same pool would not come either.", []func(*editor){stray(601, -1), whole("a")}, nil, "n2 waits: " + awaited},
	} {
		t.Run(name, func(t *testing.T) {
			w := told(t, town, append([]func(*editor){elsewhere}, tc.changes...)...)
			p := disrupt.Decide(w, disrupt.Options{Only: []disrupt.Part{disrupt.Judging, disrupt.Replacing, disrupt.Consolidating}, Planned: tc.planned})
			var got []string
			for _, s := range p.Spare {
				got = append(got, s.Claim+map[bool]string{true: " stays", false: " goes"}[s.Used])
			}
			for _, c := range p.Commands {
				switch {
				case c.Verdict == plan.Begin && len(c.New) > 0:
					got = append(got, c.Back[0].Node+" goes for another of "+c.New[0].Pool.Name)
				case c.Verdict == plan.Begin:
					got = append(got, c.Back[0].Node+" goes")
				default:
					got = append(got, c.Back[0].Node+" waits: "+line(c.Why))
				}
			}
			for _, k := range p.Kept {
				if k.Reason == plan.Drifted {
					got = append(got, k.Node+" stays: "+line(k.Why))
				}
			}
			if diff := cmp.Diff(tc.want, strings.Join(got, "; ")); diff != "" {
				t.Errorf("%s -want +got\n%s", tc.why, diff)
			}
		})
	}
}

// replacement is the machine of a command, and what is bought for its pods.
func replacement(c plan.Command) string {
	text := c.Back[0].Node
	for _, a := range c.New {
		text += fmt.Sprintf(" + %s %s", a.Shape, a.Pods[0].Name)
	}
	if c.Verdict == plan.Wait {
		text += " (waits)"
	}
	return text
}

// What is too old is replaced before what has drifted, whatever forbids it; what cannot be replaced is told.
func TestExpiredIsNext(t *testing.T) {
	old := func(seconds int64) func(*world.Claim) { return func(c *world.Claim) { c.ExpireAfter = 3600 - seconds } }
	closed := pool(func(p *world.Pool) { p.Disruption.Budgets = []world.Budget{{Nodes: "0"}} })
	for name, tc := range map[string]struct {
		why     string
		changes []func(*editor)
		skip    []string
		want    string
	}{
		"Oldest":    {"That which expired first goes first; its pod does not go to the other.", []func(*editor){claim(drifted, "n3"), claim(old(5), "n1"), claim(old(9), "n2"), closed, guard(0)}, nil, "n2 + large b, n1 + large a"},
		"Fits":      {"Its pod fits on others.", []func(*editor){claim(old(0), "n1")}, nil, "n1"},
		"Young":     {"It has a second left.", []func(*editor){claim(old(-1), "n1")}, nil, ""},
		"Skipped":   {"It was tried in vain.", []func(*editor){claim(old(5), "n1")}, []string{"n1"}, ""},
		"Homeless":  {"Nothing can be bought for its pod.", []func(*editor){claim(old(5), "n1", "n2", "n3"), pool(func(p *world.Pool) { p.NotReady = "its class is broken" })}, nil, "; n1 n2 n3 stay"},
		"Forbidden": {"Nothing is bought for a pod that stays.", []func(*editor){claim(old(5), "n1", "n2", "n3"), pod(func(p *world.Pod) { p.Disruption.Forbidden = true }, "a")}, nil, "n1, n2 + large b, n3 + large c"},
	} {
		t.Run(name, func(t *testing.T) {
			p := disrupt.Decide(told(t, town, tc.changes...), disrupt.Options{Only: []disrupt.Part{disrupt.Replacing}, Skip: tc.skip})
			kept := p.Kept
			var begun []string
			for _, c := range p.Commands {
				if begun = append(begun, replacement(c)); c.Reason != plan.Expired {
					t.Errorf("%s goes for the reason %s", c.Nodes(), c.Reason)
				}
			}
			got := strings.Join(begun, ", ")
			if len(kept) > 0 {
				got += ";"
			}
			for _, k := range kept {
				got += " " + k.Node
			}
			if len(kept) > 0 {
				got += " stay"
			}
			if got != tc.want {
				t.Errorf("got %q, want %q: %s", got, tc.want, tc.why)
			}
		})
	}
}

// What is empty goes in the same pass, and takes of the same budgets.
func TestDriftLeavesBudgetsToWhatGoes(t *testing.T) {
	one := pool(func(p *world.Pool) { p.Disruption.Budgets = []world.Budget{{Nodes: "1"}} })
	gone := func(e *editor) { e.DeletePod(world.Key{Namespace: "default", Name: "c"}) }
	w := told(t, town, claim(drifted, "n1"), one, gone)
	if back := disrupt.Decide(w, disrupt.Options{Only: []disrupt.Part{disrupt.Idling}}).Back(); len(back) != 1 || back[0].Node != "n3" {
		t.Fatalf("%v goes for being empty, want n3", back)
	}
	p := disrupt.Decide(w, disrupt.Options{Only: []disrupt.Part{disrupt.Replacing}})
	if len(p.Back()) > 0 || len(p.Kept) != 1 || p.Kept[0].Why.Code != reason.Budget {
		t.Errorf("a budget of one lets %v go for drift beside what is empty, and keeps %v", p.Back(), p.Kept)
	}
}

// A pool whose catalogue cannot be read tells of no drift: what was bought stays until it is known.
func TestJudgeWaitsWhileDriftIsUnknown(t *testing.T) {
	changes := []func(*editor){
		claim(func(c *world.Claim) { c.Going = plan.Drifted }, "n1"), pod(func(p *world.Pod) { p.Node = "n1" }, "c"),
		claim(func(c *world.Claim) { c.Replaces = []string{"n1"}; c.Created = now - 60 }, "n3"),
	}
	judge := func(more ...func(*editor)) plan.Command {
		return disrupt.Decide(told(t, town, append(changes, more...)...), judging()).Commands[0]
	}
	if c := judge(); c.Verdict != plan.TakeBack {
		t.Errorf("it is no longer drifted, and stands as %+v", c)
	}
	if c := judge(func(e *editor) { e.DeleteCatalog("t") }); c.Verdict != plan.Wait || c.Why == nil {
		t.Errorf("nothing is known of what its pool sells, and it stands as %+v", c)
	}
}

// A mark has to be known everywhere before anything ends, and what somebody has unmarked is marked again.
func TestMarks(t *testing.T) {
	w := told(t, town, claim(going, "n1"), guard(0))
	for name, tc := range map[string]struct {
		why    string
		known  int64
		want   plan.Verdict
		again  int64
		reason bool
	}{
		"New":    {"It has only just been marked.", 0, plan.Wait, 2000, false},
		"Young":  {"It may not be known everywhere.", 500, plan.Wait, 1500, false},
		"Known":  {"It waits for the disruption budget.", 2000, plan.Wait, 5000, true},
		"Passes": {"It has waited for that long enough.", 5 * 60 * 1000, plan.TakeBack, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			c := disrupt.Decide(w, disrupt.Options{Only: []disrupt.Part{disrupt.Judging}, Marked: map[string]int64{"n1": tc.known}}).Commands[0]
			if c.Verdict != tc.want || c.Again != tc.again || (c.Why != nil) != tc.reason {
				t.Errorf("%s: %+v", tc.why, c)
			}
		})
	}
	bought := claim(func(c *world.Claim) { c.Replaces, c.Created = []string{"n1"}, now-60 }, "n3")
	c := disrupt.Decide(told(t, town, claim(going, "n1"), guard(0), bought), disrupt.Options{Only: []disrupt.Part{disrupt.Judging}, Marked: map[string]int64{"n1": 5 * 60 * 1000}}).Commands[0]
	if c.Verdict != plan.Wait {
		t.Errorf("one that something was bought for waits as long as for that: %+v", c)
	}
	late := claim(func(c *world.Claim) { c.Created = now - 601 }, "n3")
	c = disrupt.Decide(told(t, town, claim(going, "n1"), guard(0), bought, late), judging()).Commands[0]
	if c.Verdict != plan.TakeBack || c.Why.Code != reason.Starting || len(c.Why.Causes) != 1 || c.Why.Causes[0].Code != reason.Guarded {
		t.Errorf("it waits no longer, and it is said what kept it: %+v", c)
	}
	bare := told(t, town, claim(going, "n1", "n2")).Edit()
	n := *w.Place("n1").Node
	n.Taints = nil
	if err := bare.SetNode(n); err != nil {
		t.Fatal(err)
	}
	o := judging()
	delete(o.Marked, "n1")
	p := disrupt.Decide(bare.Snapshot(now), o)
	if c := p.Commands[0]; c.Verdict != plan.Begin || !c.Begun {
		t.Errorf("one whose mark is gone stands as %+v", c)
	}
	if c := p.Commands[1]; c.Verdict != plan.CarryOn {
		t.Errorf("another, which is marked, stands as %+v", c)
	}
}

// A node that is marked for no reason stays: no event says that it goes.
func TestMarkedForNoReason(t *testing.T) {
	b := told(t, town).Edit()
	n := *b.Snapshot(now).Place("n1").Node
	n.Taints = append(n.Taints, begun.Mark())
	if err := b.SetNode(n); err != nil {
		t.Fatal(err)
	}
	p := disrupt.Decide(b.Snapshot(now), disrupt.Options{Only: []disrupt.Part{disrupt.Idling}})
	if len(p.Commands) != 1 || p.Commands[0].Verdict != plan.TakeBack || p.Commands[0].Idle() {
		t.Errorf("it stands as %+v", p.Commands)
	}
	if r := p.BackResult(); len(r.Going) > 0 || len(r.Commands) != 1 || r.Commands[0].Verdict != plan.TakeBack || !r.Commands[0].Begun {
		t.Errorf("programs are told that %+v goes, and of %+v", r.Going, r.Commands)
	}
	if text := p.String(); !strings.Contains(text, "marked without a reason, taken back: it stays") {
		t.Errorf("people are told:\n%s", text)
	}
}

// A claim that is to go and has lost its node stops nothing.
func TestNodeIsGone(t *testing.T) {
	w := told(t, town, claim(going, "n1"), func(e *editor) { e.DeletePod(world.Key{Namespace: "default", Name: "a"}) })
	b := w.Edit()
	b.DeleteNode("n1")
	p := disrupt.Decide(b.Snapshot(now), judging())
	if len(p.Commands) != 1 || p.Commands[0].Verdict != plan.TakeBack {
		t.Errorf("it stands as %+v", p.Commands)
	}
	b = told(t, town, claim(expired, "n1"), func(e *editor) { e.DeletePod(world.Key{Namespace: "default", Name: "a"}) }).Edit()
	b.DeleteNode("n1")
	p = disrupt.Decide(b.Snapshot(now), disrupt.Options{Only: []disrupt.Part{disrupt.Judging}})
	if len(p.Commands) != 1 || p.Commands[0].Verdict != plan.CarryOn {
		t.Errorf("one that is too old, and has no node that could be marked, stands as %+v", p.Commands)
	}
}

// Where pods are to go is on the nodes that they are to leave: another process finds it there.
func TestWhatWasMeantIsOnNodes(t *testing.T) {
	// c is large and fits on n3 only, where nothing is left for it once a takes the room that is there.
	large := func(p *world.Pod) { p.Requests = p.Requests.Plus(p.Requests).Plus(p.Requests) }
	changes := []func(*editor){claim(going, "n1"), pod(large, "b"), pod(large, "c"), func(e *editor) {
		e.must(e.SetPod(world.Pod{Key: world.Key{Namespace: "default", Name: "late"}, Waiting: true, Created: now - 60, Priority: 10, Requests: e.Snapshot(now).Pod(world.Key{Namespace: "default", Name: "a"}).Requests}))
		e.must(e.SetPod(world.Pod{Key: world.Key{Namespace: "default", Name: "last"}, Waiting: true, Created: now - 60, Priority: 10, Requests: e.Snapshot(now).Pod(world.Key{Namespace: "default", Name: "a"}).Requests}))
	}}
	judge := func(more ...func(*editor)) plan.Command {
		return disrupt.Decide(told(t, town, append(changes, more...)...), judging()).Commands[0]
	}
	if c := judge(); c.Verdict != plan.TakeBack {
		t.Fatalf("others take the room, and nothing says that it was meant for its pod: %+v", c)
	}
	said := func(e *editor) {
		n := *e.Snapshot(now).Place("n1").Node
		n.Moves = []world.Move{{To: "n2", Pods: []world.Key{{Namespace: "default", Name: "a"}}}}
		e.must(e.SetNode(n))
	}
	gone := func(e *editor) {
		n := *e.Snapshot(now).Place("n1").Node
		n.Moves = append([]world.Move{{To: "n3", Pods: []world.Key{{Namespace: "default", Name: "gone"}, {Namespace: "default", Name: "last"}}}}, n.Moves...)
		e.must(e.SetNode(n))
	}
	for name, more := range map[string][]func(*editor){"": {said}, ", another pod is gone and one waits itself": {said, gone}} {
		if c := judge(more...); c.Verdict != plan.Wait || c.Why != nil {
			t.Errorf("its node says where its pod is to go%s, and it stands as %+v", name, c)
		}
	}
}

// A machine that is not to be replaced yet is still one that waits for it.
func TestEligible(t *testing.T) {
	w := told(t, town, claim(drifted, "n1", "n2"))
	if n := disrupt.Eligible(w); n != 2 {
		t.Errorf("%d wait to be replaced, want 2", n)
	}
	if n := disrupt.Eligible(told(t, fixed, claim(drifted, "n1", "n2"))); n != 2 {
		t.Errorf("%d of a static pool wait to be replaced, want 2", n)
	}
}

// A node that is replaced goes on although room for pods to come on it is to be had nowhere else: it is bought again. One
// that goes to save money does not, or its room would be bought for what it was to save.
func TestRoomHoldsUpNoReplacement(t *testing.T) {
	big := pod(func(p *world.Pod) { p.Requests = p.Requests.Plus(p.Requests).Plus(p.Requests).Plus(p.Requests) }, "a")
	for of, want := range map[string]plan.Verdict{plan.Drifted: plan.CarryOn, plan.Underutilized: plan.TakeBack} {
		w := told(t, town, big, virtual("a"), claim(func(c *world.Claim) { drifted(c); c.Going = of }, "n1"), pool(func(p *world.Pool) { p.NotReady = "its class is broken" }))
		p := disrupt.Decide(w, judging())
		if len(p.Commands) != 1 || p.Commands[0].Verdict != want {
			t.Errorf("%s: %+v, want %s", of, p.Commands, want)
		}
	}
}
