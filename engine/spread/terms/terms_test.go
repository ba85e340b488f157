package terms_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tenon-sh/tenon/engine/enginetest/chance"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/spread/domain"
	"github.com/tenon-sh/tenon/engine/spread/terms"
	"github.com/tenon-sh/tenon/engine/world"
)

func picks(key string, values ...string) world.Selector {
	return world.Selector{Some: true, Set: label.SetOf(label.Is(key, values...))}
}

func pod(namespace string, labels ...string) *world.Pod {
	p := &world.Pod{Key: world.Key{Namespace: namespace, Name: strings.Join(labels, " ")}, Labels: map[string]string{}}
	for _, l := range labels {
		k, v, _ := strings.Cut(l, "=")
		p.Labels[k] = v
	}
	return p
}

// Which pods a term counts: those with the labels in the namespaces that it names, and in those that its namespaceSelector picks.
func TestWhichPodsATermCounts(t *testing.T) {
	anti := func(s world.Selector, in world.Selector, namespaces ...string) world.PodTerm {
		return world.PodTerm{Anti: true, Key: label.Zone, Selector: s, Within: in, Namespaces: namespaces}
	}
	for name, tc := range map[string]struct {
		why  string
		term world.PodTerm
		pod  *world.Pod
		want bool
	}{
		"Own":           {"The labels, in the namespace.", anti(picks("app", "x"), world.Selector{}, "d"), pod("d", "app=x"), true},
		"OneOf":         {"One of the values is enough.", anti(picks("app", "w", "x"), world.Selector{}, "d"), pod("d", "app=x"), true},
		"OtherLabel":    {"It has another value.", anti(picks("app", "x"), world.Selector{}, "d"), pod("d", "app=y"), false},
		"NoLabel":       {"It has no such label.", anti(picks("app", "x"), world.Selector{}, "d"), pod("d", "tier=x"), false},
		"OtherColumn":   {"Terms on other labels find theirs, too.", anti(picks("tier", "x"), world.Selector{}, "d"), pod("d", "tier=x"), true},
		"Any":           {"An empty selector picks every pod.", anti(world.Selector{Some: true}, world.Selector{}, "d"), pod("d"), true},
		"AnyThere":      {"Of the namespace.", anti(world.Selector{Some: true}, world.Selector{}, "d"), pod("e"), false},
		"None":          {"A selector that is missing picks none.", anti(world.Selector{}, world.Selector{}, "d"), pod("d"), false},
		"Elsewhere":     {"It is in another namespace.", anti(picks("app", "x"), world.Selector{}, "d"), pod("e", "app=x"), false},
		"TwoNamespaces": {"Several namespaces may be named.", anti(picks("app", "x"), world.Selector{}, "d", "e"), pod("e", "app=x"), true},
		"Picked":        {"Its namespace is picked by its labels.", anti(picks("app", "x"), picks("team", "e")), pod("e", "app=x"), true},
		"PickedNot":     {"Its namespace is not picked.", anti(picks("app", "x"), picks("team", "e")), pod("d", "app=x"), false},
		"NamedBeside":   {"One that is named counts beside those that are picked.", anti(picks("app", "x"), picks("team", "e"), "d"), pod("d", "app=x"), true},
		"PickedBeside":  {"And the other way round.", anti(picks("app", "x"), picks("team", "e"), "d"), pod("e", "app=x"), true},
		"EveryOne":      {"An empty namespaceSelector picks all.", anti(picks("app", "x"), world.Selector{Some: true}), pod("f", "app=x"), true},
		"PickedOther":   {"The labels of the pod count there, too.", anti(picks("app", "x"), picks("team", "e")), pod("e", "app=y"), false},
	} {
		t.Run(name, func(t *testing.T) {
			l := terms.NewTable([]*world.Namespace{{Name: "d", Labels: map[string]string{"team": "d"}}, {Name: "e", Labels: map[string]string{"team": "e"}}})
			l.Enlist(&world.Pod{PodTerms: []world.PodTerm{anti(picks("app", "other"), world.Selector{}, "d", "e"), tc.term}})
			if got := slices.Equal(l.Members(tc.pod), []int32{1}); got != tc.want {
				t.Errorf("it counts the pod: %t, want %t: %s", got, tc.want, tc.why)
			}
		})
	}
}

