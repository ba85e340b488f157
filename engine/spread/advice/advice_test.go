package advice_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-sh/tenon/engine/enginetest"
	"github.com/tenon-sh/tenon/engine/enginetest/ledger"
	"github.com/tenon-sh/tenon/engine/fit"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/spread"
	"github.com/tenon-sh/tenon/engine/spread/advice"
	"github.com/tenon-sh/tenon/engine/spread/terms"
	"github.com/tenon-sh/tenon/engine/world"
)

// text writes what terms come to: what is not there is left out, and groups are only counted, since their numbers say nothing.
func text(s advice.Simple) string {
	var out []string
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	split := func(name string, x advice.Split) {
		add("%s %s skew %d min %d alone %t %v", name, x.Key, x.MaxSkew, x.MinDomains, x.Alone, x.Counts)
	}
	if s.PerHost > 0 {
		add("per host %d", s.PerHost)
	}
	caps := func(name string, of []advice.Share) {
		for _, c := range of {
			add("%s %d", name, c.Cap)
		}
	}
	caps("shared", s.Shared)
	caps("mixed", s.Mixed)
	for name, groups := range map[string][]int32{"owns": s.Owns, "shunned": s.Shunned, "counted": s.Counted, "mixed in": s.MixedIn} {
		if len(groups) > 0 {
			add("%s %d", name, len(groups))
		}
	}
	if s.Split != nil {
		split("split", *s.Split)
	}
	for _, x := range s.Among {
		split("among", x)
	}
	if s.Home != nil {
		add("home %s", s.Home.Key)
	}
	if s.CountedBy != "" {
		add("counted by %s", s.CountedBy)
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

// What the hard terms of the first class come to; "one by one" if they depend on where single pods of others are put.
func TestSimple(t *testing.T) {
	const none = "one by one"
	for name, tc := range map[string]struct {
		why  string
		pods []string
		want string
	}{
		"Nothing":           {"No term, no constraint.", []string{"pod web"}, ""},
		"Host":              {"So many on a machine.", []string{"pod web spread=host:2"}, "per host 2"},
		"HostTwice":         {"The tighter constraint counts.", []string{"pod web spread=host:3 spread=host:2"}, "per host 2"},
		"HostAndApart":      {"Anti-affinity to itself leaves one.", []string{"pod web spread=host:2 apart=host"}, "owns 1, per host 1, shunned 1"},
		"HostOfOthers":      {"A constraint on others that runs with theirs is shared.", []string{"pod web spread=host:2", "pod canary spread=host:2:of=web app=web"}, "per host 2, shared 2"},
		"HostOfOthersMixed": {"Where those do not carry it, it is mixed.", []string{"pod web spread=host:2", "pod job app=web"}, "mixed 2, mixed in 1, per host 2"},
		"CountedOnHost":     {"They are counted by it.", []string{"pod job app=web", "pod web spread=host:2"}, "mixed in 1"},
		"HostElse":          {"Others are counted, and it may go where few of them are.", []string{"pod web spread=host:2:of=db"}, "mixed 2"},
		"Zone":              {"It is divided, with what runs.", []string{"pod web spread=zone:1", "pod web0 node=n0 app=web"}, "counted by topology.kubernetes.io/zone, split topology.kubernetes.io/zone skew 1 min 0 alone false map[a:1 b:0]"},
		"ZoneMinDomains":    {"With the least number of zones.", []string{"pod web spread=zone:1:min=3"}, "counted by topology.kubernetes.io/zone, split topology.kubernetes.io/zone skew 1 min 3 alone false map[a:0 b:0]"},
		"TwoKeys":           {"Shares of two keys at once cannot be said.", []string{"pod web spread=zone:1 spread=type:1"}, none},
		"ZoneMixed":         {"It carries the constraint by which others count, too.", []string{"pod web spread=zone:1", "pod job app=web"}, "counted by topology.kubernetes.io/zone, split topology.kubernetes.io/zone skew 1 min 0 alone false map[a:0 b:0]"},
		"AmongOthers":       {"It goes where others are few.", []string{"pod web spread=zone:1:of=db"}, "among topology.kubernetes.io/zone skew 1 min 0 alone false map[a:0 b:0]"},
		"CountedInZone":     {"A job with the labels of a workload counts for it.", []string{"pod job app=web", "pod web spread=zone:1"}, "counted 1, counted by topology.kubernetes.io/zone"},
		"CountedTwice":      {"Once with the machines that a taint keeps off, and once without.", []string{"pod job app=web", "pod web spread=zone:1", "pod more spread=zone:1:of=web:taints"}, "counted 2, counted by topology.kubernetes.io/zone"},
		"CountedByTwoKeys":  {"By two keys it cannot be said.", []string{"pod job app=web", "pod web spread=zone:1", "pod more spread=type:1:of=web"}, none},
		"ApartByZone":       {"One in each zone, and none where one is.", []string{"pod web apart=zone", "pod web0 node=n2 app=web"}, "counted by topology.kubernetes.io/zone, split topology.kubernetes.io/zone skew 0 min 0 alone true map[b:1]"},
		"ApartOwned":        {"What runs keeps away, and is kept away from.", []string{"pod web apart=zone", "pod web0 node=n2 app=web apart=zone:web"}, "counted by topology.kubernetes.io/zone, split topology.kubernetes.io/zone skew 0 min 0 alone true map[b:2]"},
		"ApartBySomeZone":   {"Others that carry the term need zones, too.", []string{"pod web apart=zone", "pod other apart=zone:web app=web"}, none},
		"ApartForOthers":    {"So do others that are meant, and carry none.", []string{"pod web apart=zone", "pod job app=web"}, none},
		"ApartFromOthers":   {"Others that keep away from it, and not from each other, do likewise.", []string{"pod web apart=zone", "pod other apart=zone:web"}, none},
		"ApartTwice":        {"One in each zone, and evenly over types.", []string{"pod web spread=type:1 apart=zone"}, none},
		"ApartFromRunning":  {"Only pods that run are meant: offers say where these are.", []string{"pod web apart=zone:db", "pod db0 node=n0 app=db"}, ""},
		"ApartFromPlanned":  {"Those that wait are placed one by one.", []string{"pod web apart=zone:db", "pod db"}, none},
		"ShunnedByZone":     {"It says nothing, and others keep away.", []string{"pod db", "pod web apart=zone:db"}, none},
		"ShunnedByBoth":     {"It keeps away from them likewise.", []string{"pod db apart=zone:web", "pod web apart=zone:db"}, none},
		"ShunnedByRunning":  {"Offers say where the pods are that run and keep away.", []string{"pod db", "pod web0 node=n0 apart=zone:db"}, ""},
		"ShunnedByHostMany": {"With others of its kind it is no more than that.", []string{"pod db", "pod more app=db", "pod web apart=host:db"}, "shunned 1"},
		"ShunnedByHost":     {"On a machine that is a conflict.", []string{"pod db", "pod web apart=host:db"}, "shunned 1"},
		"HomeZone":          {"All in one zone.", []string{"pod web near=zone"}, "home topology.kubernetes.io/zone"},
		"HomeHost":          {"All on one machine.", []string{"pod web near=host"}, "home kubernetes.io/hostname"},
		"HomeFound":         {"Where the first is, offers say.", []string{"pod web near=zone", "pod web0 node=n0 app=web"}, ""},
		"HomeHostFound":     {"On the machine of the first there may be no room.", []string{"pod web near=host", "pod web0 node=n0 app=web"}, none},
		"HomeBoth":          {"One machine and one zone are two domains.", []string{"pod web near=host near=zone"}, none},
		"HomeHostMixed":     {"Others might be that first.", []string{"pod web near=host", "pod job app=web"}, none},
		"HomeOfOthers":      {"It follows others.", []string{"pod web near=zone:db", "pod db"}, none},
		"HomeForOthers":     {"Others that want it near follow it.", []string{"pod db", "pod web near=zone:db"}, ""},
		"HomeAndZones":      {"In one zone, and evenly over zones.", []string{"pod web near=zone spread=zone:1"}, none},
		"Companion":         {"A member without the term goes along.", []string{"pod job app=web", "pod web near=zone"}, "home topology.kubernetes.io/zone"},
		"CompanionFound":    {"Where the others are, offers say.", []string{"pod job app=web", "pod web near=zone", "pod web0 node=n0 app=web"}, ""},
		"CompanionOfBoth":   {"Those that want company by two keys are placed one by one.", []string{"pod job app=web", "pod web near=zone near=type"}, ""},
		"CompanionOfTwo":    {"It would have to go along, and stay with its like.", []string{"pod job app=web near=type:web", "pod web near=zone"}, none},
		"CompanionElse":     {"Unless it is divided among zones.", []string{"pod job app=web spread=zone:1:of=web", "pod web near=zone"}, none},
		"Disk":              {"A disk for one node.", []string{"pod a once=v:ebs", "pod b once=v:ebs"}, "home kubernetes.io/hostname"},
		"DiskFound":         {"On the node that has it there may be no room.", []string{"pod a once=v:ebs", "pod b node=n0 once=v:ebs"}, none},
		"DiskTwice":         {"Two disks may be on two nodes.", []string{"pod a once=v:ebs once=w:ebs", "pod b once=v:ebs", "pod c once=w:ebs"}, none},
		"DiskOverZones":     {"On one node, and evenly over zones.", []string{"pod a once=v:ebs spread=zone:1", "pod b once=v:ebs"}, none},
		"OwnDisk":           {"A disk of its own asks for nothing.", []string{"pod a once=v:ebs", "pod b once=w:ebs"}, ""},
		"DiskForOnePod":     {"One after the other.", []string{"pod a oncepod=v:ebs", "pod b oncepod=v:ebs"}, none},
		"PendingDisk":       {"It is made in one zone.", []string{"pod a volume=v:ebs@?", "pod b volume=v:ebs@?"}, "home topology.kubernetes.io/zone"},
		"PendingTwice":      {"Two volumes may be in two zones.", []string{"pod a volume=v:ebs@? volume=w:ebs@?", "pod b volume=v:ebs@?", "pod c volume=w:ebs@?"}, none},
		"DiskAndZones":      {"In one zone, and evenly over zones.", []string{"pod a volume=v:ebs@? spread=zone:1", "pod b volume=v:ebs@?"}, none},
		"PendingDiskOnce":   {"The machine decides the zone.", []string{"pod a once=v:ebs@?", "pod b once=v:ebs@?"}, "home kubernetes.io/hostname"},
	} {
		t.Run(name, func(t *testing.T) {
			l, pods := ledger.Of(t, tc.pods...)
			got := none
			if s, ok := advice.Of(l).Simple(pods[0]); ok {
				got = text(s)
			}
			if got != tc.want {
				t.Errorf("%s\ngot  %s\nwant %s", tc.why, got, tc.want)
			}
		})
	}
}

// What the soft terms of the first class come to.
func TestWish(t *testing.T) {
	zone := func(skew int, counts map[string]int) *advice.Split {
		return &advice.Split{Key: label.Zone, MaxSkew: skew, Counts: counts}
	}
	for name, tc := range map[string]struct {
		why  string
		pods []string
		want advice.Wish
	}{
		"Nothing":     {"Hard terms are no wishes.", []string{"pod web spread=zone:1 apart=host"}, advice.Wish{}},
		"Host":        {"So many on a machine.", []string{"pod web spread=host:2:soft"}, advice.Wish{PerHost: 2, Weight: terms.SoftSpread}},
		"HostTwice":   {"The tighter wish counts, the heavier weighs.", []string{"pod web spread=host:2:soft apart=host:web:70"}, advice.Wish{PerHost: 1, Weight: 70}},
		"HostLooser":  {"In either order.", []string{"pod web spread=host:1:soft spread=host:3:soft"}, advice.Wish{PerHost: 1, Weight: terms.SoftSpread}},
		"Zone":        {"Divided, with what runs.", []string{"pod web spread=zone:2:soft", "pod web0 node=n2 app=web"}, advice.Wish{Split: zone(2, map[string]int{"b": 1}), Weight: terms.SoftSpread}},
		"ApartZone":   {"One in each zone.", []string{"pod web apart=zone:web:30"}, advice.Wish{Split: zone(1, map[string]int{}), Weight: 30}},
		"FirstOfTwo":  {"The first of two keys counts.", []string{"pod web spread=zone:1:soft spread=type:1:soft"}, advice.Wish{Split: zone(1, map[string]int{}), Weight: terms.SoftSpread}},
		"Home":        {"All in one zone.", []string{"pod web near=zone:web:20"}, advice.Wish{Home: label.Zone, Weight: 20}},
		"HomeFound":   {"Where the first is, each pod finds out.", []string{"pod web near=zone:web:20", "pod web0 node=n0 app=web"}, advice.Wish{}},
		"SameHost":    {"On one machine there is rarely room for all.", []string{"pod web near=host:web:20"}, advice.Wish{}},
		"OfOthers":    {"About others it is for each pod to find out.", []string{"pod web apart=host:db:20", "pod db"}, advice.Wish{}},
		"SharedGroup": {"Nor is it said of pods that others count with.", []string{"pod web spread=host:1:soft", "pod job app=web"}, advice.Wish{}},
	} {
		t.Run(name, func(t *testing.T) {
			l, pods := ledger.Of(t, tc.pods...)
			if diff := cmp.Diff(tc.want, advice.Of(l).Wish(pods[0])); diff != "" {
				t.Errorf("%s -want +got\n%s", tc.why, diff)
			}
			if soft := name != "Nothing"; pods[0].Wishes() != soft {
				t.Errorf("it has soft terms: %t", !soft)
			}
		})
	}
}

// Which classes may go to any machine, as far as others matter: only where nothing is counted none has to be asked about.
func TestIndifferent(t *testing.T) {
	for name, tc := range map[string]struct {
		pods        []string
		indifferent bool
		counts      bool
	}{
		"Nothing":     {[]string{"pod web"}, true, false},
		"Soft":        {[]string{"pod web spread=zone:1:soft"}, true, true},
		"Others":      {[]string{"pod web", "pod db spread=zone:1"}, true, true},
		"Spread":      {[]string{"pod web spread=zone:1"}, false, true},
		"Apart":       {[]string{"pod web apart=zone"}, false, true},
		"Shunned":     {[]string{"pod web", "pod db apart=zone:web"}, false, true},
		"Near":        {[]string{"pod web near=zone:db"}, false, true},
		"PendingDisk": {[]string{"pod a once=v:ebs@?", "pod b once=v:ebs@?"}, false, true},
		"ShunnedDisk": {[]string{"pod a volume=v:ebs@?", "pod b volume=v:ebs@?", "pod db apart=zone:a"}, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			l, pods := ledger.Of(t, tc.pods...)
			if got := pods[0].Indifferent(); got != tc.indifferent || l.Counts() != tc.counts {
				t.Errorf("it is indifferent: %t, and something is counted: %t", got, l.Counts())
			}
		})
	}
}

// In which order classes are placed, and why: which depend on others, and which need a machine of their own.
func TestRank(t *testing.T) {
	for name, tc := range map[string]struct {
		why                      string
		pods                     []string
		rank                     int
		follows, clings, lonely  bool
		wants, spreads, hasOther bool // has other: terms of another key than the zone
	}{
		"Plain":        {"It depends on nothing.", []string{"pod web"}, 1, false, false, false, false, false, false},
		"Zone":         {"Nor is one that is spread by itself.", []string{"pod web spread=zone:1"}, 1, false, false, false, false, true, false},
		"Host":         {"Or over machines.", []string{"pod web spread=host:1"}, 1, false, false, false, false, false, true},
		"Apart":        {"Anti-affinity waits for nothing.", []string{"pod web apart=type"}, 1, false, false, false, false, false, true},
		"Among":        {"One that is spread among others comes after them.", []string{"pod web spread=zone:1:of=db", "pod db"}, 2, true, false, false, false, true, false},
		"Counted":      {"So does one with which others count.", []string{"pod web spread=zone:1", "pod job app=web"}, 2, true, false, false, false, true, false},
		"Near":         {"And one that needs others, of which none is there.", []string{"pod web near=zone:db", "pod db"}, 2, true, false, true, false, false, false},
		"NearFound":    {"Though one is.", []string{"pod web near=zone:db", "pod db0 node=n0 app=db"}, 2, true, false, false, false, false, false},
		"SameHost":     {"Pods that go onto one machine find it first.", []string{"pod web near=host"}, 0, false, true, false, false, false, true},
		"SameHostTold": {"Where one is, the others want that machine.", []string{"pod web near=host", "pod web0 node=n0 app=web"}, 0, false, true, false, true, false, true},
		"SameHostZone": {"The zone of that machine is wanted as well.", []string{"pod web near=host near=zone"}, 0, false, true, false, false, false, true},
		"ApartElse":    {"Others by another key.", []string{"pod web apart=type:db"}, 1, false, false, false, false, false, true},
		"ApartZone":    {"Others by the zone.", []string{"pod web apart=zone:db"}, 1, false, false, false, false, false, false},
		"SameHostElse": {"With others that want nothing, last.", []string{"pod web near=host:db", "pod db"}, 3, true, true, true, false, false, true},
		"Disk":         {"A disk for one node is one machine.", []string{"pod a once=v:ebs", "pod b once=v:ebs"}, 0, false, true, false, false, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			l, pods := ledger.Of(t, tc.pods...)
			clings, _ := advice.Of(l).Clings(pods[0])
			_, lonely := advice.Of(l).Lonely(pods[0])
			_, _, wants := advice.Of(l).Wants(pods[0])
			got := fmt.Sprint(advice.Of(l).Rank(pods[0]), advice.Of(l).Follows(pods[0]), clings, lonely, wants, advice.Of(l).Spreads(pods[0]), advice.Of(l).Reaches(pods[0], label.Zone))
			if want := fmt.Sprint(tc.rank, tc.follows, tc.clings, tc.lonely, tc.wants, tc.spreads, tc.hasOther); got != want {
				t.Errorf("%s rank, follows, clings, lonely, wants, spreads, other keys: %s, want %s", tc.why, got, want)
			}
		})
	}
}

