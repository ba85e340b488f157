package loop_test

import (
	"testing"
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

// An event about what a kubelet said is text that the API server takes, whatever was said.
func TestEventsAreUTF8(t *testing.T) {
	to := record.NewFakeRecorder(1)
	loop.NewEvents(clock.Wall, to).Warning(&corev1.Node{}, "NodeRepairBlocked", "the node says %s", "\xff\xfe")
	if got := <-to.Events; !utf8.ValidString(got) {
		t.Errorf("%q", got)
	}
}
