package cli_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tenon-sh/tenon/internal/cli"
	"github.com/tenon-sh/tenon/internal/cli/verb"
	"github.com/tenon-sh/tenon/internal/cli/version"
)

// run runs tenon as a user would and returns all he sees.
func run(t *testing.T, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	root := cli.Root(version.Build{Version: "v1.2.3", Commit: "abc"})
	status = verb.Run(t.Context(), root, args, verb.Streams{In: strings.NewReader(""), Out: &out, Err: &errs})
	return status, out.String(), errs.String()
}

func TestStatusAndStreams(t *testing.T) {
	tests := map[string]struct {
		why            string
		args           []string
		status         int
		stdout, stderr string // must contain; empty: must be empty
	}{
		"Nothing": {
			why:    "Without arguments the verbs are listed.",
			status: verb.OK, stdout: "Usage:",
		},
		"Help": {
			why:  "Help is an answer, not an error.",
			args: []string{"--help"}, status: verb.OK, stdout: "version",
		},
		"Version": {
			why:  "A bug report starts with this line.",
			args: []string{"version"}, status: verb.OK, stdout: "tenon v1.2.3 (abc)",
		},
		"AlmostAVerb": {
			why:  "A slip of the finger is answered with the verb meant.",
			args: []string{"verson"}, status: verb.Unusable, stderr: `did you mean "version"`,
		},
		"NoVerb": {
			why:  "An unknown verb is unusable input and says where to look.",
			args: []string{"fly"}, status: verb.Unusable, stderr: "see 'tenon --help'",
		},
		"NoFlag": {
			why:  "An unknown flag points to the help of its verb.",
			args: []string{"version", "--fly"}, status: verb.Unusable, stderr: "see 'tenon version --help'",
		},
		"NoFormat": {
			why:  "A wrong value is answered with the values that are right.",
			args: []string{"version", "-o", "yaml"}, status: verb.Unusable, stderr: "must be one of text, json",
		},
		"TooMuch": {
			why:  "An argument that no verb reads is refused, not ignored.",
			args: []string{"version", "now"}, status: verb.Unusable, stderr: `version takes no argument and got "now"`,
		},
		"Completion": {
			why:  "Shells ask for a script.",
			args: []string{"completion", "bash"}, status: verb.OK, stdout: "complete",
		},
		"CompletionOfNoShell": {
			why:  "An unknown shell is answered with those that are.",
			args: []string{"completion", "bsh"}, status: verb.Unusable, stderr: "name one shell: bash, fish, kubectl, powershell, zsh",
		},
		"CompletionOfValues": {
			why:  "A shell may also ask for the values of a flag.",
			args: []string{"__complete", "version", "-o", ""}, status: verb.OK, stdout: "json", stderr: "Completion ended",
		},
		"HelpOfAVerb": {
			why:  "There are two ways to ask, and both answer.",
			args: []string{"help", "version"}, status: verb.OK, stdout: "--output",
		},
		"VerbsAndFiles": {
			why:  "A verb that takes files and has verbs below it takes both.",
			args: []string{"report", "no-such-file"}, status: verb.Unusable, stderr: "read no-such-file",
		},
		"HelpOfNothing": {
			why:  "Help for what does not exist is no help.",
			args: []string{"help", "fly"}, status: verb.Unusable, stderr: `there is no verb "fly"`,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			status, stdout, stderr := run(t, tc.args...)
			if status != tc.status {
				t.Errorf("%s\nstatus %d, want %d", tc.why, status, tc.status)
			}
			for stream, c := range map[string]struct{ got, want string }{
				"stdout": {stdout, tc.stdout}, "stderr": {stderr, tc.stderr},
			} {
				if !strings.Contains(c.got, c.want) || (c.want == "" && c.got != "") {
					t.Errorf("%s\n%s is %q, want %q", tc.why, stream, c.got, c.want)
				}
			}
		})
	}
}

func TestVersionJSON(t *testing.T) {
	_, stdout, _ := run(t, "version", "-o", "json")
	var got version.Build
	if err := json.Unmarshal([]byte(stdout), &got); err != nil {
		t.Fatalf("%v in %s", err, stdout)
	}
	if got.Version != "v1.2.3" || got.Commit != "abc" {
		t.Errorf("got %+v", got)
	}
}

