package spread_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tenon-sh/tenon/engine/enginetest/chance"
	"github.com/tenon-sh/tenon/engine/fit"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/spread"
	"github.com/tenon-sh/tenon/engine/spread/terms"
	"github.com/tenon-sh/tenon/engine/world"
)

func picks(app string) world.Selector {
	return world.Selector{Some: true, Set: label.SetOf(label.Is("app", app))}
}

func nodes(zones ...string) []*fit.Place {
	var out []*fit.Place
	for i, z := range zones {
		name := fmt.Sprintf("n%d", i)
		out = append(out, &fit.Place{Name: name, Labels: map[string]string{label.Zone: z, label.Hostname: name}})
	}
	return out
}

// Where one more pod may go, given pods that run.
func TestAllows(t *testing.T) {
	self := func(change func(*world.Pod)) *world.Pod {
		p := &world.Pod{Key: world.Key{Namespace: "d", Name: "new"}, Labels: map[string]string{"app": "x"}}
		change(p)
		return p
	}
	term := func(anti bool, key, app string) world.PodTerm {
		return world.PodTerm{Anti: anti, Key: key, Selector: picks(app), Namespaces: []string{"d"}}
	}
	runs := func(app string) *world.Pod {
		return &world.Pod{Key: world.Key{Namespace: "d"}, Labels: map[string]string{"app": app}}
	}
	tests := map[string]struct {
		why  string
		pod  *world.Pod
		runs []*world.Pod // on the node of that number; nil: none there
		want [3]bool      // on nodes in zones a, a, b
	}{
		"SpreadByZone": {
			why:  "Zone a has two, b none: only b keeps the skew.",
			pod:  self(func(p *world.Pod) { p.Spread = []world.Spread{{Key: label.Zone, MaxSkew: 1, Selector: picks("x")}} }),
			runs: []*world.Pod{runs("x"), runs("x"), nil}, want: [3]bool{false, false, true},
		},
		"SpreadOfOthers": {
			why:  "A pod that is not counted itself may go where the skew is as large as allowed.",
			pod:  self(func(p *world.Pod) { p.Spread = []world.Spread{{Key: label.Zone, MaxSkew: 1, Selector: picks("y")}} }),
			runs: []*world.Pod{runs("y"), nil, nil}, want: [3]bool{true, true, true},
		},
		"MinDomains": {
			why: "With fewer zones than wanted the least counts as none.",
			pod: self(func(p *world.Pod) {
				p.Spread = []world.Spread{{Key: label.Zone, MaxSkew: 1, MinDomains: 3, Selector: picks("x")}}
			}),
			runs: []*world.Pod{runs("x"), nil, runs("x")}, want: [3]bool{false, false, false},
		},
		"OnlyWhereItMayGo": {
			why: "Nodes that the pod does not select are no domains: b is not counted, so a may grow.",
			pod: self(func(p *world.Pod) {
				p.Spread = []world.Spread{{Key: label.Zone, MaxSkew: 1, Selector: picks("x")}}
				p.NodeSelector = label.SetOf(label.Is(label.Zone, "a"))
			}),
			runs: []*world.Pod{runs("x"), runs("x"), nil}, want: [3]bool{true, true, true}, // that b is not selected is for package fit to say
		},
		"Apart": {
			why:  "The whole zone of a match is closed.",
			pod:  self(func(p *world.Pod) { p.PodTerms = []world.PodTerm{term(true, label.Zone, "y")} }),
			runs: []*world.Pod{runs("y"), nil, nil}, want: [3]bool{false, false, true},
		},
		"KeptAway": {
			why:  "A running pod's anti-affinity keeps others away, though they say nothing.",
			pod:  self(func(*world.Pod) {}),
			runs: []*world.Pod{{Key: world.Key{Namespace: "d"}, PodTerms: []world.PodTerm{term(true, label.Hostname, "x")}}, nil, nil}, want: [3]bool{false, true, true},
		},
		"Together": {
			why:  "Only the zone with company will do.",
			pod:  self(func(p *world.Pod) { p.PodTerms = []world.PodTerm{term(false, label.Zone, "y")} }),
			runs: []*world.Pod{nil, nil, runs("y")}, want: [3]bool{false, false, true},
		},
		"TwoKeys": {
			why: "Company in the zone is not enough where it is wanted on the machine as well.",
			pod: self(func(p *world.Pod) {
				p.PodTerms = []world.PodTerm{term(false, label.Hostname, "y"), term(false, label.Zone, "y")}
			}),
			runs: []*world.Pod{runs("y"), nil, nil}, want: [3]bool{true, false, false},
		},
		"NearAndRatherNear": {
			why: "What it would rather have is no part of what it has to have.",
			pod: self(func(p *world.Pod) {
				soft := term(false, label.Zone, "z")
				soft.Weight = 50
				p.PodTerms = []world.PodTerm{term(false, label.Zone, "y"), soft}
			}),
			runs: []*world.Pod{nil, nil, runs("y")}, want: [3]bool{false, false, true},
		},
		"FirstOfItsKind": {
			why:  "The first pod that wants its own company may go anywhere.",
			pod:  self(func(p *world.Pod) { p.PodTerms = []world.PodTerm{term(false, label.Zone, "x")} }),
			runs: []*world.Pod{nil, nil, nil}, want: [3]bool{true, true, true},
		},
		"AllTermsByOnePod": {
			why: "Affinity terms have to be met by the same pods.",
			pod: self(func(p *world.Pod) {
				p.PodTerms = []world.PodTerm{term(false, label.Zone, "y"), term(false, label.Zone, "z")}
			}),
			runs: []*world.Pod{runs("y"), runs("z"), nil}, want: [3]bool{false, false, false},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			l := spread.New(nil)
			l.Enlist(tc.pod)
			running := world.Place{Pods: slices.DeleteFunc(slices.Clone(tc.runs), func(p *world.Pod) bool { return p == nil })}
			l.Watch(running.AntiAffinity(), []*world.Pod{tc.pod})
			places := nodes("a", "a", "b")
			var ids []int
			for i, at := range places {
				ids = append(ids, l.Enter(at))
				if tc.runs[i] != nil {
					l.Run(tc.runs[i], ids[i])
				}
			}
			s := l.PodInfo(tc.pod)
			for i, id := range ids {
				if got := l.Allows(s, id); got != tc.want[i] {
					t.Errorf("%s\nnode %d: allowed %t, want %t", tc.why, i, got, tc.want[i])
				}
				if objections := l.Objections(s, id, places[i].Name); (len(objections) == 0) != tc.want[i] {
					t.Errorf("%s\nnode %d: objections %v", tc.why, i, objections)
				}
			}
		})
	}
}

