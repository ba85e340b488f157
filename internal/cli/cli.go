// Package cli is the command line of tenon: the tree of its verbs. Each has a
// folder of its own below this one; what they share is in verb.
package cli

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/tenon-sh/tenon/internal/cli/completion"
	"github.com/tenon-sh/tenon/internal/cli/consolidate"
	"github.com/tenon-sh/tenon/internal/cli/controller"
	"github.com/tenon-sh/tenon/internal/cli/convert"
	"github.com/tenon-sh/tenon/internal/cli/doctor"
	"github.com/tenon-sh/tenon/internal/cli/down"
	"github.com/tenon-sh/tenon/internal/cli/explain"
	"github.com/tenon-sh/tenon/internal/cli/plan"
	"github.com/tenon-sh/tenon/internal/cli/record"
	"github.com/tenon-sh/tenon/internal/cli/replay"
	"github.com/tenon-sh/tenon/internal/cli/report"
	"github.com/tenon-sh/tenon/internal/cli/sim"
	"github.com/tenon-sh/tenon/internal/cli/top"
	"github.com/tenon-sh/tenon/internal/cli/types"
	"github.com/tenon-sh/tenon/internal/cli/up"
	"github.com/tenon-sh/tenon/internal/cli/verb"
	"github.com/tenon-sh/tenon/internal/cli/version"
)

// Root is the tree of all verbs.
func Root(b version.Build) *cobra.Command {
	root := &cobra.Command{
		Use:   "tenon",
		Short: "Nodes for your pods: asked for when needed, given back when not",
		Long: `Tenon watches a Kubernetes cluster, asks the cloud for the nodes its pending
pods need, and gives back the ones it can do without. It speaks the Karpenter
API.`,
	}
	add(root, "In a cluster:", controller.Command(os.Getenv, b.Version, b.Commit), convert.Command()) //nolint:forbidigo // settings are read here, once
	add(root, "Look, and change nothing:", plan.Command(b.Version), consolidate.Command(b.Version), explain.Command(), record.Command(), replay.Command(), report.Command(b.Version), top.Command(), types.Command(),
		doctor.Command(os.Getenv, b.Version)) //nolint:forbidigo // settings are read here, once
	add(root, "A cluster to play with, on this computer:", up.Command(), sim.Command(), down.Command())
	add(root, "Other:", version.Command(b), completion.Command(), verb.Help(root))
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
