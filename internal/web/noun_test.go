package web

import "testing"

// One of a thing is not called by the name of several.
func TestOneIsNotCalledSeveral(t *testing.T) {
	for n, want := range []string{"new nodes", "new node", "new nodes"} {
		if got := noun(n, "new node"); got != want {
			t.Errorf("%d %s, want %s", n, got, want)
		}
	}
}
