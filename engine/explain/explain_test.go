package explain_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/enginetest"
	"github.com/tenon-sh/tenon/engine/explain"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/provision"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
)

const now = 1_800_000_000

var general = world.PoolID{Kind: world.NodePool, Name: "general"}

// scene is a pool of one type with one node on which whatever change adds runs.
type scene struct {
	*world.Builder
	t     *testing.T
	pool  world.Pool
	node  world.Node
	claim world.Claim

	currency string
}

func newScene(t *testing.T) *scene {
	quiet := int64(30)
	room := amounts(t, "cpu", "2", "memory", "8Gi", "pods", "10")
	labels := map[string]string{label.InstanceType: "small", label.Zone: "a", label.CapacityType: label.OnDemand}
	return &scene{
		Builder: world.NewBuilder(), t: t,
		pool:  world.Pool{ID: general, Template: "t", Disruption: world.PoolDisruption{EmptyAfter: &quiet}},
		node:  world.Node{Name: "n", Ready: true, Pool: general, Claim: "c", Capacity: room, Allocatable: room, Labels: labels},
		claim: world.Claim{Name: "c", Pool: general, Template: "t", Node: "n", Launched: true, Registered: true, Initialized: true, InitializedAt: now - 3600, Created: now - 7200},
	}
}

func amounts(t *testing.T, pairs ...string) amount.List {
	t.Helper()
	m := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	l, err := amount.ParseMap(m)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func (s *scene) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *scene) pod(name string, change func(*world.Pod)) {
	s.t.Helper()
	p := world.Pod{Key: world.Key{Namespace: "d", Name: name}, Node: "n", Requests: amounts(s.t, "cpu", "500m", "pods", "1")}
	if change != nil {
		change(&p)
	}
	s.must(s.SetPod(p))
}

// explainer builds the World and asks it.
func (s *scene) explainer() *explain.Explainer {
	s.t.Helper()
	shape := func(name, cpu string, price money.Micro) world.Shape {
		return world.Shape{
			Name: name, Capacity: amounts(s.t, "cpu", cpu, "memory", "8Gi", "pods", "10"), Labels: label.Exactly(map[string]string{label.InstanceType: name}),
			Offers: []world.Offer{{Zone: "a", CapacityType: label.OnDemand, Price: price}},
		}
	}
	s.must(s.SetCatalog(world.Catalog{Template: "t", Currency: s.currency, Shapes: []world.Shape{shape("small", "2", 100_000), shape("large", "4", 190_000)}}))
	s.must(s.SetPool(s.pool))
	s.must(s.SetNode(s.node))
	s.must(s.SetClaim(s.claim))
	return explain.New(s.Snapshot(now), provision.Options{})
}

