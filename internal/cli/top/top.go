// Package top is the verb that shows a cluster in the terminal, as it changes.
package top

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/spf13/cobra"
	"golang.org/x/term"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/tenon-sh/tenon/internal/cli/snapshot"
	"github.com/tenon-sh/tenon/internal/cli/verb"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/top"
	"github.com/tenon-sh/tenon/internal/top/feed"
)

// options are the flags.
type options struct {
	source   snapshot.Source
	extra    []string
	selector string
	sort     string
	once     bool
	format   *verb.Format
}

// Command is the verb.
func Command() *cobra.Command {
	o := options{}
	cmd := &cobra.Command{
		Use:   "top",
		Short: "Watch nodes, pending pods and decisions in the terminal",
		Long: `Top shows the cluster in the terminal as it changes: every node with how full it
is, what it costs, how old it is and what keeps it; the pods that wait; what is
decided; the pools. Enter on a row says why, w what would happen if the node
went. It changes nothing.

It asks the controller of the cluster of the current kubeconfig, which has to
have its live page switched on (settings.livePage of the chart). Where none
answers it reads the cluster itself every few seconds, says so, and shows what
Tenon would decide: also beside Karpenter or Cluster Autoscaler.

Where the output is no terminal, and with --once or -o json, it writes what
there is and ends.`,
		Example: `  tenon top
  tenon top --sort price --extra-labels topology.kubernetes.io/zone,team
  tenon top --node-selector karpenter.sh/capacity-type=spot
  tenon top --controller http://127.0.0.1:8080
  tenon top --once -o json`,
		Args: verb.NoArgs,
		RunE: o.run,
	}
	f := cmd.Flags()
	o.source.Flags(f)
	f.StringSliceVar(&o.extra, "extra-labels", nil, "labels of nodes to show as columns, by comma")
	f.StringVar(&o.selector, "node-selector", "", "only nodes with these labels, such as karpenter.sh/capacity-type=spot")
	f.StringVar(&o.sort, "sort", "", "column to order nodes by, such as price, cpu or age")
	f.BoolVar(&o.once, "once", false, "write what there is, and end")
	o.format = verb.FormatFlag(cmd, verb.Text, verb.JSON)
	return cmd
}

// source is where frames come from.
type source struct {
	name, note string
	get        feed.Get
	end        func()
}

func (o *options) run(cmd *cobra.Command, _ []string) error {
	selector, err := labels.Parse(o.selector)
	if err != nil {
		return verb.BadInputf("--node-selector: %w", err)
	}
	from, err := o.open(cmd)
	if err != nil {
		return err
	}
	defer from.end()
	ctx, end := context.WithCancel(cmd.Context())
	defer end()
	m, err := top.New(ctx, top.Config{Name: from.name, Note: from.note, Get: from.get, Labels: o.labels(), Selector: selector, Sort: o.sort, Now: clock.Wall})
	if err != nil {
		return verb.BadInputf("--sort: %w", err)
	}
	in, out := terminals(cmd)
	if in == nil || o.once || o.format.Is(verb.JSON) {
		return o.write(ctx, cmd, m, from)
	}
	program := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(in), tea.WithOutput(out), tea.WithoutSignalHandler())
	drawn := make(chan struct{})
	go func() {
		defer close(drawn)
		feed.Follow(ctx, from.get, func(n feed.News) { program.Send(top.News(n)) })
	}()
	_, err = program.Run()
	end()
	<-drawn
	if errors.Is(err, tea.ErrProgramKilled) && cmd.Context().Err() != nil {
		return nil // it was told to end
	}
	return err
}

// labels are those to be shown; empty ones are a slip of a comma.
func (o *options) labels() []string {
	var out []string
	for _, l := range o.extra {
		if l = strings.TrimSpace(l); l != "" && !slices.Contains(out, l) {
			out = append(out, l)
		}
	}
	return out
}

// terminals are the ends of the terminal; nil if there is none.
func terminals(cmd *cobra.Command) (in, out *os.File) {
	in, ok := cmd.InOrStdin().(*os.File)
	out, ok2 := cmd.OutOrStdout().(*os.File)
	if !ok || !ok2 || !term.IsTerminal(int(in.Fd())) || !term.IsTerminal(int(out.Fd())) {
		return nil, nil
	}
	return in, out
}

// write writes the first frame.
func (o *options) write(ctx context.Context, cmd *cobra.Command, m *top.Model, from source) error {
	ctx, end := context.WithTimeout(ctx, firstFrameTimeout)
	defer end()
	var failed error
	got := false
	feed.Follow(ctx, from.get, func(n feed.News) {
		if failed = n.Lost; n.Lost == nil {
			m.Update(top.News(n))
			got = true
		}
		end() // the first word counts
	})
	if !got {
		return cmp.Or(failed, fmt.Errorf("nothing was heard within %s", firstFrameTimeout))
	}
	if keys := m.Keys(); len(keys) > 0 {
		values, err := feed.Labels(cmd.Context(), from.get, keys)
		if err != nil {
			return err
		}
		m.Know(values)
	}
	if o.format.Is(verb.JSON) {
		return verb.WriteJSON(cmd.OutOrStdout(), struct {
			Format string `json:"format"`
			Note   string `json:"note,omitempty"`
			top.Cluster
		}{"tenon-top/v1", from.note, m.Shown()})
	}
	if from.note != "" {
		cmd.PrintErrln(from.note)
	}
	return m.Write(cmd.OutOrStdout())
}

// firstFrameTimeout is how long the first frame may take.
const firstFrameTimeout = 30 * time.Second

// open finds what answers: the controller's live page, or a reader of the cluster or of files in this process.
func (o *options) open(cmd *cobra.Command) (source, error) {
	if o.source.OfFiles() {
		r, err := o.read(cmd, 0)
		if err != nil {
			return source{}, err
		}
		return source{name: o.source.Name(), get: r.get, end: r.end}, nil
	}
	doors, err := o.source.Doors(cmd.Context())
	if verb.Status(err) == verb.Unusable {
		return source{}, err
	}
	var errs []error
	for _, d := range doors {
		if err = answers(cmd.Context(), d); err == nil {
			return source{name: d.Name, get: d.Get, end: func() {}}, nil
		}
		if err = fmt.Errorf("%s: %w", d.Name, err); !d.ByRights || !errors.Is(err, snapshot.ErrStranger) { // most controllers have no such API
			errs = append(errs, err)
		}
	}
	if len(errs) > 0 {
		err = errors.Join(errs...)
	}
	if errors.Is(err, snapshot.ErrStranger) {
		err = errors.New("the controller's live page is off, or it is an older release (settings.livePage of the chart)")
	}
	if o.source.ByURL() {
		return source{}, err // there is nothing else to read
	}
	r, readErr := o.read(cmd, readEvery)
	if readErr != nil {
		return source{}, readErr
	}
	return source{name: r.name, get: r.get, end: r.end, note: fmt.Sprintf("read every %s; not live, because %s", readEvery, strings.ReplaceAll(err.Error(), "\n", "; "))}, nil
}

// answers asks whether a live page is there.
func answers(ctx context.Context, d snapshot.Endpoint) error {
	ctx, end := context.WithTimeout(ctx, firstFrameTimeout)
	defer end()
	if d.ByRights { // labels are told whether or not there are frames
		body, err := d.Get(ctx, "v1/history", nil)
		if err != nil {
			return err
		}
		return body.Close()
	}
	_, err := feed.Labels(ctx, d.Get, []string{"kubernetes.io/hostname"})
	return err
}
