package class

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	awsv1 "github.com/tenon-sh/tenon/api/aws/v1"
	awsv1alpha1 "github.com/tenon-sh/tenon/api/aws/v1alpha1"
	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cloud"
	"github.com/tenon-sh/tenon/internal/loop"
	"github.com/tenon-sh/tenon/internal/panics"
)

// How soon a class is looked at again: what it selects may change without it.
const (
	lookEvery   = time.Minute
	againBroken = 10 * time.Second
	againWaits  = 10 * time.Second // for its claims to be gone
)

// Spec is what the reconcilers of both kinds touch.
func Spec() loop.Spec {
	return loop.Spec{
		Name:  "nodeclass",
		Reads: []loop.Resource{loop.Of(awsv1.Group, "ec2nodeclasses"), loop.Of(awsv1.Group, "awsnodetemplates"), loop.Of(v1.Group, "nodeclaims")},
		Writes: []loop.Write{
			loop.To(awsv1.Group, "ec2nodeclasses", "patch"), loop.To(awsv1.Group, "ec2nodeclasses/status", "patch"),
			loop.To(awsv1.Group, "awsnodetemplates/status", "patch"), loop.To(v1.Group, "nodeclaims", "patch"),
			loop.To("", "events", "create", "patch"),
		},
	}
}

// Cloud finds what classes select, and ends what was made for them.
type Cloud struct {
	// Inspect says what a class selects, each part for itself. Its error is of what has to be asked again.
	Inspect func(context.Context, cloud.ClassRef) (Found, error)
	// Retire ends what was made for a class that is being deleted.
	Retire func(context.Context, cloud.ClassRef) error
}

// inspect is Inspect, with since when it fails in its error.
func (c Cloud) inspect(ctx context.Context, ref cloud.ClassRef, trials *cloud.Trials, now clock.Now) (found Found, err error) {
	err = trials.Try(ref.Name, now, func() (err error) {
		found, err = c.Inspect(ctx, ref)
		return err
	})
	return found, err
}

// NodeClasses keeps the status of EC2NodeClasses.
type NodeClasses struct {
	Client client.Client
	Cloud  Cloud
	Events *loop.Events
	Now    clock.Now
	Panics panics.Teller // logs and counts claims that break the watch

	trials  cloud.Trials // by class
	shifted sync.Map     // of classes by name: the zones of the last event
	foreign sync.Map     // names of classes of which a claim has a hash that another version wrote
}

// Register adds the reconciler to a manager.
func (r *NodeClasses) Register(m ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(m).Named(Spec().Name).
		For(&awsv1.EC2NodeClass{}).
		Watches(&v1.NodeClaim{}, loop.Mapped(r.Panics, r.ofClaim)).
		WithOptions(loop.Options(m, Spec().Name, 10, time.Second, time.Minute)).
		Complete(r)
}

// ofClaim maps a claim to its class if that is to be looked at: a class that is being deleted goes on when a claim of it
// has gone, and a claim whose hash another version wrote may come after its class has been marked.
func (r *NodeClasses) ofClaim(_ context.Context, o client.Object) []reconcile.Request {
	c, ok := o.(*v1.NodeClaim)
	if !ok || c.Spec.NodeClassRef == nil || c.Spec.NodeClassRef.Kind != kind {
		return nil
	}
	foreign := otherVersion(c)
	if c.DeletionTimestamp == nil && !foreign {
		return nil
	}
	name := c.Spec.NodeClassRef.Name
	if foreign {
		r.foreign.Store(name, true)
	}
	return []reconcile.Request{{NamespacedName: client.ObjectKey{Name: name}}}
}

// otherVersion reports whether another version wrote the hash of the claim.
func otherVersion(c *v1.NodeClaim) bool {
	return c.Annotations[awsv1.AnnotationHash] != "" && c.Annotations[awsv1.AnnotationHashVersion] != awsv1.HashVersion
}

const kind = "EC2NodeClass"

func refOf(kind, name string) cloud.ClassRef {
	return cloud.ClassRef{Group: awsv1.Group, Kind: kind, Name: name}
}

