// Package report is the verb that tells others of a controller: what its cluster cost, and what a bug report needs.
package report

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tenon-sh/tenon/internal/cli/snapshot"
	"github.com/tenon-sh/tenon/internal/cli/verb"
	"github.com/tenon-sh/tenon/internal/journal"
	"github.com/tenon-sh/tenon/internal/record"
)

// asCSV is the form for spreadsheets.
const asCSV = "csv"

// options are the flags.
type options struct {
	source snapshot.Source
	html   string
	format *verb.Format
}

// Command is the verb; release names the build.
func Command(release string) *cobra.Command {
	o := &options{}
	cmd := &cobra.Command{
		Use:   "report [FILE|FOLDER|URL|-...]",
		Short: "Tell what the cluster cost over time; collect what a bug report needs",
		Long: `Report reads decisions that a controller or a shadow kept, and says what was over
the time that they cover: what the nodes of pools cost, and would have cost on
demand; the bound; machines that came, and went by reason; pods moved; how long
pods waited for nodes; by day and pool. It changes nothing.

Without arguments the controller of the cluster is asked for the decisions that it
has in memory, those of the last day at most. Its --journal-dir has more.
Between two decisions the price stands as the first of them saw it.`,
		Example: `  tenon report
  tenon report /var/lib/tenon/journal --html month.html
  tenon report journal/ -o csv > month.csv
  tenon report bug --scrub`,
		Args: cobra.ArbitraryArgs,
		RunE: o.run,
	}
	f := cmd.Flags()
	reach(f, &o.source)
	f.StringVar(&o.html, "html", "", "file to write a page to, which needs nothing else")
	o.format = verb.FormatFlag(cmd, verb.Text, verb.JSON, asCSV)
	cmd.AddCommand(bug(release))
	return cmd
}

func (o *options) run(cmd *cobra.Command, args []string) error {
	r := newReading()
	each := func(e journal.Entry) error {
		r.add(e)
		return nil
	}
	for _, from := range args {
		if err := snapshot.Decisions(cmd.Context(), from, cmd.InOrStdin(), each); err != nil && (!record.IsDamage(err) || r.out.Decisions == 0) {
			return verb.BadInput(err)
		} else if err != nil {
			cmd.PrintErrf("note: %v\n", err)
		}
		if r.out.Decisions == 0 {
			return verb.BadInputf("%s", snapshot.NoDecisions(from))
		}
	}
	if len(args) == 0 {
		if err := o.asked(cmd, each); err != nil {
			return err
		}
	}
	if r.skipped > 0 {
		cmd.PrintErrf("note: %d decisions were passed over, because they are older than one before them: give journals in the order of time\n", r.skipped)
	}
	p := r.period()
	if o.html != "" {
		if err := p.html().Write(o.html); err != nil {
			return err
		}
	}
	switch {
	case o.format.Is(verb.JSON):
		return verb.WriteJSON(cmd.OutOrStdout(), p)
	case o.format.Is(asCSV):
		text, err := p.csv()
		if err == nil {
			_, err = io.WriteString(cmd.OutOrStdout(), text)
		}
		return err
	}
	_, err := io.WriteString(cmd.OutOrStdout(), p.text())
	return err
}

// reach adds the flags that say which controller is asked.
func reach(f *pflag.FlagSet, s *snapshot.Source) {
	f.StringVar(&s.Kubeconfig, "kubeconfig", "", "kubeconfig to use; empty: the usual one")
	f.StringVar(&s.Context, "context", "", "context of the kubeconfig; empty: the current one")
	f.StringVar(&s.Controller, "controller", "", "controller to ask: its Service as NAMESPACE/NAME, or the URL of its pages; default: the chart's Service")
}

// asked asks the controller of the cluster for its journal.
func (o *options) asked(cmd *cobra.Command, each func(journal.Entry) error) error {
	doors, err := o.source.Doors(cmd.Context())
	if err != nil {
		return err
	}
	body, err := snapshot.Open(cmd.Context(), doors, "journal", nil)
	if err != nil {
		return fmt.Errorf("the controller could not be asked for its journal: %w; give a file or folder of decisions", err)
	}
	found := false
	err = errors.Join(journal.Read(body, func(e journal.Entry) error {
		found = true
		return each(e)
	}), body.Close())
	if err == nil && !found {
		err = errors.New("the controller has kept no decision yet: it makes one when a pod waits or a node may go")
	}
	return err
}
