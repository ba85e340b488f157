// Package replay is the verb that decides again about worlds a controller kept, and says whether the plans are the same.
package replay

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/suppose"
	"github.com/tenon-sh/tenon/internal/cli/estimate"
	"github.com/tenon-sh/tenon/internal/cli/snapshot"
	"github.com/tenon-sh/tenon/internal/cli/verb"
	"github.com/tenon-sh/tenon/internal/journal"
	"github.com/tenon-sh/tenon/internal/parallel"
	"github.com/tenon-sh/tenon/internal/record"
	"github.com/tenon-sh/tenon/internal/scrub"
)

// wide is the text form that names every pod.
const wide = "wide"

// options are the flags.
type options struct {
	settings

	check, scrub bool
	html         string
	format       *verb.Format
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
setting before it is set: with --node-charge, --consolidation-level, --spot-to-spot
and others it decides with these instead of what the controller had. Where decisions
come out differently it says what that comes to in money, machines, moved and
refused pods. Each decision is made of the World as it was: what it would have
changed of those after it is estimated.

A node that goes is decided about again with each look at the cluster until its
claim has ended, and most looks at a cluster change nothing. The text has such
decisions on one line with their number, -o wide and json each of them.

A controller keeps its last decisions in memory; their address is its metrics
port (kubectl port-forward). A recording of a day is made by tenon record, or by
the controller itself. With --journal-dir it keeps decisions in a folder.`,
		Example: `  tenon replay http://127.0.0.1:8080
  tenon replay monday.rec --consolidation-level eager --html eager.html
  tenon replay /var/lib/tenon/journal --check
  tenon replay journal/ --preference-policy Ignore -o wide`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return fmt.Errorf("say what to replay: a recording, a file or folder of decisions, - for standard input, or the address of a controller")
			}
			return nil
		},
		RunE: o.run,
	}
	o.flags(cmd)
	f := cmd.Flags()
	f.BoolVar(&o.check, "check", false, "exit with status 1 if a plan comes out differently")
	f.BoolVar(&o.scrub, "scrub", false, "give namespaces, pods, workloads, nodes and claims other names; what was recorded is made again with these as well")
	f.StringVar(&o.html, "html", "", "file to write a page with plots to, which needs nothing else")
	o.format = verb.FormatFlag(cmd, verb.Text, verb.JSON, wide)
	return cmd
}

// replaying is a replay under way.
type replaying struct {
	*options

	out    io.Writer
	report report
	day    *estimate.Estimate
	names  *scrub.Names // nil: things keep their names
	held   row
	again  *parallel.Queue[journal.Entry, decision]
}

const (
	// perCore is how many decisions are read ahead for each core that makes them.
	perCore = 4
	// garbage is by how many percent memory grows before it is looked for what is not needed any more. Each decision
	// leaves ten times of what stays.
	garbage      = 400
	usualGarbage = 100
)

func (o *options) run(cmd *cobra.Command, args []string) error {
	if err := o.settings.check(); err != nil {
		return err
	}
	r := &replaying{options: o, out: cmd.OutOrStdout(), day: estimate.New(), report: report{Format: "tenon-replay/v1", With: o.with(cmd), Decisions: []decision{}}}
	if o.scrub {
		r.names = &scrub.Names{Machines: true}
	}
	cores := runtime.GOMAXPROCS(0)
	r.again = parallel.NewQueue(cores, perCore*cores, o.again, r.write)
	defer r.again.Wait()
	if was := debug.SetGCPercent(garbage); was != usualGarbage { // it was set from outside
		debug.SetGCPercent(was)
	} else {
		defer debug.SetGCPercent(was)
	}
	for _, from := range args {
		before := len(r.report.Decisions)
		err := snapshot.Decisions(cmd.Context(), from, cmd.InOrStdin(), r.take)
		if err == nil || record.IsDamage(err) {
			if rest := r.again.Flush(); rest != nil {
				return rest
			}
		}
		switch {
		case err != nil && (!record.IsDamage(err) || len(r.report.Decisions) == before):
			return verb.BadInput(err)
		case err != nil:
			cmd.PrintErrf("note: %v\n", err)
		case len(r.report.Decisions) == before:
			return verb.BadInputf("%s", snapshot.NoDecisions(from))
		}
	}
	return r.end(cmd)
}

// end says what all of it comes to.
func (r *replaying) end(cmd *cobra.Command) error {
	r.report.Day = r.day.Day()
	if r.day.Skipped() > 0 {
		cmd.PrintErrf("note: %d decisions are older than one before them and are in no sum: give journals in the order of time\n", r.day.Skipped())
	}
	if r.html != "" {
		if err := r.report.page().Write(r.html); err != nil {
			return err
		}
	}
	var err error
	if r.format.Is(verb.JSON) {
		err = verb.WriteJSON(r.out, r.report)
	} else {
		_, err = io.WriteString(r.out, r.held.text(r.format.Is(wide))+r.report.text())
	}
	if n := r.report.Different + r.report.Broken; err == nil && r.check && n > 0 {
		err = fmt.Errorf("%d of %d decisions come out differently", n, len(r.report.Decisions))
	}
	return err
}

// take has a decision made again, side by side with those before it.
func (r *replaying) take(e journal.Entry) error {
	if r.names != nil {
		var err error
		if e, _, err = record.Renamed(e, r.names); err != nil {
			return err
		}
	}
	return r.again.Put(e)
}

// write writes a decision that was made again. They come in their order.
func (r *replaying) write(e journal.Entry, d decision) error {
	if d.Verdict == same || d.Verdict == different {
		r.day.Add(e, d.plan)
	}
	r.report.add(d)
	if r.format.Is(verb.JSON) || !r.format.Is(wide) && r.held.takes(d) {
		return nil
	}
	if _, err := io.WriteString(r.out, r.held.text(r.format.Is(wide))); err != nil {
		return err
	}
	r.held = row{first: d, last: d.At, times: 1}
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
	o.apply(&e.Options)
	p := e.Again()
	d.plan = p
	switch {
	case e.Kind == "":
		d.Verdict = unknown
		return d
	case e.Panic != "":
		d.Was = e.Panic
	}
	if d.Identical = equal(e.Plan, p); d.Identical {
		return d
	}
	diff := suppose.Compare(suppose.Side{World: e.World, Plan: e.Plan}, suppose.Side{World: e.World, Plan: p})
	if !diff.Same {
		d.Verdict, d.Difference = different, &diff
	}
	return d
}

// equal reports whether two plans are the same in every field.
func equal(a, b plan.Plan) bool {
	x, err := json.Marshal(a)
	y, err2 := json.Marshal(b)
	return err == nil && err2 == nil && string(x) == string(y)
}
