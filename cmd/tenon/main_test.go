package main

import (
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"tenon": main})
}

// TestScript runs the program as people do: testdata/script holds what they
// type and what they see. $GUIDE is docs/guide.
func TestScript(t *testing.T) {
	guide, err := filepath.Abs("../../docs/guide")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Setenv("GUIDE", guide)
			return nil
		},
	})
}
