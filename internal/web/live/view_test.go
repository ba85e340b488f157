package live

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/enginetest"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/provision"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/journal"
)

// page is what a page knows that was told frames.
type page struct {
	nodes   map[string]Node
	waiting []Group
	pools   []Pool
	totals  Totals
}

func (p *page) apply(f Frame) {
	if p.nodes == nil || f.Whole {
		p.nodes = map[string]Node{}
	}
	for _, name := range f.Gone {
		delete(p.nodes, name)
	}
	for _, n := range f.Nodes {
		p.nodes[n.Name] = n
	}
	if f.Waiting != nil {
		p.waiting = *f.Waiting
	}
	if f.Pools != nil {
		p.pools = *f.Pools
	}
	p.totals = f.Totals
}

// Whatever changes, a page that was told each change knows what a page knows that is told all at once.
func TestChangesComeToTheWhole(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	w := enginetest.Steady(20, 10)
	var v view
	var told page
	first, _ := v.next(w, nil)
	told.apply(first)
	var decided []journal.Entry
	for i := range 200 {
		b := w.Edit()
		name := fmt.Sprintf("node-%05d", r.IntN(20))
		var err error
		switch r.IntN(6) {
		case 0:
			b.DeleteNode(name)
		case 1:
			err = b.SetNode(world.Node{Name: name, Ready: r.IntN(2) == 0, Cordoned: r.IntN(2) == 0, Pool: world.PoolID{Kind: world.NodePool, Name: "general"}, Labels: map[string]string{label.InstanceType: "m5.8"}})
		case 2:
			err = b.SetClaim(world.Claim{Name: fmt.Sprintf("claim-%d", r.IntN(5)), Node: name, Deleting: r.IntN(2) == 0, Created: int64(i)})
		case 3:
			b.DeletePod(world.Key{Namespace: "default", Name: fmt.Sprintf("run-%d-%d", r.IntN(20), r.IntN(16))})
		case 4:
			err = b.SetPod(world.Pod{Key: world.Key{Namespace: "default", Name: fmt.Sprintf("extra-%d", r.IntN(9))}, Waiting: true, Created: int64(i)})
		case 5:
			decided = append([]journal.Entry{{Kind: journal.Buy, World: w, Plan: provision.Decide(w, provision.Options{})}}, decided...)
		}
		if err != nil {
			t.Fatal(err)
		}
		w = b.Snapshot(w.At() + 1)
		f, changed := v.next(w, decided)
		if changed {
			told.apply(f)
		}
		var whole page
		whole.apply(Of(w, decided))
		whole.totals.Longest, told.totals.Longest = 0, 0 // only time moves it
		if diff := cmp.Diff(whole, told, cmp.AllowUnexported(page{})); diff != "" {
			t.Fatalf("after change %d: -whole +told\n%s", i, diff)
		}
	}
}

// A page at a replica that does not decide says which one does, until it is this one.
func TestAnotherReplicaDecides(t *testing.T) {
	leader := "karpenter/first"
	w := enginetest.Steady(1, 0)
	v := &view{leader: func() string { return leader }}
	if f, _ := v.next(w, nil); f.Leader != leader || v.whole().Leader != leader {
		t.Errorf("of the leader it tells %q, and %q as a whole", f.Leader, v.whole().Leader)
	}
	leader = ""
	if f, news := v.next(w, nil); !news || f.Leader != "" || v.whole().Leader != "" {
		t.Errorf("where this one decides now it tells %q (news: %t), and %q as a whole", f.Leader, news, v.whole().Leader)
	}
}

// What is the same is not sent again.
func TestOnlyWhatDiffers(t *testing.T) {
	w := enginetest.Steady(50, 0)
	var v view
	v.next(w, nil)
	if f, changed := v.next(w, nil); changed {
		t.Errorf("nothing has changed, and %d nodes are told", len(f.Nodes))
	}
	b := w.Edit()
	b.DeletePod(world.Key{Namespace: "default", Name: "run-7-3"})
	f, changed := v.next(b.Snapshot(1), nil)
	if !changed || len(f.Nodes) != 1 || f.Nodes[0].Name != "node-00007" || len(f.Nodes[0].Pods) != 3*15 || f.Pools != nil || f.Waiting != nil || f.Decisions != nil {
		t.Errorf("a pod has gone from one node: %+v", f)
	}
}

