package collect

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/internal/annotation"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cloud"
	"github.com/tenon-sh/tenon/internal/cluster"
	"github.com/tenon-sh/tenon/internal/enact"
	"github.com/tenon-sh/tenon/internal/loop"
	"github.com/tenon-sh/tenon/internal/observe"
	"github.com/tenon-sh/tenon/internal/panics"
	"github.com/tenon-sh/tenon/internal/parallel"
)

// Spec is what this controller touches.
func Spec() loop.Spec {
	return loop.Spec{
		Name: "nodeclaim.garbagecollection",
		Reads: []loop.Resource{
			loop.Of(v1.Group, "nodeclaims"), loop.Of("", "nodes"), loop.Of(v1.Group, "nodepools"), loop.Of(v1.Group, "provisioners"),
		},
		Writes: []loop.Write{
			loop.To(v1.Group, "nodeclaims", "create", "patch", "delete"), loop.To(v1.Group, "nodeclaims/status", "patch"), loop.To("", "nodes", "patch"),
		},
	}
}

// Controller looks for what is left alone.
type Controller struct {
	Client  client.Client
	Cloud   *cloud.Cloud
	Cluster *cluster.Cluster
	Enact   *enact.Enactor
	Now     clock.Now
	Log     logr.Logger

	passes  *loop.Passes
	last    Verdict
	rest    time.Time // until when nothing is looked at, whatever falls ill
	due     time.Time // of the next look
	ill     map[string]bool
	strange map[types.UID]bool // nodes with an event that says that they are left alone
}

// Listen subscribes the controller to changes of the cluster state. It must be called before the cluster's sources start.
func (c *Controller) Listen() {
	c.passes = loop.NewPasses(loop.Passes{Name: "collect", Pace: pace, Now: c.Now, Panics: c.Cluster.Panics})
	c.Cluster.Listen(func(change cluster.Change) {
		if change.Kind == cluster.Node {
			c.passes.Wake()
		}
	})
}

// NeedLeaderElection keeps all but the leader from ending anything.
func (c *Controller) NeedLeaderElection() bool { return true }

// Start looks at once and then from time to time, sooner while something looks
// wrong or when a node falls ill, until ctx ends.
func (c *Controller) Start(ctx context.Context) error {
	if !c.Cluster.Await(ctx) {
		return nil
	}
	c.passes.Run(ctx, 0, c.pass)
	return nil
}

// pass looks if that is due, or if a node has fallen ill that was not known to be.
func (c *Controller) pass(ctx context.Context) time.Duration {
	now := c.Now()
	if now.Before(c.rest) { // a node that is ill may be back in a moment
		return c.rest.Sub(now)
	}
	if now.Before(c.due) && !c.fell() {
		return c.due.Sub(now)
	}
	before, v := c.last, Verdict{}
	var err error
	// A look that breaks is as one that fails.
	if broke := panics.Caught(func() { v, err = c.Look(ctx, before) }); broke != nil {
		v, err = Verdict{}, nil
		c.Cluster.Panics.Tell("collect", broke)
	}
	if err != nil && ctx.Err() == nil {
		c.Log.Error(err, "look for what is left alone")
	}
	now, c.last = c.Now(), v
	c.rest, c.due = now.Add(min(v.After(), listAgainAfter)), now.Add(v.After())
	return c.rest.Sub(now)
}

// fell reports whether a node has fallen ill that was not known to be.
func (c *Controller) fell() bool {
	known := c.ill
	c.Cluster.Panics.Do("collect", func() { c.ill = Ill(c.Cluster.World()) })
	for name := range c.ill {
		if !known[name] {
			return true
		}
	}
	return false
}

