package launch

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	awsv1 "github.com/tenon-sh/tenon/api/aws/v1"
	"github.com/tenon-sh/tenon/api/condition"
	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cloud"
	"github.com/tenon-sh/tenon/internal/cluster"
	"github.com/tenon-sh/tenon/internal/enact"
	"github.com/tenon-sh/tenon/internal/loop"
	"github.com/tenon-sh/tenon/internal/metric"
	"github.com/tenon-sh/tenon/internal/observe"
	"github.com/tenon-sh/tenon/internal/parallel"
)

// unordered is the request under which claims without an order are put into one.
const unordered = loop.Unordered

// Spec is what this reconciler touches.
func Spec() loop.Spec {
	return loop.Spec{
		Name:  "nodeclaim.launch",
		Reads: []loop.Resource{loop.Of(v1.Group, "nodeclaims"), loop.Of(awsv1.Group, "ec2nodeclasses")},
		Writes: []loop.Write{
			loop.To(v1.Group, "nodeclaims", "patch", "delete"),
			loop.To(v1.Group, "nodeclaims/status", "patch"),
		},
	}
}

// Reconciler launches orders.
type Reconciler struct {
	Client  client.Client
	Cloud   *cloud.Cloud
	Cluster *cluster.Cluster
	Enact   *enact.Enactor
	Events  *loop.Events
	Metrics *metric.Set
	Now     clock.Now

	live client.Reader // what no cache holds back

	*memory
}

// Register adds the reconciler to a manager.
func (r *Reconciler) Register(m ctrl.Manager) error {
	r.live, r.memory = m.GetAPIReader(), newMemory(r.Now)
	byOrder := loop.Mapped(r.Cluster.Panics, func(_ context.Context, o client.Object) []reconcile.Request {
		c, ok := o.(*v1.NodeClaim)
		if !ok || !Waiting(c) && !Leaving(c) {
			return nil
		}
		return []reconcile.Request{request(c.Annotations[v1.AnnotationOrder])}
	})
	return ctrl.NewControllerManagedBy(m).Named(Spec().Name).
		Watches(&v1.NodeClaim{}, byOrder).
		WithOptions(loop.Options(m, Spec().Name, 50, time.Second, time.Minute)).
		Complete(r)
}

func request(token string) reconcile.Request {
	if token == "" {
		token = unordered
	}
	return reconcile.Request{NamespacedName: client.ObjectKey{Name: token}}
}

// Reconcile puts claims without an order into one, or launches one order.
func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	var list v1.NodeClaimList // those of the order alone: many orders wait for the cloud at a time
	if err := r.Client.List(ctx, &list, client.MatchingFields{loop.ClaimOrder: req.Name}); err != nil {
		return loop.Result(0, err)
	}
	if req.Name == unordered {
		return r.order(ctx, &list)
	}
	var claims []*v1.NodeClaim
	for i := range list.Items {
		claims = append(claims, &list.Items[i])
	}
	o, ok := Gather(req.Name, claims)
	if !ok || len(o.Left())+len(o.Leaving()) == 0 {
		return reconcile.Result{}, nil
	}
	if !o.Whole() && r.young(o) {
		return reconcile.Result{RequeueAfter: gather}, nil // the rest of it is on its way to the cache
	}
	wait, spent := r.spent(o.Token)
	left, leaving := o.Left(), o.Leaving()
	switch {
	case len(leaving) > 0 && (spent && r.isClear(o.Token) || r.unsent(o)):
		return loop.Result(gather, r.letGo(ctx, leaving)) // and look at what is left then
	case len(left) == 0:
		return loop.Result(r.part(ctx, o))
	case wait > 0:
		return reconcile.Result{RequeueAfter: wait}, nil
	case spent:
		return loop.Result(gather, r.recut(ctx, o))
	}
	err := r.launch(ctx, o)
	if errors.Is(err, errAsked) {
		return reconcile.Result{RequeueAfter: classLookedAtAgainAfter}, nil
	}
	return loop.Result(0, err)
}

