package cloud_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/cloud"
)

// slowDriver answers the first question of a catalogue last.
type slowDriver struct {
	cloud.Driver

	mu      sync.Mutex
	asked   int
	dropped []world.TemplateID
}

func (s *slowDriver) Catalog(context.Context, cloud.Template) (world.Catalog, error) {
	s.mu.Lock()
	s.asked++
	first := s.asked == 1
	s.mu.Unlock()
	if first {
		time.Sleep(time.Minute)
		return world.Catalog{Version: "old"}, nil
	}
	return world.Catalog{Version: "new"}, nil
}

func (s *slowDriver) Drop(id world.TemplateID) { s.dropped = append(s.dropped, id) }

// Of two renewals of a template the one that began later wins, whichever ends
// first: it knows what is sold out. What was dropped is not published any more.
func TestRenewalsRace(t *testing.T) {
	tests := map[string]struct {
		why  string
		then func(*testing.T, *cloud.Cloud)
		want []string
	}{
		"Renewed": {"It was asked for again meanwhile.", func(t *testing.T, c *cloud.Cloud) { c.Refresh(t.Context()) }, []string{"new"}},
		"Dropped": {"No pool wants it any more.", func(_ *testing.T, c *cloud.Cloud) { c.Drop("t") }, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var published []string
				c := cloud.New(cloud.Config{Driver: &slowDriver{}, Publish: func(w world.Catalog) { published = append(published, w.Version) }})
				c.Want(cloud.Template{ID: "t"})
				done := make(chan struct{})
				go func() { defer close(done); c.Refresh(t.Context()) }()
				synctest.Wait()
				tc.then(t, c)
				<-done
				if diff := cmp.Diff(tc.want, published); diff != "" {
					t.Errorf("%s -want +got\n%s", tc.why, diff)
				}
			})
		})
	}
}

// A template that only claims name is kept while it is asked for, and no longer.
// One that a pool wants stays.
func TestBorrowedTemplatesGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var gone []world.TemplateID
		s := &slowDriver{asked: 1}
		c := cloud.New(cloud.Config{Driver: s, Withdraw: func(id world.TemplateID, _ string) { gone = append(gone, id) }})
		c.Borrow(cloud.Template{ID: "claims"})
		c.Borrow(cloud.Template{ID: "both"})
		c.Want(cloud.Template{ID: "both"})
		for range 10 { // a claim is looked at
			c.Refresh(t.Context())
			if _, _, ok := c.Template("claims"); !ok {
				t.Fatal("it was dropped in use")
			}
			time.Sleep(5 * time.Minute)
		}
		for range 4 { // no claim is left
			c.Refresh(t.Context())
			time.Sleep(5 * time.Minute)
		}
		_, _, kept := c.Template("both")
		if _, _, ok := c.Template("claims"); ok || !kept {
			t.Errorf("what claims named is kept: %t; what a pool wants is kept: %t", ok, kept)
		}
		want := []world.TemplateID{"claims"}
		if diff := cmp.Diff([][]world.TemplateID{want, want}, [][]world.TemplateID{gone, s.dropped}); diff != "" {
			t.Errorf("withdrawn and dropped: -want +got\n%s", diff)
		}
	})
}

// oddDriver breaks on the catalogue of one template.
type oddDriver struct{ cloud.Driver }

func (oddDriver) Catalog(_ context.Context, t cloud.Template) (world.Catalog, error) {
	if t.ID == "bad" {
		panic("a bug in what makes catalogues")
	}
	return world.Catalog{Template: t.ID, Version: "1"}, nil
}

// A template whose catalogue breaks what makes it costs the others nothing, and is asked for again.
func TestRenewalsOutliveATemplate(t *testing.T) {
	now := time.Now()
	published := map[world.TemplateID]bool{}
	c := cloud.New(cloud.Config{
		Driver: oddDriver{}, Now: func() time.Time { return now }, Publish: func(w world.Catalog) { published[w.Template] = true },
	})
	for _, id := range []world.TemplateID{"a", "bad", "z"} {
		c.Want(cloud.Template{ID: id})
	}
	next := c.Refresh(t.Context())
	if !published["a"] || !published["z"] {
		t.Errorf("published: %v", published)
	}
	if wait := next.Sub(now); wait <= 0 || wait > time.Minute {
		t.Errorf("it is asked for again in %v", wait)
	}
}
