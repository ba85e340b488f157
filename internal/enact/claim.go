package enact

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/api/karpenter/v1alpha5"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/annotation"
	"github.com/tenon-sh/tenon/internal/metric"
	"github.com/tenon-sh/tenon/internal/observe"
	"github.com/tenon-sh/tenon/internal/parallel"
	"github.com/tenon-sh/tenon/internal/wording"
)

// Ask creates the claims of a plan's asks, and returns the claim of each ask by
// the ask's name. One that cannot be made does not keep others from being made.
func (e *Enactor) Ask(ctx context.Context, asks []plan.Ask, reason string) (map[string]string, error) {
	return e.ask(ctx, asks, reason, nil)
}

// Replace is Ask for machines that take the pods of others, which are named by
// the names of their claims. The new claims carry them, so that a process that comes
// next knows what they are for.
func (e *Enactor) Replace(ctx context.Context, asks []plan.Ask, reason string, others []string) error {
	_, err := e.ask(ctx, asks, reason, others)
	return err
}

func (e *Enactor) ask(ctx context.Context, asks []plan.Ask, reason string, replaces []string) (map[string]string, error) {
	templates := map[world.PoolID]*v1.NodeClaim{}
	failed := map[world.PoolID]error{}
	for _, a := range asks {
		if templates[a.Pool] == nil && failed[a.Pool] == nil {
			failed[a.Pool] = e.teller().Try(where, func() (err error) {
				templates[a.Pool], err = e.Template(ctx, a.Pool)
				return err
			}, "pool", a.Pool.Name)
		}
	}
	var mu sync.Mutex
	w := e.Cluster.Recent(time.Second)
	made := map[string]string{}
	var errs []error
	parallel.Do(parallel.Writes, asks, func(_ int, a plan.Ask) {
		err := failed[a.Pool]
		var c *v1.NodeClaim
		if err == nil {
			err = e.teller().Try(where, func() error {
				c = ClaimOf(a, templates[a.Pool])
				overlaid(c, a, w.CatalogFor(a.Pool, a.Template))
				if len(replaces) > 0 {
					set(&c.Annotations, annotation.Replaces, annotation.NamesText(replaces))
				}
				return e.create(ctx, c, a, reason)
			}, "ask", a.Name)
		}
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			e.teller().Do(where, func() { e.unmade(w, a, c, err) }, "ask", a.Name)
			errs = append(errs, fmt.Errorf("ask for %s: %w", a.Name, err))
			return
		}
		made[a.Name] = c.Name
	})
	return made, errors.Join(errs...)
}

// create writes a claim under a name of its own. When the answer is lost the
// name finds it again, so that none is made twice, and none that was made counts
// as one that was not: its pods would be planned once more.
func (e *Enactor) create(ctx context.Context, c *v1.NodeClaim, a plan.Ask, reason string) error {
	c.Name = c.GenerateName + e.Suffix()
	c.GenerateName = ""
	err := e.Client.Create(ctx, c)
	if err != nil && ctx.Err() == nil && unclear(err) {
		if again := e.Client.Create(ctx, c); again == nil || apierrors.IsAlreadyExists(again) {
			err = again
		}
	}
	// client-go may have sent it twice by itself, and both answers may have been lost.
	if err != nil && (apierrors.IsAlreadyExists(err) || unclear(err)) && e.made(ctx, c) {
		err = nil
	}
	if err != nil {
		return err
	}
	e.Cluster.Wrote(c)
	e.Metrics.Add(metric.ClaimsCreated, 1, reason, poolLabel(c.Labels), strconv.FormatBool(c.Annotations[v1.AnnotationMinValuesRelaxed] == "true"))
	e.Log.Info("created nodeclaim", a.Pool.Kind, poolLabel(c.Labels), "NodeClaim", c.Name, "requests", wording.Resources(a.Requests), "instance-types", menuText(a))
	return nil
}

// Uncached reads what no cache holds back.
func (e *Enactor) Uncached() client.Reader {
	if e.Live != nil {
		return e.Live
	}
	return e.Client
}

// made reports whether the claim that has the name of c is c: it carries all that
// c does, the pods that it is for among it. It may have been launched since. Then c becomes what was read.
func (e *Enactor) made(ctx context.Context, c *v1.NodeClaim) bool {
	var found v1.NodeClaim
	if err := e.Uncached().Get(ctx, client.ObjectKeyFromObject(c), &found); err != nil || found.DeletionTimestamp != nil {
		return false
	}
	if !holds(found.Labels, c.Labels) || !holds(found.Annotations, c.Annotations) {
		return false
	}
	found.DeepCopyInto(c)
	return true
}

// holds reports whether all of part is in m.
func holds(m, part map[string]string) bool {
	for k, v := range part {
		if has, ok := m[k]; !ok || has != v {
			return false
		}
	}
	return true
}

