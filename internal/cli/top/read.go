package top

import (
	"context"
	"io"
	"net/url"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenon-sh/tenon/engine/provision"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/journal"
	"github.com/tenon-sh/tenon/internal/panics"
	"github.com/tenon-sh/tenon/internal/top/feed"
	"github.com/tenon-sh/tenon/internal/web"
	"github.com/tenon-sh/tenon/internal/web/live"
)

// readEvery is how often a cluster is read whose controller does not answer.
const readEvery = 5 * time.Second

// reader reads a cluster again and again, decides what Tenon would, and answers as a controller's live page does.
type reader struct {
	name  string
	pages feed.Get
	end   func()

	journal *journal.Journal

	mu      sync.Mutex
	world   *world.World
	options provision.Options
	failed  error              // why it could not be read last
	cut     context.CancelFunc // ends what follows it
	follow  context.Context    //nolint:containedctx // of what follows it, until it fails
}

// read reads once, and then every so often; never again for 0.
func (o *options) read(cmd *cobra.Command, every time.Duration) (*reader, error) {
	r := &reader{journal: journal.New(64, "", nil)}
	ctx, end := context.WithCancel(cmd.Context())
	r.follow, r.cut = context.WithCancel(ctx)
	r.end = end
	if err := r.once(ctx, o, cmd.InOrStdin(), cmd.ErrOrStderr()); err != nil {
		end()
		return nil, err
	}
	now := func() *world.World {
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.world
	}
	next := func() (journal.Entry, bool) {
		r.mu.Lock()
		defer r.mu.Unlock()
		return journal.Entry{World: r.world, Options: journal.Options{Provision: r.options}}, true
	}
	h := web.Handler(web.Config{Decisions: r.journal, World: now, Next: next, History: live.NewHistory(now, panics.Teller{})})
	r.pages = feed.Local(h)
	if every == 0 {
		return r, nil
	}
	ended := make(chan struct{})
	r.end = func() {
		end()
		<-ended
	}
	go func() {
		defer close(ended)
		again := time.NewTicker(every)
		defer again.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-again.C:
				r.fail(ctx, r.once(ctx, o, nil, io.Discard))
			}
		}
	}()
	return r, nil
}

// once reads the cluster, and decides.
func (r *reader) once(ctx context.Context, o *options, in io.Reader, errs io.Writer) error {
	input, err := o.source.Read(ctx, in, errs)
	if err != nil {
		return err
	}
	w, err := input.World(clock.Wall().Unix())
	if err != nil {
		return err
	}
	var options provision.Options
	if input.Options != nil {
		options = *input.Options
	}
	r.journal.Add(journal.Entry{Kind: journal.Buy, World: w, Options: journal.Options{Provision: options}, Plan: provision.Decide(w, options)})
	r.mu.Lock()
	defer r.mu.Unlock()
	r.name, r.world, r.options = input.Catalog, w, options
	return nil
}

// fail notes why the cluster could not be read, or that it could. What follows it is cut off by a failure.
func (r *reader) fail(ctx context.Context, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failed = err; err != nil {
		r.cut()
		r.follow, r.cut = context.WithCancel(ctx)
	}
}

// get answers as a controller does, as long as the cluster can be read.
func (r *reader) get(ctx context.Context, path string, query url.Values) (io.ReadCloser, error) {
	r.mu.Lock()
	failed, follow := r.failed, r.follow
	r.mu.Unlock()
	if failed != nil {
		return nil, failed
	}
	ctx, end := context.WithCancel(ctx)
	stop := context.AfterFunc(follow, end)
	body, err := r.pages(ctx, path, query)
	if err != nil {
		stop()
		end()
		return nil, err
	}
	return &closing{body, func() {
		stop()
		end()
	}}, nil
}

// closing does something when it is closed.
type closing struct {
	io.ReadCloser

	also func()
}

// Close is io.Closer's.
func (c *closing) Close() error {
	c.also()
	return c.ReadCloser.Close()
}
