package nominate_test

import (
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
	three := func(s world.Spread) []world.Pod {
		return []world.Pod{pod("a", "x", s), pod("b", "x", s), pod("c", "x", s)}
	}
	tests := map[string]struct {
		why   string
		there string // nodes beside the one in zone a that all pods are sent to, each in the zone of its name
		runs  []world.Pod
		pods  []world.Pod
		want  string
	}{
		"Plain":  {"Nothing is counted.", "b", nil, []world.Pod{pod("a", "x"), pod("b", "x")}, "a b"},
		"Zone":   {"Each would see the other in its zone and wait for ever.", "b", nil, []world.Pod{pod("a", "x", zone(1)), pod("b", "x", zone(1)), pod("c", "y", zone(1))}, "a c"},
		"Skew":   {"So many may be ahead.", "b", nil, three(zone(2)), "a b"},
		"Others": {"One that is counted without being spread itself crowds the zone as well.", "b", nil, []world.Pod{pod("a", "x", zone(1)), pod("b", "x")}, "a"},
		"Soft":   {"It keeps nobody waiting.", "b", nil, three(soft), "a b c"},
		"Host":   {"One node is one domain, so what others wait for does not matter.", "b", nil, three(host), "a b c"},
		"Behind": {"The other zone has one, so this one may take two before it has to wait.", "b", running(1, "x", "b"), three(zone(1)), "a b"},
		"Least":  {"The emptiest of the other zones says how many.", "b c", together(running(2, "x", "b"), running(1, "x", "c")), three(zone(1)), "a b"},
		"Ahead":  {"The zone has to wait for the others; one holds its place meanwhile.", "b", running(2, "x", "a"), three(zone(1)), "a"},
		"Alone":  {"There is no other zone to wait for.", "", nil, three(zone(1)), "a b c"},
		"Soon":   {"A zone whose first machine is on its way counts.", "(b)", nil, three(zone(1)), "a"},
		"Few":    {"While there are fewer zones than it wants the least is none.", "b", running(2, "x", "b"), three(least(3)), "a"},
		"Taints": {"Which zones count depends on taints, which come and go.", "b", running(2, "x", "b"), three(honour), "a"},
		"Kept":   {"Who is nominated already comes first.", "b", nil, []world.Pod{pod("a", "x", zone(1)), nominated(pod("b", "x", zone(1)), "a", true)}, "b"},
		"Theirs": {"A nomination of somebody else's is left alone.", "b", nil, []world.Pod{nominated(pod("a", "x"), "b", false), pod("b", "x")}, "b"},
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
				return world.Node{Name: name, Labels: map[string]string{label.Zone: name}}
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
				add(b.SetPod(p))
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