// What keeps a node is told in full, each with the pods because of which.
func TestWhatKeepsANode(t *testing.T) {
	tests := map[string]struct {
		why   string
		build func(*scene)
		want  []reason.Code
		now   string // the reason, if it can be given back
		until string
	}{
		"Empty":     {why: "Nothing keeps an empty node.", build: func(*scene) {}, now: "Empty"},
		"InUse":     {why: "A pod does.", build: func(s *scene) { s.pod("p", nil) }, want: []reason.Code{reason.InUse}},
		"Daemon":    {why: "A daemon does not.", build: func(s *scene) { s.pod("p", func(p *world.Pod) { p.DaemonSet = "log" }) }, now: "Empty"},
		"Forbidden": {why: "What forbids it is told beside what uses it.", build: func(s *scene) { s.pod("p", func(p *world.Pod) { p.Disruption.Forbidden = true }) }, want: []reason.Code{reason.DoNotDisrupt, reason.InUse}},
		"ForAWhile": {
			why: "What ends by itself says when.",
			build: func(s *scene) {
				s.pod("p", func(p *world.Pod) { p.DaemonSet, p.Started, p.Disruption.ForbiddenFor = "log", now, 60 })
			},
			want: []reason.Code{reason.DoNotDisrupt}, until: "2027-01-15T08:01:00Z",
		},
		"Guarded": {
			why: "So does a budget of pods,",
			build: func(s *scene) {
				s.pod("p", func(p *world.Pod) { p.Labels = map[string]string{"a": "b"} })
				s.must(s.SetGuard(world.Guard{Key: world.Key{Namespace: "d", Name: "g"}, Selector: world.Selector{Some: true}}))
			},
			want: []reason.Code{reason.Guarded, reason.InUse},
		},
		"Budget":   {why: "a budget of nodes,", build: func(s *scene) { s.pool.Disruption.Budgets = []world.Budget{{Nodes: "0"}} }, want: []reason.Code{reason.Budget}},
		"Policy":   {why: "a pool that gives nothing back,", build: func(s *scene) { s.pool.Disruption.EmptyAfter = nil }, want: []reason.Code{reason.Policy}},
		"Static":   {why: "one that keeps its number,", build: func(s *scene) { one := 1; s.pool.Replicas = &one }, want: []reason.Code{reason.Static}},
		"TooSoon":  {why: "and the time to wait.", build: func(s *scene) { s.claim.LastPodEvent = now - 10 }, want: []reason.Code{reason.TooSoon}, until: "2027-01-15T08:00:20Z"},
		"Starting": {why: "A node that is not complete stays.", build: func(s *scene) { s.claim.Initialized = false }, want: []reason.Code{reason.Starting}},
		"Going":    {why: "One that goes already says so.", build: func(s *scene) { s.node.Deleting = true }, want: []reason.Code{reason.Deleting}},
		"Awaited":  {why: "So does one that a waiting pod is sent to.", build: func(s *scene) { s.pod("w", func(p *world.Pod) { p.Node, p.Waiting = "", true }) }, want: []reason.Code{reason.Promised}},
		"Expired":  {why: "Nothing keeps what is too old.", build: func(s *scene) { s.pod("p", nil); s.claim.ExpireAfter = 3600 }, now: "Expired"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			tc.build(s)
			n, ok := s.explainer().Node("n")
			if !ok {
				t.Fatal("no such node")
			}
			var codes []reason.Code
			until := ""
			for _, h := range n.Back.Holds {
				codes = append(codes, h.Code)
				until = max(until, h.Until)
				if h.Detail == "" {
					t.Errorf("%s is not explained", h.Code)
				}
			}
			if diff := cmp.Diff(tc.want, codes); diff != "" || n.Back.Reason != tc.now || until != tc.until {
				t.Errorf("%s\ngiven back %q, want %q; until %q, want %q; holds -want +got\n%s", tc.why, n.Back.Reason, tc.now, until, tc.until, diff)
			}
		})
	}
}

// What keeps a node from being given back is told once, also where it keeps its pods from being moved.
func TestWhyPodsStayIsToldOnce(t *testing.T) {
	quiet := int64(30)
	s := newScene(t)
	s.pool.Disruption.MoveAfter = &quiet
	s.pod("p", func(p *world.Pod) { p.Disruption.Forbidden = true })
	n, _ := s.explainer().Node("n")
	if text := n.Text(false); !strings.Contains(text, "1 pod keeps it in use, and it is not moved for that reason\n") || strings.Count(text, "do-not-disrupt") != 1 {
		t.Errorf("it says\n%s", text)
	}
}

// A node that goes and does not come to its end says which pods it waits for, and what keeps them.
func TestWhatANodeThatGoesWaitsFor(t *testing.T) {
	s := newScene(t)
	s.claim.Deleting = true
	s.must(s.SetGuard(world.Guard{Key: world.Key{Namespace: "d", Name: "g"}, Selector: world.Selector{Some: true, Set: label.Set{label.Is("app", "web")}}}))
	s.pod("kept", func(p *world.Pod) { p.Disruption.Forbidden = true })
	s.pod("guarded", func(p *world.Pod) { p.Labels = map[string]string{"app": "web"} })
	s.pod("ending", func(p *world.Pod) { p.Terminating = true })
	s.pod("alone", func(p *world.Pod) { p.Disruption.Alone = true })
	s.pod("daemon", func(p *world.Pod) { p.DaemonSet, p.Disruption.Forbidden = "log", true })
	n, _ := s.explainer().Node("n")
	const want = `
It is being given back already
    waits for d/ending: it is going already
    waits for d/guarded: PodDisruptionBudget d/g allows no eviction now → run more replicas than it needs, or wait until all are healthy
    waits for d/kept: it is annotated karpenter.sh/do-not-disrupt → take the annotation off
`
	if text := n.Text(false); !strings.Contains(text, want) {
		t.Errorf("it says\n%s", text)
	}
}

