package verb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tenon-sh/tenon/engine/label"
)

// Streams are what a command reads and writes.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// Run runs a tree of verbs with args and returns its exit status. It is
// cancelled with ctx and touches nothing of the process but what is passed in.
func Run(ctx context.Context, root *cobra.Command, args []string, s Streams) int {
	dress(root)
	s.Err = printable{s.Err}
	root.SetArgs(passOver(root, args))
	root.SetIn(s.In)
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	err := root.ExecuteContext(ctx)
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		return Failed // the user stopped it and needs no explanation
	}
	if err != nil {
		fmt.Fprintf(s.Err, "%s: %v\n", root.Name(), err)
	}
	return Status(err)
}

// printable keeps what files and clusters say, which errors and notes repeat, from
// being more than text to a terminal: one that moves its cursor hides what was said.
type printable struct{ io.Writer }

// Write is io.Writer's. What is written in one piece is looked at as one.
func (p printable) Write(b []byte) (int, error) {
	text := bytes.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return unicode.ReplacementChar
		}
		return r
	}, b)
	if _, err := p.Writer.Write(text); err != nil {
		return 0, err
	}
	return len(b), nil
}

// plugin is the name under which kubectl finds the program.
const plugin = "kubectl-tenon"

// CalledAs has help and errors name the program as the user called it: kubectl tenon, where it is kubectl's plugin.
func CalledAs(root *cobra.Command, program string) {
	if strings.TrimSuffix(filepath.Base(program), ".exe") != plugin {
		return
	}
	if root.Annotations == nil {
		root.Annotations = map[string]string{}
	}
	root.Annotations[cobra.CommandDisplayNameAnnotation] = "kubectl " + root.Name()
}

// dress makes all verbs of the tree look and fail alike.
func dress(root *cobra.Command) {
	root.SilenceErrors = true // Run prints the error, once
	root.SilenceUsage = true  // an error says itself what to do
	root.CompletionOptions.DisableDefaultCmd = true
	root.SuggestionsMinimumDistance = 2
	root.SetUsageFunc(usage)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return blame(cmd, meant(cmd, err)) })
	all := []*cobra.Command{root}
	for len(all) > 0 {
		cmd := all[0]
		all = slices.Concat(all[1:], cmd.Commands())
		check := cmd.Args
		switch {
		case cmd.HasSubCommands():
			cmd.DisableFlagsInUseLine = true
			if check == nil { // it takes nothing but verbs
				check = known
			}
			if cmd.RunE == nil && cmd.Run == nil {
				cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
			}
		case check == nil:
			continue
		}
		cmd.Args = func(cmd *cobra.Command, args []string) error { return blame(cmd, check(cmd, args)) }
	}
}

// blame makes a wrong flag or argument an error of what was given, which points
// to the help of the verb.
func blame(cmd *cobra.Command, err error) error {
	if err == nil {
		return nil
	}
	return BadInputf("%w; see '%s --help'", err, cmd.CommandPath())
}

// meant adds to the error of a flag that is not there the one that looks like
// it, also where it was written with one hyphen only.
func meant(cmd *cobra.Command, err error) error {
	none, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return worded(err)
	}
	given := none.GetSpecifiedName()
	if letters := none.GetSpecifiedShortnames(); len(letters) > 1 {
		given, _, _ = strings.Cut(letters, "=")
	}
	var flags []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			flags = append(flags, f.Name)
		}
	})
	if like := label.Meant(given, flags); like != "" {
		return fmt.Errorf("%w, did you mean --%s", err, like)
	}
	return err
}

// worded says of a flag's value that cannot be read what is wanted, in place of
// the words of the function that reads it.
func worded(err error) error {
	bad, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok {
		return err
	}
	var want string
	switch bad.GetFlag().Value.Type() {
	case "int", "int32", "int64":
		want = "a whole number"
	case "uint", "uint16", "uint32", "uint64":
		want = "a whole number from 0"
	case "float32", "float64":
		want = "a number"
	case "bool":
		want = "true or false"
	case "stringToInt":
		want = "NAME=NUMBER with a whole number, and commas between several"
	case "duration":
		want = "a duration such as 30s, 5m or 2h"
	default:
		return err
	}
	return fmt.Errorf("--%s is %q, want %s", bad.GetFlag().Name, bad.GetValue(), want)
}

// known refuses a word that is no verb and offers those that look like it.
func known(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if like := cmd.SuggestionsFor(args[0]); len(like) > 0 {
		return fmt.Errorf("there is no verb %q, did you mean %q", args[0], like[0])
	}
	return fmt.Errorf("there is no verb %q", args[0])
}

// Help is the verb that says more about another verb of the tree.
func Help(root *cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use:                   "help [verb]",
		Args:                  cobra.ArbitraryArgs,
		Short:                 "Say more about a verb",
		DisableFlagsInUseLine: true,
		RunE: func(_ *cobra.Command, args []string) error {
			about, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return blame(root, known(root, args))
			}
			return about.Help()
		},
	}
	root.SetHelpCommand(cmd)
	return cmd
}
