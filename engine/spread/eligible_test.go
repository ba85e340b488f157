package spread_test

import (
	"strings"
	"testing"

	"github.com/tenon-sh/tenon/engine/enginetest/ledger"
	"github.com/tenon-sh/tenon/engine/fit"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/spread"
	"github.com/tenon-sh/tenon/engine/world"
)

// Which nodes a topology spread constraint counts: zones a and b have a pod each, c has none, so that another
// pod may go to a only where the node in c does not count.
func TestNodesThatCount(t *testing.T) {
	zones := label.SetOf(label.Is(label.Zone, "a", "b"))
	tainted := func(at *fit.Place) { at.Taints = []world.Taint{{Key: "own", Effect: world.NoSchedule}} }
	closed := func(at *fit.Place) { at.Cordoned = true }
	for name, tc := range map[string]struct {
		why   string
		pod   func(*world.Pod)
		at    func(*fit.Place) // the node in c
		lacks bool             // it does not count
	}{
		"All":      {"A node that takes the pod counts.", nil, nil, false},
		"Selector": {"One that the pod does not select counts not.", func(p *world.Pod) { p.NodeSelector = zones }, nil, true},
		"Terms":    {"Nor one that its node affinity leaves out.", func(p *world.Pod) { p.NodeTerms = []world.NodeTerm{{Labels: zones}} }, nil, true},
		"OneTerm": {"One of its terms is enough.", func(p *world.Pod) {
			p.NodeTerms = []world.NodeTerm{{Labels: zones}, {Labels: label.SetOf(label.Is(label.Zone, "c"))}}
		}, nil, false},
		"Ignore":    {"Unless nodeAffinityPolicy is Ignore.", func(p *world.Pod) { p.NodeSelector, p.Spread[0].AnyNode = zones, true }, nil, false},
		"Taint":     {"A taint makes no difference.", nil, tainted, false},
		"Honor":     {"Unless nodeTaintsPolicy is Honor.", func(p *world.Pod) { p.Spread[0].HonourTaints = true }, tainted, true},
		"Tolerated": {"And the pod does not tolerate it.", func(p *world.Pod) { p.Spread[0].HonourTaints, p.Tolerations = true, []world.Toleration{{Exists: true}} }, tainted, false},
		"Cordon":    {"A cordon makes no difference.", nil, closed, false},
		"HonorThat": {"Unless nodeTaintsPolicy is Honor.", func(p *world.Pod) { p.Spread[0].HonourTaints = true }, closed, true},
		"HonorNot":  {"And the pod does not tolerate it.", func(p *world.Pod) { p.Spread[0].HonourTaints, p.Tolerations = true, []world.Toleration{{Exists: true}} }, closed, false},
		"AnotherKey": {"A node without the keys of all hard constraints counts not.", func(p *world.Pod) {
			p.Spread = append(p.Spread, world.Spread{Key: "rack", MaxSkew: 9, Selector: picks("x")})
		}, nil, true},
		"SoftKey": {"Those of soft ones may be missing.", func(p *world.Pod) {
			p.Spread = append(p.Spread, world.Spread{Key: "rack", MaxSkew: 9, Soft: true, Selector: picks("x")})
		}, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			p := &world.Pod{Key: world.Key{Namespace: "d", Name: "new"}, Labels: map[string]string{"app": "x"}, Spread: []world.Spread{{Key: label.Zone, MaxSkew: 1, Selector: picks("x")}}}
			if tc.pod != nil {
				tc.pod(p)
			}
			l := spread.New(nil)
			l.Enlist(p)
			places := nodes("a", "b", "c")
			places[0].Labels["rack"], places[1].Labels["rack"] = "r", "r"
			if tc.at != nil {
				tc.at(places[2])
			}
			for i, at := range places {
				if n := l.Enter(at); i < 2 {
					l.Run(&world.Pod{Key: world.Key{Namespace: "d"}, Labels: p.Labels}, n)
				}
			}
			if s := l.PodInfo(p); l.Allows(s, 0) != tc.lacks {
				t.Errorf("%s In zone a another pod is allowed: %t", tc.why, !tc.lacks)
			}
		})
	}
}