// Reconcile writes what one class selects, or lets go of it.
func (r *NodeClasses) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	o := &awsv1.EC2NodeClass{}
	if err := r.Client.Get(ctx, req.NamespacedName, o); err != nil {
		return loop.Result(0, err)
	}
	if o.DeletionTimestamp != nil {
		return loop.Result(r.end(ctx, o))
	}
	found, unclear := r.Cloud.inspect(ctx, refOf(kind, o.Name), &r.trials, r.Now)
	if unclear != nil {
		return loop.Result(0, r.wait(ctx, o, unclear))
	}
	o, err := r.mark(ctx, o, found.Hash)
	if err != nil {
		return loop.Result(0, err)
	}
	r.tellShift(o, found.Shifted)
	was := o.Conditions(true).Is("Ready")
	next, err := loop.PatchStatus(ctx, r.Client, o, func(o *awsv1.EC2NodeClass) { Status(o, found, r.Now()) })
	if err != nil {
		return loop.Result(0, err)
	}
	ready := next.Conditions(true).Is("Ready")
	if was != ready {
		log.FromContext(ctx).Info("class changed its readiness", "EC2NodeClass", o.Name, "ready", ready, "reason", next.Conditions(true).Get("Ready").Message)
	}
	if !ready {
		return reconcile.Result{RequeueAfter: againBroken}, nil
	}
	return reconcile.Result{RequeueAfter: lookEvery}, nil
}

// wait says on a class that the cloud does not say for long what it selects. What
// was found before stands: machines are bought by it.
func (r *NodeClasses) wait(ctx context.Context, o *awsv1.EC2NodeClass, unclear error) error {
	tellUnclear(r.Events, o, unclear)
	var err error
	if cloud.Lasts(unclear) && !o.Conditions(true).Is("Ready") {
		_, err = loop.PatchStatus(ctx, r.Client, o, func(o *awsv1.EC2NodeClass) {
			o.Conditions(true).Unknown(awsv1.ConditionValidationSucceeded, awsv1.ReasonInspectionDelayed, short(unclear.Error()), r.Now())
		})
	}
	return errors.Join(fmt.Errorf("inspect class %q: %w", o.Name, unclear), client.IgnoreNotFound(err))
}

func tellUnclear(events *loop.Events, o client.Object, unclear error) {
	if cloud.Lasts(unclear) {
		events.Warning(o, "InspectionDelayed", "What the class selects cannot be found out: %s", short(unclear.Error()))
	}
}

// tellShift publishes which zones get no machines because the cluster's traffic is
// shifted away from them, and when that is over.
func (r *NodeClasses) tellShift(o *awsv1.EC2NodeClass, zones []string) {
	away := strings.Join(zones, ", ")
	was, _ := r.shifted.Swap(o.Name, away)
	switch {
	case was == away || was == nil && away == "":
	case away == "":
		r.Events.Normal(o, "ZonalShiftCleared", "Machines are launched in %s again", was)
	default:
		r.Events.Warning(o, "ZonalShiftActive", "No machines are launched in %s while the cluster's traffic is shifted away", away)
	}
}

// mark writes the finalizer and the hash to a class. Claims whose hash another
// version wrote get the class' hash as it is today, unless they have drifted.
func (r *NodeClasses) mark(ctx context.Context, o *awsv1.EC2NodeClass, hash string) (*awsv1.EC2NodeClass, error) {
	_, foreign := r.foreign.LoadAndDelete(o.Name)
	if foreign || o.Annotations[awsv1.AnnotationHashVersion] != awsv1.HashVersion {
		if err := r.rehash(ctx, o, hash); err != nil {
			r.foreign.Store(o.Name, true)
			return o, err
		}
	}
	return loop.Patch(ctx, r.Client, o, func(o *awsv1.EC2NodeClass) {
		controllerutil.AddFinalizer(o, awsv1.Finalizer)
		o.Annotations = hashed(o.Annotations, hash)
	})
}

