package verb_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/tenon-sh/tenon/internal/cli/verb"
)

func TestStatus(t *testing.T) {
	tests := map[string]struct {
		why  string
		err  error
		want int
	}{
		"Done":        {"No error is success.", nil, verb.OK},
		"Failed":      {"Any error is a failure.", io.ErrUnexpectedEOF, verb.Failed},
		"Unusable":    {"Unless it was the input's fault,", verb.BadInputf("line 3"), verb.Unusable},
		"Wrapped":     {"however often it was wrapped since.", fmt.Errorf("read: %w", verb.BadInput(io.EOF)), verb.Unusable},
		"NothingBad":  {"Blaming the input for nothing is no error.", verb.BadInput(nil), verb.OK},
		"Joined":      {"One bad input among failures is still bad input.", errors.Join(io.EOF, verb.BadInput(io.EOF)), verb.Unusable},
		"StillItself": {"A failure is not bad input because it looks like one.", errors.New("line 3"), verb.Failed},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := verb.Status(tc.err); got != tc.want {
				t.Errorf("%s\nstatus %d, want %d", tc.why, got, tc.want)
			}
		})
	}
	if !errors.Is(verb.BadInput(io.EOF), io.EOF) {
		t.Error("blaming the input hides what went wrong")
	}
}

// tree is a small program whose verb waits to be stopped.
func tree() *cobra.Command {
	root := &cobra.Command{Use: "prog"}
	group := &cobra.Command{Use: "group", Short: "Verbs of a kind"}
	wait := &cobra.Command{
		Use:  "wait",
		Args: verb.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			<-cmd.Context().Done()
			return fmt.Errorf("wait: %w", cmd.Context().Err())
		},
	}
	wait.Flags().Bool("patiently", false, "wait on")
	wait.Flags().Int64("times", 1, "how often")
	wait.Flags().Duration("pause", 0, "how long")
	wait.Flags().StringP("until", "u", "", "what to wait for")
	group.AddCommand(wait)
	read := &cobra.Command{Use: "read", Args: verb.NoArgs, RunE: func(*cobra.Command, []string) error { return nil }}
	read.Flags().StringP("filename", "f", "", "what to read")
	group.AddCommand(read)
	root.AddCommand(group)
	return root
}

func TestRun(t *testing.T) {
	stopped, stop := context.WithCancel(t.Context())
	stop()
	late, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	tests := map[string]struct {
		why    string
		ctx    context.Context
		args   string
		status int
		stderr string
		stdout string
	}{
		"Stopped":  {"A user who stopped it needs no explanation.", stopped, "group wait", verb.Failed, "", ""},
		"Late":     {"Any other end is explained.", late, "group wait", verb.Failed, "prog: wait: context deadline exceeded\n", ""},
		"Group":    {"A group of verbs lists them.", t.Context(), "group", verb.OK, "", "prog group <verb>"},
		"NoVerb":   {"A verb that a group does not have is bad input,", t.Context(), "group fly", verb.Unusable, "prog: there is no verb \"fly\"; see 'prog group --help'\n", ""},
		"NoFlag":   {"and so is a flag that a verb of the group does not have.", t.Context(), "group wait --fly", verb.Unusable, "prog: unknown flag: --fly; see 'prog group wait --help'\n", ""},
		"Slip":     {"One that looks like a flag is told which,", t.Context(), "group wait --patienlty", verb.Unusable, "prog: unknown flag: --patienlty, did you mean --patiently; see 'prog group wait --help'\n", ""},
		"Value":    {"with a value as well,", t.Context(), "group wait --untli=noon", verb.Unusable, "prog: unknown flag: --untli, did you mean --until; see 'prog group wait --help'\n", ""},
		"Number":   {"A value that cannot be read is told what is wanted,", t.Context(), "group wait --times many", verb.Unusable, "prog: --times is \"many\", want a whole number; see 'prog group wait --help'\n", ""},
		"Duration": {"also of time,", t.Context(), "group wait --pause 5", verb.Unusable, "prog: --pause is \"5\", want a duration such as 30s, 5m or 2h; see 'prog group wait --help'\n", ""},
		"Truth":    {"or of truth.", t.Context(), "group wait --patiently=perhaps", verb.Unusable, "prog: --patiently is \"perhaps\", want true or false; see 'prog group wait --help'\n", ""},
		"Hyphen":   {"and with one hyphen, as other programs have them.", t.Context(), "group wait -patiently", verb.Unusable, "prog: unknown shorthand flag: 'p' in -patiently, did you mean --patiently; see 'prog group wait --help'\n", ""},
		"Letter":   {"A letter alone may mean anything.", t.Context(), "group wait -p", verb.Unusable, "prog: unknown shorthand flag: 'p' in -p; see 'prog group wait --help'\n", ""},
		"File":     {"A file is no argument where there is a flag for it.", t.Context(), "group read pods.yaml", verb.Unusable, "prog: read takes no argument and got \"pods.yaml\": files are named with -f; see 'prog group read --help'\n", ""},
		"Argument": {"Arguments are checked for verbs of groups, too.", t.Context(), "group wait up", verb.Unusable, "prog: wait takes no argument and got \"up\"; see 'prog group wait --help'\n", ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var out, errs bytes.Buffer
			status := verb.Run(tc.ctx, tree(), strings.Fields(tc.args), verb.Streams{In: strings.NewReader(""), Out: &out, Err: &errs})
			if status != tc.status || errs.String() != tc.stderr || !strings.Contains(out.String(), tc.stdout) {
				t.Errorf("%s\nstatus %d, stderr %q, stdout %q", tc.why, status, errs.String(), out.String())
			}
		})
	}
}

