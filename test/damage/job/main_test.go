package main

import "testing"

// Asking for the usage is no failure.
func TestHelp(t *testing.T) {
	ok, err := run(t.Context(), []string{"-h"}, t.Output())
	if !ok || err != nil {
		t.Errorf("-h ends with %t, %v", ok, err)
	}
}
