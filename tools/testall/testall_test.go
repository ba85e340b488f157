package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func tree(t *testing.T) []pack {
	t.Helper()
	t.Chdir("../..")
	all, err := packages(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// The race detector looks at every package once.
func TestRacesCoverEverything(t *testing.T) {
	packages := tree(t)
	times := map[string]int{}
	for _, p := range races(packages) {
		for _, arg := range p.steps[0].args {
			times[arg]++
		}
	}
	for _, p := range packages {
		more := strings.HasPrefix(p.path, module+"/test/documents/") && !strings.HasSuffix(p.path, "/000")
		if n := times[p.path]; n != 1 && !more {
			t.Errorf("%s is looked at %d times", p.path, n)
		}
	}
}

// Whatever a test skips unless a variable is set, some part sets.
func TestEveryVariableIsSet(t *testing.T) {
	packages := tree(t)
	set := map[string]bool{}
	for _, p := range parts(options{}, packages) {
		for _, s := range p.steps {
			for _, e := range s.env {
				name, _, _ := strings.Cut(e, "=")
				set[name] = true
			}
		}
	}
	asked := regexp.MustCompile(`os\.Getenv\("([A-Z_]+)"\)|= "(TENON_TEST_[A-Z]+)"`)
	not := []string{"CI", "PATH", "HOME", "LOG", "JOURNAL", "WRITE", "KUBEBUILDER_ASSETS", "TENON_TEST_AS_PLAYGROUND", "TENON", "REST"} // they make no test run
	for _, p := range packages {
		for _, file := range p.tests {
			source, err := os.ReadFile(filepath.Join(p.dir, file))
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range asked.FindAllStringSubmatch(string(source), -1) {
				if name := m[1] + m[2]; !set[name] && !slices.Contains(not, name) {
					t.Errorf("%s/%s asks for %s, which no part sets", p.path, file, name)
				}
			}
		}
	}
}

// A part that sets a variable runs the tests that ask for it.
func TestVariablesReachTheirTests(t *testing.T) {
	packages := tree(t)
	for _, p := range parts(options{}, packages) {
		for _, s := range p.steps {
			i := slices.Index(s.args, "-run")
			if i < 0 || len(s.env) == 0 {
				continue
			}
			only := regexp.MustCompile(s.args[i+1])
			for _, in := range packages {
				if !slices.Contains(s.args, "./"+strings.TrimPrefix(in.path, module+"/")) {
					continue
				}
				for name, text := range functions(t, in) {
					for _, e := range s.env {
						variable, _, _ := strings.Cut(e, "=")
						if strings.Contains(text, `"`+variable+`"`) && !only.MatchString(name) {
							t.Errorf("part %s sets %s and leaves out %s, which asks for it", p.name, variable, name)
						}
					}
				}
			}
		}
	}
}

// functions are the texts of a package's tests, by name.
func functions(t *testing.T, p pack) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, file := range p.tests {
		source, err := os.ReadFile(filepath.Join(p.dir, file))
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range strings.Split(string(source), "\nfunc ")[1:] {
			if name, _, _ := strings.Cut(part, "("); strings.HasPrefix(name, "Test") {
				out[name] = part
			}
		}
	}
	return out
}

// Every fuzz target is run, and there are some.
func TestFuzzTargets(t *testing.T) {
	packages := tree(t)
	steps := fuzzing(time.Minute, packages)
	if len(steps) < 18 {
		t.Errorf("only %d targets were found: %v", len(steps), steps)
	}
}

// A part that passed is not run again; one that failed is, and the others after it.
func TestResume(t *testing.T) {
	file := filepath.Join(t.TempDir(), "results.json")
	r, err := open(file)
	if err != nil {
		t.Fatal(err)
	}
	parts := []part{{name: "good"}, {name: "bad"}, {name: "other"}}
	for _, one := range []result{{Part: "bad", Result: passed}, {Part: "good", Result: passed, Seconds: 62, Counted: "3 tests"}, {Part: "bad", Result: failed, Failures: []string{"engine/fit TestX"}}} {
		if err := r.keep(one); err != nil {
			t.Fatal(err)
		}
	}
	if r, err = open(file); err != nil {
		t.Fatal(err)
	}
	if r.allPassed(parts) || !r.allPassed(parts[:1]) {
		t.Error("what failed or was not run counts as passed, or what passed does not")
	}
	want := "PART   RESULT   TIME  COUNTED\ngood   passed   1m2s  3 tests\nbad    FAILED   0s    \nother  not run        \n\nfailed:\nbad: engine/fit TestX\n"
	if diff := cmp.Diff(want, r.table(parts)); diff != "" {
		t.Error(diff)
	}
}

// A part ends in its time, and says what it counted until then.
func TestAPartEndsInTime(t *testing.T) {
	dir := t.TempDir()
	fails := part{name: "p", within: time.Minute, steps: []step{
		{args: []string{"sh", "-c", `echo '{"Action":"pass","Package":"x","Test":"TestA"}'; echo '{"Action":"fail","Package":"x","Test":"TestB"}'; exit 1`}},
		{args: []string{"sh", "-c", `echo '{"Action":"skip","Package":"x","Test":"TestC"}'; echo "  tiny  50  70  3  1  "; echo "damaged world  7  9  1  2"`}},
	}}
	got := fails.run(t.Context(), filepath.Join(dir, "p.log"))
	if got.Result != failed || got.Counted != "2 tests, 1 skipped, 7 inputs, 50 clusters, 70 placements, 1 disagreements" || !slices.Equal(got.Failures, []string{"x TestB", "damaged world"}) {
		t.Errorf("%+v", got)
	}
	hangs := part{name: "q", within: 50 * time.Millisecond, steps: []step{{args: []string{"sh", "-c", "sleep 1000 & wait"}}, {args: []string{"false"}}}}
	if got := hangs.run(t.Context(), filepath.Join(dir, "q.log")); got.Result != late {
		t.Errorf("%+v", got)
	}
}

func TestChoose(t *testing.T) {
	all := []part{{name: "race-a"}, {name: "race-b"}, {name: "fuzz"}}
	for patterns, want := range map[string]int{"": 3, "race-*": 2, "fuzz,race-b": 2, "*": 3} {
		if got, err := choose(all, patterns); err != nil || len(got) != want {
			t.Errorf("%q chooses %v, %v", patterns, got, err)
		}
	}
	if _, err := choose(all, "none"); err == nil {
		t.Error("a part that there is not is chosen")
	}
}

// Asking for the usage is no failure.
func TestHelp(t *testing.T) {
	ok, err := run(t.Context(), []string{"-help"}, t.Output())
	if !ok || err != nil {
		t.Errorf("-help ends with %t, %v", ok, err)
	}
}