// An empty machine beside others that are empty takes as many pods of a class, alone, as its terms on single machines say.
func TestPerHostIsTheRules(t *testing.T) {
	for _, line := range []string{
		"pod web spread=host:1", "pod web spread=host:3", "pod web spread=host:3 spread=host:2", "pod web spread=host:2 spread=host:3", "pod web apart=host", "pod web spread=host:2 apart=host",
	} {
		l, pods := ledger.Of(t, line)
		most := advice.Of(l).PerHost(pods[0])
		simple, ok := advice.Of(l).Simple(pods[0])
		if !ok || simple.PerHost != most {
			t.Errorf("%s: %d pods on a machine, and %d by what its terms come to", line, most, simple.PerHost)
		}
		for n := range most {
			if !l.Allows(pods[0], 0) || !advice.Of(l).Modest(pods[0], 0) && n > 0 && !strings.Contains(line, "apart") {
				t.Errorf("%s: pod %d of %d is not allowed", line, n+1, most)
			}
			l.Put(pods[0], 0)
		}
		if l.Allows(pods[0], 0) {
			t.Errorf("%s: more than %d pods are allowed", line, most)
		}
		least := 0
		for _, c := range advice.Of(l).Caps(pods[0]) {
			if least == 0 || c.Cap < least {
				least = c.Cap
			}
		}
		if least != most {
			t.Errorf("%s: %d pods on a machine, and its caps say %d", line, most, least)
		}
	}
	if l, pods := ledger.Of(t, "pod web apart=zone"); len(advice.Of(l).Caps(pods[0])) != 0 {
		t.Error("one in each zone is told as a cap on what one machine holds of several classes")
	}
	for _, line := range []string{"pod web spread=zone:1", "pod web spread=host:1:of=db", "pod web apart=host:db"} {
		if l, pods := ledger.Of(t, line); advice.Of(l).PerHost(pods[0]) != 0 || len(advice.Of(l).Caps(pods[0])) != 0 {
			t.Errorf("%s says how many pods a machine takes", line)
		}
	}
}

