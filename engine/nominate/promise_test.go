package nominate_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/nominate"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
)

func TestPromises(t *testing.T) {
	pod := func(name, app string, spread ...world.Spread) world.Pod {
		for i := range spread {
			spread[i].Selector = world.Selector{Some: true, Set: label.SetOf(label.Is("app", app))}
		}
		return world.Pod{Key: world.Key{Name: name}, UID: name, Labels: map[string]string{"app": app}, Spread: spread, Waiting: true}
	}
	running := func(n int, app, node string) (out []world.Pod) {
		for i := range n {
			p := pod(fmt.Sprintf("%s-on-%s-%d", app, node, i), app)
			p.Node, p.Waiting = node, false
			out = append(out, p)
		}
		return out
	}
	together := func(all ...[]world.Pod) (out []world.Pod) {
		for _, pods := range all {
			out = append(out, pods...)
		}
		return out
	}
	nominated := func(p world.Pod, node string, ours bool) world.Pod {
		p.Nominated, p.Promised = node, ours
		return p
	}
	zone := func(most int) world.Spread { return world.Spread{Key: label.Zone, MaxSkew: most} }
	least := func(n int) world.Spread { return world.Spread{Key: label.Zone, MaxSkew: 1, MinDomains: n} }
	honour := world.Spread{Key: label.Zone, MaxSkew: 1, HonourTaints: true}
	soft := world.Spread{Key: label.Zone, MaxSkew: 1, Soft: true}
	host := world.Spread{Key: label.Hostname, MaxSkew: 1}
	anywhere := world.Spread{Key: label.Zone, MaxSkew: 1, AnyNode: true}
	but := func(p world.Pod, change func(*world.Pod)) world.Pod {
		change(&p)
		return p
	}
	in := func(p world.Pod, zones ...string) world.Pod {
		p.NodeSelector = label.SetOf(label.Is(label.Zone, zones...))
		return p
	}
	const gone = "gone" // the name of a pod that the plan knows and the World does not
	three := func(s world.Spread) []world.Pod {
		return []world.Pod{pod("a", "x", s), pod("b", "x", s), pod("c", "x", s)}
	}
	tests := map[string]struct {
		why   string
		there string // nodes beside the one in zone a that all pods are sent to, each in the zone of its name; "none" is in no zone
		runs  []world.Pod
		pods  []world.Pod
		want  string
	}{
		"Plain":  {"Nothing is counted.", "b", nil, []world.Pod{pod("a", "x"), pod("b", "x")}, "a b"},
		"Zone":   {"Each would see the other in its zone and wait for ever.", "b", nil, []world.Pod{pod("a", "x", zone(1)), pod("b", "x", zone(1)), pod("c", "y", zone(1))}, "a c"},
		"Skew":   {"So many may be ahead.", "b", nil, three(zone(2)), "a b"},
		"Others": {"One that is counted without being spread itself crowds the zone as well.", "b", nil, []world.Pod{pod("a", "x", zone(1)), pod("b", "x")}, "a"},
		"Soft":   {"It keeps no pod pending.", "b", nil, three(soft), "a b c"},
		"Host":   {"One node is one domain, so what others wait for does not matter.", "b", nil, three(host), "a b c"},
		"Behind": {"The other zone has one, so this one may take two before it has to wait.", "b", running(1, "x", "b"), three(zone(1)), "a b"},
		"Least":  {"The emptiest of the other zones says how many.", "b c", together(running(2, "x", "b"), running(1, "x", "c")), three(zone(1)), "a b"},
		"Ahead":  {"The zone has to wait for the others; one holds its place meanwhile.", "b", running(2, "x", "a"), three(zone(1)), "a"},
		"Alone":  {"There is no other zone to wait for.", "", nil, three(zone(1)), "a b c"},
		"Soon":   {"A zone whose first machine is on its way counts.", "(b)", nil, three(zone(1)), "a"},
		"Few":    {"While there are fewer zones than it wants the least is none.", "b", running(2, "x", "b"), three(least(3)), "a"},
		"Taints": {"Which zones count depends on taints, which come and go.", "b", running(2, "x", "b"), three(honour), "a"},
		"Kept":   {"A pod that is nominated already comes first.", "b", nil, []world.Pod{pod("a", "x", zone(1)), nominated(pod("b", "x", zone(1)), "a", true)}, "b"},
		"Theirs": {"A nomination of somebody else's is left alone.", "b", nil, []world.Pod{nominated(pod("a", "x"), "b", false), pod("b", "x")}, "b"},
		"Enough": {"There are as many zones as it wants, so the emptiest of the others says how many.", "b", running(1, "x", "b"), three(least(2)), "a b"},
		"NoZone": {"A node of no zone is not waited for.", "b none", running(1, "x", "b"), three(zone(1)), "a b"},
		"Leaves": {"A pod that is being deleted is not counted.", "b", []world.Pod{but(running(1, "x", "b")[0], func(p *world.Pod) { p.Terminating = true })}, three(zone(1)), "a"},
		"Elsewhere": {
			"Pods of another namespace are not counted.", "b", nil, []world.Pod{pod("a", "x", zone(1)), but(pod("b", "x", zone(1)), func(p *world.Pod) { p.Namespace = "other" })}, "a b",
		},
		"Selected": {
			"A zone to which the pods may not go does not count.", "b c", running(1, "x", "b"),
			[]world.Pod{in(pod("a", "x", zone(1)), "a", "b"), in(pod("b", "x", zone(1)), "a", "b"), in(pod("c", "x", zone(1)), "a", "b")},
			"a b",
		},
		"Policy": {
			"With nodeAffinityPolicy Ignore it counts.", "b c", running(1, "x", "b"),
			[]world.Pod{in(pod("a", "x", anywhere), "a", "b"), in(pod("b", "x", anywhere), "a", "b"), in(pod("c", "x", anywhere), "a", "b")},
			"a",
		},
		"Selectors": {
			"Of two Deployments each counts the zones to which its own pods may go.", "b c", together(running(1, "x", "b"), running(1, "y", "b")),
			[]world.Pod{in(pod("a", "x", zone(1)), "a", "c"), in(pod("b", "x", zone(1)), "a", "c"), in(pod("c", "y", zone(1)), "a", "b"), in(pod("d", "y", zone(1)), "a", "b")},
			"a c d",
		},
		"Skews": {
			"Pods that were nominated before a constraint is first looked at count for it.", "b", nil,
			[]world.Pod{pod("a", "x", zone(2)), pod("b", "x", zone(2)), pod("c", "x", zone(1))},
			"a b",
		},
		"Bound":   {"It was bound since the plan was made.", "b", nil, []world.Pod{but(pod("a", "x", zone(1)), func(p *world.Pod) { p.Node = "b" }), pod("b", "y")}, "b"},
		"Done":    {"It has failed since the plan was made.", "b", nil, []world.Pod{but(pod("a", "x"), func(p *world.Pod) { p.Done = true }), pod("b", "x")}, "b"},
		"Room":    {"Room for pods to come is no pod that could be nominated.", "b", nil, []world.Pod{but(pod("a", "x"), func(p *world.Pod) { p.Virtual = true }), pod("b", "x")}, "b"},
		"Deleted": {"It was deleted since the plan was made.", "b", nil, []world.Pod{pod(gone, "x"), pod("b", "x")}, "b"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			b := world.NewBuilder()
			add := func(err error) {
				if err != nil {
					t.Fatal(err)
				}
			}
			node := func(name string) world.Node {
				labels := map[string]string{label.Hostname: name}
				if name != "none" {
					labels[label.Zone] = name
				}
				return world.Node{Name: name, Labels: labels}
			}
			add(b.SetNode(node("a")))
			for _, name := range strings.Fields(tc.there) {
				if zone, coming := strings.CutPrefix(name, "("); coming {
					add(b.SetClaim(world.Claim{Name: "claim", Labels: map[string]string{label.Zone: strings.TrimSuffix(zone, ")")}}))
					continue
				}
				add(b.SetNode(node(name)))
			}
			fill := plan.Fill{Node: "a"}
			for _, p := range tc.pods {
				fill.Pods = append(fill.Pods, p.Key)
			}
			for _, p := range append(tc.runs, tc.pods...) {
				if p.Name != gone {
					add(b.SetPod(p))
				}
			}
			var got []string
			for _, x := range nominate.Promises(b.Snapshot(0), []plan.Fill{fill}) {
				got = append(got, x.Pod.Name)
			}
			if text := strings.Join(got, " "); text != tc.want {
				t.Errorf("%s, want %s: %s", text, tc.want, tc.why)
			}
		})
	}
}

