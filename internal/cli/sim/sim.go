// Package sim hands the verb over to the playground.
package sim

import (
	"github.com/spf13/cobra"

	"github.com/tenon-sh/tenon/internal/cli/verb"
)

// Command is `tenon sim`.
func Command() *cobra.Command {
	return verb.Playground("sim", "Do things to the simulated machines and the simulated AWS account of a playground")
}