// What goes already is not kept by that.
func TestGoingIsNotCalledKept(t *testing.T) {
	s := newScene(t)
	s.node.Deleting = true
	n, _ := s.explainer().Node("n")
	if text := n.Text(false); !strings.Contains(text, "\nIt is being given back already\n") || strings.Contains(text, "not given back") {
		t.Errorf("of a node that goes it says\n%s", text)
	}
}

// What is too old goes, and what its pods need is bought before, if there are any.
func TestExpiredSaysThatItIsReplaced(t *testing.T) {
	for pod, want := range map[string]string{
		"web": "It can be given back now: Expired; what its pods need is bought first, if it can be had within 15 minutes\n",
		"":    "It can be given back now: Expired\n",
	} {
		s := newScene(t)
		if s.claim.ExpireAfter = 3600; pod != "" {
			s.pod(pod, nil)
		}
		if n, _ := s.explainer().Node("n"); !strings.Contains(n.Text(false), want) {
			t.Errorf("with pod %q it says\n%swant %s", pod, n.Text(false), want)
		}
	}
}

func TestVerdicts(t *testing.T) {
	waits := func(p *world.Pod) { p.Node, p.Waiting = "", true }
	tests := map[string]struct {
		why   string
		build func(*scene)
		want  string
	}{
		"Runs": {"A pod that is bound runs.", func(s *scene) { s.pod("p", nil) }, "runs on node n"},
		"Fits": {"One that waits may fit on a node that is there,", func(s *scene) { s.pod("p", waits) }, "fits on node n"},
		"Buys": {"or need a new one,", func(s *scene) {
			s.pod("p", func(p *world.Pod) { waits(p); p.Requests = amounts(s.t, "cpu", "3", "pods", "1") })
		}, "a new node: large, a, on-demand, $0.1900/h, NodePool general"},
		"Refused": {"or find none.", func(s *scene) {
			s.pod("p", func(p *world.Pod) { waits(p); p.Requests = amounts(s.t, "cpu", "5", "pods", "1") })
		}, "finds no place: NodePool general: cpu wants 5, has 4, the most of any that would do otherwise"},
		"Gated":    {"Gates are somebody else's to open.", func(s *scene) { s.pod("p", func(p *world.Pod) { waits(p); p.Gated = true }) }, "waits for its scheduling gates"},
		"Unjudged": {"Until kube-scheduler has said no, nothing is decided.", func(s *scene) { s.pod("p", func(p *world.Pod) { p.Node = "" }) }, "is not judged by kube-scheduler yet"},
		"Held":     {"A promise of the scheduler's counts.", func(s *scene) { s.pod("p", func(p *world.Pod) { waits(p); p.Nominated = "n" }) }, "is promised node n by the scheduler"},
		"Deleted":  {"What is deleted gets none,", func(s *scene) { s.pod("p", func(p *world.Pod) { waits(p); p.Terminating = true }) }, "gets no node: it is being deleted"},
		"Ending": {"nor what its Job does not need any more.", func(s *scene) {
			s.pod("p", func(p *world.Pod) { waits(p); p.Ending = true })
		}, "gets no node: its Job is over, suspended or being deleted, and the pod is deleted for that"},
		"Done": {"What has ended needs no place.", func(s *scene) { s.pod("p", func(p *world.Pod) { p.Done = true }) }, "has ended"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			tc.build(s)
			p, ok := s.explainer().Pod(world.Key{Namespace: "d", Name: "p"})
			if !ok || p.Line() != tc.want {
				t.Errorf("%s\n%q, want %q", tc.why, p.Line(), tc.want)
			}
			if _, err := json.Marshal(p); err != nil || !strings.HasSuffix(p.Text(), "\n") {
				t.Errorf("it does not print: %v", err)
			}
		})
	}
}

