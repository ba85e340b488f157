package written_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/tenon-sh/tenon/internal/written"
)

func object(uid, version string) *metav1.ObjectMeta {
	return &metav1.ObjectMeta{Name: "o", UID: types.UID(uid), ResourceVersion: version}
}

func TestNewer(t *testing.T) {
	tests := map[string]struct {
		why  string
		a, b string
		want bool
	}{
		"Longer":   {"Versions are numbers, not text.", "10", "9", true},
		"Shorter":  {"", "9", "10", false},
		"Same":     {"", "10", "10", false},
		"Large":    {"They may have more digits than a number of Go.", "100000000000000000000001", "100000000000000000000000", true},
		"OtherBad": {"What has no version is older.", "1", "", true},
		"Bad":      {"", "", "1", false},
		"BothBad":  {"", "", "x", false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := written.Newer(tc.a, tc.b); got != tc.want {
				t.Errorf("%q newer than %q: %t: %s", tc.a, tc.b, got, tc.why)
			}
		})
	}
	for version, want := range map[string]string{"9": "10", "99999999999999999999": "100000000000000000000", "": ""} {
		if got := written.Next(version); got != want {
			t.Errorf("after %q comes %q, want %q", version, got, want)
		}
	}
}

func TestLog(t *testing.T) {
	at := func(s int64) time.Time { return time.Unix(s, 0) }
	var l written.Log[string]
	newer := func(why, uid, version, want string, now time.Time) {
		t.Helper()
		if got, _ := l.Newer(object(uid, version), now); got != want {
			t.Errorf("%s: %q, want %q", why, got, want)
		}
	}
	newer("nothing was written", "1", "5", "", at(0))
	l.Set(object("1", "10"), "ten", written.Write, at(0))
	newer("a watch is behind", "1", "9", "ten", at(0))
	newer("a watch has caught up", "1", "10", "", at(0))
	newer("a new object took the name", "2", "3", "", at(0))
	newer("it may have come and gone", "1", "9", "", at(31))
	if l.Set(object("1", "9"), "nine", written.Watch, at(1)) {
		t.Error("an old event undid a newer write")
	}
	if lost := l.Lost(at(60)); len(lost) > 0 {
		t.Errorf("%v was shown, if only as it was before", lost)
	}
	if v, ok := l.Known(object("1", "")); v != "ten" || !ok {
		t.Errorf("known is %q", v)
	}
	if !l.Set(object("2", "3"), "new", written.Write, at(60)) {
		t.Error("a new object is older than the old one of its name")
	}
	if l.Forget("o", "1") {
		t.Error("the end of an old object ended its successor")
	}
	if lost := l.Lost(at(90)); len(lost) > 0 {
		t.Errorf("%v is lost already", lost)
	}
	if lost := l.Lost(at(91)); len(lost) != 1 {
		t.Errorf("lost is %v, want what no watch has shown", lost)
	}
	if _, ok := l.Known(object("2", "")); ok {
		t.Error("what is lost is known")
	}
}
