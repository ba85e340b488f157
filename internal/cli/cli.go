// Package cli is the command line of tenon: the tree of verbs, its help, and
// how an error ends the program. Each verb has a folder of its own below this
// one.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/tenon-sh/tenon/internal/cli/completion"
	"github.com/tenon-sh/tenon/internal/cli/types"
	"github.com/tenon-sh/tenon/internal/cli/verb"
	"github.com/tenon-sh/tenon/internal/cli/version"
)

// Streams are what a command reads and writes.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// Main runs tenon with args and returns its exit status. It is cancelled with
// ctx and touches nothing of the process but what is passed in.
func Main(ctx context.Context, args []string, s Streams, b version.Build) int {
	root := Root(b)
	root.SetArgs(args)
	root.SetIn(s.In)
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	err := root.ExecuteContext(ctx)
	switch {
	case err == nil:
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		// The user stopped it, who needs no explanation.
	default:
		fmt.Fprintf(s.Err, "tenon: %v\n", err)
	}
	return verb.Status(err)
}

// Root is the tree of all verbs.
func Root(b version.Build) *cobra.Command {
	root := &cobra.Command{
		Use:   "tenon <verb>",
		Short: "Nodes for your pods: asked for when needed, given back when not",
		Long: `Tenon watches a Kubernetes cluster, asks the cloud for the nodes its pending
pods need, and gives back the ones it can do without. It speaks the Karpenter
API.`,
		Args:          knownVerb,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		SilenceErrors: true, // Main prints the error, once
		SilenceUsage:  true, // an error says itself what to do

		DisableFlagsInUseLine:      true,
		SuggestionsMinimumDistance: 2,
	}
	add(root, "Look, and change nothing:", types.Command())
	add(root, "Other:", completion.Command(), version.Command(b), help(root))
	root.SetUsageTemplate(usage)
	blameInput(root)
	return root
}

// add lists the verbs under a heading of the help.
func add(root *cobra.Command, heading string, verbs ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: heading, Title: heading})
	for _, v := range verbs {
		v.GroupID = heading
		root.AddCommand(v)
	}
}

// usage is how help looks below its first paragraph.
const usage = `Usage:
  {{.UseLine}}
{{- if .HasExample}}

Examples:
{{.Example}}{{end}}
{{- $cmds := .Commands}}{{range $group := .Groups}}

{{.Title}}{{range $cmds}}{{if (and (eq .GroupID $group.ID) (or .IsAvailableCommand (eq .Name "help")))}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}{{end}}
{{- if (and .HasAvailableSubCommands (not .Groups))}}

Verbs:{{range $cmds}}{{if .IsAvailableCommand}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}{{end}}
{{- if .HasAvailableLocalFlags}}

Flags:
{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}{{end}}
{{- if .HasAvailableInheritedFlags}}

Flags of all verbs:
{{.InheritedFlags.FlagUsages | trimTrailingWhitespaces}}{{end}}
{{- if .HasAvailableSubCommands}}

More about one: {{.CommandPath}} <verb> --help{{end}}
`

// help is the verb that says more about another.
func help(root *cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use:                   "help [verb]",
		Short:                 "Say more about a verb",
		DisableFlagsInUseLine: true,
		RunE: func(_ *cobra.Command, args []string) error {
			about, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return verb.BadInputf("%w; see '%s --help'", knownVerb(root, args), root.Name())
			}
			return about.Help()
		},
	}
	root.SetHelpCommand(cmd)
	return cmd
}

// knownVerb refuses a word that is no verb and offers those that look like it.
func knownVerb(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if like := cmd.SuggestionsFor(args[0]); len(like) > 0 {
		return fmt.Errorf("there is no verb %q, did you mean %q", args[0], like[0])
	}
	return fmt.Errorf("there is no verb %q", args[0])
}

// blameInput makes a wrong flag or argument anywhere in the tree an error of
// what was given, which points to the help of the verb.
func blameInput(root *cobra.Command) {
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return verb.BadInputf("%w; see '%s --help'", err, cmd.CommandPath())
	})
	all := []*cobra.Command{root}
	for len(all) > 0 {
		cmd := all[0]
		all = slices.Concat(all[1:], cmd.Commands())
		check := cmd.Args
		if check == nil {
			check = cobra.ArbitraryArgs
		}
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			if err := check(cmd, args); err != nil {
				return verb.BadInputf("%w; see '%s --help'", err, cmd.CommandPath())
			}
			return nil
		}
	}
}
