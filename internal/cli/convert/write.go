package convert

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/retry"
)

const (
	// patience is how long the API server may take to follow a definition.
	patience = time.Minute
	// manager is the field manager of the objects.
	manager = "tenon-convert"
)

// define writes a definition.
func (c *conversion) define(ctx context.Context, k kind, next *unstructured.Unstructured) error {
	written, err := c.api.Resource(definitions()).Update(ctx, next, metav1.UpdateOptions{FieldManager: manager})
	if err != nil {
		return fmt.Errorf("change the definition of %s: %w", k.definition(), err)
	}
	c.crds[k] = written
	return nil
}

// open lets every kind that has v1beta1 be read without a webhook, and written as v1. Where objects are stored does not change yet, so it can be undone.
func (c *conversion) open(ctx context.Context) error {
	for _, k := range kinds() {
		if !old(c.crds[k]) || open(c.crds[k]) {
			continue
		}
		next, err := opened(c.crds[k], k, beta)
		if err != nil {
			return err
		}
		c.before[k] = c.crds[k]
		if err := c.define(ctx, k, next); err != nil {
			delete(c.before, k)
			return err
		}
	}
	for _, k := range kinds() {
		stays := open(c.crds[k]) && !writes(c.crds[k], latest)
		if err := c.follow(ctx, k, func() error { return c.shows(ctx, k, beta, stays) }); err != nil {
			return err
		}
	}
	return nil
}

// follow waits until the API server does as a definition says.
func (c *conversion) follow(ctx context.Context, k kind, done func() error) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, patience, true, func(context.Context) (bool, error) {
		last = done()
		return last == nil, nil
	})
	if err != nil {
		return fmt.Errorf("the API server does not serve %s as %s, %s after it was told to: %w", k.definition(), c.to, patience, errors.Join(last, ctx.Err()))
	}
	return nil
}

// shows says what keeps a kind from being written as it will be, and, while it is stored as it was, from being read so in a version that takes
// anything. Of the latter the first object is asked, with a field that no schema knows: a dry run shows whether it would be kept.
func (c *conversion) shows(ctx context.Context, k kind, anything string, stays bool) error {
	if _, err := c.api.Resource(k.at(c.to)).List(ctx, metav1.ListOptions{Limit: 1}); err != nil || !stays {
		return err
	}
	list, err := c.api.Resource(k.at(anything)).List(ctx, metav1.ListOptions{Limit: 1})
	if err != nil || len(list.Items) == 0 {
		return err
	}
	asked := list.Items[0].DeepCopy()
	if err := unstructured.SetNestedField(asked.Object, "kept", "spec", "tenonConvert"); err != nil {
		return err
	}
	answer, err := c.api.Resource(k.at(anything)).Update(ctx, asked, metav1.UpdateOptions{DryRun: []string{metav1.DryRunAll}})
	if err != nil {
		return err
	}
	if kept, _, _ := unstructured.NestedString(answer.Object, "spec", "tenonConvert"); kept == "" {
		return errors.New("it still leaves out what its former schema did not have")
	}
	return nil
}

// undo puts definitions back that this run has opened, if nothing is stored as v1 by them, and returns why.
func (c *conversion) undo(ctx context.Context, why error) error {
	for _, k := range kinds() {
		was := c.before[k]
		if was == nil {
			continue
		}
		next := c.crds[k].DeepCopy()
		next.Object["spec"] = was.Object["spec"]
		if err := c.define(ctx, k, next); err != nil {
			return fmt.Errorf("%w; and it stays open: %w: run the command again", why, err)
		}
		c.say("put back %s", k.definition())
	}
	return why
}

// check has the API server judge every object as it will be, and names all that it refuses.
func (c *conversion) check(ctx context.Context) error {
	var refused []Note
	for _, ch := range c.plan.changes {
		_, err := c.put(ctx, ch, metav1.DryRunAll)
		if err == nil && !ch.isNew {
			err = c.asNew(ctx, ch)
		}
		switch {
		case apierrors.IsInvalid(err) || apierrors.IsForbidden(err) || apierrors.IsBadRequest(err):
			refused = append(refused, Note{Object: ch.String(), Text: err.Error(), Fatal: true})
		case err != nil:
			return fmt.Errorf("ask whether %s can be written: %w", ch, err)
		}
	}
	return c.refusal(refused)
}

