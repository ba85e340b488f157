package matrix

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain fails where a test leaves a goroutine behind, but for what bubbled expects.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("sigs.k8s.io/"+queues+"(*priorityqueue[...]).handleReadyItems"))
}
