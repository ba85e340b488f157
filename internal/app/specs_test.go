package app_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// A controller that declares what it touches is granted it: its Spec is among those the roles are made from.
func TestEverySpecIsListed(t *testing.T) {
	list, err := os.ReadFile("specs.go")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("../controller/*/*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("controllers: %v %v", files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(filepath.Dir(file))
		if bytes.Contains(text, []byte("\nfunc Spec() loop.Spec {")) && !bytes.Contains(list, []byte(name+".Spec()")) {
			t.Errorf("%s declares a Spec that Specs does not list", file)
		}
	}
}
