// Package consolidate is the verb that shows which nodes of files or of a live cluster could be given back although pods run on them, and gives back nothing.
package consolidate

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tenon-sh/tenon/engine/disrupt"
	"github.com/tenon-sh/tenon/engine/disrupt/consolidate"
	"github.com/tenon-sh/tenon/engine/explain"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/pack"
	"github.com/tenon-sh/tenon/engine/provision"
	"github.com/tenon-sh/tenon/engine/suppose"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/cli/snapshot"
	"github.com/tenon-sh/tenon/internal/cli/verb"
	"github.com/tenon-sh/tenon/internal/clock"
)

// wide is the text form that names every pod, every type and every node that stays.
const wide = "wide"

// options are what the user asks for.
type options struct {
	source   snapshot.Source
	supposed snapshot.Suppositions
	level    string
	share    int
	move     float64
	least    float64
	group    int
	spot     bool
	budgets  bool
	version  string
	format   *verb.Format
}

// Command returns the verb. version is the program's, for the result.
func Command(version string) *cobra.Command {
	o := options{version: version}
	cmd := &cobra.Command{
		Use:   "consolidate [NODE] [-f FILE|DIR|-]...",
		Short: "Show which nodes could be given back, what that saves and what moves",
		Long: `Consolidate decides which nodes could be given back although pods run on them,
because these pods fit on other nodes or on cheaper ones. It prints what would
go, what would be bought for it, which pods would move where, what that saves,
and of every other node why it stays. It changes nothing; the controller
decides in the same way, and acts where pools say so.

With the name of a node it says what would become of that one, and if it stays,
everything that the other nodes have against its pods.

It looks at the cluster of the current kubeconfig, or with -f at files, or at a
world that the controller kept. --add, --without, --scale, --sold-out and
--price suppose that something is otherwise.`,
		Example: `  tenon consolidate                      # the current cluster, read only
  tenon consolidate --ignore-budgets     # what could go in the end, not only now
  tenon consolidate ip-10-0-1-12.ec2.internal
  kubectl get pods,nodes,nodeclaims,nodepools,pdb -A -o yaml | tenon consolidate -f - -o json`,
		Args: cobra.MaximumNArgs(1),
		RunE: o.run,
	}
	f := cmd.Flags()
	o.source.Flags(f)
	o.supposed.Flags(f)
	f.StringVar(&o.level, "level", consolidate.Normal, "how much has to be saved for a pod to be moved, where its pool does not say: "+consolidate.AnyLevel()+"; a running controller's, if one answers")
	f.IntVar(&o.share, "move-share", 0, "what moving one pod has to save an hour, in percent of what an average pod costs, instead of the level's")
	f.Float64Var(&o.move, "move-cost", 0, "what moving one pod has to save an hour at most, in units of the currency, instead of the level's")
	f.Float64Var(&o.least, "least-saving", consolidate.DefaultLeastSaving.Units(), "what has to be saved an hour for any node to go")
	f.IntVar(&o.group, "group", consolidate.DefaultGroup, "most nodes that are replaced together")
	f.BoolVar(&o.spot, "spot-to-spot", false, "replace spot nodes by cheaper spot nodes, too, if there are enough types of them")
	f.BoolVar(&o.budgets, "ignore-budgets", false, "as if no disruption budget held anything up")
	o.format = verb.FormatFlag(cmd, verb.Text, verb.JSON, wide)
	return cmd
}