// Constraints that differ only in which nodes they count are counted apart: of two pods of one Deployment in all
// but what they select, the node in c counts for one alone.
func TestCountsOfDifferentNodesAreApart(t *testing.T) {
	zones := label.SetOf(label.Is(label.Zone, "a", "b"))
	honour := func(p *world.Pod) { p.Spread[0].HonourTaints = true }
	for name, tc := range map[string]struct{ one, other func(*world.Pod) }{
		"Selector": {func(*world.Pod) {}, func(p *world.Pod) { p.NodeSelector = zones }},
		"Policy":   {func(p *world.Pod) { p.NodeSelector, p.Spread[0].AnyNode = zones, true }, func(p *world.Pod) { p.NodeSelector = zones }},
		"Taints":   {func(*world.Pod) {}, honour},
		"Tolerations": {
			func(p *world.Pod) { honour(p); p.Tolerations = []world.Toleration{{Exists: true}} }, honour,
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := spread.New(nil)
			var pods []*world.Pod
			for i, change := range []func(*world.Pod){tc.one, tc.other} {
				p := &world.Pod{
					Key: world.Key{Namespace: "d", Name: string(rune('a' + i))}, Labels: map[string]string{"app": "x"},
					Spread: []world.Spread{{Key: label.Zone, MaxSkew: 1, Selector: picks("x")}},
				}
				change(p)
				l.Enlist(p)
				pods = append(pods, p)
			}
			places := nodes("a", "b", "c")
			places[2].Taints = []world.Taint{{Key: "own", Effect: world.NoSchedule}}
			for i, at := range places {
				if n := l.Enter(at); i < 2 {
					l.Run(&world.Pod{Key: world.Key{Namespace: "d"}, Labels: pods[0].Labels}, n)
				}
			}
			if counted, not := l.Allows(l.PodInfo(pods[0]), 0), l.Allows(l.PodInfo(pods[1]), 0); counted || !not {
				t.Errorf("in zone a another pod is allowed of the first: %t, of the second: %t", counted, not)
			}
		})
	}
}

// A node is of the host that its label says, and of none without it; a machine that is only planned will have one of its own.
func TestHostsOfMachines(t *testing.T) {
	for name, tc := range map[string]struct {
		at   *fit.Place
		want bool
	}{
		"Labelled":   {&fit.Place{Name: "new", Labels: map[string]string{label.Hostname: "n0"}}, false},
		"Unlabelled": {&fit.Place{Name: "new", Labels: map[string]string{}}, false},
		"Planned":    {&fit.Place{Name: "new", Planned: true, Labels: map[string]string{}}, true},
		"Known":      {&fit.Place{Name: "new", Planned: true, Labels: map[string]string{label.Hostname: "n0"}}, false},
	} {
		l, pods := ledger.Of(t, "pod web spread=host:1", "pod web0 node=n0 app=web")
		if got := l.Allows(pods[0], l.Enter(tc.at)); got != tc.want {
			t.Errorf("%s: a pod is allowed beside the one on n0: %t", name, got)
		}
	}
}

