package nominate_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tenon-sh/tenon/engine/enginetest/chance"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/nominate"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
)

// machine is one of a test. Its pods are the letters of their deployments: big ones run already, small ones wait.
type machine struct {
	zone     string
	pods     string
	joined   int64 // 0: it is on its way
	asked    int64
	open     bool
	failed   bool
	deleting bool
	known    string // of which its zone is known: "node" or "claim"; both if it is empty
}

// worldOf is a World of such machines: pods of x, y and z are spread over zones, x and y by 1, z by 2. h is as x, and only zones without
// taints count. v is of the pods of x, and says that they are spread by 2; w is spread by where those of x are. Others are not spread.
func worldOf(t interface{ Fatal(...any) }, now int64, machines map[string]machine) (*world.World, []plan.Fill) {
	b, fills := build(t, machines)
	return b.Snapshot(now), fills
}

func build(t interface{ Fatal(...any) }, machines map[string]machine) (*world.Builder, []plan.Fill) {
	b := world.NewBuilder()
	add := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	var fills []plan.Fill
	for name, m := range machines {
		labels := map[string]string{label.Zone: m.zone}
		claim := world.Claim{Name: name, Created: m.asked, Labels: labels, Launched: true, Registered: m.open, Failed: m.failed, Deleting: m.deleting}
		fill := plan.Fill{Claim: name}
		if m.joined > 0 {
			claim.Node, fill.Node = name, name
			n := world.Node{Name: name, Labels: labels, Created: m.joined}
			switch m.known {
			case "node":
				claim.Labels = nil
			case "claim":
				n.Labels = nil
			}
			add(b.SetNode(n))
		}
		add(b.SetClaim(claim))
		for i, letter := range strings.Split(m.pods, "") {
			app := strings.ToLower(letter)
			p := world.Pod{Key: world.Key{Name: fmt.Sprint(name, "-", letter, i)}, UID: fmt.Sprint(name, letter, i), Labels: map[string]string{"app": app}}
			if app == "v" {
				p.Labels = map[string]string{"app": "x"}
			}
			if of, spread := map[string]string{"v": "x", "w": "x", "x": "x", "y": "y", "z": "z", "h": "h"}[app]; spread {
				p.Spread = []world.Spread{{Key: label.Zone, MaxSkew: 1, HonourTaints: app == "h", Selector: world.Selector{Some: true, Set: label.SetOf(label.Is("app", of))}}}
				if app == "v" || app == "z" {
					p.Spread[0].MaxSkew = 2
				}
			}
			if letter != app {
				p.Node = name
			} else {
				p.Waiting = true
				fill.Pods = append(fill.Pods, p.Key)
			}
			add(b.SetPod(p))
		}
		fills = append(fills, fill)
	}
	return b, fills
}

