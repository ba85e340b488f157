// Package completion is the verb that prints the script by which a shell or kubectl
// completes tenon's verbs and flags.
package completion

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// Command is the verb.
func Command() *cobra.Command {
	shells := slices.Sorted(maps.Keys(scripts()))
	return &cobra.Command{
		Use:   "completion <" + strings.Join(shells, "|") + ">",
		Short: "Print a script by which a shell, or kubectl, completes verbs and flags",
		Example: `  source <(tenon completion bash)                                      # in this shell
  tenon completion bash > ~/.local/share/bash-completion/completions/tenon
  tenon completion zsh > "${fpath[1]}/_tenon"
  tenon completion fish > ~/.config/fish/completions/tenon.fish
  tenon completion kubectl > ~/.local/bin/kubectl_complete-tenon       # for kubectl tenon; make it executable`,
		ValidArgsFunction: cobra.FixedCompletions(shells, cobra.ShellCompDirectiveNoFileComp),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || scripts()[args[0]] == nil {
				return fmt.Errorf("name one shell: %s", strings.Join(shells, ", "))
			}
			return nil
		},
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			return scripts()[args[0]](cmd.Root(), cmd.OutOrStdout())
		},
	}
}

// forKubectl is what kubectl runs to complete a plugin: it is found in the PATH as kubectl_complete-tenon.
const forKubectl = `#!/bin/sh
exec kubectl-tenon __complete "$@"
`

// scripts are the shells for which there is one.
func scripts() map[string]func(*cobra.Command, io.Writer) error {
	return map[string]func(*cobra.Command, io.Writer) error{
		"bash":       func(root *cobra.Command, w io.Writer) error { return root.GenBashCompletionV2(w, true) },
		"kubectl":    func(_ *cobra.Command, w io.Writer) error { _, err := io.WriteString(w, forKubectl); return err },
		"fish":       func(root *cobra.Command, w io.Writer) error { return root.GenFishCompletion(w, true) },
		"powershell": (*cobra.Command).GenPowerShellCompletionWithDesc,
		"zsh":        (*cobra.Command).GenZshCompletion,
	}
}