// What a pod asks for by resource claims is said, with the alternatives in their order.
func TestDevicesOfAPod(t *testing.T) {
	s := newScene(t)
	s.pod("p", func(p *world.Pod) {
		p.Devices = []world.DeviceClaim{{Key: world.Key{Namespace: "d", Name: "c"}, Requests: []world.DeviceRequest{
			{Name: "gpu", Options: []world.DeviceOption{{Selection: "l", Class: "large", Count: 2}, {Selection: "s", Class: "small", All: true}}},
			{Name: "nic", Options: []world.DeviceOption{{Selection: "n", Class: "nic", Count: 1}}},
		}}}
	})
	p, _ := s.explainer().Pod(world.Key{Namespace: "d", Name: "p"})
	if want := "  devices:  2 of class large, else all of class small; 1 of class nic\n"; !strings.Contains(p.Text(), want) {
		t.Errorf("%s\nhas no line %q", p.Text(), want)
	}
}

// A price that somebody set, or that is not all that is counted on, says so.
func TestPricesThatAreNotPlain(t *testing.T) {
	s := newScene(t)
	s.pod("p", func(p *world.Pod) { p.Node, p.Waiting, p.Requests = "", true, amounts(t, "cpu", "3", "pods", "1") })
	s.pod("q", nil)
	_ = s.explainer() // which sets what is sold
	b := s.Snapshot(now).Edit()
	c := *b.Snapshot(now).Catalogs()[0]
	c.Shapes = slices.Clone(c.Shapes)
	c.Shapes[0].Offers = []world.Offer{{Zone: "a", CapacityType: label.OnDemand, Price: 50_000, Overlaid: true}}
	c.Shapes[1].Offers = append(slices.Clone(c.Shapes[1].Offers), world.Offer{Zone: "a", CapacityType: label.Spot, Price: 40_000, Refused: 400})
	s.must(b.SetCatalog(c))
	e := explain.New(b.Snapshot(now), provision.Options{})
	p, _ := e.Pod(world.Key{Namespace: "d", Name: "p"})
	if want := "a new node: large, a, spot, $0.0400/h (counted as $0.1000/h, 40 % of asks refused lately), NodePool general"; p.Line() != want {
		t.Errorf("%q, want %q", p.Line(), want)
	}
	q, _ := e.Pod(world.Key{Namespace: "d", Name: "q"})
	if want := "small, a, on-demand, $0.0500/h (by a NodeOverlay), NodePool general"; !strings.Contains(q.Text(), want) {
		t.Errorf("%q does not say %q", q.Text(), want)
	}
}

// When another number of nodes may go is told with how many may now.
func TestPoolWithWindows(t *testing.T) {
	s := newScene(t)
	s.pool.Disruption.Budgets = append(s.pool.Disruption.Budgets, world.Budget{Nodes: "0", Schedule: "* * * * *", Duration: 60}, world.Budget{Nodes: "0", Schedule: "0 0 1 1 *", Duration: 60})
	p, _ := s.explainer().Pool(general)
	if want := "budgets:  0 of 1 may go at once, 0 are going or not ready\n"; !strings.Contains(p.Text(), want) {
		t.Errorf("there is no %q in\n%s", want, p.Text())
	}
	s.pool.Disruption.Budgets = []world.Budget{{Nodes: "1"}, {Nodes: "0", Schedule: "@daily", Duration: 60 * 60}}
	p, _ = s.explainer().Pool(general)
	if want := regexp.MustCompile(`1 of 1 may go at once, 0 are going or not ready; 0 may from \w{3} \d+ \w{3} 00:00 UTC|0 of 1 may go at once, 0 are going or not ready; 1 may from \w{3} \d+ \w{3} 01:00 UTC`); !want.MatchString(p.Text()) {
		t.Errorf("no window in\n%s", p.Text())
	}
}

// A pod of a node that goes is told where its successor is sent.
func TestNext(t *testing.T) {
	s := newScene(t)
	s.node.Deleting = true
	s.pod("p", nil)
	p, _ := s.explainer().Pod(world.Key{Namespace: "d", Name: "p"})
	if p.Next == nil || p.Next.Verdict != explain.Buys {
		t.Errorf("next is %+v", p.Next)
	}
}