func TestOpenings(t *testing.T) {
	tests := map[string]struct {
		why      string
		now      int64
		machines map[string]machine
		open     string // machines that open
		held     string
	}{
		"Plain": {
			"Nothing keeps these from being bound.", 10,
			map[string]machine{"a": {zone: "a", joined: 10, pods: "ppp"}, "b": {zone: "b", pods: "p"}},
			"a", "",
		},
		"First": {
			"One is never too many.", 10,
			map[string]machine{"a": {zone: "a", joined: 10, pods: "xyp"}, "b": {zone: "b", pods: "xy"}},
			"a", "",
		},
		"Ahead": {
			"The zone is ahead until the other machine is there.", 10,
			map[string]machine{"a": {zone: "a", joined: 10, pods: "Xxp"}, "b": {zone: "b", pods: "x"}},
			"", "a",
		},
		"Heap": {
			"Two of a kind may be bound at once where one may be ahead by two.", 10,
			map[string]machine{"a": {zone: "a", joined: 10, pods: "zz"}, "b": {zone: "b", pods: "zz"}},
			"a", "",
		},
		"Behind": {
			"A zone that lags takes as many as it lags by, and one more.", 10,
			map[string]machine{"a": {zone: "a", joined: 10, pods: "xx"}, "b": {zone: "b", joined: 1, open: true, pods: "X"}, "c": {zone: "b", pods: "x"}},
			"a", "",
		},
		"Together": {
			"Machines of one zone share what it lags by; the one that joined first opens first.", 10,
			map[string]machine{"a1": {zone: "a", joined: 9, pods: "x"}, "a2": {zone: "a", joined: 8, pods: "x"}, "b": {zone: "b", pods: "x"}},
			"a2", "a1",
		},
		"Sides": {
			"Machines of several zones need nothing of each other.", 10,
			map[string]machine{"a": {zone: "a", joined: 9, pods: "x"}, "b": {zone: "b", joined: 8, pods: "x"}, "c": {zone: "c", joined: 7, pods: "x"}},
			"a b c", "",
		},
		"Flying": {
			"What is about to be bound on an open machine counts already.", 10,
			map[string]machine{"a1": {zone: "a", joined: 1, open: true, pods: "x"}, "a2": {zone: "a", joined: 10, pods: "x"}, "b": {zone: "b", pods: "x"}},
			"", "a2",
		},
		"Vain": {
			"No pod of its kind comes to another zone.", 10,
			map[string]machine{"a": {zone: "a", joined: 10, pods: "Xx"}, "b": {zone: "b", pods: "p"}},
			"a", "",
		},
		"Over": {
			"It has waited long enough.", 30,
			map[string]machine{"a": {zone: "a", joined: 10, pods: "Xx"}, "b": {zone: "b", asked: 10, pods: "x"}},
			"a", "",
		},
		"Stuck": {
			"All have joined, and none can go first: they open together.", 10,
			map[string]machine{"a": {zone: "a", joined: 10, pods: "xx"}, "b": {zone: "b", joined: 9, pods: "xx"}},
			"a b", "",
		},
		"Later": {
			"A machine that was asked for after they had joined is not waited for.", 12,
			map[string]machine{"a": {zone: "a", joined: 10, pods: "xx"}, "b": {zone: "b", joined: 9, pods: "xx"}, "c": {zone: "b", asked: 11, pods: "p"}},
			"a b", "",
		},
		"Failed": {
			"A machine that was not to be had is not waited for.", 12,
			map[string]machine{"a": {zone: "a", joined: 10, pods: "xx"}, "b": {zone: "b", joined: 9, pods: "xx"}, "c": {zone: "b", failed: true, pods: "p"}},
			"a b", "",
		},
		"Lost": {
			"Nor is one that has been on its way for far longer than the others were.", 125,
			map[string]machine{"a": {zone: "a", asked: 100, joined: 120, pods: "xx"}, "b": {zone: "b", asked: 100, joined: 120, pods: "xx"}, "c": {zone: "b", asked: 1, pods: "p"}},
			"a b", "",
		},
		"Deleted": {
			"Nor is one that is deleted before it has joined.", 12,
			map[string]machine{"a": {zone: "a", joined: 10, pods: "xx"}, "b": {zone: "b", joined: 9, pods: "xx"}, "c": {zone: "b", deleting: true, pods: "p"}},
			"a b", "",
		},
		"AskedThen": {
			"A machine that was asked for just when this one joined is waited for.", 12,
			map[string]machine{"a": {zone: "a", joined: 10, pods: "Xx"}, "b": {zone: "b", asked: 10, pods: "x"}},
			"", "a",
		},
		"TwiceAsLong": {
			"It has been on its way for twice as long as this one was, and may still come.", 14,
			map[string]machine{"a": {zone: "a", asked: 4, joined: 10, pods: "Xx"}, "b": {zone: "b", asked: 2, pods: "x"}},
			"", "a",
		},
		"OneGoes": {
			"Nothing is expected, but the pods of the first machine help those of the second to know.", 125,
			map[string]machine{"a1": {zone: "a", asked: 100, joined: 120, pods: "x"}, "a2": {zone: "a", asked: 100, joined: 119, pods: "x"}, "b": {zone: "b", asked: 1, pods: "x"}},
			"a2", "a1",
		},
		"OpenHelps": {
			"A pod is about to be bound to an open machine, and the others wait for what comes of it.", 10,
			map[string]machine{"a": {zone: "a", joined: 10, pods: "xx"}, "b": {zone: "b", joined: 9, pods: "xx"}, "c": {zone: "a", joined: 1, open: true, pods: "p"}},
			"", "a b",
		},
		"OpenWaits": {
			"The pod of the open machine waits itself.", 10,
			map[string]machine{"a": {zone: "a", joined: 10, pods: "xx"}, "b": {zone: "b", joined: 9, pods: "xx"}, "c": {zone: "a", joined: 1, open: true, pods: "YYy"}},
			"a b", "",
		},
		"OpenGoes": {
			"The open machine is being deleted, and no pod is bound to it any more.", 10,
			map[string]machine{"a": {zone: "a", joined: 10, pods: "xx"}, "b": {zone: "b", joined: 9, pods: "xx"}, "c": {zone: "a", joined: 1, open: true, deleting: true, pods: "p"}},
			"a b", "",
		},
		"Dismissed": {
			"The pods of a machine that stays closed take no place from those of the next.", 10,
			map[string]machine{"a1": {zone: "a", joined: 8, pods: "xx"}, "a2": {zone: "a", joined: 9, pods: "x"}, "b": {zone: "b", pods: "xx"}},
			"a2", "a1",
		},
		"DismissedBefore": {
			"Nor do they for a constraint that is first looked at afterwards.", 10,
			map[string]machine{"a1": {zone: "a", joined: 8, pods: "xx"}, "a2": {zone: "a", joined: 9, pods: "vv"}, "b": {zone: "b", pods: "xv"}},
			"a2", "a1",
		},
		"CountedBefore": {
			"Pods that open with another machine count for a constraint that is first looked at afterwards.", 10,
			map[string]machine{"a1": {zone: "a", joined: 8, pods: "x"}, "a2": {zone: "a", joined: 9, pods: "vv"}, "b": {zone: "b", pods: "xv"}},
			"a1", "a2",
		},
		"OfOthers": {
			"A pod that is spread by where others are waits for these.", 10,
			map[string]machine{"a": {zone: "a", joined: 10, pods: "w"}, "a0": {zone: "a", joined: 1, open: true, pods: "XX"}, "b": {zone: "b", pods: "x"}},
			"", "a",
		},
		"Taints": {
			"Zones of machines that take no pods do not count, so that there is nothing to wait for.", 10,
			map[string]machine{"a": {zone: "a", joined: 10, pods: "hh"}, "b": {zone: "b", pods: "h"}},
			"a", "",
		},
		"TaintsFirst": {
			"One such pod is about to be bound to an open machine, and the others wait for what comes of it.", 10,
			map[string]machine{"a": {zone: "a", joined: 10, pods: "xx"}, "b": {zone: "b", joined: 9, pods: "xx"}, "c": {zone: "a", joined: 1, open: true, pods: "Hh"}},
			"", "a b",
		},
		"NoZone": {
			"A machine of no zone is ahead of none.", 10,
			map[string]machine{"a": {joined: 10, pods: "xx"}, "b": {zone: "b", pods: "x"}},
			"a", "",
		},
		"JustJoined": {
			"Its node does not have the label yet, but will be in the zone that its claim says.", 10,
			map[string]machine{"a": {zone: "a", known: "claim", joined: 10, pods: "Xx"}, "b": {zone: "b", pods: "x"}},
			"", "a",
		},
		"AnyClaim": {
			"Its claim would have had any zone, and the node says in which it is.", 10,
			map[string]machine{"a": {zone: "a", known: "node", joined: 10, pods: "Xx"}, "b": {zone: "b", pods: "x"}},
			"", "a",
		},
		"AnyZone": {
			"It is not known of the other machine that it will be in another zone.", 10,
			map[string]machine{"a": {zone: "a", joined: 10, pods: "xx"}, "b": {pods: "x"}, "c": {zone: "c", joined: 1, open: true}},
			"a", "",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w, fills := worldOf(t, tc.now, tc.machines)
			var open, held []string
			for _, o := range nominate.Openings(w, fills, 20) {
				switch {
				case o.Open:
					open = append(open, o.Node)
				default:
					held = append(held, o.Node)
					if len(o.Pods) == 0 || o.Until != tc.machines[o.Node].joined+20 {
						t.Errorf("%s waits for %v until %d", o.Node, o.Pods, o.Until)
					}
				}
			}
			slices.Sort(open)
			slices.Sort(held)
			if got := strings.Join(open, " "); got != tc.open || strings.Join(held, " ") != tc.held {
				t.Errorf("open %q and held %q, want %q and %q: %s", got, held, tc.open, tc.held, tc.why)
			}
		})
	}
}

