package advice_test

import (
	"slices"
	"testing"

	"github.com/tenon-sh/tenon/engine/enginetest/ledger"
	"github.com/tenon-sh/tenon/engine/spread/advice"
)

// Which pods seek company on the very machine that goes wherever it likes.
func TestSeeksCompany(t *testing.T) {
	for name, test := range map[string]struct {
		why   string
		lines []string
		want  bool
	}{
		"OfOthers":  {"The others carry no such term.", []string{"pod x near=host:db", "pod db"}, true},
		"OfItself":  {"Pods that want their own company have to share one machine.", []string{"pod x near=host"}, false},
		"OfSome":    {"Some of its company goes where it likes.", []string{"pod x near=host", "pod y app=x"}, true},
		"OfNone":    {"There is no company.", []string{"pod x near=host:db", "pod y"}, false},
		"InTheZone": {"It may be on another machine.", []string{"pod x near=zone:db", "pod db"}, false},
		"Both":      {"The zone has a say as well.", []string{"pod x near=host:db near=zone:db", "pod db"}, false},
		"Plain":     {"It wants none.", []string{"pod x", "pod db"}, false},
		"Spread":    {"It is also spread.", []string{"pod x near=host:db spread=zone:1", "pod db"}, false},
		"Apart":     {"It also keeps away from its like.", []string{"pod x near=host:db apart=host", "pod db"}, false},
		"Shunned":   {"Others keep away from it.", []string{"pod x near=host:db", "pod db", "pod y apart=host:x"}, false},
		"Soft":      {"It would rather be spread.", []string{"pod x near=host:db spread=zone:1:soft", "pod db"}, false},
		"Disk":      {"It has a disk together with others.", []string{"pod x near=host:db once=v:ebs", "pod db", "pod y once=v:ebs"}, false},
		"Pending":   {"It waits for a volume together with others.", []string{"pod x near=host:db volume=v:ebs@?", "pod db", "pod y volume=v:ebs@?"}, false},
	} {
		l, pods := ledger.Of(t, test.lines...)
		if _, got := advice.Of(l).SeeksCompany(pods[0]); got != test.want {
			t.Errorf("%s: %t: %s", name, got, test.why)
		}
	}
}

// Which pods are planned for as if those that seek their company were part of them.
func TestLeads(t *testing.T) {
	for name, test := range map[string]struct {
		why   string
		lines []string // the first seeks the company of the second
		want  bool
	}{
		"Plain":          {"It goes where it likes.", []string{"pod x near=host:db", "pod db"}, true},
		"Near":           {"All of its like are in one zone, and so are those that seek its company.", []string{"pod x near=host:db", "pod db near=zone"}, true},
		"NearBoth":       {"The zone is wanted of both, and both are there.", []string{"pod x near=host:db app=db", "pod db near=zone"}, true},
		"Seeks":          {"It has to have company itself.", []string{"pod x near=host:db", "pod db near=host", "pod y app=db"}, false},
		"Spread":         {"It is divided among zones.", []string{"pod x near=host:db", "pod db spread=zone:1"}, false},
		"SpreadOnHosts":  {"A machine holds few of it.", []string{"pod x near=host:db", "pod db spread=host:1"}, false},
		"Apart":          {"A machine holds one of it.", []string{"pod x near=host:db", "pod db apart=host"}, false},
		"ApartOfOthers":  {"It keeps away from others.", []string{"pod x near=host:db", "pod db apart=host:y", "pod y"}, false},
		"Shunned":        {"Others keep away from it.", []string{"pod x near=host:db", "pod db", "pod y apart=host:db"}, false},
		"Counted":        {"Others are divided among zones by it.", []string{"pod x near=host:db", "pod db", "pod y spread=zone:1:of=db"}, false},
		"CountedOnHosts": {"Others are divided among machines by it.", []string{"pod x near=host:db", "pod db", "pod y spread=host:1:of=db"}, false},
		"Among":          {"It goes where others are few.", []string{"pod x near=host:db", "pod db spread=zone:1:of=y", "pod y"}, false},
		"SeekerCounted":  {"Others are divided among zones by those that seek its company.", []string{"pod x near=host:db", "pod db", "pod y spread=zone:1:of=x"}, false},
		"SeekerDivided":  {"Others are divided among zones together with those that seek its company.", []string{"pod x near=host:db", "pod db", "pod y app=x spread=zone:1:of=x"}, false},
		"SeekerSoftly":   {"They would rather be, which is for each of them to find out.", []string{"pod x near=host:db", "pod db", "pod y spread=zone:1:of=x:soft"}, true},
		"Soft":           {"It would rather be in another zone.", []string{"pod x near=host:db", "pod db spread=zone:1:soft"}, false},
		"Follows":        {"It is in the zone of others.", []string{"pod x near=host:db", "pod db near=zone:y", "pod y"}, false},
		"AmongOnHosts":   {"It goes to machines where others are few.", []string{"pod x near=host:db", "pod db spread=host:2:of=y", "pod y"}, false},
	} {
		l, pods := ledger.Of(t, test.lines...)
		g, ok := advice.Of(l).SeeksCompany(pods[0])
		if !ok || !slices.Contains(pods[1].Members, g) {
			t.Errorf("%s: x does not seek the company of db", name)
		}
		if got := advice.Of(l).Leads(pods[1], advice.Of(l).CountedBeside(pods[0])); got != test.want {
			t.Errorf("%s: %t: %s", name, got, test.why)
		}
	}
}

// Which pods have to share one machine with all of their group.
func TestOnOneMachine(t *testing.T) {
	for name, test := range map[string]struct {
		lines  []string
		want   bool
		placed int
	}{
		"Own":     {[]string{"pod x near=host", "pod y app=x near=host:x"}, true, 0},
		"There":   {[]string{"pod x near=host", "pod x1 node=n1 app=x near=host"}, true, 1},
		"Without": {[]string{"pod x near=host", "pod y app=x"}, false, 0},
		"Others":  {[]string{"pod x near=host:y", "pod y"}, false, 0},
		"Gone":    {[]string{"pod x near=host:y"}, false, 0},
		"Both":    {[]string{"pod x near=host near=zone"}, false, 0},
		"Zone":    {[]string{"pod x near=zone"}, false, 0},
		"None":    {[]string{"pod x"}, false, 0},
	} {
		l, pods := ledger.Of(t, test.lines...)
		if _, placed, got := advice.Of(l).OnOneMachine(pods[0]); got != test.want || got && placed != test.placed {
			t.Errorf("%s: %t with %d there, want %t with %d", name, got, placed, test.want, test.placed)
		}
	}
}