// One more pod is modest where a machine would be allowed it with an empty one beside it.
func TestModest(t *testing.T) {
	l, pods := ledger.Of(t, "pod web spread=host:2", "pod other spread=host:1:of=web", "pod web0 node=n0 app=web", "pod web1 node=n0 app=web", "pod web2 node=n1 app=web")
	bare := l.Enter(&fit.Place{Name: "bare", Labels: map[string]string{label.Zone: "a"}})
	for n, want := range map[int][2]bool{0: {false, false}, 1: {true, true}, 2: {true, true}, bare: {true, true}} {
		if got := [2]bool{advice.Of(l).Modest(pods[0], n), advice.Of(l).Modest(pods[1], n)}; got != want {
			t.Errorf("on machine %d web and other are modest: %v, want %v", n, got, want)
		}
	}
	if l, pods := ledger.Of(t, "pod web spread=zone:1", "pod web0 node=n0 app=web"); !advice.Of(l).Modest(pods[0], 0) {
		t.Error("a constraint on zones is about zones")
	}
}

// What pods lose that go to a machine, told by the path of the term in the pod.
func TestLosses(t *testing.T) {
	l, pods := ledger.Of(t, "pod web near=zone:db:30 apart=host:db:20 spread=host:1:soft", "pod db0 node=n0 app=db", "pod web0 node=n1 app=web")
	for n, want := range [][]spread.Lost{
		{{Weight: 20, Term: "podAntiAffinity preferred (kubernetes.io/hostname)", Of: spread.Soft{Kind: spread.SoftPodTerm, At: 1}}},
		{{Weight: terms.SoftSpread, Term: "topologySpreadConstraints[0] (kubernetes.io/hostname)", Of: spread.Soft{Kind: spread.SoftConstraint}}},
		{{Weight: 30, Term: "podAffinity preferred (topology.kubernetes.io/zone)", Of: spread.Soft{Kind: spread.SoftPodTerm}}},
	} {
		l.Put(pods[0], n)
		if diff := cmp.Diff(want, l.Losses(pods[0], n)); diff != "" {
			t.Errorf("on n%d: -want +got\n%s", n, diff)
		}
		l.Take(pods[0], n)
	}
}