// Every verb and flag says what it is for: the help is all that many users read.
func TestHelpIsComplete(t *testing.T) {
	small := map[string]bool{"version": true, "completion": true, "help": true, "controller": true} // which say all in a line, or are run by the chart
	for _, cmd := range cli.Root(version.Build{}).Commands() {
		handed := cmd.DisableFlagParsing // to a program that has its own help
		if cmd.Args == nil && !handed {
			t.Errorf("%s does not say which arguments it takes, so it passes over any: give it Args, verb.NoArgs for none", cmd.CommandPath())
		}
		if cmd.Args != nil {
			if err := cmd.Args(cmd, []string{"surplus"}); err != nil && strings.Contains(err.Error(), "unknown command") {
				t.Errorf("%s calls an argument too many an unknown command: give it verb.NoArgs", cmd.CommandPath())
			}
		}
		if (cmd.Example == "" || cmd.Long == "") && !handed && !small[cmd.Name()] {
			t.Errorf("%s has no long description with an example", cmd.CommandPath())
		}
		if cmd.Short == "" {
			t.Errorf("%s has no short description", cmd.CommandPath())
		}
		if strings.HasSuffix(cmd.Short, ".") {
			t.Errorf("%s: the short description is a phrase, without a full stop", cmd.CommandPath())
		}
		if cmd.GroupID == "" {
			t.Errorf("%s stands under no heading of the help", cmd.CommandPath())
		}
	}
}

// As a plugin it calls itself what the user called.
func TestKubectlPlugin(t *testing.T) {
	for program, want := range map[string]string{"/usr/bin/kubectl-tenon": "kubectl tenon explain", "kubectl-tenon.exe": "kubectl tenon explain", "/usr/bin/tenon": "Usage:\n  tenon explain"} {
		var out bytes.Buffer
		root := cli.Root(version.Build{})
		verb.CalledAs(root, program)
		verb.Run(t.Context(), root, []string{"explain", "--help"}, verb.Streams{In: strings.NewReader(""), Out: &out, Err: &out})
		if !strings.Contains(out.String(), want) {
			t.Errorf("called as %s there is no %q in\n%s", program, want, out.String())
		}
	}
}

// The script by which kubectl completes a plugin asks the program as shells do.
func TestKubectlCompletion(t *testing.T) {
	_, script, _ := run(t, "completion", "kubectl")
	if want := "exec kubectl-tenon __complete \"$@\""; !strings.Contains(script, want) {
		t.Errorf("there is no %q in\n%s", want, script)
	}
	if _, out, _ := run(t, "__complete", "explain", "node"); !strings.Contains(out, "nodepool\n") || !strings.Contains(out, ":4\n") {
		t.Errorf("completing `explain node`:\n%s", out)
	}
}

// Every folder here with a Command is a verb of the tree, and has a test beside it.
func TestEveryVerbIsThere(t *testing.T) {
	elsewhere := map[string]string{ // by folder, where what it does is tested
		"completion": "TestStatusAndStreams runs it", "up": "the playground's program does it", "down": "the playground's program does it", "sim": "the playground's program does it",
	}
	verbs := map[string]bool{}
	for _, cmd := range cli.Root(version.Build{}).Commands() {
		verbs[cmd.Name()] = true
	}
	folders, err := filepath.Glob("*")
	if err != nil {
		t.Fatal(err)
	}
	var commands []string
	for _, folder := range folders {
		files, err := filepath.Glob(folder + "/*.go")
		if err != nil {
			t.Fatal(err)
		}
		command, tested := false, false
		for _, name := range files {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			command = command || strings.Contains(string(text), "\nfunc Command(")
			tested = tested || strings.HasSuffix(name, "_test.go")
		}
		if !command {
			continue
		}
		commands = append(commands, folder)
		if !verbs[folder] {
			t.Errorf("internal/cli/%s has a Command that is no verb: give it a line in cli.go", folder)
		}
		if why, excused := elsewhere[folder]; tested == excused {
			t.Errorf("internal/cli/%s has a test: %t; said of it: %q", folder, tested, why)
		}
	}
	delete(verbs, "help") // it stands beside what all verbs share
	if len(commands) != len(verbs) {
		t.Errorf("folders with a Command are %q, and verbs are %q", commands, slices.Sorted(maps.Keys(verbs)))
	}
}