// unclear reports whether a write may have happened although it failed.
func unclear(err error) bool {
	return apierrors.IsTimeout(err) || apierrors.IsServerTimeout(err) || apierrors.IsInternalError(err) || apierrors.ReasonForError(err) == metav1.StatusReasonUnknown
}

// menuText names the first few instance types of an ask's menu, cheapest first, for the log.
func menuText(a plan.Ask) string {
	const maxTypesNamed = 5
	names := make([]string, 0, maxTypesNamed)
	for _, c := range a.Menu[:min(len(a.Menu), maxTypesNamed)] {
		names = append(names, c.Shape)
	}
	text := strings.Join(names, ", ")
	if more := len(a.Menu) - maxTypesNamed; more > 0 {
		text += fmt.Sprintf(" and %d other(s)", more)
	}
	return text
}

// Template returns the claim that a pool's claims are made from.
func (e *Enactor) Template(ctx context.Context, id world.PoolID) (*v1.NodeClaim, error) {
	key := client.ObjectKey{Name: id.Name}
	switch id.Kind {
	case world.NodePool:
		var p v1.NodePool
		if err := e.Client.Get(ctx, key, &p); err != nil {
			return nil, fmt.Errorf("node pool %q: %w", id.Name, err)
		}
		return fromNodePool(&p), nil
	case world.Provisioner:
		var p v1alpha5.Provisioner
		if err := e.Client.Get(ctx, key, &p); err != nil {
			return nil, fmt.Errorf("provisioner %q: %w", id.Name, err)
		}
		return fromProvisioner(&p), nil
	}
	return nil, fmt.Errorf("pool %q is of unknown kind %q", id.Name, id.Kind)
}

func fromNodePool(p *v1.NodePool) *v1.NodeClaim {
	t := p.Spec.Template
	c := &v1.NodeClaim{
		ObjectMeta: metav1.ObjectMeta{
			GenerateName:    p.Name + "-",
			Labels:          maps.Clone(t.Labels),
			Annotations:     maps.Clone(t.Annotations),
			OwnerReferences: []metav1.OwnerReference{owner(v1.Group+"/v1", world.NodePool, p.Name, p.UID)},
			Finalizers:      []string{v1.Finalizer},
		},
		Spec: v1.NodeClaimSpec{
			Taints: t.Spec.Taints, StartupTaints: t.Spec.StartupTaints, Requirements: t.Spec.Requirements,
			NodeClassRef: t.Spec.NodeClassRef, TerminationGracePeriod: t.Spec.TerminationGracePeriod, ExpireAfter: t.Spec.ExpireAfter,
		},
	}
	set(&c.Labels, v1.LabelNodePool, p.Name)
	set(&c.Annotations, v1.AnnotationPoolHash, p.Hash())
	set(&c.Annotations, v1.AnnotationPoolHashVersion, v1.HashVersion)
	classLabel(c)
	return c
}

func fromProvisioner(p *v1alpha5.Provisioner) *v1.NodeClaim {
	class := observe.ClassOf(p)
	c := &v1.NodeClaim{
		ObjectMeta: metav1.ObjectMeta{
			GenerateName:    p.Name + "-",
			Labels:          maps.Clone(p.Spec.Labels),
			Annotations:     maps.Clone(p.Spec.Annotations),
			OwnerReferences: []metav1.OwnerReference{owner(v1.Group+"/v1alpha5", world.Provisioner, p.Name, p.UID)},
			Finalizers:      []string{v1.Finalizer},
		},
		Spec: v1.NodeClaimSpec{
			Taints: p.Spec.Taints, StartupTaints: p.Spec.StartupTaints, NodeClassRef: &class, ExpireAfter: v1.Never,
			Requirements: observe.Requirements(observe.Provisioner(p).Requirements),
		},
	}
	if s := p.Spec.TTLSecondsUntilExpired; s != nil {
		c.Spec.ExpireAfter = v1.After(seconds(*s))
	}
	set(&c.Labels, v1alpha5.LabelProvisioner, p.Name)
	classLabel(c)
	return c
}

func owner(version, kind, name string, uid types.UID) metav1.OwnerReference {
	block := true
	return metav1.OwnerReference{APIVersion: version, Kind: kind, Name: name, UID: uid, BlockOwnerDeletion: &block}
}

// classLabel marks a claim with its class, by which it is known to be ours.
func classLabel(c *v1.NodeClaim) {
	if ref := c.Spec.NodeClassRef; ref != nil {
		set(&c.Labels, v1.LabelNodeClass(ref.Group, ref.Kind), ref.Name)
	}
}

