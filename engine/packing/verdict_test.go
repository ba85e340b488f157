package packing_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-sh/tenon/engine/enginetest/bins"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/market"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/packing"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
)

// made is a World of items.
func made(t *testing.T, pods []world.Pod, more ...func(*world.Builder) error) *world.World {
	t.Helper()
	b := world.NewBuilder()
	for _, p := range pods {
		p.Namespace = "d"
		more = append(more, func(b *world.Builder) error { return b.SetPod(p) })
	}
	for _, add := range more {
		if err := add(b); err != nil {
			t.Fatal(err)
		}
	}
	return b.Snapshot(1000)
}

// Pods that cannot be placed have their verdict at once, and what is no pod to place has none.
func TestAdmit(t *testing.T) {
	lost := world.DeviceClaim{Key: world.Key{Name: "gpu"}, Problem: world.DeviceProblem{Code: reason.Claims, Detail: "there is no such claim"}}
	for name, tc := range map[string]struct {
		why  string
		pod  world.Pod
		want string
	}{
		"Waits":     {"It is to be placed.", world.Pod{Waiting: true}, "placed"},
		"Binding":   {"kube-scheduler may place it yet.", world.Pod{}, ""},
		"Nominated": {"kube-scheduler has promised it a node, on which it counts.", world.Pod{Nominated: "n"}, "placed"},
		"Daemon":    {"Its node is known.", world.Pod{Waiting: true, DaemonSet: "log"}, ""},
		"Static":    {"Its node runs it.", world.Pod{Waiting: true, Static: true}, ""},
		"Ending":    {"It goes before it ran.", world.Pod{Waiting: true, Terminating: true}, ""},
		"Over":      {"Its Job is over.", world.Pod{Waiting: true, Ending: true}, ""},
		"Gated":     {"It waits for somebody.", world.Pod{Gated: true, Gates: []string{"quota"}}, "gated"},
		"Problem":   {"It contradicts itself.", world.Pod{Waiting: true, Problems: []string{"x"}}, "invalid x"},
		"Problems":  {"It does so twice.", world.Pod{Waiting: true, Problems: []string{"x", "y"}}, "invalid [x y]"},
		"Claims":    {"Nothing is planned for resource claims, unless devices are (T-5).", world.Pod{Waiting: true, Claims: true}, "claims"},
		"Device":    {"Its claim is not there.", world.Pod{Waiting: true, Devices: []world.DeviceClaim{{Key: world.Key{Name: "ok"}}, lost}}, "claims there is no such claim"},
		"Devices":   {"Two are not.", world.Pod{Waiting: true, Devices: []world.DeviceClaim{lost, lost}}, "claims its resource claims cannot be planned for [there is no such claim there is no such claim]"},
	} {
		t.Run(name, func(t *testing.T) {
			tc.pod.Name = "a"
			placed, refused := packing.Admit(made(t, []world.Pod{tc.pod}))
			got := strings.Repeat("placed", len(placed))
			for _, r := range refused {
				got += string(r.Why.Code)
				if r.Why.Code == reason.Invalid || len(tc.pod.Devices) > 0 {
					got = strings.TrimSpace(got + " " + r.Why.Detail)
				}
				var causes []string
				for _, c := range r.Why.Causes {
					causes = append(causes, c.Detail)
				}
				if causes != nil {
					got += fmt.Sprintf(" %v", causes)
				}
			}
			want := strings.Replace(tc.want, "claims", string(reason.Claims), 1)
			if strings.HasPrefix(tc.want, "gated") {
				want = string(reason.Gated)
			}
			if strings.HasPrefix(tc.want, "invalid") {
				want = strings.Replace(tc.want, "invalid", string(reason.Invalid), 1)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s -want +got\n%s", tc.why, diff)
			}
		})
	}
}