// Which classes keep away from which, and draw which, by domains larger than a machine.
func TestBetweenClasses(t *testing.T) {
	l, pods := ledger.Of(t, "pod web apart=zone:db near=zone:cache", "pod db", "pod cache", "pod db0 node=n2 app=db apart=zone:other")
	web, db, cache := pods[0], pods[1], pods[2]
	group, key, shuns := advice.Of(l).Shuns(web)
	if !shuns || key != label.Zone || !db.In(group) || cache.In(group) {
		t.Errorf("web keeps away from db by zone: %t by %s", shuns, key)
	}
	alone, few := ledger.Of(t, "pod web apart=zone:db", "pod db0 node=n0 app=db apart=zone:web")
	if _, _, shuns := advice.Of(alone).Shuns(few[0]); shuns || advice.Of(alone).Shunned(few[0]) {
		t.Error("pods that run are told as planned ones that web keeps away from, or that keep away from it")
	}
	both, near := ledger.Of(t, "pod web apart=host:db", "pod db", "pod like apart=zone")
	for i, name := range []string{"web, which keeps away on a machine", "db, which is kept away from there", "like, which keeps away from its own"} {
		if _, _, shuns := advice.Of(both).Shuns(near[i]); shuns || advice.Of(both).Shunned(near[i]) {
			t.Errorf("%s is told as one whose zone depends on that of others", name)
		}
	}
	if advice.Of(l).Shunned(web) || !advice.Of(l).Shunned(db) || advice.Of(l).Shunned(cache) {
		t.Errorf("others keep away from web %t, db %t and cache %t; want db only", advice.Of(l).Shunned(web), advice.Of(l).Shunned(db), advice.Of(l).Shunned(cache))
	}
	if !advice.Of(l).Draws(web, cache) || advice.Of(l).Draws(web, db) || advice.Of(l).Draws(db, web) {
		t.Error("web wants cache near, and no other does")
	}
	l.Put(web, 0)
	if a, b, none := advice.Of(l).Keepers(group, "a"), advice.Of(l).Keepers(group, "b"), advice.Of(l).Keepers(group, "z"); a != 1 || b != 0 || none != 0 {
		t.Errorf("in zones a, b and z %d, %d and %d pods keep away from db; want 1, 0 and 0", a, b, none)
	}
	if got, ok := advice.Of(l).Lonely(web); !ok || !cache.In(got) {
		t.Error("no cache is there, and web is not said to wait for one")
	}
	before := l.Opening(mustGroup(t, l, web))
	l.Put(cache, 1)
	if _, ok := advice.Of(l).Lonely(web); ok || l.Opening(mustGroup(t, l, web)) <= before {
		t.Error("a cache is there, and web is said to wait for one")
	}
}