// Whatever machines there are: none stays closed for longer than is allowed, or
// for pods that are not spread; and if pods are bound as they are nominated, all
// machines open once all have joined.
func TestOpeningsEnd(t *testing.T) {
	const patience = 20
	chance.Check(t, func(t *rapid.T) {
		now := rapid.Int64Range(100, 140).Draw(t, "now")
		machines := map[string]machine{}
		for i := range rapid.IntRange(1, 8).Draw(t, "machines") {
			machines[fmt.Sprint("m", i)] = machine{
				zone: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "zone"), pods: rapid.StringMatching(`[XYPxyzp]{0,6}`).Draw(t, "pods"),
				joined: rapid.SampledFrom([]int64{0, 100, now - 10, now}).Draw(t, "joined"), asked: rapid.Int64Range(50, 99).Draw(t, "asked"),
				open: rapid.Bool().Draw(t, "open"), failed: rapid.Bool().Draw(t, "failed"),
			}
		}
		w, fills := worldOf(t, now, machines)
		for _, o := range nominate.Openings(w, fills, patience) {
			m := machines[o.Node]
			if !o.Open && (now >= m.joined+patience || !strings.ContainsAny(m.pods, "xyz")) {
				t.Fatalf("%+v stays closed at %d: %+v", m, now, o)
			}
		}
		for n, m := range machines {
			m.joined = max(m.joined, now)
			machines[n] = m
		}
		for range 1 + len(machines)*6 {
			w, fills = worldOf(t, now, machines)
			left := 0
			for _, o := range nominate.Openings(w, fills, patience) {
				m := machines[o.Node]
				if m.open = o.Open; !o.Open {
					left++
				}
				machines[o.Node] = m
			}
			if left == 0 {
				return
			}
			for n, m := range machines {
				if m.open {
					m.pods = strings.ToUpper(m.pods)
					machines[n] = m
				}
			}
		}
		t.Fatalf("some never open: %+v", machines)
	})
}