// Of a machine that goes those pods need another place that will leave it some day.
func TestLeaves(t *testing.T) {
	guard := func(name string, never bool) func(*world.Builder) error {
		return func(b *world.Builder) error {
			return b.SetGuard(world.Guard{Key: world.Key{Namespace: "d", Name: name}, Selector: world.Selector{Some: true}, Never: never})
		}
	}
	for name, tc := range map[string]struct {
		why  string
		pod  world.Pod
		more []func(*world.Builder) error
		want bool
	}{
		"Plain":      {"It is evicted.", world.Pod{}, nil, true},
		"Daemon":     {"It is not created elsewhere.", world.Pod{DaemonSet: "log"}, nil, false},
		"Claims":     {"It is not known where it could run.", world.Pod{Claims: true}, nil, false},
		"Forbids":    {"It is never evicted.", world.Pod{Disruption: world.PodDisruption{Forbidden: true}}, nil, false},
		"ForNow":     {"Not for now.", world.Pod{Started: 900, Disruption: world.PodDisruption{ForbiddenFor: 101}}, nil, false},
		"NoLonger":   {"It was not, until now.", world.Pod{Started: 900, Disruption: world.PodDisruption{ForbiddenFor: 100}}, nil, true},
		"Goes":       {"Something has made it go.", world.Pod{Terminating: true, StatefulOwner: true, Disruption: world.PodDisruption{Forbidden: true}}, nil, true},
		"Gone":       {"And it is not created again.", world.Pod{Terminating: true}, nil, false},
		"Guarded":    {"Its budget may allow it later.", world.Pod{}, []func(*world.Builder) error{guard("g", false)}, true},
		"Never":      {"Its budget never does.", world.Pod{}, []func(*world.Builder) error{guard("g", true)}, false},
		"TwoGuards":  {"The API server evicts no pod that two budgets guard.", world.Pod{}, []func(*world.Builder) error{guard("g", false), guard("h", false)}, false},
		"GuardsGoes": {"Unless it goes already.", world.Pod{Terminating: true, StatefulOwner: true}, []func(*world.Builder) error{guard("g", true), guard("h", false)}, true},
	} {
		t.Run(name, func(t *testing.T) {
			tc.pod.Name, tc.pod.Node = "a", "n"
			more := append(tc.more, func(b *world.Builder) error { return b.SetNode(world.Node{Name: "n", Deleting: true}) })
			w := made(t, []world.Pod{tc.pod}, more...)
			if got := packing.Leaves(w, w.Pod(world.Key{Namespace: "d", Name: "a"})); got != tc.want {
				t.Errorf("%s It leaves: %t", tc.why, got)
			}
			if placed, _ := packing.Admit(w); (len(placed) == 1) != tc.want {
				t.Errorf("%s %d are to be placed", tc.why, len(placed))
			}
		})
	}
}