// part finds the machines of an order all of whose claims are leaving: theirs
// are ended with them. A claim that has none is let go once no machine can
// appear any more. It returns how soon to look again.
func (r *Reconciler) part(ctx context.Context, o Order) (time.Duration, error) {
	var machines []cloud.Machine
	err := r.trials.Try(o.Token, r.Now, func() (err error) {
		machines, err = r.bought(ctx, o)
		return err
	})
	if err != nil {
		if cloud.Lasts(err) {
			for _, c := range o.Leaving() {
				r.Events.Warning(c, "FailedTermination", "It cannot be seen whether a machine was bought for it: %s", short(err.Error()))
			}
		}
		return 0, fmt.Errorf("find what order %s bought: %w", o.Token, err)
	}
	without, err := r.hand(ctx, o, o.Deal(machines))
	switch {
	case err != nil || len(without) == 0:
		return 0, err
	case r.Now.Since(r.lastSent(o.Token)) < cloud.Unlisted:
		return lookAgainAfter, nil
	}
	return 0, r.letGo(ctx, without)
}

// recut puts the claims that an order left over into new ones. What refused the
// order may have come after an answer that was lost: machines that it bought all the
// same are dealt first, and nothing is bought while that cannot be seen.
func (r *Reconciler) recut(ctx context.Context, o Order) error {
	without := o.Open()
	if !r.isClear(o.Token) {
		began := r.Now()
		machines, err := r.bought(ctx, o)
		if err == nil {
			machines, err = r.completed(ctx, o, machines)
		}
		if err != nil {
			err = fmt.Errorf("find what order %s bought: %w", o.Token, err)
			return errors.Join(r.failed(ctx, o.Left(), began, err), err)
		}
		if without, err = r.hand(ctx, o, o.Deal(machines)); err != nil {
			return err
		}
	}
	without = slices.DeleteFunc(without, func(c *v1.NodeClaim) bool { return Leaving(c) || !r.free(c, o.Token) })
	return r.write(ctx, Group(without, o.Attempt()+1))
}

// hand writes machines to their claims, and returns the claims that have none.
func (r *Reconciler) hand(ctx context.Context, o Order, dealt map[string]cloud.Machine) ([]*v1.NodeClaim, error) {
	var got, without []*v1.NodeClaim
	for _, c := range o.Open() {
		if _, ok := dealt[c.Name]; ok {
			got = append(got, c)
		} else {
			without = append(without, c)
		}
	}
	return without, parallel.Each(parallel.Writes, got, func(_ int, c *v1.NodeClaim) error { return r.launched(ctx, c, dealt[c.Name]) })
}

// letGo takes the order from claims that are leaving: it has bought nothing for
// them, and they need not be kept for it.
func (r *Reconciler) letGo(ctx context.Context, claims []*v1.NodeClaim) error {
	return parallel.Each(parallel.Writes, claims, func(_ int, c *v1.NodeClaim) error {
		_, err := loop.Patch(ctx, r.Client, c, func(c *v1.NodeClaim) {
			for _, key := range []string{v1.AnnotationOrder, v1.AnnotationOrderPlace, v1.AnnotationOrderSize} {
				delete(c.Annotations, key)
			}
		})
		return client.IgnoreNotFound(err)
	})
}

// order writes to every claim without an order which one it belongs to.
func (r *Reconciler) order(ctx context.Context, list *v1.NodeClaimList) (reconcile.Result, error) {
	var claims []*v1.NodeClaim
	for i := range list.Items {
		c := &list.Items[i]
		if Waiting(c) && c.Annotations[v1.AnnotationOrder] == "" && c.Spec.NodeClassRef != nil && r.free(c, "") {
			claims = append(claims, c)
		}
	}
	if len(claims) == 0 {
		return reconcile.Result{}, nil
	}
	more, waited := r.coming(len(claims))
	if more {
		return reconcile.Result{RequeueAfter: gather}, nil
	}
	r.Metrics.Observe(metric.BatchTime, waited.Seconds(), "create_fleet")
	return loop.Result(0, r.write(ctx, Group(claims, 0)))
}

// write annotates the claims of new orders, before anything is sent.
func (r *Reconciler) write(ctx context.Context, orders []Order) error {
	r.mark(orders, true)
	defer r.mark(orders, false)
	var errs []error
	for _, o := range orders {
		errs = append(errs, parallel.Each(parallel.Writes, o.Claims, func(place int, c *v1.NodeClaim) error {
			return client.IgnoreNotFound(r.assign(ctx, c, o, place))
		}))
	}
	return errors.Join(errs...)
}

