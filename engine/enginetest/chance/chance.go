// Package chance checks properties on the same draws every time.
//
// A test that draws differently on each run finds more in the end, but it fails for a
// change that has nothing to do with what it finds. So what gates a change
// draws from one seed, and fresh draws are made where they are waited for.
package chance

import (
	"flag"
	"os"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// Fresh is the environment variable that has every run draw differently.
const Fresh = "TENON_TEST_FRESH"

// seed is what is drawn from. Its value means nothing.
const seed = "20260801"

// Check is rapid.Check with draws that are the same in every run, unless
// -rapid.seed or RAPID_SEED names others, or Fresh is set.
func Check(t *testing.T, property func(*rapid.T)) {
	t.Helper()
	fix()
	rapid.Check(t, property)
}

//nolint:gochecknoglobals // the flag that is set belongs to the process
var fix = sync.OnceFunc(func() {
	f := flag.Lookup("rapid.seed")
	if f == nil {
		panic("rapid has no flag rapid.seed any more: find another way to fix what it draws")
	}
	if f.Value.String() != "0" || os.Getenv(Fresh) != "" { //nolint:forbidigo // tests have no command that reads settings
		return
	}
	if err := f.Value.Set(seed); err != nil {
		panic("rapid.seed: " + err.Error())
	}
})
