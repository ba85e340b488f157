package convert

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tenon-sh/tenon/internal/cli/verb"
)

// restoration puts a backup back. It goes the way of the conversion, backwards.
type restoration struct {
	*conversion

	past      past
	overwrite bool
	way       restored
}

// restore puts the backup of a file back, by what a conversion has at hand.
func restore(ctx context.Context, c *conversion, path string, overwrite bool) error {
	if filepath.Clean(path) == filepath.Clean(c.path) {
		return verb.BadInputf("%s is the backup that is to be put back: name another file with --backup, for what is there now", path)
	}
	c.to, c.node, c.failing = beta, earlierNode, "cannot be put back"
	r := &restoration{conversion: c, overwrite: overwrite}
	id, err := c.identity(ctx)
	if err != nil {
		return err
	}
	if r.past, err = readPast(path, id); err != nil {
		return err
	}
	c.closed = func(k kind) bool { return r.past.is(k, c.crds[k]) }
	return r.run(ctx)
}

// run looks, refuses what cannot be, and then writes. Whatever ends it in between, the next run goes on from there.
func (r *restoration) run(ctx context.Context) error {
	if err := r.look(ctx); err != nil {
		return err
	}
	if r.over() {
		r.say("nothing to do: every kind is stored as %s, by the definitions of the backup", beta)
		return nil
	}
	if err := r.ready(ctx, right{"delete", classKind().group, classKind().plural, ""}); err != nil {
		return err
	}
	if err := r.think(ctx); err != nil {
		return err
	}
	if r.dryRun {
		r.preview()
		return nil
	}
	if err := r.save(true); err != nil {
		return err
	}
	for _, step := range []func(context.Context) error{r.reopen, r.check, r.await} {
		if err := step(ctx); err != nil {
			return r.undo(ctx, err)
		}
	}
	if err := r.write(ctx); err != nil {
		return fmt.Errorf("%w; what is written is whole: run the same command again, and it goes on", err)
	}
	return nil
}

// over reports whether everything is as it was.
func (r *restoration) over() bool {
	for _, k := range kinds() {
		if !r.past.is(k, r.crds[k]) {
			return false
		}
	}
	return true
}

// think reads all objects and plans what becomes of them.
func (r *restoration) think(ctx context.Context) error {
	err := r.find(ctx, func(k kind) (string, bool) {
		if reopened(r.crds[k]) {
			return latest, true
		}
		return readable(r.crds[k])
	})
	if err != nil {
		return err
	}
	if r.way, err = r.past.plan(r.found, r.overwrite); err != nil {
		return err
	}
	r.plan = r.way.planned
	for _, n := range r.plan.notes {
		if !n.Fatal {
			r.say("# %s", n)
		}
	}
	return r.refusal(r.plan.refused())
}

// preview says what would be done.
func (r *restoration) preview() {
	r.say("back up to %s: %d definitions, %s", r.path, len(kinds()), r.plan.sum(r.found))
	for _, k := range kinds() {
		if !r.past.is(k, r.crds[k]) {
			r.say("open    %s: no webhook, every version shows what is stored", k.definition())
		}
	}
	for _, ch := range r.plan.changes {
		r.say("write   %s as %s", ch, beta)
	}
	for _, n := range r.plan.nodes {
		r.say("write   Node/%s: its owner references", n.GetName())
	}
	for _, name := range r.way.removed {
		r.say("delete  EC2NodeClass/%s, which the conversion made", name)
	}
	for _, k := range kinds() {
		if !r.past.is(k, r.crds[k]) {
			r.say("close   %s: the definition of the backup", k.definition())
		}
	}
	r.say("nothing was changed (dry run)")
}

// reopen lets every kind be read as it is stored, and written as v1beta1 by the rules of the definition that was. Where objects are stored does not
// change yet, so it can be undone.
func (r *restoration) reopen(ctx context.Context) error {
	for _, k := range kinds() {
		crd := r.crds[k]
		if r.past.is(k, crd) || reopened(crd) {
			continue
		}
		storage := beta
		if writes(crd, latest) {
			storage = latest
		}
		next, err := between(crd, r.past.crds[k], beta, latest, storage)
		if err != nil {
			return err
		}
		r.before[k] = crd
		if err := r.define(ctx, k, next); err != nil {
			delete(r.before, k)
			return err
		}
	}
	for _, k := range kinds() {
		stays := reopened(r.crds[k]) && !writes(r.crds[k], beta)
		if err := r.follow(ctx, k, func() error { return r.shows(ctx, k, latest, stays) }); err != nil {
			return err
		}
	}
	return nil
}

// write has everything stored as v1beta1, and then puts the definitions in place that were there.
func (r *restoration) write(ctx context.Context) error {
	for _, k := range kinds() {
		if crd := r.crds[k]; reopened(crd) && !writes(crd, beta) {
			next, err := between(crd, r.past.crds[k], beta, latest, beta)
			if err != nil {
				return err
			}
			if err := r.define(ctx, k, next); err != nil {
				return err
			}
		}
		if err := r.follow(ctx, k, func() error { return r.stores(k) }); err != nil {
			return err
		}
	}
	if err := r.writeAll(ctx); err != nil {
		return err
	}
	if err := r.remove(ctx); err != nil {
		return err
	}
	if err := r.forget(ctx); err != nil {
		return err
	}
	for _, k := range kinds() {
		if err := r.close(ctx, k); err != nil {
			return err
		}
	}
	r.say("done: everything is stored as %s again; now the release that was there can be put back", beta)
	return nil
}

// remove deletes the classes that the conversion made. Nothing names them any more.
func (r *restoration) remove(ctx context.Context) error {
	classes := r.api.Resource(classKind().at(beta))
	for _, name := range r.way.removed {
		if err := classes.Delete(ctx, name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("delete EC2NodeClass/%s: %w", name, err)
		}
		r.say("deleted EC2NodeClass/%s", name)
	}
	return nil
}

// close puts a definition in place that was there, and forgets that anything was stored as v1.
func (r *restoration) close(ctx context.Context, k kind) error {
	crd, was := r.crds[k], r.past.crds[k]
	if r.past.is(k, crd) {
		return nil
	}
	next, err := r.stored(ctx, k, crd, storedIn(was), latest)
	if err != nil {
		return err
	}
	next.Object["spec"] = was.DeepCopy().Object["spec"]
	if next.Object["spec"] == nil {
		return errors.New("the backup has no spec of " + k.definition())
	}
	if err := r.define(ctx, k, next); err != nil {
		return err
	}
	r.say("closed %s: it is as it was", k.definition())
	return nil
}