// Look looks once and does what is to be done. A look that fails is as if it
// had not been: nothing it saw counts as seen twice.
func (c *Controller) Look(ctx context.Context, before Verdict) (Verdict, error) {
	at := c.Now()
	machines, err := c.Cloud.List(ctx, at)
	if err != nil {
		return Verdict{}, fmt.Errorf("list machines: %w", err)
	}
	var claims v1.NodeClaimList // neither these nor nodes are copied, nor written to: there are thousands
	var nodes corev1.NodeList
	if err := errors.Join(c.Client.List(ctx, &claims, client.UnsafeDisableDeepCopy), c.Client.List(ctx, &nodes, client.UnsafeDisableDeepCopy)); err != nil {
		return Verdict{}, err
	}
	v := Judge(Seen{Machines: machines, Claims: claims.Items, Nodes: nodes.Items, At: at}, before)
	var errs []error
	for _, n := range v.Adopt {
		errs = append(errs, c.try(n, func() error { return c.adopt(ctx, n, machines, claims.Items) }))
	}
	for _, n := range v.Strange {
		if !c.strange[n.UID] {
			c.Log.Info("a node carries the label of a pool, and the cloud lists no machine of this cluster for it: it is left alone", "Node", n.Name, "provider-id", n.Spec.ProviderID)
		}
	}
	c.strange = uidsOf(v.Strange)
	for _, claim := range v.Finish {
		errs = append(errs, c.try(claim, func() error { return c.finish(ctx, claim, nodes.Items, machines) }))
	}
	if v.TooMany {
		c.Log.Error(nil, "many machines have neither claim nor node, so none of them is ended: look whether this is the right cluster", "machines", len(v.Suspects))
	}
	for _, m := range v.End {
		c.Log.Info("garbage collected cloudprovider instance", "provider-id", m.ProviderID)
		errs = append(errs, c.Cloud.Terminate(ctx, m.ID)...)
	}
	for _, claim := range v.Deserted {
		errs = append(errs, c.try(claim, func() error { return c.giveUp(ctx, claim) }))
	}
	errs = append(errs, c.name(ctx, claims.Items, nodes.Items))
	return v, errors.Join(append(errs, c.letGo(ctx, v, at))...)
}

// try does something about one object. If that breaks it has failed, and the look goes on.
func (c *Controller) try(o client.Object, do func() error) error {
	return c.Cluster.Panics.Try("collect", do, "object", o.GetName())
}

func uidsOf(nodes []*corev1.Node) map[types.UID]bool {
	out := map[types.UID]bool{}
	for _, n := range nodes {
		out[n.UID] = true
	}
	return out
}

// letGo ends claims whose machines are gone, after each machine has been asked
// for by its id. Where the lists lack many, those go whose machine the cloud
// knows to have ended, and the others stay.
func (c *Controller) letGo(ctx context.Context, v Verdict, at time.Time) error {
	var held atomic.Int64
	err := parallel.Each(parallel.Writes, v.Lost, func(_ int, claim *v1.NodeClaim) error {
		return c.try(claim, func() error { return c.letOneGo(ctx, claim, v, at, &held) })
	})
	if n := held.Load(); n > 0 {
		c.Log.Error(nil, "the cloud knows nothing of the machines of many nodeclaims, so these are kept: look whether account, region and cluster are the right ones; nodeclaims whose machines are gone can be deleted by hand", "NodeClaims", n)
	}
	return err
}

// letOneGo ends one claim whose machine is gone, unless the cloud knows it, or knows nothing of many.
func (c *Controller) letOneGo(ctx context.Context, claim *v1.NodeClaim, v Verdict, at time.Time, held *atomic.Int64) error {
	m, there, err := c.Cloud.Find(ctx, claim.Status.ProviderID, at)
	switch {
	case err != nil:
		return fmt.Errorf("look for the machine of nodeclaim %q: %w", claim.Name, err)
	case there:
		c.Log.Info("a machine is there and is not listed: its claim is kept", "NodeClaim", claim.Name, "provider-id", m.ProviderID, "why", m.Unlisted)
		return nil
	case v.TooFew && !m.Ended:
		held.Add(1)
		return nil
	}
	c.Log.Info("the machine of a nodeclaim is gone", "NodeClaim", claim.Name, "provider-id", claim.Status.ProviderID)
	return c.Enact.Release(ctx, claim, enact.Collected)
}

// giveUp ends a claim whose node has been deleted while its machine runs, once the API server has been asked for that node.
func (c *Controller) giveUp(ctx context.Context, claim *v1.NodeClaim) error {
	var n corev1.Node
	switch err := c.Enact.Uncached().Get(ctx, client.ObjectKey{Name: claim.Status.NodeName}, &n); {
	case err == nil:
		return nil
	case !apierrors.IsNotFound(err):
		return fmt.Errorf("look for the node of nodeclaim %q: %w", claim.Name, err)
	}
	c.Log.Info("the node of a nodeclaim has been deleted and its machine runs: both are given up", "NodeClaim", claim.Name, "Node", claim.Status.NodeName, "provider-id", claim.Status.ProviderID)
	return c.Enact.Release(ctx, claim, enact.Collected)
}

