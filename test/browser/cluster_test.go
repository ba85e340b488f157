// Package browser opens the pages in a real Chromium and does what readers do.
package browser

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/tenon-sh/tenon/engine/enginetest"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/provision"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/journal"
	"github.com/tenon-sh/tenon/internal/panics"
	"github.com/tenon-sh/tenon/internal/web"
	"github.com/tenon-sh/tenon/internal/web/live"
)

// cluster is a controller's pages over a World that a test changes.
type cluster struct {
	*httptest.Server

	t       *testing.T
	journal *journal.Journal
	history *live.History
	pages   http.Handler

	mu     sync.Mutex
	world  *world.World
	leader string // the replica that decides, if it is not this one
}

// serve serves the pages of a World.
func serve(t *testing.T, w *world.World) *cluster {
	t.Helper()
	c := &cluster{t: t, world: w, journal: journal.New(64, "test", nil)}
	now := func() *world.World {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.world
	}
	c.history = live.NewHistory(now, panics.Teller{})
	next := func() (journal.Entry, bool) { return journal.Entry{Kind: journal.Buy, World: now()}, true }
	h := web.Handler(web.Config{Decisions: c.journal, World: now, Next: next, History: c.history, Leader: c.led})
	c.pages = h
	c.Server = httptest.NewServer(h)
	t.Cleanup(c.stop)
	return c
}

// led is the replica that decides, if it is not this one.
func (c *cluster) led() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.leader
}

// stop ends the server, as when the controller is restarted.
func (c *cluster) stop() {
	c.CloseClientConnections()
	c.Close()
}

// again serves the same pages at the same address.
func (c *cluster) again() {
	c.t.Helper()
	listener, err := net.Listen("tcp", strings.TrimPrefix(c.URL, "http://"))
	if err != nil {
		c.t.Fatal(err)
	}
	c.Server = &httptest.Server{Listener: listener, Config: &http.Server{Handler: c.pages}} //nolint:gosec // only this test asks
	c.Start()
}

// edit changes the World, and decides about it as the controller would.
func (c *cluster) edit(change func(*world.Builder) error) {
	c.t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	b := c.world.Edit()
	if err := change(b); err != nil {
		c.t.Fatal(err)
	}
	c.world = b.Snapshot(c.world.At() + 1)
}

// decide decides what to buy, and keeps it.
func (c *cluster) decide() {
	c.mu.Lock()
	w := c.world
	c.mu.Unlock()
	c.journal.Add(journal.Entry{Kind: journal.Buy, World: w, Plan: provision.Decide(w, provision.Options{})})
}

// large is a cluster of so many nodes, each full of pods, with some pods that wait.
func large(nodes int) *world.World { return enginetest.Steady(nodes, 20) }

// keep keeps a decision about the World as it is.
func (c *cluster) keep(kind string, p plan.Plan) {
	c.mu.Lock()
	w := c.world
	c.mu.Unlock()
	c.journal.Add(journal.Entry{Kind: kind, World: w, Plan: p})
}
