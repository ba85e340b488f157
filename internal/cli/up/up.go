// Package up hands the verb over to the playground.
package up

import (
	"github.com/spf13/cobra"

	"github.com/tenon-sh/tenon/internal/cli/verb"
)

// Command is `tenon up`.
func Command() *cobra.Command {
	return verb.Playground("up", "Run a cluster with simulated machines on this computer")
}
