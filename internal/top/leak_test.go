package top

import (
	"testing"

	"go.uber.org/goleak"
)

// ticks is a goroutine of bubbletea that ends when its tick is due, however long its program has ended before.
const ticks = "charm.land/bubbletea/v2.Tick.func1"

// TestMain fails where a test leaves a goroutine behind.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction(ticks)) }