// While more is expected, the pods of all machines that open can be bound in whatever order kube-scheduler takes them up.
func TestOpeningsInAnyOrder(t *testing.T) {
	chance.Check(t, func(t *rapid.T) {
		const now = 10
		machines := map[string]machine{"a": {zone: "a", pods: "xyz"}, "b": {zone: "b", pods: "xyz"}, "c": {zone: "c", pods: "xyz"}}
		for i := range rapid.IntRange(1, 8).Draw(t, "machines") {
			open := rapid.Bool().Draw(t, "open")
			pods := rapid.SampledFrom([]string{`[xyzp]{0,4}`, `[XYZP]{0,4}`}).Draw(t, "pods")
			if open {
				pods = `[XYZP]{0,4}`
			}
			machines[fmt.Sprint("m", i)] = machine{
				zone: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "zone"), pods: rapid.StringMatching(pods).Draw(t, "pods"), joined: now, open: open,
			}
		}
		w, fills := worldOf(t, now, machines)
		count := map[rune]map[string]int{}
		for _, letter := range "xyz" {
			count[letter] = map[string]int{}
			for _, m := range machines {
				count[letter][m.zone] += strings.Count(m.pods, strings.ToUpper(string(letter)))
			}
		}
		type sent struct {
			letter rune
			zone   string
		}
		var due []sent
		for _, o := range nominate.Openings(w, fills, 20) {
			for _, letter := range machines[o.Node].pods {
				if o.Open && strings.ContainsRune("xyz", letter) {
					due = append(due, sent{letter, machines[o.Node].zone})
				}
			}
		}
		for _, s := range rapid.Permutation(due).Draw(t, "order") {
			least := 100
			for _, n := range count[s.letter] {
				least = min(least, n)
			}
			most := map[rune]int{'x': 1, 'y': 1, 'z': 2}[s.letter]
			if count[s.letter][s.zone]++; count[s.letter][s.zone] > least+most {
				t.Fatalf("%c in %s is one too many: %v, %+v", s.letter, s.zone, count[s.letter], machines)
			}
		}
	})
}

// What has become of pods since the plan was made is seen: they wait for nothing, and keep no machine closed.
func TestOpeningsOfAnOldPlan(t *testing.T) {
	machines := map[string]machine{"a": {zone: "a", joined: 10, pods: "Xx"}, "b": {zone: "b", pods: "x"}}
	key := world.Key{Name: "a-x1"}
	for name, tc := range map[string]struct {
		why   string
		since func(*world.Builder, world.Pod) error
		open  bool
	}{
		"Nothing": {"The zone is ahead until the other machine is there.", func(*world.Builder, world.Pod) error { return nil }, false},
		"Deleted": {"The pod is gone.", func(b *world.Builder, _ world.Pod) error {
			b.DeletePod(key)
			return nil
		}, true},
		"Bound": {"It runs already.", func(b *world.Builder, p world.Pod) error {
			p.Node = "b"
			return b.SetPod(p)
		}, true},
		"Done": {"It has failed.", func(b *world.Builder, p world.Pod) error {
			p.Done = true
			return b.SetPod(p)
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			b, fills := build(t, machines)
			if err := tc.since(b, *b.Snapshot(10).Pod(key)); err != nil {
				t.Fatal(err)
			}
			got := nominate.Openings(b.Snapshot(10), fills, 20)
			if len(got) != 1 || got[0].Open != tc.open {
				t.Errorf("%+v, want it open: %t: %s", got, tc.open, tc.why)
			}
		})
	}
}

func TestClosed(t *testing.T) {
	node, claim := &world.Node{Name: "a"}, &world.Claim{Name: "a"}
	for name, tc := range map[string]struct {
		why  string
		at   world.Place
		want bool
	}{
		"Joined":   {"Its claim says that it may not take pods yet.", world.Place{Node: node, Claim: claim}, true},
		"Open":     {"It was opened.", world.Place{Node: node, Claim: &world.Claim{Registered: true}}, false},
		"Coming":   {"It has not joined.", world.Place{Claim: claim}, false},
		"Foreign":  {"It is none of ours, and takes pods as it says itself.", world.Place{Node: node}, false},
		"Deleting": {"It will take none any more.", world.Place{Node: &world.Node{Deleting: true}, Claim: claim}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := nominate.Closed(&tc.at); got != tc.want {
				t.Errorf("%t, want %t: %s", got, tc.want, tc.why)
			}
		})
	}
}
