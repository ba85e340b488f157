package document

import (
	"strings"
	"testing"
)

// What a story says otherwise than stories do is named.
func TestSee(t *testing.T) {
	for name, c := range map[string]struct {
		why, line string
		want      Sight
		says      string
	}{
		"log":     {why: "A message as a whole.", line: "the log: `Found 5 provisionable pod\\(s\\)`", want: Sight{what: "log", of: `Found 5 provisionable pod\(s\)`}},
		"event":   {why: "Of any object.", line: "an event: `Pod should .*`", want: Sight{what: "event", of: `Pod should .*`}},
		"pod":     {why: "One runs, more run.", line: "1 pod of `app=a` in default runs", want: Sight{what: "pods", of: "app=a", in: "default", many: 1}},
		"pods":    {why: "All of a namespace.", line: "52 pods of `` in jobs run", want: Sight{what: "pods", in: "jobs", many: 52}},
		"nodes":   {why: "None is a number, too.", line: "no nodes of `a=b`", want: Sight{what: "nodes", of: "a=b"}},
		"pattern": {why: "A pattern that cannot be.", line: "the log: `(`", says: "missing closing"},
		"other":   {why: "There is nothing to look at.", line: "the moon", says: "the moon"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := see(c.line)
			if c.says != "" {
				if err == nil || !strings.Contains(err.Error(), c.says) {
					t.Errorf("%v, want %q. %s", err, c.says, c.why)
				}
				return
			}
			if err != nil || got != c.want {
				t.Errorf("%+v, %v, want %+v. %s", got, err, c.want, c.why)
			}
		})
	}
}

func TestPrompt(t *testing.T) {
	var out strings.Builder
	prompt(&out, "a \\\n  b\ncat <<EOF | c\nx\nEOF\nd |\ne\nf\n")
	if want := "$ a \\\n>   b\n$ cat <<EOF | c\n> x\n> EOF\n$ d |\n> e\n$ f\n"; out.String() != want {
		t.Errorf("a shell shows\n%s\nthis is\n%s", want, out.String())
	}
}
