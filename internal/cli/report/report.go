// Package report is the verb that collects what others need to know of a controller.
package report

import (
	"github.com/spf13/cobra"

	"github.com/tenon-sh/tenon/internal/cli/verb"
)

// Command is the verb; release names the build.
func Command(release string) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "report bug",
		Short: "Collect what a bug report needs in one file",
		Long:  "Report collects what others need to know of a controller. It changes nothing.",
		Args:  verb.NoArgs,
	}
	cmd.AddCommand(bug(release))
	return cmd
}