// name has claims and their nodes say of which class they are, where an earlier
// controller left that out: by that label others know whose they are.
func (c *Controller) name(ctx context.Context, claims []v1.NodeClaim, nodes []corev1.Node) error {
	byID := map[string]*corev1.Node{}
	for i := range nodes {
		byID[nodes[i].Spec.ProviderID] = &nodes[i]
	}
	var errs []error
	for i := range claims {
		claim := &claims[i]
		key, class, ok := className(claim)
		if !ok || claim.DeletionTimestamp != nil || claim.Status.ProviderID == "" {
			continue
		}
		if _, named := claim.Labels[key]; !named {
			_, err := loop.Merge(ctx, c.Client, claim, func(o *v1.NodeClaim) { o.Labels = with(o.Labels, key, class) })
			errs = append(errs, client.IgnoreNotFound(err))
		}
		n := byID[claim.Status.ProviderID]
		if n == nil || n.DeletionTimestamp != nil {
			continue
		}
		if _, named := n.Labels[key]; !named {
			_, err := loop.Merge(ctx, c.Client, n, func(o *corev1.Node) { o.Labels = with(o.Labels, key, class) })
			errs = append(errs, client.IgnoreNotFound(err))
		}
	}
	return errors.Join(errs...)
}

// with is labels with one more, unless they have it already.
func with(labels map[string]string, key, value string) map[string]string {
	if _, ok := labels[key]; ok {
		return labels
	}
	out := map[string]string{key: value}
	maps.Copy(out, labels)
	return out
}

// adopt makes a claim for a node that has none.
func (c *Controller) adopt(ctx context.Context, n *corev1.Node, machines []cloud.Machine, claims []v1.NodeClaim) error {
	template, err := c.Enact.Template(ctx, observe.PoolOf(n.Labels))
	if client.IgnoreNotFound(err) != nil {
		return err
	}
	m, _ := machineOf(n, machines)
	claim := Adopted(n, m, template, Taken(claims, n.Spec.ProviderID))
	if claim == nil {
		c.Log.Info("a node of no known pool or class is left alone", "Node", n.Name)
		return nil
	}
	if err := c.Enact.Adopt(ctx, claim); err != nil {
		return err
	}
	if claim.UID == "" { // there already, although it was not shown: the next look finishes it, or takes another name
		return nil
	}
	c.Log.Info("adopted node", "Node", n.Name, "NodeClaim", claim.Name, "provider-id", n.Spec.ProviderID)
	return c.write(ctx, claim, n, machines)
}

// finish writes the status of an adoption that was cut off.
func (c *Controller) finish(ctx context.Context, claim *v1.NodeClaim, nodes []corev1.Node, machines []cloud.Machine) error {
	for i := range nodes {
		if nodes[i].Spec.ProviderID != claim.Annotations[annotation.Adopts] {
			continue
		}
		if m, listed := machineOf(&nodes[i], machines); listed && ours(m) {
			return c.write(ctx, claim, &nodes[i], machines)
		}
	}
	return c.Enact.Release(ctx, claim, enact.Collected) // the node has gone meanwhile, or is not ours: this ends no machine
}

// machineOf returns the machine of a node; false if it is not listed.
func machineOf(n *corev1.Node, machines []cloud.Machine) (cloud.Machine, bool) {
	i := slices.IndexFunc(machines, func(m cloud.Machine) bool { return m.ProviderID == n.Spec.ProviderID })
	if i < 0 {
		return cloud.Machine{}, false
	}
	return machines[i], true
}

func (c *Controller) write(ctx context.Context, claim *v1.NodeClaim, n *corev1.Node, machines []cloud.Machine) error {
	m, _ := machineOf(n, machines)
	next, err := loop.PatchStatus(ctx, c.Client, claim, func(claim *v1.NodeClaim) { Write(claim, n, m.Image, c.Now()) })
	if err != nil {
		return fmt.Errorf("write machine of node %q to claim %q: %w", n.Name, claim.Name, err)
	}
	c.Cluster.Wrote(next)
	return nil
}