// A machine on its way that may come to count, as long as it may become several types, makes its zone one in which no
// pod is sure to count: another pod may go to zone a, which has one, only where the machine in b does not count at all.
func TestMachinesThatMayCount(t *testing.T) {
	either := func(key string, values ...string) label.Requirement {
		r := label.Is(key, values...)
		r.Present = true
		return r
	}
	arch := either(label.Arch, "arm64", "amd64")
	for name, tc := range map[string]struct {
		why    string
		change func(*world.Pod, *fit.Place)
		lacks  bool // it does not count
	}{
		"May":    {"It may be of the architecture that the pod selects.", func(*world.Pod, *fit.Place) {}, false},
		"Is":     {"It is.", func(_ *world.Pod, at *fit.Place) { at.Labels[label.Arch] = "arm64" }, false},
		"Cannot": {"It may be of others only.", func(_ *world.Pod, at *fit.Place) { at.Open = label.SetOf(either(label.Arch, "amd64", "riscv64")) }, true},
		"Isnt":   {"It is of another.", func(_ *world.Pod, at *fit.Place) { at.Open, at.Labels[label.Arch] = nil, "amd64" }, true},
		"Unsealed": {"The pods that are put there settle whether it is in a rack: as it is it is in none.", func(p *world.Pod, at *fit.Place) {
			racked(p)
			at.Sealed, at.Open = false, label.SetOf(arch, either("rack", "r", "s"))
		}, true},
		"Rack": {"It may be in a rack, as all hard constraints need.", func(p *world.Pod, at *fit.Place) { racked(p); at.Open = label.SetOf(arch, either("rack", "r", "s")) }, false},
		"NoRack": {"It cannot be in one.", func(p *world.Pod, at *fit.Place) {
			racked(p)
			at.Open = label.SetOf(arch, label.Requirement{Key: "rack"})
		}, true},
		"Unracked": {"Nothing says that it may.", func(p *world.Pod, _ *fit.Place) { racked(p) }, true},
		"Tainted": {"It will have a taint that counts.", func(p *world.Pod, at *fit.Place) {
			p.Spread[0].HonourTaints, at.Taints = true, []world.Taint{{Key: "own", Effect: world.NoSchedule}}
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			p := &world.Pod{
				Key: world.Key{Namespace: "d", Name: "new"}, Labels: map[string]string{"app": "x"}, NodeSelector: label.SetOf(label.Is(label.Arch, "arm64")),
				Spread: []world.Spread{{Key: label.Zone, MaxSkew: 1, Selector: picks("x")}},
			}
			at := &fit.Place{Name: "claim", Planned: true, Sealed: true, Labels: map[string]string{label.Hostname: "claim", label.Zone: "b"}, Open: label.SetOf(arch)}
			tc.change(p, at)
			l := spread.New(nil)
			l.Enlist(p)
			there := nodes("a")[0]
			there.Labels[label.Arch], there.Labels["rack"] = "arm64", "r"
			l.Run(&world.Pod{Key: world.Key{Namespace: "d"}, Labels: p.Labels}, l.Enter(there))
			n, s := l.Enter(at), l.PodInfo(p)
			if l.Allows(s, 0) != tc.lacks {
				t.Errorf("%s In zone a another pod is allowed: %t", tc.why, !tc.lacks)
			}
			if tc.lacks {
				return
			}
			if !l.Allows(s, n) {
				t.Errorf("%s It has none, and the first pod is not allowed there", tc.why)
			}
			l.Put(s, n)
			// Its pod may count in the end or not: neither zone may have another, unless it is sure to.
			if first, second := l.Allows(s, 0), l.Allows(s, n); first != (name == "Is") || second != (name == "Is") {
				t.Errorf("%s It has a pod, and another is allowed in zone a: %t, there: %t", tc.why, first, second)
			}
			l.Take(s, n)
			if l.Leave(n); !l.Allows(s, 0) {
				t.Errorf("%s It is gone, and zone b still counts", tc.why)
			}
		})
	}
}

// racked has a pod spread over racks as well.
func racked(p *world.Pod) {
	p.Spread = append(p.Spread, world.Spread{Key: "rack", MaxSkew: 9, Selector: picks("x")})
}