// mustGroup is the group whose company the class wants.
func mustGroup(t *testing.T, l *spread.Ledger, s *terms.PodInfo) int32 {
	t.Helper()
	group, _, _ := advice.Of(l).Wants(s)
	return group
}

// The groups that count a class which does not carry their term, and those that it carries.
func TestStrays(t *testing.T) {
	l, pods := ledger.Of(t, "pod web spread=zone:1", "pod job app=web", "pod other", "pod among spread=zone:1:of=web")
	web, job, other := pods[0], pods[1], pods[2]
	if n := len(advice.Of(l).Strays(web)) + len(advice.Of(l).Strays(other)); n != 0 {
		t.Errorf("web carries its constraint, and nothing counts other: %d", n)
	}
	strays := advice.Of(l).Strays(job)
	if len(strays) != 1 {
		t.Fatalf("the constraint of web counts job: %v", strays)
	}
	loose := map[int32]bool{strays[0]: true}
	if !web.CarriesAny(loose) || job.CarriesAny(loose) || other.CarriesAny(loose) {
		t.Error("web carries it, and neither job nor other does")
	}
	home, both := ledger.Of(t, "pod web near=zone", "pod job app=web")
	if n, of := len(advice.Of(home).Strays(both[0])), len(advice.Of(home).Strays(both[1])); n != 0 || of != 1 {
		t.Errorf("web wants its own company, and job is of it: %d and %d groups count them astray", n, of)
	}
	l.Put(job, 2)
	if diff := cmp.Diff(map[string]int{"a": 0, "b": 1}, advice.Of(l).ByDomain(strays[0])); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if at := (&fit.Place{Name: "n0", Labels: map[string]string{label.Zone: "b", label.Hostname: "n0"}}); advice.Of(l).Fullness(web, at) != 1 || advice.Of(l).Fullness(other, at) != 0 {
		t.Errorf("in zone b web meets %d of its like, want 1; other meets %d, want 0", advice.Of(l).Fullness(web, at), advice.Of(l).Fullness(other, at))
	}
	if key, group, skew, ok := advice.Of(l).SpreadOver(web); !ok || key != label.Zone || group != strays[0] || skew != 1 {
		t.Errorf("web is spread over zones: %s, skew %d, %t", key, skew, ok)
	}
	for _, p := range []*terms.PodInfo{job, pods[3]} {
		if _, _, _, ok := advice.Of(l).SpreadOver(p); ok {
			t.Error("job is not spread, and among is not counted by its constraint")
		}
	}
	apart, few := ledger.Of(t, "pod host spread=host:1", "pod zones spread=zone:1:min=3", "pod db", "pod web apart=zone:db", "pod near near=zone")
	for i, p := range few {
		if _, _, _, ok := advice.Of(apart).SpreadOver(p); ok || len(advice.Of(apart).Strays(p)) > 0 {
			t.Errorf("class %d is spread over machines, wants more zones than there may be, is kept away from, or carries its term itself", i)
		}
	}
	l.Take(job, 2)
	l.Leave(2)
	if diff := cmp.Diff(map[string]int{"a": 0}, advice.Of(l).ByDomain(strays[0])); diff != "" {
		t.Errorf("zone b has no machine any more: -want +got\n%s", diff)
	}
}

