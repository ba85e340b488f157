package loop_test

import (
	"testing"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/record"

	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/loop"
)

// An event about what a kubelet said is text that the API server takes, whatever was said.
func TestEventsAreUTF8(t *testing.T) {
	to := record.NewFakeRecorder(1)
	loop.NewEvents(clock.Wall, to).Warning(&corev1.Node{}, "NodeRepairBlocked", "the node says %s", "\xff\xfe")
	if got := <-to.Events; !utf8.ValidString(got) {
		t.Errorf("%q", got)
	}
}