// A machine on its way whose zone is not known yet has to do in every zone that it may come to be in.
func TestOpenDomains(t *testing.T) {
	two := label.Is(label.Zone, "a", "b")
	two.Present = true
	maybe := two
	maybe.Present = false
	for name, tc := range map[string]struct {
		why  string
		pods []string
		open label.Requirement
		want bool
	}{
		"Even":     {"Both zones have one.", []string{"pod web spread=zone:1", "pod web0 node=n0 app=web", "pod web1 node=n2 app=web"}, two, true},
		"Uneven":   {"It may be in the one that has one more.", []string{"pod web spread=zone:1", "pod web0 node=n0 app=web"}, two, false},
		"Slack":    {"That is allowed.", []string{"pod web spread=zone:2", "pod web0 node=n0 app=web"}, two, true},
		"Without":  {"It may have no zone at all.", []string{"pod web spread=zone:1"}, maybe, false},
		"Few":      {"Zones are fewer than wanted, so that the least is none.", []string{"pod web spread=zone:1:min=4", "pod web0 node=n0 app=web", "pod web1 node=n2 app=web"}, two, false},
		"Enough":   {"With it they are as many.", []string{"pod web spread=zone:1:min=3", "pod web0 node=n0 app=web", "pod web1 node=n2 app=web"}, two, true},
		"NearOne":  {"It may be where no company is.", []string{"pod web near=zone:db", "pod db0 node=n0 app=db"}, two, false},
		"Apart":    {"It may be where a pod is that has to be avoided.", []string{"pod web apart=zone:db", "pod db0 node=n0 app=db"}, two, false},
		"FarApart": {"No such pod is in either.", []string{"pod web apart=zone:db"}, two, true},
		"AllBut":   {"Which zones there are besides is not known.", []string{"pod web spread=zone:1"}, label.Requirement{Key: label.Zone, Not: true, Values: []string{"b"}, Present: true}, false},
		"NewZone":  {"It may be the first in one.", []string{"pod web spread=zone:1", "pod web0 node=n0 app=web", "pod web1 node=n2 app=web"}, label.Requirement{Key: label.Zone, Values: []string{"b", "z"}, Present: true}, true},
	} {
		t.Run(name, func(t *testing.T) {
			l, pods := ledger.Of(t, tc.pods...)
			n := l.Enter(&fit.Place{Name: "claim", Planned: true, Sealed: true, Labels: map[string]string{label.Hostname: "claim"}, Open: label.SetOf(tc.open)})
			if got := l.Allows(pods[0], n); got != tc.want {
				t.Errorf("%s It is allowed: %t", tc.why, got)
			}
		})
	}
}

// Pods of DaemonSets that a new machine will run are there as soon as it is.
func TestCompanyOfNewMachines(t *testing.T) {
	for name, tc := range map[string]struct {
		why string
		pod string // with others after it that run
		in  string
		yes bool
	}{
		"Another":  {"It is not the company that is wanted.", "pod web near=host:db", "c", false},
		"Likeness": {"What keeps away from its like is on another machine.", "pod log;pod db0 node=n0 apart=host:log", "c", true},
		"Third":    {"The third zone, which has its first, makes zones as many as are wanted.", "pod log spread=zone:1:min=3;pod log0 node=n0 app=log;pod log2 node=n2 app=log", "c", true},
		"Near":     {"It is the company that is wanted.", "pod web near=host:log", "c", true},
		"Apart":    {"It is to be avoided.", "pod web apart=host:log", "c", false},
		"Counted":  {"It counts for a constraint: its zone has one more than others.", "pod web spread=zone:1:of=log", "a", true},
		"Crowded":  {"And the pod is another.", "pod log spread=zone:1", "a", false},
		"Together": {"The zone is new, and none has fewer.", "pod log spread=zone:1", "c", false},
	} {
		t.Run(name, func(t *testing.T) {
			log := &world.Pod{Key: world.Key{Namespace: "default", Name: "log"}, Labels: map[string]string{"app": "log"}, DaemonSet: "log"}
			l, pods := ledger.Of(t, strings.Split(tc.pod, ";")...)
			at := &fit.Place{Name: "new", Planned: true, Labels: map[string]string{label.Zone: tc.in, label.Hostname: "new"}, Company: []*world.Pod{log}}
			if got := l.AllowsNew(pods[0], at); got != tc.yes {
				t.Errorf("%s It is allowed: %t", tc.why, got)
			}
			n := l.Enter(at)
			if got := l.Allows(pods[0], n); got != tc.yes {
				t.Errorf("%s It is allowed once the machine is there: %t", tc.why, got)
			}
			if l.Leave(n); l.AllowsNew(pods[0], at) != tc.yes {
				t.Errorf("%s It is allowed after the machine has left: %t", tc.why, !tc.yes)
			}
		})
	}
}