// assign writes to a claim which place of an order is its own. A claim that has
// changed meanwhile is read again: one that has an order by now keeps it, so that
// none is ever in two.
func (r *Reconciler) assign(ctx context.Context, c *v1.NodeClaim, o Order, place int) error {
	before := c.Annotations[v1.AnnotationOrder]
	for range 3 {
		next, err := loop.Patch(ctx, r.Client, c, func(c *v1.NodeClaim) {
			// A claim that was made by hand has no finalizer yet: without it, it
			// could go before its machine does. Nor does it name its class.
			controllerutil.AddFinalizer(c, v1.Finalizer)
			class := c.Spec.NodeClassRef
			c.Labels = over(c.Labels, map[string]string{v1.LabelNodeClass(class.Group, class.Kind): class.Name})
			c.Annotations = over(c.Annotations, map[string]string{
				v1.AnnotationOrder: o.Token, v1.AnnotationOrderPlace: strconv.Itoa(place), v1.AnnotationOrderSize: strconv.Itoa(o.Size),
			})
		})
		if err == nil {
			r.Cluster.Wrote(next)
			r.put(c.UID, o.Token)
			return nil
		}
		if !apierrors.IsConflict(err) {
			return err
		}
		c = &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: c.Name}}
		if err := r.live.Get(ctx, client.ObjectKeyFromObject(c), c); err != nil {
			return err
		}
		if c.Annotations[v1.AnnotationOrder] != before || !Waiting(c) {
			return nil
		}
	}
	return nil // it changes all the time: the order goes without it, in the end
}

// launch has the machines of one order made, and deals them out.
func (r *Reconciler) launch(ctx context.Context, o Order) error {
	machines, known, err := r.known(ctx, o)
	if err != nil {
		return err
	}
	var cause error
	if !known {
		if !o.Whole() {
			// Without all of its claims the order cannot be sent as it was: deal what
			// it bought, and let the rest be ordered again.
			return r.settle(ctx, o, machines, errors.New("claims of the order are gone"))
		}
		if !r.isSent(o.Token) { // what may have been bought is sent again, by which it is found
			if refused, err := r.refused(ctx, o); err != nil {
				return err
			} else if refused != nil {
				return r.settle(ctx, o, machines, refused)
			}
		}
		order, err := r.build(o)
		if errors.Is(err, errAsked) || errors.Is(err, errUnknown) && r.fresh() {
			return errAsked
		}
		if err != nil {
			return r.settle(ctx, o, machines, err)
		}
		r.send(o.Token)
		outcome := r.Cloud.Launch(ctx, []cloud.Order{order})[0]
		machines, cause = outcome.Machines, outcome.Err
		r.answered(o.Token, cloud.CodeOf(cause) == cloud.Unknown)
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return r.settle(ctx, o, machines, cause)
}

// refused is why the class of an order gets no machines: its Ready condition says
// so, whatever wrote it. What a cache says is asked for again, since a class that
// has just become ready may not be in it as such. That a class is not
// there the driver finds out.
func (r *Reconciler) refused(ctx context.Context, o Order) (refused, err error) {
	ref := o.Claims[0].Spec.NodeClassRef
	if ref == nil || ref.Group != awsv1.Group || ref.Kind != "EC2NodeClass" {
		return nil, nil
	}
	for _, from := range []client.Reader{r.Client, r.live} {
		var class awsv1.EC2NodeClass
		if err := from.Get(ctx, client.ObjectKey{Name: ref.Name}, &class); err != nil {
			if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
				return nil, nil
			}
			return nil, fmt.Errorf("read class %q: %w", ref.Name, err)
		}
		ready := class.Conditions(false).Get(condition.Ready)
		if ready == nil || ready.Status != metav1.ConditionFalse {
			return nil, nil
		}
		refused = cloud.Errorf(cloud.NotReady, "NodeClassNotReady", "class %s is not ready: %s: %s", ref.Name, ready.Reason, ready.Message)
	}
	return refused, nil
}

// known is found, with machines as their claims are to show them. Why the cloud
// cannot say it stands on the claims, which wait for it.
func (r *Reconciler) known(ctx context.Context, o Order) (machines []cloud.Machine, known bool, err error) {
	began := r.Now()
	machines, known, err = r.found(ctx, o)
	if err == nil && (known || !o.Whole()) {
		machines, err = r.completed(ctx, o, machines)
	}
	if err == nil || errors.Is(err, errAsked) {
		return machines, known, err
	}
	err = fmt.Errorf("find what order %s bought: %w", o.Token, err)
	return nil, false, errors.Join(r.failed(ctx, o.Left(), began, err), err)
}