// What would happen if a node went is what the plan of the World without it says.
func TestWithout(t *testing.T) {
	s := newScene(t)
	s.pod("p", nil)
	s.claim.Requirements = label.SetOf(label.Is(label.InstanceType, "small", "large"))
	n, _ := s.explainer().Node("n")
	if n.Without == nil || n.Without.Pods != 1 || len(n.Without.Buys) != 1 || n.Without.Saves != 0 {
		t.Errorf("without it: %+v", n.Without)
	}
	if n.Bought == nil || n.Bought.Types != 2 || len(n.Bought.Cheaper) != 0 || n.Today == nil || n.Today.Type != "small" {
		t.Errorf("bought %+v, today %+v", n.Bought, n.Today)
	}
}

func TestPool(t *testing.T) {
	s := newScene(t)
	s.pool.Limits = amounts(t, "cpu", "5")
	p, ok := s.explainer().Pool(general)
	if !ok {
		t.Fatal("no such pool")
	}
	want := `NodePool general: 1 node, 0 pods, $0.1000/h
  may buy:  1 type, the cheapest small, a, on-demand, $0.1000/h; 1 more would exceed its limits
  limits:   cpu 2 used of 5
  budgets:  1 of 1 may go at once, 0 are going or not ready
  gives back: an empty node after 30s
`
	if diff := cmp.Diff(want, p.Text()); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	quiet, long := int64(30), int64(3600)
	s.pool.Disruption.MoveAfter, s.pool.Disruption.Budgets = &quiet, []world.Budget{{Nodes: "0", Reasons: []string{"Empty"}}, {Nodes: "1"}}
	p, _ = s.explainer().Pool(general)
	for _, want := range []string{
		"  gives back: an empty or underutilized node after 30s\n",
		"  budgets:  Drifted, Underutilized: 1 of 1 may go at once, 0 are going or not ready\n            Empty: 0 of 1 may go at once",
	} {
		if !strings.Contains(p.Text(), want) {
			t.Errorf("there is no %q in\n%s", want, p.Text())
		}
	}
	s.pool.Disruption.MoveAfter = &long
	if p, _ := s.explainer().Pool(general); !strings.Contains(p.Text(), "an empty node after 30s, an underutilized one after 1h\n") {
		t.Errorf("two times are told as\n%s", p.Text())
	}
	s.pool.NotReady = "NodeClassNotFound: gone"
	if p, _ := s.explainer().Pool(general); len(p.Problems) != 1 {
		t.Errorf("problems are %q", p.Problems)
	}
}

// Every node and pod of a larger cluster has an answer.
func TestEverything(t *testing.T) {
	w := enginetest.Steady(10, 30)
	e := explain.New(w, provision.Options{Steps: 50_000})
	if len(e.Pods()) != 30 {
		t.Errorf("%d of 30 waiting pods", len(e.Pods()))
	}
	for _, p := range e.Pods() {
		if p.Verdict != explain.Buys && p.Verdict != explain.Fits {
			t.Errorf("%s: %s", p.Name, p.Line())
		}
	}
	for _, p := range w.Places() {
		if n, ok := e.Node(p.Name()); !ok || len(n.Back.Holds) == 0 || n.Text(false) == "" {
			t.Errorf("%s: %+v", p.Name(), n.Back)
		}
	}
}

