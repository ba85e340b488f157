package rules_test

import (
	"path/filepath"
	"testing"

	"github.com/tenon-sh/tenon/internal/rules"
)

// root is the folder of the module, seen from this package.
var root = filepath.Join("..", "..")

func TestLayers(t *testing.T) { report(t, read(t).Layers()) }

func TestNames(t *testing.T) { report(t, read(t).Names()) }

func TestInits(t *testing.T) { report(t, read(t).Inits()) }

func TestChance(t *testing.T) { report(t, read(t).Chance()) }

func TestSizes(t *testing.T) { report(t, read(t).Sizes()) }

func TestCrowds(t *testing.T) { report(t, read(t).Crowds()) }

func TestLeaks(t *testing.T) { report(t, read(t).Leaks()) }

func TestWriters(t *testing.T) { report(t, read(t).Writers()) }

func TestWords(t *testing.T) {
	faults, err := rules.Words(root)
	if err != nil {
		t.Fatal(err)
	}
	report(t, faults)
}

func TestMap(t *testing.T) {
	faults, err := rules.Map(root)
	if err != nil {
		t.Fatal(err)
	}
	report(t, faults)
}

// The engine looks at no clock: what bounds its work is counted (T-2).
func TestEngineIsPure(t *testing.T) {
	faults, err := rules.Impure(root)
	if err != nil {
		t.Fatalf("load the engine: %v", err)
	}
	report(t, faults)
}

func TestDifferences(t *testing.T) {
	faults, err := rules.Differences(root)
	if err != nil {
		t.Fatal(err)
	}
	report(t, faults)
}

func TestRooms(t *testing.T) {
	faults, err := rules.Rooms(root)
	if err != nil {
		t.Fatalf("load the engine: %v", err)
	}
	report(t, faults)
}

func read(t *testing.T) *rules.Tree {
	t.Helper()
	tree, err := rules.Read(root)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func report(t *testing.T, faults []rules.Fault) {
	t.Helper()
	for _, f := range faults {
		t.Error(f)
	}
}

func TestFloats(t *testing.T) {
	faults, err := rules.Floats(root)
	if err != nil {
		t.Fatalf("load the engine: %v", err)
	}
	report(t, faults)
}
