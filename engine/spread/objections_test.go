package spread_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tenon-sh/tenon/engine/enginetest/ledger"
	"github.com/tenon-sh/tenon/engine/fit"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/spread"
	"github.com/tenon-sh/tenon/engine/spread/terms"
	"github.com/tenon-sh/tenon/engine/world"
)

// What people are told that keeps a pod from a node; nothing where it may go.
func TestObjections(t *testing.T) {
	const zone, host = label.Zone, label.Hostname
	for name, tc := range map[string]struct {
		pods []string
		want [3]string // on n0 and n1 in zone a, and n2 in b
	}{
		"Spread": {
			[]string{"pod web spread=zone:1", "pod web0 node=n0 app=web"},
			[3]string{zone + " a has 1, the least is 0, maxSkew 1 (a 1, b 0)", zone + " a has 1, the least is 0, maxSkew 1 (a 1, b 0)", ""},
		},
		"MinDomains": {
			[]string{"pod web spread=zone:1:min=3", "pod web0 node=n2 app=web"},
			[3]string{"", "", zone + " b has 1, the least is 0, maxSkew 1, minDomains 3 and 2 known (a 0, b 1)"},
		},
		"NoLabel":     {[]string{"pod web spread=rack:1"}, [3]string{"rack is not a label there", "rack is not a label there", "rack is not a label there"}},
		"NoZoneLabel": {[]string{"pod web near=failure-domain.beta.kubernetes.io/zone"}, [3]string{zoneMeant, zoneMeant, zoneMeant}},
		"Misspelt":    {[]string{"pod web spread=topology.kubernetes.io/zones:1"}, [3]string{misspelt, misspelt, misspelt}},
		"Apart": {
			[]string{"pod web apart=zone:db", "pod db0 node=n1 app=db"},
			[3]string{zone + " a has pods with app In [db]", zone + " a has pods with app In [db]", ""},
		},
		"KeptAway": {[]string{"pod web", "pod db0 node=n1 apart=host:web"}, [3]string{"", host + " n1 has pods that keep away from app In [web]", ""}},
		"Near": {
			[]string{"pod web near=zone:db", "pod db0 node=n2 app=db"},
			[3]string{"no pod with app In [db] in " + zone + " a", "no pod with app In [db] in " + zone + " a", ""},
		},
		"NearNone": {[]string{"pod web near=zone:db"}, [3]string{"no pod with app In [db] runs anywhere", "no pod with app In [db] runs anywhere", "no pod with app In [db] runs anywhere"}},
		"NearTwo": {
			[]string{"pod web near=zone:db near=host:cache", "pod db0 node=n2 app=db"},
			[3]string{"no pod with app In [db] and app In [cache] runs anywhere", "no pod with app In [db] and app In [cache] runs anywhere", "no pod with app In [db] and app In [cache] runs anywhere"},
		},
		"Disk":       {[]string{"pod web once=v:ebs", "pod web0 node=n1 once=v:ebs"}, [3]string{"v is for one node at a time (ReadWriteOnce), and another pod has it on n1", "", "v is for one node at a time (ReadWriteOnce), and another pod has it on n1"}},
		"DiskLeaves": {[]string{"pod web once=v:ebs", "pod web0 node=n1 once=v:ebs terminating"}, [3]string{"", "", ""}},
		"DiskForPod": {[]string{"pod web oncepod=v:ebs", "pod web0 node=n1 oncepod=v:ebs terminating"}, [3]string{onePod, onePod, onePod}},
		"Leaving":    {[]string{"pod web spread=zone:1", "pod web0 node=n0 app=web terminating"}, [3]string{"", "", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			l, pods := ledger.Of(t, tc.pods...)
			for n, want := range tc.want {
				got := said(l, pods[0], n)
				if got != want {
					t.Errorf("on n%d: %q, want %q", n, got, want)
				}
				if l.Allows(pods[0], n) != (want == "") {
					t.Errorf("on n%d it is allowed: %t", n, want != "")
				}
			}
		})
	}
}

const (
	zoneMeant = "failure-domain.beta.kubernetes.io/zone is not a label there (is topology.kubernetes.io/zone meant?)"
	misspelt  = "topology.kubernetes.io/zones is not a label there (is topology.kubernetes.io/zone meant?)"
	onePod    = "v is for one pod at a time (ReadWriteOncePod), and another has it on n1"
)

// said is what keeps a pod from a machine, in words.
func said(l *spread.Ledger, s *terms.PodInfo, n int) string {
	var out []string
	for _, why := range l.Objections(s, n, "") {
		out = append(out, why.Detail)
	}
	return strings.Join(out, "; ")
}

// What people are told that keeps a pod from a machine that would be bought, and what to do instead.
func TestObjectionsToNewMachines(t *testing.T) {
	for name, tc := range map[string]struct {
		pods []string
		zone string
		want string
	}{
		"Disk": {
			[]string{"pod web once=v:ebs", "pod web0 node=n1 once=v:ebs"},
			"a",
			"v is for one node at a time (ReadWriteOnce), and another pod has it on n1 → make room on n1, or have pods share volumes that are ReadWriteMany",
		},
		"Near":    {[]string{"pod web near=host:db", "pod db0 node=n1 app=db"}, "a", "the pods with app In [db] are on other nodes"},
		"NoZone":  {[]string{"pod web spread=zone:1"}, "", "topology.kubernetes.io/zone is not a label there"},
		"NewZone": {[]string{"pod web spread=zone:1", "pod web0 node=n0 app=web", "pod web1 node=n2 app=web"}, "c", ""},
		"OldZone": {[]string{"pod web spread=zone:1", "pod web0 node=n0 app=web"}, "a", "topology.kubernetes.io/zone a has 1, the least is 0, maxSkew 1 (a 1, b 0)"},
	} {
		t.Run(name, func(t *testing.T) {
			l, pods := ledger.Of(t, tc.pods...)
			var out []string
			at := &fit.Place{Labels: map[string]string{label.Zone: tc.zone, label.Hostname: ""}}
			if tc.zone == "" {
				delete(at.Labels, label.Zone)
			}
			for _, why := range l.ObjectionsNew(pods[0], at) {
				out = append(out, why.Said())
			}
			if got := strings.Join(out, "; "); got != tc.want || l.AllowsNew(pods[0], at) != (tc.want == "") {
				t.Errorf("%q, want %q; it is allowed: %t", got, tc.want, l.AllowsNew(pods[0], at))
			}
		})
	}
}

// Of very many domains so many are counted that the text can be read.
func TestObjectionsOfManyDomains(t *testing.T) {
	web := &world.Pod{Key: world.Key{Namespace: "d", Name: "web"}, Labels: map[string]string{"app": "x"}, Spread: []world.Spread{{Key: label.Hostname, MaxSkew: 1, Selector: picks("x")}}}
	for hosts, want := range map[int]string{25: "x25 0)", 28: "x25 0 and 3 others)"} {
		l := spread.New(nil)
		l.Enlist(web)
		for i := range hosts {
			l.Enter(&fit.Place{Name: "n", Labels: map[string]string{label.Hostname: fmt.Sprintf("x%02d", i+1)}})
		}
		l.Run(&world.Pod{Key: world.Key{Namespace: "d"}, Labels: web.Labels}, 0)
		whys := l.Objections(l.PodInfo(web), 0, "n")
		if len(whys) != 1 || !strings.HasSuffix(whys[0].Detail, want) || whys[0].About.Key != label.Hostname || whys[0].About.Value != "x01" {
			t.Errorf("of %d hosts it says %v, about %+v; want %s", hosts, whys, whys[0].About, want)
		}
	}
}