// A machine holds the company of pods that want it there.
func TestHosts(t *testing.T) {
	l, pods := ledger.Of(t, "pod web near=host", "pod web0 node=n1 app=web")
	group, changes, wanted := advice.Of(l).Wants(pods[0])
	if !pods[0].CarriesAny(map[int32]bool{group: true}) || pods[0].CarriesAny(map[int32]bool{group + 1: true}) {
		t.Error("web carries the term of its group only")
	}
	open := l.Opening(group)
	l.Put(pods[0], 0)
	_, came, _ := advice.Of(l).Wants(pods[0])
	if came == changes || l.Opening(group) != open+1 || !advice.Of(l).Hosts(group, 0) {
		t.Errorf("n0 has company now: %d changes after %d, %d machines after %d", came, changes, l.Opening(group), open)
	}
	l.Take(pods[0], 0)
	if _, left, _ := advice.Of(l).Wants(pods[0]); left == came || left == changes || l.Opening(group) != open {
		t.Errorf("n0 has none any more: %d changes after %d, %d machines", left, came, l.Opening(group))
	}
	if !wanted || advice.Of(l).Hosts(group, 0) || !advice.Of(l).Hosts(group, 1) {
		t.Errorf("n1 holds the company of web, n0 does not: %t, %t, %t", wanted, advice.Of(l).Hosts(group, 0), advice.Of(l).Hosts(group, 1))
	}
}