// rehash gives claims of another version the class' hash as it is today. A claim that has drifted keeps what it had.
func (r *NodeClasses) rehash(ctx context.Context, o *awsv1.EC2NodeClass, hash string) error {
	claims, err := r.claims(ctx, o)
	if err != nil {
		return err
	}
	for i := range claims {
		c := &claims[i]
		if !otherVersion(c) {
			continue
		}
		keep := hash
		if c.Conditions().Is(v1.ConditionDrifted) {
			keep = c.Annotations[awsv1.AnnotationHash]
		}
		if _, err := loop.Patch(ctx, r.Client, c, func(c *v1.NodeClaim) { c.Annotations = hashed(c.Annotations, keep) }); client.IgnoreNotFound(err) != nil {
			return err
		}
	}
	return nil
}

func hashed(annotations map[string]string, hash string) map[string]string {
	out := maps.Clone(annotations)
	if out == nil {
		out = map[string]string{}
	}
	out[awsv1.AnnotationHash], out[awsv1.AnnotationHashVersion] = hash, awsv1.HashVersion
	return out
}

// claims are the claims of a class.
func (r *NodeClasses) claims(ctx context.Context, o *awsv1.EC2NodeClass) ([]v1.NodeClaim, error) {
	var list v1.NodeClaimList
	if err := r.Client.List(ctx, &list); err != nil {
		return nil, fmt.Errorf("claims of class %q: %w", o.Name, err)
	}
	var out []v1.NodeClaim
	for _, c := range list.Items {
		if ref := c.Spec.NodeClassRef; ref != nil && ref.Group == awsv1.Group && ref.Kind == kind && ref.Name == o.Name {
			out = append(out, c)
		}
	}
	return out, nil
}

// end lets go of a class once no claim is made from it and nothing made for it is left.
func (r *NodeClasses) end(ctx context.Context, o *awsv1.EC2NodeClass) (time.Duration, error) {
	if !controllerutil.ContainsFinalizer(o, awsv1.Finalizer) {
		return 0, nil
	}
	claims, err := r.claims(ctx, o)
	if err != nil {
		return 0, err
	}
	if len(claims) > 0 {
		r.Events.Normal(o, "WaitingOnNodeClaimTermination", "Waiting for %d NodeClaim(s) of this class to be gone, %s among them", len(claims), claims[0].Name)
		return againWaits, nil
	}
	err = r.trials.Try(o.Name, r.Now, func() error { return r.Cloud.Retire(ctx, refOf(kind, o.Name)) })
	if err != nil && cloud.CodeOf(err) != cloud.NotReady {
		if cloud.Lasts(err) {
			r.Events.Warning(o, "FailedTermination", "What was made for the class cannot be ended: %s", short(err.Error()))
		}
		return 0, fmt.Errorf("end what was made for class %q: %w", o.Name, err)
	}
	_, err = loop.Patch(ctx, r.Client, o, func(o *awsv1.EC2NodeClass) { controllerutil.RemoveFinalizer(o, awsv1.Finalizer) })
	return 0, err
}

// Templates keeps the status of AWSNodeTemplates.
type Templates struct {
	Client client.Client
	Cloud  Cloud
	Events *loop.Events
	Now    clock.Now

	trials cloud.Trials // by template
}

// Register adds the reconciler to a manager.
func (r *Templates) Register(m ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(m).Named("nodetemplate").
		For(&awsv1alpha1.AWSNodeTemplate{}).
		WithOptions(loop.Options(m, "nodetemplate", 10, time.Second, time.Minute)).
		Complete(r)
}

// Reconcile writes what one template selects.
func (r *Templates) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	o := &awsv1alpha1.AWSNodeTemplate{}
	if err := r.Client.Get(ctx, req.NamespacedName, o); err != nil {
		return loop.Result(0, err)
	}
	if o.DeletionTimestamp != nil {
		return reconcile.Result{}, nil
	}
	found, unclear := r.Cloud.inspect(ctx, refOf("AWSNodeTemplate", o.Name), &r.trials, r.Now)
	if unclear != nil {
		tellUnclear(r.Events, o, unclear)
		return loop.Result(0, fmt.Errorf("inspect template %q: %w", o.Name, unclear))
	}
	_, err := loop.PatchStatus(ctx, r.Client, o, func(o *awsv1alpha1.AWSNodeTemplate) { StatusOfTemplate(o, found, r.Now()) })
	return loop.Result(lookEvery, err)
}
