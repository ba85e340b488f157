package playground

import (
	"slices"
	"testing"
)

// What bounds the memory of a playground's control plane is not for the controller that runs in it.
func TestControllerSetsItsOwnMemory(t *testing.T) {
	t.Setenv("GOGC", "400")
	t.Setenv("GOMEMLIMIT", "8GiB")
	t.Setenv("GOMAXPROCS", "2")
	env := Options{Dir: Dir(t.TempDir())}.toController()
	for e, want := range map[string]bool{"GOGC=400": false, "GOMEMLIMIT=8GiB": false, "GOMAXPROCS=2": true, "BIND_ADDRESS=127.0.0.1": true} {
		if got := slices.Contains(env, e); got != want {
			t.Errorf("a controller of the playground sees %s: %t, want %t", e, got, want)
		}
	}
}