// found looks for machines of an order that was sent by a process before this
// one, or whose answer was lost: where each answer is lost, a list still shows
// what was bought. It is known when nothing has to be sent any more. An order that
// cannot have been sent yet is not looked for: each look lists all machines.
func (r *Reconciler) found(ctx context.Context, o Order) (machines []cloud.Machine, known bool, err error) {
	if r.own(o) {
		return nil, false, nil
	}
	again := r.isSent(o.Token) && o.Whole() // the token makes a second call harmless
	if again && !r.isUnclear(o.Token) {
		return nil, false, nil
	}
	machines, err = r.bought(ctx, o)
	if again && err != nil {
		return nil, false, nil
	}
	return machines, err == nil && len(machines) >= o.Size, err
}

// bought are the machines of an order that the cloud has now.
func (r *Reconciler) bought(ctx context.Context, o Order) ([]cloud.Machine, error) {
	all, err := r.Cloud.List(ctx, r.Now())
	if err != nil {
		return nil, err
	}
	var out []cloud.Machine
	for _, m := range all {
		if m.Order == o.Token {
			out = append(out, m)
		}
	}
	return out, nil
}

// completed is machines that were found with all that their claims are to show:
// a list knows neither what their pods can have nor of which class they are. Of a
// class that cannot be used any more only what the machines themselves show is written.
func (r *Reconciler) completed(ctx context.Context, o Order, machines []cloud.Machine) ([]cloud.Machine, error) {
	if len(machines) == 0 || len(o.Open()) == 0 {
		return machines, nil
	}
	first := o.Open()[0]
	id := observe.Claim(first).Template
	template, _, ok := r.Cloud.Template(id)
	if !ok && (r.want(first, id) || r.fresh()) {
		return nil, errAsked
	}
	out, err := r.Cloud.Complete(ctx, template, machines)
	if cloud.CodeOf(err) == cloud.NotReady {
		return out, nil
	}
	return out, err
}

// build is the order as the cloud gets it. It depends on the claims' specs, and
// for claims that overlays are about on these, so that it is the same whenever it is sent.
func (r *Reconciler) build(o Order) (cloud.Order, error) {
	first := observe.Claim(o.Claims[0])
	template, broken, ok := r.Cloud.Template(first.Template)
	switch {
	case !ok && r.want(o.Claims[0], first.Template):
		return cloud.Order{}, errAsked
	case !ok:
		return cloud.Order{}, cloud.Errorf(cloud.NotReady, "NodeClassNotReady", "class %s: %w", first.Template, errUnknown)
	case cloud.CodeOf(broken) == cloud.NotReady:
		return cloud.Order{}, broken
	}
	out := cloud.Order{
		Token: o.Token, Template: template, Pool: first.Pool, Count: o.Size, Requirements: first.Requirements,
		Labels: launchLabels(first), Taints: append(first.Taints[:len(first.Taints):len(first.Taints)], first.StartupTaints...),
		Relaxed: o.Claims[0].Annotations[v1.AnnotationMinValuesRelaxed] == "true",
		Tags:    map[string]string{},
	}
	if q, ok := first.Requirements.Find(label.InstanceType); ok && !q.Not {
		out.Menu = q.Values
	}
	for _, c := range o.Claims {
		out.Requests = out.Requests.Max(observe.Amounts(c.Spec.Resources.Requests))
	}
	r.overlaid(o.Claims[0], first.Pool, first.Template).correct(&out)
	return out, nil
}

var (
	// errUnknown says that no pool asks for a class. Right after a start that is so of all.
	errUnknown = errors.New("it is not known")
	// errAsked says that a class is being looked at.
	errAsked = errors.New("its class is being looked at")
)

// want has a class looked at that a claim names and no pool, and reports whether that is possible.
func (r *Reconciler) want(c *v1.NodeClaim, id world.TemplateID) bool {
	ref := c.Spec.NodeClassRef
	if ref == nil || id != observe.TemplateOf(*ref, nil) {
		return false
	}
	r.Cloud.Borrow(cloud.Template{ID: id, Class: cloud.ClassRef{Group: ref.Group, Kind: ref.Kind, Name: ref.Name}})
	return true
}