// Pods that two nodes of a zone wait for are counted together: what is left of the lag is shared.
func TestPromisesShareALag(t *testing.T) {
	b := world.NewBuilder()
	spread := world.Spread{Key: label.Zone, MaxSkew: 1, Selector: world.Selector{Some: true, Set: label.SetOf(label.Is("app", "x"))}}
	add := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, zone := range map[string]string{"a-1": "a", "a-2": "a", "b": "b"} {
		add(b.SetNode(world.Node{Name: name, Labels: map[string]string{label.Zone: zone}}))
	}
	fills := []plan.Fill{{Node: "a-1"}, {Node: "a-2"}}
	for i := range 8 {
		p := world.Pod{Key: world.Key{Name: fmt.Sprint(i)}, UID: fmt.Sprint(i), Labels: map[string]string{"app": "x"}, Spread: []world.Spread{spread}, Waiting: true}
		if i < 2 {
			p.Node, p.Waiting = "b", false
		} else {
			fills[i%2].Pods = append(fills[i%2].Pods, p.Key)
		}
		add(b.SetPod(p))
	}
	on := map[string]int{}
	for _, x := range nominate.Promises(b.Snapshot(0), fills) {
		on[x.Node]++
	}
	if on["a-1"] != 3 || on["a-2"] != 1 {
		t.Errorf("%v, want 3 on a-1, which is all that the zone lags by, and one on a-2", on)
	}
}

