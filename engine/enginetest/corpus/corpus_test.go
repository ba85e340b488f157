package corpus_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/tenon-sh/tenon/engine/enginetest"
	"github.com/tenon-sh/tenon/engine/enginetest/corpus"
)

const kept = "testdata/plans"

// small is how many small Worlds are generated.
const small = 300

// Every plan of the corpus is the one that is kept. A change that is meant to
// change plans writes them again with -rewrite, and its commit shows which.
func TestPlans(t *testing.T) {
	var lines []string
	for _, e := range append(scenarios(t), corpus.Generated(small)...) {
		lines = append(lines, e.Decide().String())
	}
	text := strings.Join(lines, "\n") + "\n"
	if flag.Lookup("rewrite").Value.String() == "true" {
		if err := os.WriteFile(kept, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	data, err := os.ReadFile(kept)
	if err != nil {
		t.Fatal(err)
	}
	if changes := compare(byName(string(data)), lines); len(changes) > 0 {
		t.Errorf("%d of %d worlds have other plans than %s says:\n%s\nIf that is meant, write them again: go test ./engine/enginetest/corpus -rewrite",
			len(changes), len(lines), kept, strings.Join(changes, "\n"))
	}
}

// byName are the lines of a text by their first word.
func byName(text string) map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(text) {
		name, _, _ := strings.Cut(line, " ")
		out[name] = strings.TrimSpace(line)
	}
	return out
}

// compare says what differs between what is kept and what was decided.
func compare(kept map[string]string, lines []string) []string {
	var out []string
	for _, line := range lines {
		name, _, _ := strings.Cut(line, " ")
		was := kept[name]
		delete(kept, name)
		if was == line {
			continue
		}
		out = append(out, "  "+name+difference(was, line))
	}
	for name := range kept {
		out = append(out, "  "+name+": is no longer made")
	}
	return out
}

// difference are the words in which two lines differ.
func difference(was, is string) string {
	if was == "" {
		return ": is not in the corpus yet"
	}
	old := map[string]string{}
	for word := range strings.FieldsSeq(was) {
		key, value := split(word)
		old[key] = value
	}
	out := ""
	for word := range strings.FieldsSeq(is) {
		if key, value := split(word); old[key] != value {
			out += fmt.Sprintf(" %s %s, was %s;", key, value, old[key])
		}
	}
	return strings.TrimSuffix(out, ";")
}

// split divides a word at = or :.
func split(word string) (key, value string) {
	if i := strings.IndexAny(word, "=:"); i >= 0 {
		return word[:i], word[i+1:]
	}
	return word, ""
}

// scenarios are the Worlds of all scenarios of the engine.
func scenarios(t *testing.T) []corpus.Entry {
	t.Helper()
	var out []corpus.Entry
	for _, dir := range []string{"../../provision", "../../disrupt/consolidate"} {
		datadriven.Walk(t, filepath.Join(dir, "testdata/scenarios"), func(t *testing.T, path string) {
			s, n := enginetest.NewStage(), 0
			datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
				e := corpus.Entry{Name: fmt.Sprintf("%s/%s/%d", filepath.Base(dir), filepath.Base(path), n)}
				n++
				switch d.Cmd {
				case "world":
					for line := range strings.SplitSeq(d.Input, "\n") {
						if err := s.Scene.Line(line); err != nil {
							return d.Expected // such lines are there to be refused
						}
					}
				case "plan", "why":
					e.World, e.Options = s.Scene.World(), enginetest.Options(d)
					out = append(out, e)
				case "consolidate":
					w, err := s.World()
					if err != nil {
						t.Fatal(err)
					}
					e.World, e.Carried = w, true
					out = append(out, e)
				default:
					args := map[string]string{}
					for _, a := range d.CmdArgs[1:] {
						args[a.Key] = strings.Join(a.Vals, ",")
					}
					s.Change(d.Cmd, d.CmdArgs[0].Key, args)
				}
				return d.Expected
			})
		})
	}
	return out
}