// launchLabels are what the machine's kubelet registers with: the claim's own,
// and every other that has but one value left.
func launchLabels(c world.Claim) map[string]string {
	out := maps.Clone(c.Labels)
	if out == nil {
		out = map[string]string{}
	}
	for _, q := range c.Requirements {
		if _, ok := out[q.Key]; !ok && !q.Not && len(q.Values) == 1 {
			out[q.Key] = q.Values[0]
		}
	}
	return out
}

// settle writes what came of an order to its claims. Nothing is given up before
// every machine that was bought is written to a claim.
func (r *Reconciler) settle(ctx context.Context, o Order, machines []cloud.Machine, cause error) error {
	without, err := r.hand(ctx, o, o.Deal(machines))
	if err != nil || len(without) == 0 {
		return err
	}
	if cause == nil {
		cause = errors.New("the cloud made fewer machines than were ordered and did not say why")
	}
	var left, leaving []*v1.NodeClaim
	for _, c := range without {
		if Leaving(c) {
			leaving = append(leaving, c)
		} else {
			left = append(left, c)
		}
	}
	fate := FateOf(o, cause)
	if fate != Resend && (fate != GiveUp || r.isSent(o.Token)) { // one before us may have sent what we give up unsent
		r.close(o, cause)
		if r.isClear(o.Token) {
			if err := r.letGo(ctx, leaving); err != nil {
				return err
			}
		}
	}
	if fate == GiveUp {
		return r.giveUp(ctx, left, cause)
	}
	return errors.Join(r.failed(ctx, left, r.lastSent(o.Token), cause), fmt.Errorf("launch %d of %d machines of order %s: %w", len(without), o.Size, o.Token, cause))
}

// launched writes a claim's machine to it: first what its labels are, then that
// it is launched. A claim that has changed meanwhile is read again.
func (r *Reconciler) launched(ctx context.Context, c *v1.NodeClaim, m cloud.Machine) error {
	err := r.deal(ctx, c, m)
	for range 3 {
		if !apierrors.IsConflict(err) {
			break
		}
		c = &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: c.Name}}
		if err = r.live.Get(ctx, client.ObjectKeyFromObject(c), c); err == nil {
			if c.Status.ProviderID != "" {
				return nil // written, and said, before
			}
			err = r.deal(ctx, c, m)
		}
	}
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return fmt.Errorf("write machine %s to claim %q: %w", m.ID, c.Name, err)
	}
	r.trials.Over(string(c.UID))
	r.Enact.Named(c, m.Name)
	log.FromContext(ctx).Info("launched nodeclaim", "NodeClaim", c.Name, "provider-id", m.ProviderID, "instance-type", m.Shape,
		"zone", m.Zone, "capacity-type", m.CapacityType, "allocatable", m.Allocatable.Map())
	return nil
}

func (r *Reconciler) deal(ctx context.Context, c *v1.NodeClaim, m cloud.Machine) error {
	now, item := r.Now(), observe.Claim(c)
	m = r.overlaid(c, item.Pool, item.Template).extend(m)
	next, err := loop.Patch(ctx, r.Client, c, func(c *v1.NodeClaim) {
		c.Labels, c.Annotations = over(m.Labels, c.Labels), over(c.Annotations, m.Annotations)
	})
	if err != nil {
		return err
	}
	next, err = loop.PatchStatus(ctx, r.Client, next, func(c *v1.NodeClaim) {
		c.Status.ProviderID, c.Status.ImageID = m.ProviderID, m.Image
		c.Status.Capacity, c.Status.Allocatable = observe.ResourceList(m.Capacity), observe.ResourceList(m.Allocatable)
		c.Conditions().True(v1.ConditionLaunched, "", "", now)
		// What registration would say next, so that it need not be written by itself.
		c.Conditions().Unknown(v1.ConditionRegistered, v1.ReasonNodeNotFound, "Node not registered with cluster", now)
	})
	if err != nil {
		return err
	}
	r.Cluster.Wrote(next)
	return nil
}

// over is base with top laid over it.
func over(base, top map[string]string) map[string]string {
	out := maps.Clone(base)
	if out == nil {
		out = map[string]string{}
	}
	maps.Copy(out, top)
	return out
}