// What the pods of DaemonSets keep away from a new machine is what their required terms say, of the pods that these mean.
func TestTermsOfCompany(t *testing.T) {
	for name, tc := range map[string]struct {
		why  string
		term world.PodTerm
		yes  bool
	}{
		"Keeps": {"It is meant.", world.PodTerm{Anti: true, Key: label.Hostname, Selector: picks("web"), Namespaces: []string{"default"}}, false},
		"Soft":  {"It would rather not, and may.", world.PodTerm{Anti: true, Weight: 1, Key: label.Hostname, Selector: picks("web"), Namespaces: []string{"default"}}, true},
		"Other": {"Another is meant, which waits as well.", world.PodTerm{Anti: true, Key: label.Hostname, Selector: picks("db"), Namespaces: []string{"default"}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			l, pods := ledger.Of(t, "pod web", "pod db", "pod a0 node=n0 apart=host:web", "pod b0 node=n1 apart=host:db")
			log := &world.Pod{Key: world.Key{Namespace: "default", Name: "log"}, DaemonSet: "log", PodTerms: []world.PodTerm{tc.term}}
			at := &fit.Place{Name: "new", Planned: true, Labels: map[string]string{label.Zone: "a", label.Hostname: "new"}, Company: []*world.Pod{log}}
			if got := l.AllowsNew(pods[0], at); got != tc.yes {
				t.Errorf("%s It is allowed: %t", tc.why, got)
			}
		})
	}
}

// Pods on a node that does not count do not count either, wherever a pod would go; and when it is vacated nothing changes.
func TestPodsOnNodesThatDoNotCount(t *testing.T) {
	for _, key := range []string{label.Zone, label.Hostname} {
		web := &world.Pod{Key: world.Key{Namespace: "d", Name: "web"}, Labels: map[string]string{"app": "x"}, Spread: []world.Spread{{Key: key, MaxSkew: 1, HonourTaints: true, Selector: picks("x")}}}
		l := spread.New(nil)
		l.Enlist(web)
		places := nodes("a", "b", "b")
		places[2].Taints = []world.Taint{{Key: "own", Effect: world.NoSchedule}}
		for i, at := range places {
			l.Enter(at)
			for range i + 1 - i/2 { // one, two of which one may go, and two on the node that is tainted
				l.Run(&world.Pod{Key: world.Key{Namespace: "d"}, Labels: web.Labels}, i)
			}
		}
		l.Stop(&world.Pod{Key: world.Key{Namespace: "d"}, Labels: web.Labels}, 1)
		s := l.PodInfo(web)
		for _, vacated := range []bool{false, true} {
			if vacated {
				l.Vacate(2)
			}
			if !l.Allows(s, 0) || !l.Allows(s, 1) {
				t.Errorf("%s: both nodes that count have one, and the tainted one is vacated: %t; another is allowed on n0: %t, on n1: %t", key, vacated, l.Allows(s, 0), l.Allows(s, 1))
			}
		}
	}
}

// Where a pod may go can be asked without what spreads it over some of the keys.
func TestAllowsBut(t *testing.T) {
	l, pods := ledger.Of(t, "pod web spread=zone:1 spread=host:1", "pod web0 node=n0 app=web")
	for n, tc := range []struct {
		but  []string
		want bool
	}{{nil, false}, {[]string{label.Zone}, false}, {[]string{label.Hostname}, false}, {[]string{label.Zone, label.Hostname}, true}} {
		if got := l.Allows(pods[0], 0, tc.but...); got != tc.want {
			t.Errorf("%d: beside another, all but what spreads it over %v: allowed %t", n, tc.but, got)
		}
	}
}

// A machine without the label of a key is in no domain of it: a volume that is made in a zone cannot be made there, and vacating it changes nothing.
func TestMachinesWithoutLabels(t *testing.T) {
	l, pods := ledger.Of(t, "pod a volume=v:ebs@? spread=host:1", "pod b volume=v:ebs@?")
	n := l.Enter(&fit.Place{Name: "bare", Labels: map[string]string{}})
	if l.Allows(pods[1], n) || !l.Allows(pods[1], 0) {
		t.Errorf("the volume can be made on a machine without a zone: %t, and in a zone: %t", l.Allows(pods[1], n), l.Allows(pods[1], 0))
	}
	l.Put(pods[1], 0)
	if l.Allows(pods[1], n) || !l.Allows(pods[1], 1) {
		t.Errorf("the volume is in zone a, and can be had on a machine without a zone: %t, and in a: %t", l.Allows(pods[1], n), l.Allows(pods[1], 1))
	}
	l.Vacate(n)
	if !l.Allows(pods[0], 0) || !l.Allows(pods[0], 1) {
		t.Error("no host has a pod, and one is refused since a machine without a name was vacated")
	}
}