// Which volumes and resource claims a pod has to share with others, so that one of them decides where the others may go.
func TestShare(t *testing.T) {
	type change = func(*world.Volume)
	once := func(v *world.Volume) { v.OneNode = true }
	oncePod := func(v *world.Volume) { v.OnePod = true }
	pending := func(v *world.Volume) { v.Pending = true }
	with := func(name string, changes ...change) *world.Pod {
		p := pod("d", name)
		v := world.Volume{ID: "v"}
		for _, c := range changes {
			c(&v)
		}
		p.Volumes = []world.Volume{v}
		return p
	}
	devices := func(name string, shared bool) *world.Pod {
		p := pod("d", name)
		p.Devices = []world.DeviceClaim{{Key: world.Key{Namespace: "d", Name: "gpu"}, Shared: shared}}
		return p
	}
	with2 := func(p *world.Pod) *world.Pod {
		p.Volumes, p.Devices = append(p.Volumes, p.Volumes...), append(p.Devices, p.Devices...)
		return p
	}
	bound := func(p *world.Pod) *world.Pod { p.Node = "n"; return p }
	done := func(p *world.Pod) *world.Pod { p.Done = true; return p }
	other := func(p *world.Pod) *world.Pod { p.Volumes[0].ID = "w"; return p }
	itself := with("a", once)
	itsDevices := devices("a", true)
	for name, tc := range map[string]struct {
		why  string
		pods []*world.Pod // that are planned for; it is asked about the first
		runs []*world.Pod
		want string
		more int // groups of which it is none
	}{
		"Alone":          {"No other pod has it.", []*world.Pod{with("a", once)}, nil, "", 0},
		"Twice":          {"A pod that names it twice shares it with none.", []*world.Pod{with2(with("a", once, pending))}, nil, "", 0},
		"Disk":           {"Two have a disk for one node.", []*world.Pod{with("a", once), with("b", once)}, nil, "node v", 0},
		"DiskTwice":      {"It is one group, however often a pod names it.", []*world.Pod{with2(with("a", once)), with("b", once), with("c", once)}, nil, "node v", 0},
		"Others":         {"They have another.", []*world.Pod{with("a", once), other(with("b", once)), other(with("c", once))}, nil, "", 1},
		"Share":          {"What any number of nodes may have is wherever they are.", []*world.Pod{with("a"), with("b")}, []*world.Pod{with("c")}, "", 0},
		"Runs":           {"The other runs.", []*world.Pod{with("a", once)}, []*world.Pod{with("b", once)}, "node v", 0},
		"RunsOther":      {"The other has another disk.", []*world.Pod{with("a", once)}, []*world.Pod{other(with("b", once))}, "", 0},
		"RunsItself":     {"It is the pod itself that runs, and is planned for since its machine is to go.", []*world.Pod{itself}, []*world.Pod{itself}, "", 0},
		"Done":           {"The other has ended, and lets go of it.", []*world.Pod{with("a", once), done(with("b", once))}, nil, "", 0},
		"OnePod":         {"One for one pod.", []*world.Pod{with("a", oncePod), with("b", oncePod)}, nil, "pod v", 0},
		"OnePodLater":    {"One of them says so, which holds for all.", []*world.Pod{with("a", once), with("b", once), with("c", oncePod)}, nil, "pod v", 0},
		"OnePodFirst":    {"Whichever says it.", []*world.Pod{with("a", once), with("b", oncePod), with("c", once)}, nil, "pod v", 0},
		"Pending":        {"It is made where the first of them goes.", []*world.Pod{with("a", pending), with("b", pending)}, nil, "zone v", 0},
		"PendingAlone":   {"No other pod waits for it.", []*world.Pod{with("a", pending)}, nil, "", 0},
		"PendingBeside":  {"No other pod waits for it, while others wait for another.", []*world.Pod{with("a", pending), other(with("b", pending)), other(with("c", pending))}, nil, "", 1},
		"PendingMany":    {"It is one group.", []*world.Pod{with2(with("a", pending)), with("b", pending), with("c", pending)}, nil, "zone v", 0},
		"Made":           {"It is there.", []*world.Pod{with("a"), with("b", pending), with("c", pending)}, nil, "", 1},
		"PendingBound":   {"One that is bound waits for nothing.", []*world.Pod{bound(with("a", pending)), with("b", pending), with("c", pending)}, nil, "", 1},
		"BoundBeside":    {"Nor with it another.", []*world.Pod{with("a", pending), bound(with("b", pending))}, nil, "", 0},
		"PendingDisk":    {"A disk is both.", []*world.Pod{with("a", pending, once), with("b", pending, once)}, nil, "zone v, node v", 0},
		"Devices":        {"A resource claim is of one node.", []*world.Pod{devices("a", true), devices("b", true)}, nil, "claim resource claim d/gpu", 0},
		"DevicesTwice":   {"However often it is named.", []*world.Pod{with2(devices("a", true)), devices("b", true)}, nil, "claim resource claim d/gpu", 0},
		"DevicesRun":     {"The other runs.", []*world.Pod{devices("a", true)}, []*world.Pod{devices("b", true)}, "claim resource claim d/gpu", 0},
		"DevicesOwn":     {"One that was made for each pod is no other's.", []*world.Pod{devices("a", false), devices("b", false)}, nil, "", 0},
		"DevicesAlone":   {"No other pod names it.", []*world.Pod{devices("a", true)}, []*world.Pod{with("b", once)}, "", 0},
		"DevicesItself":  {"It is the pod itself that runs.", []*world.Pod{itsDevices}, []*world.Pod{itsDevices}, "", 0},
		"DevicesDone":    {"The other has ended.", []*world.Pod{devices("a", true), done(devices("b", true))}, nil, "", 0},
		"DevicesUnknown": {"One that only runs is no matter.", []*world.Pod{with("a", once)}, []*world.Pod{devices("b", true)}, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			l := terms.NewTable(nil)
			l.Share(tc.pods, []*world.Place{{Pods: tc.runs}})
			s := l.PodInfo(tc.pods[0])
			var got []string
			for _, id := range s.Unmade {
				got = append(got, "zone "+l.Group(id).Volume)
			}
			for _, id := range s.Exclusive {
				of := "node "
				if g := l.Group(id); g.Claim {
					of = "claim "
				} else if g.OnePod {
					of = "pod "
				}
				got = append(got, of+l.Group(id).Volume)
			}
			if got := strings.Join(got, ", "); got != tc.want {
				t.Errorf("shared are %q, want %q: %s", got, tc.want, tc.why)
			}
			if n := len(l.Groups()) - len(got); n != tc.more {
				t.Errorf("%d groups of others are counted, want %d: %s", n, tc.more, tc.why)
			}
			if len(s.Exclusive) > 0 && !l.Holds() {
				t.Error("what is of one node is shared, and the pods that run are not looked at")
			}
		})
	}
}