// By which labels of machines groups tell those that they count from others, and what is the same of two machines for all groups.
func TestSought(t *testing.T) {
	for name, tc := range map[string]struct {
		why  string
		pods []string
		want []string
		same bool // machines of arm64 and amd64 are the same
	}{
		"None":     {"Nothing is spread.", []string{"pod web select=kubernetes.io/arch:arm64"}, nil, true},
		"Anywhere": {"Pods that go anywhere are counted everywhere.", []string{"pod web spread=zone:1"}, nil, true},
		"Any":      {"So are those for which nodeAffinityPolicy is Ignore.", []string{"pod web spread=zone:1:any select=kubernetes.io/arch:arm64"}, nil, true},
		"Selector": {"Machines that the pod does not select do not count.", []string{"pod web spread=zone:1 select=kubernetes.io/arch:arm64"}, []string{label.Zone, label.Arch}, false},
		"Affinity": {"Nor do those that its node affinity leaves out.", []string{"pod web spread=zone:1 affinity=kubernetes.io/arch:arm64"}, []string{label.Zone, label.Arch}, false},
		"Both":     {"One of both is named once.", []string{"pod web spread=zone:1 spread=host:1 select=kubernetes.io/arch:arm64 affinity=kubernetes.io/arch:arm64"}, []string{label.Hostname, label.Zone, label.Arch}, false},
		"ByName":   {"One that chooses by names has a zone at the least.", []string{"pod web spread=type:1 affinity=name:n0"}, []string{label.InstanceType, label.Zone}, true},
	} {
		t.Run(name, func(t *testing.T) {
			l, _ := ledger.Of(t, tc.pods...)
			if diff := cmp.Diff(tc.want, advice.Of(l).Sought()); diff != "" {
				t.Errorf("%s -want +got\n%s", tc.why, diff)
			}
			cover := func(arch string) []byte {
				return advice.Of(l).AppendCover(nil, &fit.Place{Name: "n", Labels: map[string]string{label.Zone: "a", label.Hostname: "n", label.InstanceType: "t", label.Arch: arch}})
			}
			if same := string(cover("arm64")) == string(cover("amd64")); same != tc.same || (len(cover("arm64")) > 0) != (len(tc.want) > 0) {
				t.Errorf("%s Machines of both architectures are the same: %t", tc.why, same)
			}
		})
	}
}

