// Package record is the verb that keeps what a controller decides in a recording, a file of a bounded size.
package record

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/internal/cli/snapshot"
	"github.com/tenon-sh/tenon/internal/cli/verb"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/journal"
	"github.com/tenon-sh/tenon/internal/record"
	"github.com/tenon-sh/tenon/internal/scrub"
)

// The waits before a controller that does not answer is asked again.
const (
	firstWait   = time.Second
	longestWait = 30 * time.Second
)

// options are the flags.
type options struct {
	source snapshot.Source
	out    string
	limit  int64
	span   time.Duration
	scrub  bool
	kept   bool
}

// Command is the verb.
func Command() *cobra.Command {
	o := &options{}
	cmd := &cobra.Command{
		Use:   "record [FILE|FOLDER|URL|-...]",
		Short: "Keep what a controller decides in a file, to be replayed",
		Long: `Record writes decisions to a recording: one file with all that each decision was
made of, where each World is kept as what changed since the one before. tenon
replay decides again about it, also with other settings, and shows the difference.

Without arguments the controller of the cluster is followed: first come the
decisions that it has in memory, those of the last day at most, then those that it
makes, until record is interrupted or --for is over. A controller that goes away
is asked again. With --kept the recording is fetched that the controller itself
keeps (settings.recordFile of the chart). With arguments journals, recordings and
reports of bugs become one recording.

The file never has more than --limit bytes: the oldest goes first. A recording
that is there is gone on with; a file that is none is left alone.

With --scrub namespaces, pods and their labels, workloads, volumes, nodes and
claims have other names, alike everywhere in the file, and decisions are made
again with these. Names of pools, labels and taints of nodes, and what pods ask of
nodes stay, since decisions depend on them.`,
		Example: `  tenon record --for 24h
  tenon record --kept --out monday.rec
  tenon record monday.rec --scrub --out shared.rec
  tenon replay monday.rec --consolidation-level eager`,
		Args: cobra.ArbitraryArgs,
		RunE: o.run,
	}
	f := cmd.Flags()
	f.StringVar(&o.source.Kubeconfig, "kubeconfig", "", "kubeconfig to use; empty: the usual one")
	f.StringVar(&o.source.Context, "context", "", "context of the kubeconfig; empty: the current one")
	f.StringVar(&o.source.Controller, "controller", "", "controller to follow: its Service as NAMESPACE/NAME, or the URL of its pages; default: the chart's Service")
	f.StringVar(&o.out, "out", "tenon.rec", "file to write")
	f.Int64Var(&o.limit, "limit", 256<<20, "bytes that the file may have; the oldest decisions go first")
	f.DurationVar(&o.span, "for", 0, "how long the controller is followed; 0: until record is interrupted")
	f.BoolVar(&o.scrub, "scrub", false, "give namespaces, pods, workloads, nodes and claims other names")
	f.BoolVar(&o.kept, "kept", false, "fetch the recording that the controller keeps itself, and end")
	return cmd
}

// writing is a recording that is being written.
type writing struct {
	to    *record.File
	names *scrub.Names // nil: things keep their names
	added int
	last  int64 // when the last entry was decided
}

func (w *writing) add(e journal.Entry) error {
	at := e.World.At()
	if w.names != nil {
		var err error
		if e, _, err = record.Renamed(e, w.names); err != nil {
			return err
		}
	}
	if err := w.to.Add(e); err != nil {
		return err
	}
	w.added++
	w.last = max(w.last, at)
	return nil
}