// A volume that is confined to the zones of the machines on offer is let go of until one of its pods has a place.
func TestRelease(t *testing.T) {
	volume := []world.Volume{{ID: "v", Pending: true}}
	a, b := pod("d", "a"), pod("d", "b")
	a.Volumes, b.Volumes = volume, volume
	l := terms.NewTable(nil)
	l.Share([]*world.Pod{a, b}, nil)
	g := l.PodInfo(a).Unmade[0]
	if l.Release(g) {
		t.Error("it was not confined, and is released")
	}
	l.Confine(g, []string{"x"})
	l.Group(g).Total = 1
	if l.Release(g) || l.Group(g).Within == nil {
		t.Error("one of its pods has a place, and it is released")
	}
	l.Group(g).Total = 0
	if !l.Release(g) || l.Group(g).Within != nil {
		t.Error("none of its pods has a place, and it is not released")
	}
}

// What is counted of a group that is spread is what counting again comes to, however machines and members come and go.
func TestLeastIsTheSmallest(t *testing.T) {
	chance.Check(t, func(t *rapid.T) {
		g := &terms.Group{Kind: terms.TopologySpread, EligibleNodes: &terms.EligibleNodes{}}
		var machines, members [4]int32
		last := rapid.Int32Range(0, 3).Draw(t, "last domain")
		for range rapid.IntRange(0, 40).Draw(t, "changes") {
			d := rapid.Int32Range(0, last).Draw(t, "domain")
			switch rapid.SampledFrom([]string{"machine", "member", "leaves", "goes"}).Draw(t, "change") {
			case "machine":
				g.Change(d, 1)
				machines[d]++
			case "member":
				if machines[d] > 0 {
					g.Shift(d, 1)
					members[d]++
				}
			case "leaves":
				if members[d] > 0 {
					g.Shift(d, -1)
					members[d]--
				}
			case "goes": // with its last machine all members have gone
				if machines[d] > 1 || machines[d] == 1 && members[d] == 0 {
					g.Change(d, -1)
					machines[d]--
				}
			}
			known, least := 0, int32(0)
			for d := range machines {
				if machines[d] == 0 {
					continue
				}
				if known++; known == 1 || members[d] < least {
					least = members[d]
				}
			}
			if g.Known != known || g.Least() != least {
				t.Fatalf("%d domains, and the least is %d; counted again %d, and %d: machines %v, members %v", g.Known, g.Least(), known, least, machines, members)
			}
			if got := g.Most(d); got != members[d] {
				t.Fatalf("domain %d has %d members at most, want %d", d, got, members[d])
			}
			g.Maybe.Bump(d, 1)
			if got := g.Most(d); got != members[d]+1 {
				t.Fatalf("with one that may come to count domain %d has %d members at most, want %d", d, got, members[d]+1)
			}
			g.Maybe.Bump(d, -1)
		}
	})
}

