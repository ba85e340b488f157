package rules_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A rule that is added where ARCHITECTURE.md says, a file in engine/fit and a line
// in its list, is kept by all of the engine: the module is built with three such
// rules, of which nothing but engine/fit knows, and a test looks at the plans.
func TestAddedRule(t *testing.T) {
	module, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	list, err := os.ReadFile(filepath.Join(module, "engine", "fit", "fit.go"))
	if err != nil {
		t.Fatal(err)
	}
	text := string(list)
	for before, line := range map[string]string{
		"}\n\n// filling are":  `{Name: "warm", Why: Warm}, {Name: "secret", Why: Secret, Compiled: true},`,
		"}\n\n// Standing are": `{Name: "loud", Why: Loud},`,
	} {
		if !strings.Contains(text, before) {
			t.Fatalf("engine/fit/fit.go does not say %q", before)
		}
		text = strings.Replace(text, before, line+"\n"+before, 1)
	}
	dir := t.TempDir()
	changed := filepath.Join(dir, "fit.go")
	if err := os.WriteFile(changed, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	added, err := filepath.Abs(filepath.Join("testdata", "added"))
	if err != nil {
		t.Fatal(err)
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {
		filepath.Join(module, "engine", "fit", "fit.go"):              changed,
		filepath.Join(module, "engine", "fit", "added.go"):            filepath.Join(added, "rules.go.txt"),
		filepath.Join(module, "engine", "provision", "added_test.go"): filepath.Join(added, "rules_test.go.txt"),
	}})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(file, overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "go", "test", "-overlay", file, "-run", "^TestAddedRules$", "-v", "./engine/provision")
	cmd.Dir = module
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: TestAddedRules") {
		t.Errorf("%v\n%s", err, out)
	}
}