// What runs where a constraint does not look, for the selector of its pods, is not counted by it.
func TestPromisesOfSelectedNodes(t *testing.T) {
	b := world.NewBuilder()
	spread := world.Spread{Key: label.Zone, MaxSkew: 1, Selector: world.Selector{Some: true, Set: label.SetOf(label.Is("app", "x"))}}
	add := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, labels := range map[string]map[string]string{"a-arm": {label.Zone: "a", label.Arch: "arm64"}, "a-amd": {label.Zone: "a", label.Arch: "amd64"}, "b-arm": {label.Zone: "b", label.Arch: "arm64"}} {
		add(b.SetNode(world.Node{Name: name, Labels: labels}))
	}
	add(b.SetPod(world.Pod{Key: world.Key{Name: "there"}, UID: "there", Labels: map[string]string{"app": "x"}, Node: "b-arm"}))
	fills := []plan.Fill{{Node: "a-arm"}, {Node: "a-amd"}, {Node: "a-arm"}}
	for i := range fills {
		p := world.Pod{Key: world.Key{Name: fmt.Sprint(i)}, UID: fmt.Sprint(i), Labels: map[string]string{"app": "x"}, Waiting: true}
		if fills[i].Node == "a-arm" {
			p.NodeSelector, p.Spread = label.SetOf(label.Is(label.Arch, "arm64")), []world.Spread{spread}
		}
		fills[i].Pods = []world.Key{p.Key}
		add(b.SetPod(p))
	}
	if got := len(nominate.Promises(b.Snapshot(0), fills)); got != 3 {
		t.Errorf("%d pods are nominated, want all: one of them runs where the constraint of the others does not look", got)
	}
}

// Whether one more pod could be nominated can be asked without counting it.
func TestACrowdIsAsked(t *testing.T) {
	b := world.NewBuilder()
	spread := world.Spread{Key: label.Zone, MaxSkew: 1, Selector: world.Selector{Some: true, Set: label.SetOf(label.Is("app", "x"))}}
	for _, name := range []string{"a", "b"} {
		p := world.Pod{Key: world.Key{Name: name}, UID: name, Labels: map[string]string{"app": "x"}, Spread: []world.Spread{spread}, Waiting: true}
		if err := errors.Join(b.SetNode(world.Node{Name: name, Labels: map[string]string{label.Zone: name}}), b.SetPod(p)); err != nil {
			t.Fatal(err)
		}
	}
	w := b.Snapshot(0)
	nominations := nominate.NewNominations(w)
	first, second := w.Pod(world.Key{Name: "a"}), w.Pod(world.Key{Name: "b"})
	if !nominations.Allows(first, "a") || !nominations.Allows(second, "a") || !nominations.Admit(first, "a") {
		t.Error("one pod of two is too many for a zone")
	}
	if nominations.Allows(second, "a") || !nominations.Allows(second, "b") {
		t.Error("the second pod may go to the zone of the first, or not to the other")
	}
}