func (o *options) run(cmd *cobra.Command, args []string) error {
	decide, err := o.decideOptions(cmd.Flags())
	if err != nil {
		return err
	}
	w, in, notes, err := o.world(cmd)
	if err != nil {
		return err
	}
	pack := o.follow(in, &decide, cmd.Flags())
	for _, n := range notes {
		fmt.Fprintf(cmd.ErrOrStderr(), "note: %s\n", n)
	}
	if len(args) > 0 {
		p := suppose.Find(w, args[0])
		if p == nil {
			return suppose.Missing(w, args[0])
		}
		decide.Explain = []string{p.Name()}
	}
	before := verb.UsageNow()
	p := disrupt.Decide(w, disrupt.Options{
		Planned: explain.Targets(provision.Decide(w, pack)), // what waiting pods are meant for is not empty
		Only:    []disrupt.Part{disrupt.Judging, disrupt.Idling, disrupt.Consolidating}, AsIs: true, Pack: pack, Consolidate: decide,
	})
	spent := verb.UsageNow().Since(before)
	if len(args) > 0 {
		p = p.Of(decide.Explain[0])
	}
	if o.format.Is(verb.JSON) {
		r := p.BackResult()
		r.Version, r.Decision = o.version, &spent
		return verb.WriteJSON(cmd.OutOrStdout(), r)
	}
	text := p.Text(o.format.Is(wide))
	if len(w.Places()) == 0 {
		text = "There is no node, so none could be given back.\n"
	}
	_, err = io.WriteString(cmd.OutOrStdout(), text)
	return err
}

// world reads what is to be looked at.
func (o *options) world(cmd *cobra.Command) (w *world.World, in *snapshot.Input, notes []string, err error) {
	in, err = o.source.Read(cmd.Context(), cmd.InOrStdin(), cmd.ErrOrStderr())
	if err != nil {
		return nil, nil, nil, err
	}
	if w, err = in.World(clock.Wall().Unix()); err != nil {
		return nil, nil, nil, verb.BadInput(err)
	}
	if o.supposed.Any() {
		if w, err = in.Suppose(&o.supposed, w, cmd.InOrStdin(), cmd.ErrOrStderr()); err != nil {
			return nil, nil, nil, err
		}
	}
	w, alone, err := snapshot.Claimed(w)
	notes = in.Notes
	switch {
	case alone == 1:
		notes = append(notes, "1 node of a pool has no NodeClaim in what was read; it is taken to have joined long ago")
	case alone > 1:
		notes = append(notes, fmt.Sprintf("%d nodes of pools have no NodeClaim in what was read; they are taken to have joined long ago", alone))
	}
	return w, in, notes, err
}

// follow takes the settings of the controller, where it answered, for all that no flag says, and returns the options by which it buys.
func (o *options) follow(in *snapshot.Input, to *consolidate.Options, given *pflag.FlagSet) pack.Options {
	if in.Moving == nil {
		return pack.Options{}
	}
	if !given.Changed("level") {
		to.Level = cmp.Or(in.Moving.Level, to.Level)
	}
	if !given.Changed("spot-to-spot") {
		to.SpotToSpot = in.Moving.SpotToSpot
	}
	return *in.Options
}

// decideOptions reads the flags that the decision depends on.
func (o *options) decideOptions(given *pflag.FlagSet) (consolidate.Options, error) {
	out := consolidate.Options{Level: o.level, MoveShare: o.share, Group: o.group, SpotToSpot: o.spot, Unbudgeted: o.budgets}
	if !consolidate.IsLevel(o.level) {
		return out, verb.BadInputf("--level is %q, want %s", o.level, consolidate.AnyLevel())
	}
	if o.share < 0 || o.share > 1000 {
		return out, verb.BadInputf("--move-share is %d, want a percentage from 0 to 1000", o.share)
	}
	if out.MoveShare == 0 && given.Changed("move-share") {
		out.MoveShare = -1
	}
	for _, x := range []struct {
		flag string
		v    float64
		to   *money.Micro
	}{{"--move-cost", o.move, &out.MoveCost}, {"--least-saving", o.least, &out.LeastSaving}} {
		price, ok := money.Of(x.v)
		if !ok {
			return out, verb.BadInputf("%s is %v, want an amount of money from 0 to a million", x.flag, x.v)
		}
		if *x.to = price; *x.to == 0 && given.Changed(strings.TrimPrefix(x.flag, "--")) {
			*x.to = -1
		}
	}
	if o.group < 1 {
		return out, verb.BadInputf("--group is %d, want 1 or more", o.group)
	}
	return out, nil
}