func (o *options) run(cmd *cobra.Command, args []string) (err error) {
	switch {
	case o.kept && len(args) > 0:
		return verb.BadInputf("--kept asks the controller for its recording: give it no files")
	case o.span < 0:
		return verb.BadInputf("--for is %v, want zero or more", o.span)
	case o.span > 0 && (o.kept || len(args) > 0):
		return verb.BadInputf("--for says how long a controller is followed: it needs one, and no files or --kept")
	}
	for _, from := range args {
		if from == o.out {
			return verb.BadInputf("%s would be read and written: name another file with --out", from)
		}
	}
	var doors []snapshot.Endpoint
	if len(args) == 0 {
		if doors, err = o.source.Doors(cmd.Context()); err != nil {
			return err
		}
	}
	to, err := record.OpenFile(o.out, o.limit)
	if err != nil {
		return verb.BadInput(err)
	}
	w := &writing{to: to, last: to.Last()}
	if o.scrub {
		w.names = &scrub.Names{Machines: true}
	}
	switch {
	case len(args) > 0:
		err = o.read(cmd, args, w)
	case o.kept:
		err = fetch(cmd, doors, "recording", nil, w)
	default:
		err = o.follow(cmd, doors, w)
	}
	size := to.Size()
	if err = errors.Join(err, to.Close()); err != nil {
		return err
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s recorded in %s, which has %d KB now. What they come to, and would have with other settings: tenon replay %s\n", amount.Count(w.added, "decision"), o.out, (size+1023)/1024, o.out)
	return err
}

// read makes one recording of what others kept.
func (o *options) read(cmd *cobra.Command, args []string, w *writing) error {
	for _, from := range args {
		before := w.added
		err := snapshot.Decisions(cmd.Context(), from, cmd.InOrStdin(), w.add)
		switch {
		case err != nil && !record.IsDamage(err):
			return verb.BadInput(err)
		case w.added == before && err == nil:
			return verb.BadInputf("%s", snapshot.NoDecisions(from))
		case err != nil:
			cmd.PrintErrf("note: %v\n", err)
		}
	}
	return nil
}

// fetch reads a recording of a controller to its end.
func fetch(cmd *cobra.Command, doors []snapshot.Endpoint, path string, query url.Values, w *writing) error {
	body, err := snapshot.Open(cmd.Context(), doors, path, query)
	if err != nil {
		return fmt.Errorf("ask the controller for its recording: %w", err)
	}
	err = errors.Join(record.Read(body, w.add), body.Close())
	if record.IsDamage(err) && w.added > 0 {
		cmd.PrintErrf("note: %v\n", err)
		return nil
	}
	return err
}

// follow reads what a controller decides, again from where it was cut off, until the time is over.
func (o *options) follow(cmd *cobra.Command, doors []snapshot.Endpoint, w *writing) error {
	ctx := cmd.Context()
	if o.span > 0 {
		var end context.CancelFunc
		ctx, end = context.WithTimeout(ctx, o.span)
		defer end()
	}
	cmd.PrintErrf("recording to %s; interrupt to end\n", o.out)
	wait := firstWait
	for heard := false; ; {
		before := w.added
		err := o.listen(ctx, doors, w)
		heard = heard || w.added > before
		switch {
		case ctx.Err() != nil:
			return nil
		case !heard && errors.Is(err, errAsk):
			return err // at first it is the user's to see
		case errors.Is(err, errWrite):
			return err
		}
		if w.added > before {
			wait = firstWait
		}
		cmd.PrintErrf("%s  the controller is not heard any more, and is asked again in %v: %v\n", clock.Wall().UTC().Format(time.TimeOnly), wait, err)
		again := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			again.Stop()
			return nil
		case <-again.C:
		}
		wait = min(2*wait, longestWait)
	}
}

// What went wrong while a controller was listened to.
var (
	errAsk   = errors.New("it cannot be followed")
	errWrite = errors.New("the recording cannot be written")
	errEnded = errors.New("it has ended its answer")
)

// listen reads what a controller decides until it or the time ends.
func (o *options) listen(ctx context.Context, doors []snapshot.Endpoint, w *writing) error {
	query := url.Values{"since": {strconv.FormatInt(w.last, 10)}, "from": {"leader"}}
	body, err := snapshot.Open(ctx, doors, "recording/live", query)
	if err != nil {
		return fmt.Errorf("%w: %w", errAsk, err)
	}
	stop := context.AfterFunc(ctx, func() { _ = body.Close() })
	defer stop()
	err = record.Read(body, func(e journal.Entry) error {
		if err := w.add(e); err != nil {
			return fmt.Errorf("%w: %w", errWrite, err)
		}
		return nil
	})
	_ = body.Close() // all that came was read
	if err == nil || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errEnded
	}
	return err
}