func TestPassOver(t *testing.T) {
	var port int
	var on bool
	verbs := func() *cobra.Command {
		root := &cobra.Command{Use: "prog"}
		run := &cobra.Command{Use: "run", Args: verb.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
			fmt.Fprintln(cmd.OutOrStdout(), port, on, verb.PassedOver(cmd))
			return nil
		}}
		run.Flags().IntVarP(&port, "port", "p", 1, "")
		run.Flags().BoolVar(&on, "on", false, "")
		verb.PassOver(run)
		root.AddCommand(run, &cobra.Command{Use: "strict", RunE: func(*cobra.Command, []string) error { return nil }})
		return root
	}
	for _, tc := range []struct{ why, args, want string }{
		{"Known flags are read as ever.", "run --port 2 --on", "2 true []"},
		{"A shorthand stays one.", "run -p 3", "3 false []"},
		{"Unknown ones are named, with the word after them as their value.", "run --new=1 --newer 2 --newest --on -port=4", "4 true [--new --newer --newest]"},
		{"A negative number is no flag that is known.", "run --new -1 --port 5", "5 false [--new --1]"},
		{"Help is known.", "run --new --help", "Usage:"},
		{"A word that is no flag is refused.", "run --port=6 --on word", "takes no argument"},
		{"A value that cannot be read is refused.", "run --port=x", `--port is "x", want a whole number`},
		{"Another verb refuses what it does not know.", "strict --new=1", "unknown flag"},
	} {
		port, on = 0, false
		var out bytes.Buffer
		verb.Run(t.Context(), verbs(), strings.Fields(tc.args), verb.Streams{In: &bytes.Buffer{}, Out: &out, Err: &out})
		if !strings.Contains(out.String(), tc.want) {
			t.Errorf("%s\n%s: got %q, want %q", tc.why, tc.args, out.String(), tc.want)
		}
	}
}

// What an error repeats of a file is text, and moves no cursor.
func TestErrorsArePrintable(t *testing.T) {
	var said bytes.Buffer
	root := &cobra.Command{Use: "tenon", SilenceErrors: true, SilenceUsage: true, RunE: func(cmd *cobra.Command, _ []string) error {
		fmt.Fprint(cmd.ErrOrStderr(), "# pool \x1b[2Ja is left out\n")
		return errors.New("name \"a\rb\x00\xff\u009b\": no\n\tname")
	}}
	if status := verb.Run(t.Context(), root, nil, verb.Streams{Out: io.Discard, Err: &said}); status == verb.OK {
		t.Error("it has not failed")
	}
	if want := "# pool \ufffd[2Ja is left out\ntenon: name \"a\ufffdb\ufffd\ufffd\ufffd\": no\n\tname\n"; said.String() != want {
		t.Errorf("said %q, want %q", said.String(), want)
	}
}