// Whatever was put and taken, the ledger answers as one that was filled with what is left.
func TestTakeUndoesPut(t *testing.T) {
	chance.Check(t, func(t *rapid.T) {
		apps := []string{"x", "y"}
		var pods []*world.Pod
		for i, app := range apps {
			other := apps[1-i]
			p := &world.Pod{Key: world.Key{Namespace: "d", Name: app}, Labels: map[string]string{"app": app}}
			if rapid.Bool().Draw(t, "spread") {
				p.Spread = []world.Spread{{Key: label.Zone, MaxSkew: rapid.IntRange(1, 2).Draw(t, "skew"), Selector: picks(rapid.SampledFrom(apps).Draw(t, "of"))}}
			}
			if rapid.Bool().Draw(t, "term") {
				key := rapid.SampledFrom([]string{label.Zone, label.Hostname}).Draw(t, "key")
				p.PodTerms = []world.PodTerm{{Anti: rapid.Bool().Draw(t, "anti"), Key: key, Selector: picks(other), Namespaces: []string{"d"}}}
			}
			pods = append(pods, p)
		}
		fresh := func() (*spread.Ledger, []*terms.PodInfo) {
			l := spread.New(nil)
			for _, p := range pods {
				l.Enlist(p)
			}
			for _, at := range nodes("a", "a", "b", "c") {
				l.Enter(at)
			}
			return l, []*terms.PodInfo{l.PodInfo(pods[0]), l.PodInfo(pods[1])}
		}
		long, infos := fresh()
		var count [2][4]int
		for range rapid.IntRange(0, 30).Draw(t, "moves") {
			s, n := rapid.IntRange(0, 1).Draw(t, "subject"), rapid.IntRange(0, 3).Draw(t, "node")
			if count[s][n] > 0 && rapid.Bool().Draw(t, "take") {
				long.Take(infos[s], n)
				count[s][n]--
				continue
			}
			long.Put(infos[s], n)
			count[s][n]++
		}
		short, again := fresh()
		for s := range count {
			for n, c := range count[s] {
				for range c {
					short.Put(again[s], n)
				}
			}
		}
		for s := range count {
			for n := range count[s] {
				if a, b := long.Allows(infos[s], n), short.Allows(again[s], n); a != b {
					t.Fatalf("subject %d on node %d: %t after the history, %t from nothing; counts %v", s, n, a, b, count)
				}
			}
		}
	})
}