// ClaimOf is the claim for an ask, made from its pool's template.
func ClaimOf(a plan.Ask, template *v1.NodeClaim) *v1.NodeClaim {
	c := template.DeepCopy()
	for k, v := range a.Labels {
		set(&c.Labels, k, v)
	}
	set(&c.Annotations, annotation.Template, string(a.Template))
	set(&c.Annotations, annotation.Booked, annotation.BookedText(a.Booked))
	set(&c.Annotations, annotation.Pods, annotation.PodsText(a.Pods))
	if len(a.Drivers) > 0 {
		set(&c.Annotations, v1.AnnotationRequestedDRADrivers, annotation.DriversText(a.Drivers))
	}
	if a.Relaxed {
		set(&c.Annotations, v1.AnnotationMinValuesRelaxed, "true")
	} else {
		set(&c.Annotations, v1.AnnotationMinValuesRelaxed, "false")
	}
	// The kind knows nothing of Provisioners; its labels say whose it is.
	c.Spec.Requirements = observe.Requirements(a.Requirements.Without(label.Provisioner))
	c.Spec.Resources.Requests = observe.ResourceList(a.Requests)
	return c
}

// overlaid notes on a claim that overlays had a say in what it may become.
func overlaid(c *v1.NodeClaim, a plan.Ask, from *world.Catalog) {
	if from == nil {
		return
	}
	for i := range from.Shapes {
		s := &from.Shapes[i]
		if !slices.ContainsFunc(a.Menu, func(c plan.Choice) bool { return c.Shape == s.Name }) {
			continue
		}
		if s.Overlaid {
			set(&c.Annotations, v1.AnnotationCapacityOverlay, "true")
		}
		if slices.ContainsFunc(s.Offers, func(o world.Offer) bool { return o.Overlaid }) {
			set(&c.Annotations, v1.AnnotationPriceOverlay, "true")
		}
	}
}

func set(m *map[string]string, k, v string) {
	if *m == nil {
		*m = map[string]string{}
	}
	(*m)[k] = v
}

func seconds(s int64) time.Duration { return time.Duration(s) * time.Second }

// Adopt creates a claim for a machine that has a node and no claim. It is
// launched and never asked for; its status is the caller's to write.
func (e *Enactor) Adopt(ctx context.Context, c *v1.NodeClaim) error {
	err := e.Client.Create(ctx, c)
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("adopt %s: %w", c.Name, err)
	}
	if err == nil {
		e.Metrics.Add(metric.ClaimsCreated, 1, Adopted, poolLabel(c.Labels), "false")
	}
	return nil
}

// Release deletes a claim for a reason that metrics know. Its node drains and
// its machine ends before the claim is gone.
func (e *Enactor) Release(ctx context.Context, c *v1.NodeClaim, reason string) error {
	if c.DeletionTimestamp != nil {
		return nil
	}
	uid := c.UID
	if err := e.Client.Delete(ctx, c, client.Preconditions{UID: &uid}); err != nil {
		return client.IgnoreNotFound(fmt.Errorf("release claim %q: %w", c.Name, err))
	}
	e.Cluster.Deleting(c)
	e.deletions.note(c.Name, reason)
	labels := []string{reason, poolLabel(c.Labels), c.Labels[v1.LabelCapacityType], e.policy(ctx, c, reason), patienceOf(c)}
	e.Metrics.Add(metric.ClaimsDisrupted, 1, labels...)
	if at := e.Cluster.Recent(time.Second).Place(c.Status.NodeName); at != nil {
		pods := 0
		for _, p := range at.Pods {
			if p.Moves() {
				pods++
			}
		}
		e.Metrics.Add(metric.PodsDisruptionInitiated, float64(pods), labels...)
	}
	e.Log.Info("deleted nodeclaim", "NodeClaim", c.Name, "reason", reason)
	return nil
}

// policy is how the pool of a claim is consolidated, as metrics name it; empty if that is not why the claim ends.
func (e *Enactor) policy(ctx context.Context, c *v1.NodeClaim, reason string) string {
	var p v1.NodePool
	if reason != Empty && reason != Underutilized || e.Client.Get(ctx, client.ObjectKey{Name: c.Pool()}, &p) != nil {
		return ""
	}
	switch p.Spec.Disruption.ConsolidationPolicy {
	case v1.WhenEmpty:
		return "when_empty"
	case v1.WhenEmptyOrUnderutilized:
		return "when_empty_or_underutilized"
	case v1.Balanced:
		return "balanced"
	}
	return ""
}

// patienceOf is how long the pods of a claim's node may take to leave, as metrics name it.
func patienceOf(c *v1.NodeClaim) string {
	switch grace := c.Spec.TerminationGracePeriod; {
	case grace == nil:
		return "graceful"
	case grace.Duration == 0:
		return "forceful"
	}
	return "eventual"
}
