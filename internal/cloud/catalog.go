package cloud

import (
	"context"
	"slices"
	"time"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
)

// Want keeps the catalogue of a template fresh from now on. A template that is
// new, or no longer the same, is asked for at once.
func (c *Cloud) Want(t Template) {
	c.mu.Lock()
	defer c.mu.Unlock()
	old, ok := c.templates[t.ID]
	if ok && old.template.Class == t.Class && string(old.template.Kubelet) == string(t.Kubelet) {
		old.borrowed = time.Time{}
		return
	}
	c.templates[t.ID] = &entry{template: t}
	c.poke()
}

// keepLentFor is how long a template is kept that was borrowed, after it was last asked for.
const keepLentFor = 15 * time.Minute

// Borrow keeps the catalogue of a template fresh that no pool wants, as long as
// it is asked for: claims may outlive their pool, and name classes of their own.
func (c *Cloud) Borrow(t Template) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.templates[t.ID] == nil {
		c.templates[t.ID] = &entry{template: t, borrowed: c.cfg.Now()}
		c.poke()
	}
}

// giveBack drops the templates that were borrowed and are not asked for any more.
func (c *Cloud) giveBack() {
	c.mu.Lock()
	var idle []world.TemplateID
	for id, e := range c.templates {
		if !e.borrowed.IsZero() && c.cfg.Now.Since(e.borrowed) >= keepLentFor {
			idle = append(idle, id)
		}
	}
	c.mu.Unlock()
	for _, id := range idle {
		c.Drop(id)
		c.cfg.Withdraw(id, "")
	}
}

// Renew has the catalogue of a template asked for at once, for example because its class changed.
func (c *Cloud) Renew(id world.TemplateID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.templates[id]; e != nil {
		e.next = time.Time{}
		c.poke()
	}
}

// Changed has the catalogues of a class asked for at once, because its object has changed.
func (c *Cloud) Changed(class ClassRef) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range c.templates {
		if e.template.Class == class {
			e.next = time.Time{}
			c.poke()
		}
	}
}

// dropper is a driver that keeps something for each template, and need not any more.
type dropper interface{ Drop(world.TemplateID) }

// Drop ends the care for a template.
func (c *Cloud) Drop(id world.TemplateID) {
	c.publishing.Lock() // a renewal under way is not published after this
	defer c.publishing.Unlock()
	c.mu.Lock()
	delete(c.templates, id)
	c.mu.Unlock()
	if d, ok := able[dropper](c.cfg.Driver); ok {
		d.Drop(id)
	}
}

// Template returns the template of an id, and what is wrong with its catalogue; false if it is not wanted.
func (c *Cloud) Template(id world.TemplateID) (Template, error, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.templates[id]
	if !ok {
		return Template{}, nil, false
	}
	if !e.borrowed.IsZero() {
		e.borrowed = c.cfg.Now()
	}
	return e.template, e.err, true
}

// poke wakes Run. The lock is held.
func (c *Cloud) poke() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// Run keeps catalogues fresh until ctx ends.
func (c *Cloud) Run(ctx context.Context) {
	for {
		next := c.Refresh(ctx)
		t := time.NewTimer(c.cfg.Now.Until(next))
		select {
		case <-ctx.Done():
			t.Stop()
			return
		case <-c.wake:
		case <-t.C:
		}
		t.Stop()
	}
}

// Refresh asks for every catalogue that is due, and returns when the next one
// is. One that cannot be had does not keep others from being asked for.
func (c *Cloud) Refresh(ctx context.Context) time.Time {
	c.giveBack()
	c.mu.Lock()
	var due []world.TemplateID
	now := c.cfg.Now()
	for id, e := range c.templates {
		if !e.next.After(now) {
			due = append(due, id)
		}
	}
	c.mu.Unlock()
	for _, id := range due {
		if !c.cfg.Panics.Do("catalogue", func() { c.renew(ctx, id) }, "template", id) {
			c.put(id, afterFailure) // what it sold before stays on sale
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	next := c.cfg.Now().Add(c.cfg.Fresh)
	for _, e := range c.templates {
		if e.next.Before(next) {
			next = e.next
		}
	}
	return next
}

// put has a catalogue asked for again after a while.
func (c *Cloud) put(id world.TemplateID, wait time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.templates[id]; e != nil {
		e.next = c.cfg.Now().Add(wait)
	}
}

// What is sold out may come back any minute: for so long after the last refusal
// catalogues are asked for so often. Those that sell from reservations always are,
// because others draw from these, too, and give back.
const (
	comesBack = 30 * time.Minute
	lookAgain = time.Minute
)

// mark notes that an offer of a catalogue was just found to be sold out.
func (c *Cloud) mark(id world.TemplateID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.templates[id]; e != nil {
		e.soldOut = c.cfg.Now()
	}
}

// reserves reports whether a catalogue sells from reservations, be it that nothing is left of them now.
func reserves(c world.Catalog) bool {
	return slices.ContainsFunc(c.Shapes, func(s world.Shape) bool {
		return slices.ContainsFunc(s.Offers, func(o world.Offer) bool { return o.CapacityType == label.Reserved })
	})
}

// afterFailure is how long a catalogue that could not be had is left alone.
const afterFailure = 10 * time.Second

// renew asks for one catalogue and publishes it if it is new. Of several that are
// under way for one template, what began later knows more: what an earlier one
// brings after it is let go.
func (c *Cloud) renew(ctx context.Context, id world.TemplateID) {
	c.mu.Lock()
	e := c.templates[id]
	turn := 0
	if e != nil {
		e.begun++
		turn = e.begun
	}
	c.mu.Unlock()
	if e == nil {
		return
	}
	var got world.Catalog
	err := c.call(ctx, methodCatalog, func() error {
		var err error
		got, err = c.cfg.Driver.Catalog(ctx, e.template)
		return err
	})
	got = c.refusals.applied(c.cfg.Now(), got)
	c.publishing.Lock()
	defer c.publishing.Unlock()
	c.mu.Lock()
	if turn < e.settled || c.templates[id] != e {
		c.mu.Unlock()
		return
	}
	e.settled = turn
	e.err, e.next = err, c.cfg.Now().Add(c.cfg.Fresh)
	if err != nil {
		e.next = c.cfg.Now().Add(min(afterFailure, c.cfg.Fresh))
	}
	// A class that became unusable sells nothing, whatever it sold before: to
	// plan by its old catalogue would ask for machines that cannot be launched.
	why := ""
	if err != nil && (CodeOf(err) == NotReady || e.version == "") && ctx.Err() == nil {
		why = err.Error()
	}
	withdrawn := why != "" && (why != e.why || e.version != "")
	e.why = why
	if withdrawn {
		e.version = ""
	}
	if reserves(got) || !e.soldOut.IsZero() && c.cfg.Now.Since(e.soldOut) < comesBack {
		e.next = c.cfg.Now().Add(min(lookAgain, e.next.Sub(c.cfg.Now())))
	}
	fresh := err == nil && (e.version == "" || got.Version != e.version)
	if fresh {
		e.version = got.Version
	}
	c.mu.Unlock()
	if fresh {
		got.Template = id
		c.cfg.Publish(got)
	}
	if withdrawn {
		c.cfg.Withdraw(id, why)
	}
}