// A machine that is to be given back is no host any more for which pods are counted, and its zone still is one.
func TestVacate(t *testing.T) {
	l, pods := ledger.Of(t, "pod web spread=host:1", "pod db spread=zone:1", "pod web0 node=n0 app=web", "pod web1 node=n1 app=web", "pod db0 node=n0 app=db")
	web, db := pods[0], pods[1]
	if l.Allows(web, 0) || l.Allows(db, 0) {
		t.Fatal("n2 has none of either: n0 may not have another")
	}
	l.Vacate(2)
	if !l.Allows(web, 0) || l.Allows(db, 0) {
		t.Errorf("n2 goes: n0 may have another web: %t, since all other hosts have one, and another db: %t, though zone b has none", l.Allows(web, 0), l.Allows(db, 0))
	}
	l.Occupy(2)
	if l.Allows(web, 0) || l.Allows(db, 0) {
		t.Error("n2 is back: n0 may not have another")
	}
}

// Of the DaemonSets of new machines those matter that waiting pods want near or away, or that keep one of them away.
func TestCompany(t *testing.T) {
	daemon := func(name string, terms ...world.PodTerm) *world.DaemonSet {
		key := world.Key{Namespace: "default", Name: name}
		return &world.DaemonSet{Key: key, Pod: world.Pod{Key: key, Labels: map[string]string{"app": name}, DaemonSet: name, PodTerms: terms}}
	}
	keepsAway := func(app string) world.PodTerm {
		return world.PodTerm{Anti: true, Key: label.Hostname, Selector: picks(app), Namespaces: []string{"default"}}
	}
	soft := keepsAway("web")
	soft.Weight = 50
	wanted, other, hostile, harmless, mild := daemon("log"), daemon("net"), daemon("lone", keepsAway("web"), keepsAway("none")), daemon("calm", keepsAway("none")), daemon("mild", soft)
	web := &world.Pod{Key: world.Key{Namespace: "default", Name: "web"}, Labels: map[string]string{"app": "web"}, PodTerms: []world.PodTerm{{Key: label.Hostname, Selector: picks("log"), Namespaces: []string{"default"}}}}
	l := spread.New(nil)
	l.Enlist(web)
	l.Watch([]*world.PodTerm{&hostile.Pod.PodTerms[0], &harmless.Pod.PodTerms[0]}, []*world.Pod{web})
	got := l.Company([]*world.DaemonSet{wanted, other, hostile, harmless, mild})
	if len(got) != 2 || got[0] != &wanted.Pod || got[1] != &hostile.Pod {
		t.Fatalf("%v matter to web; want log and lone", got)
	}
	s := l.PodInfo(web)
	for name, want := range map[string]bool{"log": true, "lone": false} {
		at := &fit.Place{Name: "new", Planned: true, Labels: map[string]string{label.Hostname: "new"}, Company: []*world.Pod{&wanted.Pod}}
		if name == "lone" {
			at.Company = got
		}
		if l.AllowsNew(s, at) != want {
			t.Errorf("web beside %v is allowed: %t", at.Company, !want)
		}
	}
}

// A volume that is still to be made is confined to the zones in which it can be made, until it is released.
func TestConfinedVolumes(t *testing.T) {
	l, pods := ledger.Of(t, "pod a volume=v:ebs@?", "pod b volume=v:ebs@?")
	group := pods[0].Unmade[0]
	if !l.Allows(pods[0], 0) || l.Release(group) {
		t.Error("it is confined, though nothing says so")
	}
	l.Confine(group, []string{"b"})
	if l.Allows(pods[0], 0) || !l.Allows(pods[0], 2) {
		t.Errorf("it can be made in b only, and is allowed in a: %t, in b: %t", l.Allows(pods[0], 0), l.Allows(pods[0], 2))
	}
	l.Put(pods[1], 2)
	if l.Release(group) {
		t.Error("it has been made, and is released")
	}
	l.Take(pods[1], 2)
	if !l.Release(group) || !l.Allows(pods[0], 0) {
		t.Error("it is not made yet, and is not released")
	}
}