// What a pod goes without has a weight: a term that it prefers, a soft taint, a soft spread.
func TestRegret(t *testing.T) {
	lines := []string{
		"type small cpu=4 memory=8Gi price=0.10 zones=a,b", "pool soft taint=slow:PreferNoSchedule taint=hard:NoSchedule", "node n1 cpu=4 zone=a taint=slow:PreferNoSchedule taint=old:PreferNoSchedule", "node n2 cpu=4 zone=b",
		"pod plain cpu=100m tolerate=hard", "pod picky cpu=100m tolerate=hard prefer=30:zone:a prefer=7:zone:b", "pod calm cpu=100m tolerate=hard tolerate=slow",
	}
	class := func(k *packing.Packing, name string) *packing.Class {
		i := slices.IndexFunc(k.Classes, func(c *packing.Class) bool { return c.Pod.Name == name })
		return k.Classes[i]
	}
	for _, policy := range []packing.Policy{packing.Respect, packing.Ignore} {
		k := bins.Ready(t, packing.Options{PreferencePolicy: policy}, lines...)
		a, b := offer(t, k, "small", "a"), offer(t, k, "small", "b")
		for name, want := range map[string]struct {
			n1, n2, a, b int
			wishes       bool
		}{"plain": {100, 0, 50, 50, false}, "picky": {107, 30, 57, 80, true}, "calm": {50, 0, 0, 0, false}} {
			c := class(k, name)
			if policy == packing.Ignore {
				want.a, want.b, want.wishes = 0, 0, false
			} else if got := []int{k.RegretOn(c, k.Existing[0]), k.RegretOn(c, k.Existing[1])}; !slices.Equal(got, []int{want.n1, want.n2}) {
				t.Errorf("%s goes without %v on n1 and n2, want %d and %d", name, got, want.n1, want.n2)
			}
			if got := []int{c.Regret(k, a), c.Regret(k, b)}; !slices.Equal(got, []int{want.a, want.b}) {
				t.Errorf("%s: %s goes without %v on what is bought in a and b, want %d and %d", policy, name, got, want.a, want.b)
			}
			if got := k.HasWishes(c); got != want.wishes {
				t.Errorf("%s: it matters to %s where it goes: %t", policy, name, got)
			}
		}
		at := bins.Buy(t, k, "small", "b", "plain", "picky", "calm")
		if want := map[packing.Policy]int{packing.Respect: 57, packing.Ignore: 0}[policy]; packing.RegretOf(k, at, a) != want {
			t.Errorf("%s: were it in a, its pods would go without %d, want %d", policy, packing.RegretOf(k, at, a), want)
		}
		lost := 0
		var told []string
		for _, x := range at.Pods {
			lost += packing.Lost(k, at, x, func(weight int, l plan.Loss) { told = append(told, fmt.Sprintf("%s %d", l.Pod.Name, weight)) })
		}
		price, weight := packing.Price(k), packing.Weight(k)
		spent := packing.Spend(k) - weight
		if policy == packing.Respect {
			if diff := cmp.Diff([]string{"plain 50", "picky 30", "picky 50"}, told); diff != "" || lost != 130 {
				t.Errorf("they go without %d, want 130: -want +got\n%s", lost, diff)
			}
			if want := k.Options.Regret(50) + k.Options.Regret(80); spent != want {
				t.Errorf("what is given up costs %d", spent)
			}
		} else if spent != 0 {
			t.Errorf("nothing is looked at, and what is given up costs %d", spent)
		}
		if price != 100_000 || weight != price+packing.DefaultCharge {
			t.Errorf("it costs %d, and weighs %d", price, weight)
		}
	}
}

// What a node counts beside its price, and what giving up costs.
func TestOptions(t *testing.T) {
	for charge, want := range map[money.Micro]money.Micro{0: packing.DefaultCharge, -1: 0, 1: 1, 7: 7} {
		if got := (packing.Options{Charge: charge}).NodeCharge(); got != want {
			t.Errorf("%d counts %d, want %d", charge, got, want)
		}
	}
	for cost, want := range map[money.Micro]money.Micro{0: packing.DefaultPreferenceCost / 2, 1000: 500} {
		if got := (packing.Options{PreferenceCost: cost}).Regret(50); got != want {
			t.Errorf("half of %d is %d, want %d", cost, got, want)
		}
	}
}

// What one of several pods costs is its share of the offer on which that is least.
func TestUnitCost(t *testing.T) {
	k := bins.Ready(t, packing.Options{}, "type small cpu=2 memory=4Gi price=0.10 zones=a", "type middle cpu=4 memory=8Gi price=0.15 zones=a", "type large cpu=8 memory=16Gi price=0.40 zones=a", "pool general", "pod web cpu=1")
	c := k.Classes[0]
	for n, want := range map[int]int64{1: 120_000_000, 2: 60_000_000, 3: 56_666_666, 4: 42_500_000, 8: 42_500_000} {
		if got := packing.UnitCost(k, c, c.Offers, n); got != want {
			t.Errorf("one of %d costs %d, want %d", n, got, want)
		}
	}
	if got := packing.UnitCost(k, c, market.NewSet(len(k.Market.Offers)), 1); got != -1 {
		t.Errorf("on nothing it costs %d", got)
	}
}

// Several pods that join at once are as if each had joined by itself, whatever they take.
func TestJoinAll(t *testing.T) {
	for _, what := range []string{"", " volume=v:ebs", " spread=zone:5"} {
		for _, marked := range []bool{false, true} {
			for _, machine := range []string{"n1", ""} {
				seen := func(together bool) string {
					k := ready(t, append(slices.Clone(shop), "node n1 cpu=8 zone=a", "pod web x3 cpu=1"+what)...)
					b := k.Existing[0]
					if machine == "" {
						b = k.Buy(offer(t, k, "large", "a"))
					}
					before, mark := observe(k), packing.Mark(0)
					if marked {
						mark = k.Mark()
					}
					pods := k.Unplaced
					if together {
						k.JoinAll(b, pods[0].Class, pods)
						k.JoinAll(b, pods[0].Class, nil)
					} else {
						for _, x := range pods {
							k.Join(b, x)
						}
					}
					out := observe(k)
					if marked {
						if n := len(k.Joined(mark)); n != 3 {
							t.Errorf("%d have joined since, want 3", n)
						}
						if k.Undo(mark); observe(k) != before {
							t.Errorf("undone it is\n%s\nand was\n%s", observe(k), before)
						}
					}
					return out
				}
				if diff := cmp.Diff(seen(false), seen(true)); diff != "" {
					t.Errorf("pods%s on %q, marked %t: -one by one +together\n%s", what, machine, marked, diff)
				}
			}
		}
	}
}

