// Package replay is the verb that decides again about worlds a controller kept, and says whether the plans are the same.
package replay

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/tenon-sh/tenon/engine/pack"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/suppose"
	"github.com/tenon-sh/tenon/internal/cli/snapshot"
	"github.com/tenon-sh/tenon/internal/cli/verb"
	"github.com/tenon-sh/tenon/internal/journal"
)

// wide is the text form that names every pod.
const wide = "wide"

// options are the flags.
type options struct {
	preferences, minValues string
	steps                  int
	check                  bool
	format                 *verb.Format
}

// Command is the verb.
func Command() *cobra.Command {
	o := options{}
	cmd := &cobra.Command{
		Use:   "replay FILE|FOLDER|URL|-...",
		Short: "Decide again what a controller decided, and compare",
		Long: `Replay takes decisions that a controller kept, with all that each was made of,
decides again with this program, and says whether the plan is the same. It needs
no cluster and changes nothing.

So a release can be tried on a cluster's own day before it is installed, and a
setting before it is set: with --preference-policy, --min-values-policy or --steps
it decides with these instead of what the controller had.

A node that goes is decided about again with each look at the cluster until its
claim has ended. The text has these decisions on one line with their number,
-o wide and json each of them.

A controller keeps its last decisions in memory; their address is its metrics
port (kubectl port-forward). With --journal-dir it keeps them in a folder.`,
		Example: `  tenon replay http://127.0.0.1:8080
  tenon replay /var/lib/tenon/journal --check
  tenon replay journal/ --preference-policy Ignore -o wide`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return fmt.Errorf("say what to replay: a file or folder of decisions, - for standard input, or the address of a controller")
			}
			return nil
		},
		RunE: o.run,
	}
	f := cmd.Flags()
	f.StringVar(&o.preferences, "preference-policy", "", "soft terms of pods: Respect or Ignore; default: what the controller had")
	f.StringVar(&o.minValues, "min-values-policy", "", "minValues that cannot be met: Strict or BestEffort; default: what the controller had")
	f.IntVar(&o.steps, "steps", 0, "bound on the counted work; 0: what the controller had")
	f.BoolVar(&o.check, "check", false, "exit with status 1 if a plan comes out differently")
	o.format = verb.FormatFlag(cmd, verb.Text, verb.JSON, wide)
	return cmd
}

func (o *options) run(cmd *cobra.Command, args []string) error {
	if err := o.valid(); err != nil {
		return err
	}
	r := report{Format: "tenon-replay/v1", Decisions: []decision{}}
	held := row{}
	each := func(e journal.Entry) error {
		d := o.again(e)
		r.add(d)
		if o.format.Is(verb.JSON) || !o.format.Is(wide) && held.takes(d) {
			return nil
		}
		_, err := io.WriteString(cmd.OutOrStdout(), held.text(o.format.Is(wide)))
		held = row{first: d, last: d.At, times: 1}
		return err
	}
	for _, from := range args {
		before := len(r.Decisions)
		if err := snapshot.Decisions(cmd.Context(), from, cmd.InOrStdin(), each); err != nil {
			return verb.BadInput(err)
		}
		if len(r.Decisions) == before {
			return verb.BadInputf("%s", snapshot.NoDecisions(from))
		}
	}
	var err error
	if o.format.Is(verb.JSON) {
		err = verb.WriteJSON(cmd.OutOrStdout(), r)
	} else {
		_, err = io.WriteString(cmd.OutOrStdout(), held.text(o.format.Is(wide))+r.text())
	}
	if err == nil && o.check && r.Different+r.Broken > 0 {
		err = fmt.Errorf("%d of %d decisions come out differently", r.Different+r.Broken, len(r.Decisions))
	}
	return err
}

func (o *options) valid() error {
	switch pack.Policy(o.preferences) {
	case "", pack.Respect, pack.Ignore:
	default:
		return verb.BadInputf("--preference-policy is %q, want Respect or Ignore", o.preferences)
	}
	switch pack.Policy(o.minValues) {
	case "", pack.Strict, pack.BestEffort:
	default:
		return verb.BadInputf("--min-values-policy is %q, want Strict or BestEffort", o.minValues)
	}
	if o.steps < 0 {
		return verb.BadInputf("--steps is %d, want zero or more", o.steps)
	}
	return nil
}

// again decides again about what a decision was made of.
func (o *options) again(e journal.Entry) (d decision) {
	d = decision{At: e.World.At(), Kind: e.Kind, World: e.World.Digest(), Release: e.Release, Verdict: same, plan: e.Plan}
	defer func() {
		if r := recover(); r != nil {
			d.Verdict, d.Panic = broken, fmt.Sprint(r)
		}
	}()
	if e.Parted != "" {
		d.Kind, d.Verdict = e.Parted, parted
		return d
	}
	p := o.decide(e)
	d.plan = p
	switch {
	case e.Kind == "":
		d.Verdict = unknown
		return d
	case e.Panic != "":
		d.Was = e.Panic
	}
	diff := suppose.Compare(suppose.Side{World: e.World, Plan: e.Plan}, suppose.Side{World: e.World, Plan: p})
	if !diff.Same {
		d.Verdict, d.Difference = different, &diff
	}
	d.Identical = equal(e.Plan, p)
	return d
}

// decide makes the decision of an entry's kind, with the options it had where the user says none.
func (o *options) decide(e journal.Entry) plan.Plan {
	with := &e.Options.Provision
	if e.Kind == journal.Static {
		with = &e.Options.Static
	}
	if o.preferences != "" {
		with.PreferencePolicy = pack.Policy(o.preferences)
	}
	if o.minValues != "" {
		with.MinValuesPolicy = pack.Policy(o.minValues)
	}
	if o.steps > 0 {
		with.Steps = o.steps
	}
	return e.Again()
}

// equal reports whether two plans are the same in every field.
func equal(a, b plan.Plan) bool {
	x, err := json.Marshal(a)
	y, err2 := json.Marshal(b)
	return err == nil && err2 == nil && string(x) == string(y)
}