func TestStates(t *testing.T) {
	pod := world.Pod{Key: world.Key{Namespace: "d", Name: "p"}, Node: "n"}
	taint := []world.Taint{{Key: "karpenter.sh/disrupted", Effect: world.NoSchedule}}
	tests := map[string]struct {
		place world.Place
		want  string
	}{
		"Ready":        {world.Place{Node: &world.Node{Name: "n", Ready: true}}, Ready},
		"NotReady":     {world.Place{Node: &world.Node{Name: "n"}}, NotReady},
		"Cordoned":     {world.Place{Node: &world.Node{Name: "n", Ready: true, Cordoned: true}}, Cordoned},
		"Tainted":      {world.Place{Node: &world.Node{Name: "n", Ready: true, Cordoned: true, Taints: taint}}, Tainted},
		"Coming":       {world.Place{Claim: &world.Claim{Name: "c"}}, OnItsWay},
		"Draining":     {world.Place{Node: &world.Node{Name: "n", Ready: true, Deleting: true}, Pods: []*world.Pod{&pod}}, Draining},
		"Ending":       {world.Place{Node: &world.Node{Name: "n", Ready: true}, Claim: &world.Claim{Name: "c", Deleting: true}}, Ending},
		"NeverArrived": {world.Place{Claim: &world.Claim{Name: "c", Deleting: true}}, Ending},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := StateOf(&tc.place); got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

// A machine that goes says why, and which decision said so, if any did.
func TestWhyItGoes(t *testing.T) {
	b := world.NewBuilder()
	for _, name := range []string{"decided", "deleted", "other"} {
		if err := b.SetClaim(world.Claim{Name: name, Deleting: true}); err != nil {
			t.Fatal(err)
		}
	}
	w := b.Snapshot(9)
	v := view{deleted: func(claim string) string { return map[string]string{"deleted": "its machine is gone"}[claim] }}
	f, _ := v.next(w, []journal.Entry{{Kind: journal.GiveBack, World: w, Plan: plan.Plan{Commands: []plan.Command{{Verdict: plan.CarryOn, Back: []plan.Give{{Claim: "decided", Reason: "Empty"}}}}}}})
	got := map[string]string{}
	for _, n := range f.Nodes {
		got[n.Name] = n.Why
		if (n.Decision == w.Digest()) != (n.Name == "decided") {
			t.Errorf("%s goes by decision %q", n.Name, n.Decision)
		}
	}
	want := map[string]string{"decided": "Empty", "deleted": "its machine is gone", "other": "deleted by another client, or before this controller began"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// Waiting pods are told by workload and reason, with the advice; those that were refused come first.
func TestGroups(t *testing.T) {
	b := world.NewBuilder()
	set := func(p world.Pod) {
		p.Namespace, p.Waiting = "shop", true
		if err := b.SetPod(p); err != nil {
			t.Fatal(err)
		}
	}
	key := func(name string) world.Key { return world.Key{Namespace: "shop", Name: name} }
	for i, name := range []string{"web-6d5f-abcde", "web-6d5f-bcdef", "web-6d5f-cdefg"} {
		set(world.Pod{Key: key(name), Labels: map[string]string{"pod-template-hash": "6d5f"}, Created: int64(100 - i)})
	}
	set(world.Pod{Key: key("db-0"), StatefulOwner: true, Created: 50})
	set(world.Pod{Key: key("alone"), Gated: true, Created: 60})
	set(world.Pod{Key: world.VirtualKey(key("spare"), 1), Virtual: true, Created: 1}) // a CapacityBuffer's, which is no pod
	w := b.Snapshot(200)
	why := &reason.Why{Code: reason.NoPlace, Causes: []*reason.Why{{Code: reason.Limit, Subject: "NodePool p", Detail: "there is no room", Hint: "apply a NodePool"}}}
	decided := []journal.Entry{{Kind: journal.Buy, World: w, Plan: plan.Plan{
		Refused: []plan.Refusal{{Pod: key("db-0"), Why: why}},
		New:     []plan.Ask{{Shape: "m5.large", Zone: "a", Pods: []world.Key{key("web-6d5f-abcde"), key("web-6d5f-bcdef")}}},
	}}}
	if f := Of(w, decided); f.Totals.Waiting != 5 || f.Totals.Longest != 150 {
		t.Errorf("%+v", f.Totals)
	}
	type row struct {
		State, Workload string
		Count           int
		Since           int64
		Hint, Text      string
	}
	var got []row
	for _, g := range Groups(w, decided) {
		got = append(got, row{g.State, g.Workload, g.Count, g.Since, g.Hint, g.Text})
	}
	want := []row{
		{Refused, "shop/db", 1, 50, "apply a NodePool", "NodePool p: there is no room"},
		{Waiting, "shop/web", 1, 98, "", "no decision yet"},
		{HeldBack, "shop/alone", 1, 60, "", "until their scheduling gates are removed"},
		{Planned, "shop/web", 2, 99, "", "to go to a new m5.large in a"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// A decision is told in a line.
func TestDeeds(t *testing.T) {
	ask := func(shape string, pods int) plan.Ask { return plan.Ask{Shape: shape, Pods: make([]world.Key, pods)} }
	tests := map[string]struct {
		plan plan.Plan
		want string
	}{
		"Nothing":  {plan.Plan{}, "changes nothing"},
		"Buys":     {plan.Plan{New: []plan.Ask{ask("m5.large", 2), ask("m5.large", 1), ask("c5.large", 1)}}, "buys 2 m5.large, 1 c5.large for 4 pods"},
		"ManyBuys": {plan.Plan{New: []plan.Ask{ask("a", 1), ask("b", 1), ask("c", 1), ask("d", 1), ask("e", 1)}}, "buys 1 a, 1 b, 1 c, 2 other types for 5 pods"},
		"Fills":    {plan.Plan{Filled: []plan.Fill{{Node: "n", Pods: make([]world.Key, 3)}}}, "places 3 pods on 1 node that it has"},
		"Back":     {plan.Plan{Commands: []plan.Command{{Verdict: plan.Begin, Back: []plan.Give{{Reason: "Empty"}, {Reason: "Drifted"}, {Reason: "Empty"}}}}}, "gives back 1 Drifted, 2 Empty"},
		"Static":   {plan.Plan{New: []plan.Ask{ask("a", 0)}, Static: []plan.Static{{New: 1, Missing: 2}, {Missing: 1}}}, "buys 1 a for static pools; lacks 3 replicas of static pools"},
		"Both":     {plan.Plan{New: []plan.Ask{ask("a", 1)}, Refused: make([]plan.Refusal, 1)}, "buys 1 a for 1 pod; refuses 1 pod"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := deeds(tc.plan); got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

// What spot machines would cost on demand is told beside what they cost.
func TestOnDemandPrice(t *testing.T) {
	pool := world.PoolID{Kind: world.NodePool, Name: "p"}
	b := world.NewBuilder()
	for _, err := range []error{
		b.SetPool(world.Pool{ID: pool, Template: "t"}),
		b.SetCatalog(world.Catalog{Template: "t", Shapes: []world.Shape{{Name: "m5.large", Offers: []world.Offer{
			{Zone: "a", CapacityType: "spot", Price: 30}, {Zone: "a", CapacityType: "on-demand", Price: 110}, {Zone: "b", CapacityType: "on-demand", Price: 100},
		}}}}),
		b.SetNode(world.Node{Name: "n", Ready: true, Pool: pool, Labels: map[string]string{label.InstanceType: "m5.large", label.Zone: "a", label.CapacityType: "spot"}, Allocatable: amount.Of(amount.Entry{Name: amount.CPU, Value: 2000})}),
		b.SetNode(world.Node{Name: "own", Ready: true, Labels: map[string]string{label.InstanceType: "m5.large"}}), // of no pool: what it costs is not known
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	f := Of(b.Snapshot(0), nil)
	if f.Totals.Price != 30 || f.Totals.OnDemand != 100 || f.Totals.Ready != 2 {
		t.Errorf("%+v", f.Totals)
	}
}

// A node tells what keeps it, by codes.
func TestKeeps(t *testing.T) {
	b := enginetest.Steady(2, 0).Edit()
	if err := b.SetClaim(world.Claim{Name: "c", Node: "node-00000", Pool: world.PoolID{Kind: world.NodePool, Name: "general"}, Registered: true, Initialized: true}); err != nil {
		t.Fatal(err)
	}
	got := keeps(b.Snapshot(0), nil)
	if names := slices.Collect(maps.Keys(got)); len(names) != 1 || !slices.Contains(got["node-00000"], string(reason.InUse)) {
		t.Errorf("%v", got)
	}
}

// What is sent of a node can be read by programs: names are those of docs and page.
func TestNodeAsJSON(t *testing.T) {
	data, err := json.Marshal(Node{Name: "n", State: Ready, Pods: []int64{100, 64, Daemon}})
	if err != nil || string(data) != `{"name":"n","state":"ready","price":0,"onDemand":0,"cpu":0,"memory":0,"usedCPU":0,"usedMemory":0,"pods":[100,64,1]}` {
		t.Errorf("%s, %v", data, err)
	}
}