// A pod that ends counts no longer for spread, and for a disk on one node; it still keeps others away, is company, and has what is for one pod.
func TestPodsThatEnd(t *testing.T) {
	for name, tc := range map[string]struct {
		group terms.Group
		want  bool // it is not counted
	}{
		"Spread": {terms.Group{Kind: terms.TopologySpread}, true}, "Apart": {terms.Group{Kind: terms.AntiAffinity}, false}, "Near": {terms.Group{Kind: terms.Affinity}, false},
		"Disk": {terms.Group{Kind: terms.Affinity, Volume: "v"}, true}, "DiskForPod": {terms.Group{Kind: terms.Affinity, Volume: "v", OnePod: true}, false},
	} {
		if got := tc.group.Overlooks(&world.Pod{Terminating: true}); got != tc.want {
			t.Errorf("%s: a pod that ends is overlooked: %t", name, got)
		}
		if tc.group.Overlooks(&world.Pod{}) {
			t.Errorf("%s: a pod that stays is overlooked", name)
		}
	}
}

// Of terms by which pods that run keep others away those are counted that may keep away one of the pods that wait: no
// machine has to be looked at for the others.
func TestWatch(t *testing.T) {
	waits := pod("d", "app=x")
	and := func(s world.Selector, more label.Requirement) world.Selector { s.Set = s.Set.And(more); return s }
	for name, tc := range map[string]struct {
		why  string
		term world.PodTerm
		want bool
	}{
		"Keeps":     {"It would be kept away.", world.PodTerm{Selector: picks("app", "x"), Namespaces: []string{"d"}}, true},
		"Any":       {"So would any.", world.PodTerm{Selector: world.Selector{Some: true}, Namespaces: []string{"d"}}, true},
		"Other":     {"It is not meant.", world.PodTerm{Selector: picks("app", "y"), Namespaces: []string{"d"}}, false},
		"Half":      {"It has one of the labels.", world.PodTerm{Selector: and(picks("app", "x"), label.Is("tier", "web")), Namespaces: []string{"d"}}, false},
		"Elsewhere": {"It is in another namespace.", world.PodTerm{Selector: picks("app", "x"), Namespaces: []string{"e"}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			tc.term.Anti, tc.term.Key = true, label.Zone
			l := terms.NewTable(nil)
			l.Watch([]*world.PodTerm{&tc.term, &tc.term}, []*world.Pod{waits})
			if l.Counts() != tc.want || (l.OwnedBy(&tc.term) != domain.None) != tc.want {
				t.Errorf("something is counted: %t, want %t: %s", l.Counts(), tc.want, tc.why)
			}
		})
	}
}
