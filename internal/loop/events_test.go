package loop_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/record"

	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/loop"
)

// Pods of one name in two namespaces, or one after the other, each have their event (D-15); a pod that is told something twice has it once.
func TestEventsAreOfObjects(t *testing.T) {
	to := record.NewFakeRecorder(9)
	e := loop.NewEvents(clock.Wall, to)
	for _, o := range []metav1.ObjectMeta{
		{Namespace: "a", Name: "web-0", UID: "1"}, {Namespace: "b", Name: "web-0", UID: "2"}, {Namespace: "b", Name: "web-0", UID: "3"}, {Namespace: "a", Name: "web-0", UID: "1"},
	} {
		e.Normal(&corev1.Pod{ObjectMeta: o}, "Nominated", "%s", "there is a place for it")
	}
	if n := len(to.Events); n != 3 {
		t.Errorf("%d events, want one for each of three pods", n)
	}
}

// Of a reason with a pace no more are published than it allows; of other reasons all are, and what was left out is no longer due.
func TestEventsHavePaces(t *testing.T) {
	to := record.NewFakeRecorder(99)
	now := time.Date(2026, 11, 25, 1, 0, 0, 0, time.UTC)
	e := loop.NewEvents(func() time.Time { return now }, to)
	e.Pace("Nominated", 10, 3)
	failed := 0
	published := func() int {
		for i := range 6 {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: fmt.Sprintf("web-%d", i)}}
			e.Normal(pod, "Nominated", "there is a place for it since %s", now)
			e.Warning(pod, "FailedScheduling", "no node takes it since %s", now)
		}
		n := 0
		for total := len(to.Events); total > 0; total-- {
			if strings.Contains(<-to.Events, "Nominated") {
				n++
			} else {
				failed++
			}
		}
		return n
	}
	if n := published(); n != 3 {
		t.Errorf("%d of six pods heard where they are expected, want three at once", n)
	}
	now = now.Add(200 * time.Millisecond)
	if n := published(); n != 2 {
		t.Errorf("%d of six pods heard it after a fifth of a second, want two", n)
	}
	if failed != 12 {
		t.Errorf("%d warnings, want all of twelve", failed)
	}
}

// An event about what a kubelet said is text that the API server takes, whatever was said.
func TestEventsAreUTF8(t *testing.T) {
	to := record.NewFakeRecorder(1)
	loop.NewEvents(clock.Wall, to).Warning(&corev1.Node{}, "NodeRepairBlocked", "the node says %s", "\xff\xfe")
	if got := <-to.Events; !utf8.ValidString(got) {
		t.Errorf("%q", got)
	}
}