// Machines are found by domain, but for those that take none and those of no domain.
func TestExistingByDomain(t *testing.T) {
	k := bins.Ready(t, packing.Options{}, "node a1 cpu=4 zone=a", "node a2 cpu=4 zone=a", "node b1 cpu=4 zone=b", "node full cpu=1 zone=a", "node closed cpu=4 zone=b", "node away cpu=4 zone=b", "node nowhere cpu=4", "pod web cpu=2")
	for _, b := range k.Existing {
		switch b.Place.Name {
		case "closed":
			k.Close(b)
		case "away":
			k.TakeAway(b, nil)
		}
	}
	got := map[string][]string{}
	for domain, all := range k.ExistingByDomain(k.Classes[0], label.Zone) {
		for _, b := range all {
			got[domain] = append(got[domain], b.Place.Name)
		}
	}
	if diff := cmp.Diff(map[string][]string{"a": {"a1", "a2"}, "b": {"b1"}}, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// Of several machines a pod gets the first, or the one on which it goes without least.
func TestBestOf(t *testing.T) {
	lines := []string{"node a cpu=4 zone=a", "node b cpu=4 zone=b", "node c cpu=4 zone=c", "pod plain cpu=3", "pod other cpu=1", "pod picky cpu=3 prefer=30:zone:b prefer=10:zone:c", "pod sole cpu=1 apart=host"}
	pod := func(k *packing.Packing, name string) *packing.Pod {
		i := slices.IndexFunc(k.Unplaced, func(x *packing.Pod) bool { return x.Pod.Name == name })
		return k.Unplaced[i]
	}
	name := func(b *packing.Bin) string {
		if b == nil {
			return ""
		}
		return b.Place.Name
	}
	k := bins.Ready(t, packing.Options{}, lines...)
	from := 0
	if got := name(k.BestOf(k.Existing, pod(k, "picky"), &from, nil)); got != "b" {
		t.Errorf("picky goes to %q, want b", got)
	}
	bins.On(t, k, "b", "picky")
	if got := name(k.BestOf(k.Existing, pod(k, "plain"), &from, nil)); got != "a" || from != 0 {
		t.Errorf("plain goes to %q from %d, want a from 0", got, from)
	}
	plain := pod(k, "plain")
	k.Join(k.Existing[0], pod(k, "other"))
	k.Join(k.Existing[0], pod(k, "sole"))
	if got := name(k.BestOf(k.Existing, plain, &from, nil)); got != "c" || from != 2 {
		t.Errorf("a and b are too full: plain goes to %q, and it is known from %d on, want c from 2", got, from)
	}
	if got := name(k.BestOf(k.Existing[:2], plain, &from, nil)); got != "" {
		t.Errorf("both are too full, and plain goes to %q", got)
	}
	only := func(b *packing.Bin) bool { return b.Place.Name == "b" }
	k = bins.Ready(t, packing.Options{}, lines...)
	for i, want := range map[string]string{"sole": "b", "plain": "a"} { // whoever is plain is not asked
		from = 0
		if got := name(k.BestOf(k.Existing, pod(k, i), &from, only)); got != want {
			t.Errorf("%s goes to %q where only b will do, want %s", i, got, want)
		}
	}
}

// At the end the rules are asked once more, and tell which pods are where they may not be.
func TestMisfits(t *testing.T) {
	lines := []string{
		"type small cpu=2 memory=4Gi price=0.10 zones=a", "pool general", "node n1 cpu=2 zone=a", "node n2 cpu=2 zone=a taint=hard:NoSchedule", "node n3 cpu=2 zone=a",
		"pod web x3 cpu=1", "pod port x2 cpu=100m port=80", "pod free", "pod zero x2 cpu=0",
		"type open cpu=2 memory=4Gi price=0.10 zones=a", "pool teams require=team:x|y", "pod x cpu=100m select=team:x", "pod y cpu=100m select=team:y",
		"now 1000", "node busy cpu=2 zone=a pool=general unready=990 taint=node.kubernetes.io/not-ready:NoSchedule", "node late cpu=2 zone=a pool=general unready=1 taint=node.kubernetes.io/not-ready:NoSchedule",
		"node barred cpu=2 zone=a pool=general unready=990 taint=node.kubernetes.io/not-ready:NoSchedule taint=hard:NoSchedule", "pod kept cpu=100m",
	}
	for name, tc := range map[string]struct {
		why  string
		on   map[string][]string // pods by machine; small is one that is bought
		want string
	}{
		"Fit":       {"All fit.", map[string][]string{"n1": {"web-0", "web-1"}, "n3": {"port-0"}, "small": {"web-2", "port-1"}}, ""},
		"TooMany":   {"Two of three do.", map[string][]string{"n1": {"web-0", "web-1", "web-2"}}, "web-2 resource"},
		"Bought":    {"So it is on one that is bought.", map[string][]string{"small": {"web-0", "web-1", "web-2"}}, "web-2 resource"},
		"Taint":     {"None may be there.", map[string][]string{"n2": {"web-0", "web-1"}}, "web-0 taint, web-1 taint"},
		"Port":      {"One port is had once.", map[string][]string{"n1": {"port-0", "port-1"}}, "port-1 host-port"},
		"Beside":    {"What is left beside others counts.", map[string][]string{"n1": {"port-0", "web-0", "web-1"}}, "web-1 resource"},
		"After":     {"What was counted at once is no longer free for the next.", map[string][]string{"n1": {"web-0", "web-1", "port-0"}}, "port-0 resource"},
		"Each":      {"One machine says nothing of another.", map[string][]string{"n1": {"web-0"}, "n2": {"web-1"}}, "web-1 taint"},
		"Zero":      {"A pod that asks for none of it fits wherever.", map[string][]string{"n1": {"web-0", "web-1", "zero-0", "zero-1"}}, ""},
		"Open":      {"A machine is of one team.", map[string][]string{"open": {"x", "y"}}, "y label"},
		"Kept":      {"It was planned there, and the machine is back in a moment.", map[string][]string{"busy": {"kept"}}, ""},
		"NotKept":   {"It is new there.", map[string][]string{"busy": {"free"}}, "free taint"},
		"Late":      {"The machine has been away for long.", map[string][]string{"late": {"kept"}}, "kept taint"},
		"Barred":    {"Once it is back it refuses it all the same.", map[string][]string{"barred": {"kept"}}, "kept taint"},
		"SmallLast": {"A small one fits beside, and none of it is counted twice.", map[string][]string{"n1": {"web-0", "free", "port-0"}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			k := bins.Ready(t, packing.Options{}, lines...)
			for machine, pods := range tc.on {
				if machine == "small" {
					bins.Buy(t, k, "small", "a", pods...)
				} else if machine == "open" {
					i := slices.IndexFunc(k.Market.Offers, func(o market.Offer) bool { return o.Type.Shape.Name == "open" && o.Type.Pool.ID.Name == "teams" })
					b := k.Buy(i)
					for _, name := range pods {
						k.Join(b, waits(t, k, name))
					}
				} else {
					bins.On(t, k, machine, pods...)
				}
			}
			for _, b := range k.Existing {
				for _, x := range b.Pods {
					x.Kept = x.Pod.Name == "kept"
				}
			}
			var got []string
			for _, m := range packing.Misfits(k) {
				for _, why := range m.Why {
					got = append(got, m.Pod.Pod.Name+" "+string(why.Code))
				}
			}
			slices.Sort(got)
			if diff := cmp.Diff(tc.want, strings.Join(got, ", ")); diff != "" {
				t.Errorf("%s -want +got\n%s", tc.why, diff)
			}
		})
	}
}