// asNew has an object judged as if it were made today: of one that is updated the API server lets pass what was wrong before. That there is one of
// its name comes out after that.
func (c *conversion) asNew(ctx context.Context, ch change) error {
	o := ch.object.DeepCopy()
	for _, field := range []string{"resourceVersion", "uid", "managedFields", "ownerReferences", "creationTimestamp", "deletionTimestamp", "generation"} {
		unstructured.RemoveNestedField(o.Object, "metadata", field)
	}
	_, err := c.api.Resource(ch.kind.at(c.to)).Create(ctx, o, metav1.CreateOptions{FieldManager: manager, DryRun: []string{metav1.DryRunAll}})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// put writes one object.
func (c *conversion) put(ctx context.Context, ch change, dry ...string) (*unstructured.Unstructured, error) {
	to := c.api.Resource(ch.kind.at(c.to))
	if ch.isNew {
		return to.Create(ctx, &ch.object, metav1.CreateOptions{FieldManager: manager, DryRun: dry})
	}
	return to.Update(ctx, &ch.object, metav1.UpdateOptions{FieldManager: manager, DryRun: dry})
}

// write has everything stored as v1, and then forgets that there was another version.
func (c *conversion) write(ctx context.Context) error {
	for _, k := range kinds() {
		if !old(c.crds[k]) {
			continue
		}
		if !writes(c.crds[k], latest) {
			next, err := opened(c.crds[k], k, latest)
			if err != nil {
				return err
			}
			if err := c.define(ctx, k, next); err != nil {
				return err
			}
		}
		if err := c.follow(ctx, k, func() error { return c.stores(k) }); err != nil {
			return err
		}
	}
	if err := c.writeAll(ctx); err != nil {
		return err
	}
	if err := c.forget(ctx); err != nil {
		return err
	}
	for _, k := range kinds() {
		if err := c.close(ctx, k); err != nil {
			return err
		}
	}
	c.say("done: everything is stored as %s; now the controller can be upgraded", latest)
	return nil
}

// writeAll writes objects, and then the nodes that name them.
func (c *conversion) writeAll(ctx context.Context) error {
	if err := c.writeObjects(ctx); err != nil {
		return err
	}
	for i := range c.plan.nodes {
		if err := c.writeNode(ctx, c.plan.nodes[i].GetName()); err != nil {
			return err
		}
	}
	return nil
}

// stores says what keeps a kind from being stored in the version that it is written in.
func (c *conversion) stores(k kind) error {
	list, err := c.discovery.ServerResourcesForGroupVersion(k.group + "/" + c.to)
	if err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(k.group + "/" + c.to + "/" + k.name))
	for _, r := range list.APIResources {
		if r.Name == k.plural && r.StorageVersionHash != base64.StdEncoding.EncodeToString(sum[:8]) {
			return errors.New("it still stores objects in another version")
		}
	}
	return nil
}

// writeObjects writes every object, also those that say the same as before: they may be stored as v1beta1. A write that finds an object stored as
// it is to be changes nothing, its resource version included, so all are written again until that is so: a part of the API
// server that had not heard of the definition would have stored the old version.
func (c *conversion) writeObjects(ctx context.Context) error {
	const rounds = 10
	for round := range rounds {
		again := 0
		for i := range c.plan.changes {
			ch := &c.plan.changes[i]
			if c.closed(ch.kind) && (round > 0 || !ch.moved) {
				continue // it is stored as it is to be
			}
			written, err := c.put(ctx, *ch)
			if apierrors.IsConflict(err) {
				return fmt.Errorf("write %s: it was changed meanwhile: %w", ch, err)
			}
			if err != nil {
				return fmt.Errorf("write %s: %w", ch, err)
			}
			if written.GetResourceVersion() != ch.object.GetResourceVersion() {
				again++
			}
			if round == 0 {
				c.say("wrote %s", ch)
			}
			ch.object, ch.isNew = *written, false
		}
		if again == 0 {
			return nil
		}
	}
	return fmt.Errorf("objects go on changing after %d rounds: something else writes them; scale it to 0", rounds)
}

// writeNode writes what a node's owner is called now. Others write nodes too, so it is read first.
func (c *conversion) writeNode(ctx context.Context, name string) error {
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		was, err := c.api.Resource(core("nodes")).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		next, changed := c.node(was)
		if !changed {
			return nil
		}
		taints, _, _ := unstructured.NestedSlice(next.Object, "spec", "taints")
		patch, err := json.Marshal(map[string]any{
			"metadata": map[string]any{"resourceVersion": was.GetResourceVersion(), "ownerReferences": next.GetOwnerReferences()},
			"spec":     map[string]any{"taints": taints},
		})
		if err != nil {
			return err
		}
		_, err = c.api.Resource(core("nodes")).Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: manager})
		return err
	})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("write Node/%s: %w", name, err)
	}
	c.say("wrote Node/%s", name)
	return nil
}

// close forgets v1beta1: first that anything was stored so, then the version itself.
func (c *conversion) close(ctx context.Context, k kind) error {
	crd := c.crds[k]
	if !old(crd) {
		return nil
	}
	if versions := storedIn(crd); len(versions) != 1 || versions[0] != latest {
		written, err := c.stored(ctx, k, crd, []string{latest}, beta)
		if err != nil {
			return err
		}
		crd = written
	}
	next, err := closed(crd, k)
	if err != nil {
		return err
	}
	if err := c.define(ctx, k, next); err != nil {
		return err
	}
	c.say("closed %s: it has %s only", k.definition(), latest)
	return nil
}

// stored says of a definition in which versions objects are stored, and that none is in another one any more.
func (c *conversion) stored(ctx context.Context, k kind, crd *unstructured.Unstructured, versions []string, gone string) (*unstructured.Unstructured, error) {
	next := crd.DeepCopy()
	if err := unstructured.SetNestedStringSlice(next.Object, versions, "status", "storedVersions"); err != nil {
		return nil, err
	}
	written, err := c.api.Resource(definitions()).UpdateStatus(ctx, next, metav1.UpdateOptions{FieldManager: manager})
	if err != nil {
		return nil, fmt.Errorf("say that nothing of %s is stored as %s: %w", k.definition(), gone, err)
	}
	return written, nil
}
