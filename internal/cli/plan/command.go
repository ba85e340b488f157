// Package plan is the verb that shows what would be bought for the waiting pods of files or of a live cluster, and buys nothing.
package plan

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/tenon-sh/tenon/engine/pack"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/provision"
	"github.com/tenon-sh/tenon/internal/cli/picture"
	"github.com/tenon-sh/tenon/internal/cli/verb"
	"github.com/tenon-sh/tenon/internal/clock"
)

// wide is the text form that names every pod and every type.
const wide = "wide"

// options are what the user asks for.
type options struct {
	source      picture.Source
	mode        string
	out         string
	preferences string
	minValues   string
	steps       int
	version     string
	format      *verb.Format
}

// Command returns the verb. version is the program's, for the result.
func Command(version string) *cobra.Command {
	o := options{version: version}
	cmd := &cobra.Command{
		Use:   "plan [-f FILE|DIR|-]...",
		Short: "Show what would be bought for the waiting pods, and why",
		Long: `Plan decides what nodes the waiting pods need and prints it. It buys nothing
and changes nothing.

With -f it reads Kubernetes objects from files: pods, workloads, nodes,
NodePools, Provisioners and what else a decision depends on. Without -f it
reads the cluster of the current kubeconfig. A world that the controller kept
(its page /decisions/ offers them) is decided about again, as it was.`,
		Example: `  tenon plan -f manifests/
  kubectl get pods,nodes,nodepools -A -o yaml | tenon plan -f - -o json
  tenon plan                        # the current cluster, read only`,
		Args: verb.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd) },
	}
	f := cmd.Flags()
	o.source.Flags(f)
	f.StringVar(&o.mode, "mode", "provision", "what to decide: provision")
	f.StringVar(&o.out, "out", "", "write the plan to this file instead of standard output")
	f.StringVar(&o.preferences, "preference-policy", "Respect", "soft terms of pods: Respect or Ignore")
	f.StringVar(&o.minValues, "min-values-policy", "Strict", "minValues that cannot be met: Strict refuses, BestEffort lowers them")
	f.IntVar(&o.steps, "steps", 0, "bound on the counted work; 0: the default")
	o.format = verb.FormatFlag(cmd, verb.Text, verb.JSON, wide)
	return cmd
}

func (o *options) run(cmd *cobra.Command) error {
	decide, err := o.decideOptions()
	if err != nil {
		return err
	}
	begin := clock.Wall()
	in, err := o.source.Read(cmd.Context(), cmd.InOrStdin(), cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	loaded, before := clock.Wall(), usageNow()
	w, err := in.World(loaded.Unix())
	if err != nil {
		return verb.BadInput(err)
	}
	p := provision.Decide(w, decide)
	spent := usageNow().minus(before)

	r := p.Result(w)
	r.Version, r.Scenario, r.Catalog = o.version, o.source.Name(), in.Catalog
	r.LoadSeconds, r.Decision = loaded.Sub(begin).Seconds(), spent
	r.SolveSeconds = spent.WallSeconds
	if spent.CPUSeconds > 0 {
		r.PodsPerSecond = float64(p.Waiting) / spent.CPUSeconds
	}
	for _, n := range in.Notes {
		fmt.Fprintf(cmd.ErrOrStderr(), "note: %s\n", n)
	}
	return o.print(cmd.OutOrStdout(), p, r)
}

// decideOptions reads the flags that the decision depends on.
func (o *options) decideOptions() (provision.Options, error) {
	var out provision.Options
	switch o.mode {
	case "provision":
	case "disrupt":
		return out, verb.BadInputf("--mode disrupt is not built yet: tenon decides what to buy, not yet what to consolidate; use --mode provision")
	default:
		return out, verb.BadInputf("--mode is %q, want provision", o.mode)
	}
	switch o.preferences {
	case "Respect", "Ignore":
		out.PreferencePolicy = pack.Policy(o.preferences)
	default:
		return out, verb.BadInputf("--preference-policy is %q, want Respect or Ignore", o.preferences)
	}
	switch o.minValues {
	case "Strict", "BestEffort":
		out.MinValuesPolicy = pack.Policy(o.minValues)
	default:
		return out, verb.BadInputf("--min-values-policy is %q, want Strict or BestEffort", o.minValues)
	}
	if o.steps < 0 {
		return out, verb.BadInputf("--steps is %d, want zero or more", o.steps)
	}
	out.Steps = o.steps
	return out, nil
}

// print writes the plan where the user wants it.
func (o *options) print(out io.Writer, p plan.Plan, r plan.Result) (err error) {
	if o.out != "" {
		f, err := os.Create(o.out)
		if err != nil {
			return fmt.Errorf("write plan: %w", err)
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		out = f
	}
	switch {
	case o.format.Is(verb.JSON):
		return verb.WriteJSON(out, r)
	default:
		_, err := io.WriteString(out, p.Text(o.format.Is(wide)))
		return err
	}
}