// Where new machines come with pods that a term counts, those of a DaemonSet, the pods that carry it are placed one by
// one, and what others come to does not depend on it.
func TestDelivered(t *testing.T) {
	key := world.Key{Namespace: "default", Name: "agent"}
	agent := &world.DaemonSet{Key: key, Pod: world.Pod{Key: key, Labels: map[string]string{"app": "web"}, DaemonSet: "agent"}}
	for name, lines := range map[string][]string{
		"Spread": {"pod web spread=zone:1", "pod job app=web"}, "OnHosts": {"pod web spread=host:1", "pod job app=web"},
		"Near": {"pod web near=zone", "pod job app=web"}, "NearOnHosts": {"pod web near=host", "pod job app=web"}, "NearAll": {"pod web near=host", "pod job"}, "Seeks": {"pod x near=host:web", "pod job app=web"},
	} {
		t.Run(name, func(t *testing.T) {
			scene := enginetest.NewScene()
			l := spread.New(nil)
			var pods []*world.Pod
			for _, line := range lines {
				if err := scene.Line(line); err != nil {
					t.Fatal(err)
				}
				p := scene.World().Pod(world.Key{Namespace: "default", Name: strings.Fields(line)[1]})
				l.Enlist(p)
				pods = append(pods, p)
			}
			if got := l.Company([]*world.DaemonSet{agent}); len(got) != 1 {
				t.Fatalf("%d DaemonSets matter, want the agent", len(got))
			}
			web, job := l.PodInfo(pods[0]), l.PodInfo(pods[1])
			a := advice.Of(l)
			if s, ok := a.Simple(web); ok {
				t.Errorf("the terms of the pods that carry it come to %s", text(s))
			}
			if s, ok := a.Simple(job); !ok || text(s) != "" || len(a.Strays(job)) > 0 {
				t.Errorf("the terms of others come to %s, %t", text(s), ok)
			}
			_, _, _, over := a.SpreadOver(web)
			_, seeks := a.SeeksCompany(web)
			_, lonely := a.Lonely(web)
			_, _, one := a.OnOneMachine(web)
			if over || seeks || lonely || one {
				t.Errorf("they are spread over zones %t, seek company %t and wait for it %t, or share one machine %t", over, seeks, lonely, one)
			}
		})
	}
}