// What has drifted says so, and what comes of it, also while no replacement is begun.
func TestDrift(t *testing.T) {
	for name, tc := range map[string]struct {
		why   string
		build func(*scene)
		want  string // how it goes on; empty: nothing is said
	}{
		"Fine":   {"It is what its pool asks for.", func(s *scene) { s.claim.Drifted = "" }, ""},
		"Due":    {"Nothing is in the way.", func(*scene) {}, "it is to be replaced; if that came to nothing"},
		"Kept":   {"Its pod may not be moved.", func(s *scene) { s.pod("b", func(p *world.Pod) { p.Disruption.Forbidden = true }) }, "it stays: d/b: it is annotated karpenter.sh/do-not-disrupt → take the annotation off"},
		"Static": {"Its pool keeps a number.", func(s *scene) { one := 1; s.pool.Replicas = &one }, "it is to be replaced; if that came to nothing before, it is tried again after 5 minutes, and later after up to an hour"},
		"Begun":  {"It is being replaced.", func(s *scene) { s.claim.Going = "Drifted" }, "it goes once its pods have places elsewhere"},
		"Waits": {"What was bought instead has not come.", func(s *scene) {
			s.claim.Going = "Drifted"
			s.must(s.SetClaim(world.Claim{Name: "new", Pool: s.pool.ID, Replaces: []string{s.claim.Name}, Created: s.claim.Created}))
		}, "it goes once its pods have places elsewhere; bought for them and not complete yet: new"},
		"Deleted": {"Somebody deleted it.", func(s *scene) { s.claim.Deleting = true }, "it is going already"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			s.claim.Drifted, s.claim.Change = "NodePoolDrifted", "label team=a, and the pool has team=b"
			s.pod("a", nil)
			tc.build(s)
			n, _ := s.explainer().Node("n")
			got := ""
			if n.Drift != nil {
				got = n.Drift.Next
			}
			if n.Drift != nil && !strings.Contains(n.Text(false), "It has drifted (NodePoolDrifted: label team=a, and the pool has team=b): ") {
				t.Errorf("the text does not say what differs:\n%s", n.Text(false))
			}
			if !strings.HasPrefix(got, tc.want) || tc.want == "" && got != "" {
				t.Errorf("%s: says %q, want %q", tc.why, got, tc.want)
			}
		})
	}
}

// What is not priced in dollars is not said to be: a region may have another currency.
func TestPricesNameTheirCurrency(t *testing.T) {
	s := newScene(t)
	s.currency = "CNY/h"
	s.pod("web", nil)
	e := s.explainer()
	n, _ := e.Node("n")
	p, _ := e.Pool(general)
	for what, text := range map[string]string{"node": n.Text(false), "pool": p.Text(), "nodes": explain.RowsText(e.Nodes())} {
		if strings.Contains(text, "$") || !strings.Contains(text, " CNY/h") {
			t.Errorf("%s: %s", what, text)
		}
	}
}

// A pool with several problems is told of all, so that mending one does not only show the next.
func TestAllProblemsOfAPool(t *testing.T) {
	s := newScene(t)
	s.pool.NotReady = "subnets: none has the tag"
	s.pool.Limits = amounts(t, "cpu", "1")
	s.pool.Disruption.Level = "brave"
	p, _ := s.explainer().Pool(general)
	if len(p.Problems) != 3 || !strings.Contains(p.Problems[1], `consolidation level "brave", want cautious, normal or eager`) {
		t.Errorf("problems: %q", p.Problems)
	}
}

// A static pool says how it stands, what it buys, and what keeps it from its number.
func TestStaticPool(t *testing.T) {
	s := newScene(t)
	three := 3
	s.pool.Replicas, s.pool.Limits = &three, amounts(t, "nodes", "2")
	p, _ := s.explainer().Pool(general)
	for _, want := range []string{
		"  problem:  1 node cannot be asked for now: limits.nodes leaves no room for a further node: those that are being deleted count until they are gone → raise limits.nodes\n",
		"  buys:     nothing for pods; it is static and keeps 3 nodes\n  now:      it has 1 of 3 replicas; it asks for 1 now\n  may buy:  2 types, the cheapest small, a, on-demand, $0.1000/h\n",
	} {
		if !strings.Contains(p.Text(), want) {
			t.Errorf("there is no %q in\n%s", want, p.Text())
		}
	}
	if p.Static == nil || p.Static.New != 1 || p.Static.Missing != 1 || p.Static.Why == nil {
		t.Errorf("it stands as %+v", p.Static)
	}
	s.pool.NotReady = "subnets: none has the tag"
	if p, _ := s.explainer().Pool(general); len(p.Problems) != 1 {
		t.Errorf("problems: %q", p.Problems)
	}
}
