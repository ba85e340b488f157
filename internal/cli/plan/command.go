// Package plan is the verb that shows what would be bought for the waiting pods of files or of a live cluster, and buys nothing.
package plan

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenon-sh/tenon/engine/pack"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/provision"
	"github.com/tenon-sh/tenon/engine/suppose"
	"github.com/tenon-sh/tenon/internal/cli/snapshot"
	"github.com/tenon-sh/tenon/internal/cli/verb"
	"github.com/tenon-sh/tenon/internal/clock"
)

// wide is the text form that names every pod and every type.
const wide = "wide"

// options are what the user asks for.
type options struct {
	source      snapshot.Source
	supposed    snapshot.Suppositions
	mode        string
	budgets     bool
	out         string
	preferences string
	premium     int
	charge      string
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
and changes nothing. With --mode disrupt it shows instead what becomes of the
nodes that are there when what costs too much is given back until nothing more
is saved; waits count as over, and pods without a controller as if they had one.

With -f it reads Kubernetes objects from files: pods, workloads, nodes,
NodePools, Provisioners and what else a decision depends on. Without -f it
reads the cluster of the current kubeconfig. A world that the controller kept
(its page /decisions/ offers them) is decided about again, as it was.

What if something were otherwise? --add, --without, --scale, --sold-out and
--price suppose it. The plan is then the one for the supposed cluster, followed
by how it differs from the plan for the cluster as it is.`,
		Example: `  tenon plan -f manifests/
  kubectl get pods,nodes,nodepools -A -o yaml | tenon plan -f - -o json
  tenon plan                        # the current cluster, read only
  tenon plan --without node/ip-10-0-1-12.ec2.internal
  tenon plan --scale deployment/shop/web=40 --sold-out 'm5.*,us-east-1a'`,
		Args: verb.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd) },
	}
	f := cmd.Flags()
	o.source.Flags(f)
	o.supposed.Flags(f)
	f.StringVar(&o.mode, "mode", "provision", "what to decide: provision, or disrupt, which consolidates until nothing more is saved")
	f.BoolVar(&o.budgets, "respect-budgets", false, "with --mode disrupt: what disruption budgets do not let go now stays")
	f.StringVar(&o.out, "out", "", "write the plan to this file instead of standard output")
	f.StringVar(&o.preferences, "preference-policy", "Respect", "soft terms of pods: Respect or Ignore")
	f.StringVar(&o.minValues, "min-values-policy", "Strict", "minValues that cannot be met: Strict refuses, BestEffort lowers them")
	f.StringVar(&o.charge, "node-charge", "", "what a node counts beside its price, an hour in the catalogue's currency, such as 0.05: with more of it plans have fewer and larger nodes; default: what the controller has, or 0.02")
	f.IntVar(&o.premium, "spot-premium", 0, "percent of its price that spot counts as costing more, because it may be taken back")
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
	loaded, used := clock.Wall(), verb.UsageNow()
	o.adopt(cmd, in, &decide)
	decide.ProveSpend = true
	w, err := in.World(o.at(loaded))
	if err != nil {
		return verb.BadInput(err)
	}
	var before *suppose.Side
	if o.supposed.Any() {
		before = &suppose.Side{World: w, Plan: provision.Decide(w, decide)}
		if w, err = in.Suppose(&o.supposed, w, cmd.InOrStdin(), cmd.ErrOrStderr()); err != nil {
			return err
		}
	}
	var p plan.Plan
	var r result
	if o.mode == disruptMode {
		if r, err = o.disrupt(w, decide); err != nil {
			return err
		}
	} else {
		p = provision.Decide(w, decide)
		r.Result = p.Result(w)
	}
	spent := verb.UsageNow().Since(used)

	r.Version, r.Scenario, r.Catalog = o.version, o.source.Name(), in.Catalog
	r.Availability = in.Availability
	r.LoadSeconds, r.Decision = loaded.Sub(begin).Seconds(), spent
	r.SolveSeconds = spent.WallSeconds
	if spent.CPUSeconds > 0 {
		r.PodsPerSecond = float64(p.Waiting) / spent.CPUSeconds
	}
	for _, n := range in.Notes {
		if n == in.Availability { // the plan itself says it
			continue
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "note: %s\n", n)
	}
	if before != nil && o.mode != disruptMode {
		d := suppose.Compare(*before, suppose.Side{World: w, Plan: p})
		r.WhatIf = &d
	}
	return o.print(cmd.OutOrStdout(), p, r)
}

// adopt has the plan decided by the controller's options, where it published them and the user gave none.
func (o *options) adopt(cmd *cobra.Command, in *snapshot.Input, decide *provision.Options) {
	if in.Options == nil {
		return
	}
	own := *decide
	*decide = *in.Options
	for flag, keep := range map[string]func(){
		"preference-policy": func() { decide.PreferencePolicy = own.PreferencePolicy },
		"min-values-policy": func() { decide.MinValuesPolicy = own.MinValuesPolicy },
		"node-charge":       func() { decide.Charge = own.Charge },
		"spot-premium":      func() { decide.SpotPremium = own.SpotPremium },
		"steps":             func() { decide.Steps = own.Steps },
	} {
		if cmd.Flags().Changed(flag) {
			keep()
		}
	}
}

// at is the time of the World: that of the cluster now. Files do not say when
// they were written, and the same files give the same plan tomorrow, digest included.
func (o *options) at(now time.Time) int64 {
	if len(o.source.Files) > 0 {
		return 0
	}
	return now.Unix()
}

// result is a plan as programs read it, with what it changes if something is supposed.
type result struct {
	plan.Result

	WhatIf        *suppose.Difference `json:"whatIf,omitempty"`
	Availability  string              `json:"availability,omitempty"`  // by what of a live cluster it is decided, and what is not known
	Consolidation *consolidation      `json:"consolidation,omitempty"` // of --mode disrupt
}

// decideOptions reads the flags that the decision depends on.
func (o *options) decideOptions() (provision.Options, error) {
	var out provision.Options
	switch o.mode {
	case "provision", disruptMode:
	default:
		return out, verb.BadInputf("--mode is %q, want provision or disrupt", o.mode)
	}
	if o.budgets && o.mode != disruptMode {
		return out, verb.BadInputf("--respect-budgets goes with --mode disrupt")
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
	if o.premium < 0 || o.premium > 1000 {
		return out, verb.BadInputf("--spot-premium is %d, want a percentage from 0 to 1000", o.premium)
	}
	out.Steps, out.SpotPremium = o.steps, o.premium
	var err error
	out.Charge, err = verb.NodeCharge(o.charge)
	return out, err
}

// print writes the plan where the user wants it.
func (o *options) print(out io.Writer, p plan.Plan, r result) (err error) {
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
	case r.Consolidation != nil:
		_, err := io.WriteString(out, r.Consolidation.text())
		return err
	default:
		text := p.Text(o.format.Is(wide))
		if r.WhatIf != nil {
			text += "\nAgainst the plan for the cluster as it is:\n" + r.WhatIf.Text(o.format.Is(wide))
		}
		if r.Availability != "" {
			text += "\n" + r.Availability + "\n"
		}
		_, err := io.WriteString(out, text)
		return err
	}
}
