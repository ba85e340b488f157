// Package down hands the verb over to the playground.
package down

import (
	"github.com/spf13/cobra"

	"github.com/tenon-sh/tenon/internal/cli/verb"
)

// Command is `tenon down`.
func Command() *cobra.Command {
	return verb.Playground("down", "Stop the playground")
}
