package size

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain fails where a test leaves a goroutine behind.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		if dir, err := folder(); err == nil {
			_ = os.RemoveAll(dir)
		}
		os.Exit(code)
	}))
}
