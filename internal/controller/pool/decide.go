// Package pool says in the status of NodePools and Provisioners what they have, whether they can be used, and why not.
package pool

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/tenon-sh/tenon/api/condition"
	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/api/karpenter/v1alpha5"
	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/observe"
)

const (
	// ConditionConsolidation is False on NodePools that ask for more consolidation than is done.
	ConditionConsolidation = "Consolidation"
	reasonEmptyOnly        = "OnlyEmptyNodes"
	reasonInvalid          = "ProvisionerInvalid"
	reasonNoClass          = "NodeTemplateNotReady"
	conditionActive        = "Active"
)

// emptyOnly is the message for users who ask for consolidation where no pods are moved.
const emptyOnly = "empty nodes are given back; moving pods to cheaper nodes is switched off"

// Class is how the class of a pool stands.
type Class struct {
	Missing, Ending bool
	Generation      int64
	Ready           metav1.ConditionStatus // empty: it has not said
	Reason, Message string
}

// Seen is all that the status of a pool depends on beside the pool.
type Seen struct {
	Now    time.Time
	Class  Class
	Used   amount.List // of the pool's nodes; nil: not known yet
	Health Health
	Still  bool   // no pods are moved
	Waits  string // for what its next node waits after those before it came to nothing
}

// Status writes into a NodePool what is seen of it.
func Status(p *v1.NodePool, s Seen) {
	p.Conditions().Together(func() { conditions(p, s) })
	if s.Used != nil {
		p.Status.Resources = observe.ResourceList(s.Used)
		n := s.Used.Value(amount.Nodes) / amount.Unit
		p.Status.Nodes = &n
	}
}

func conditions(p *v1.NodePool, s Seen) {
	c := p.Conditions()
	c.Init(s.Now)
	if problems := p.Problems(); len(problems) > 0 {
		c.False(v1.ConditionValidationSucceeded, v1.ReasonValidationFailed, text(problems), s.Now)
	} else {
		c.True(v1.ConditionValidationSucceeded, "", "", s.Now)
	}
	switch class := s.Class; {
	case class.Missing:
		c.False(v1.ConditionNodeClassReady, v1.ReasonNodeClassNotFound, class.Message, s.Now)
	case class.Ending:
		c.False(v1.ConditionNodeClassReady, v1.ReasonNodeClassTerminating, "the class is being deleted", s.Now)
	case class.Ready == metav1.ConditionTrue:
		c.True(v1.ConditionNodeClassReady, "", "", s.Now)
	case class.Ready == metav1.ConditionFalse:
		c.False(v1.ConditionNodeClassReady, class.Reason, class.Message, s.Now)
	default:
		c.Unknown(v1.ConditionNodeClassReady, v1.ReasonNodeClassReadinessUnknown, "the class has not said whether it is ready", s.Now)
	}
	health(p, s)
	if s.Still && p.Spec.Disruption.ConsolidationPolicy != v1.WhenEmpty && p.Spec.Disruption.ConsolidateAfter != v1.Never && !p.Static() {
		c.False(ConditionConsolidation, reasonEmptyOnly, emptyOnly, s.Now)
	} else {
		c.Clear(ConditionConsolidation, s.Now)
	}
	if s.Waits != "" {
		c.True(observe.ConditionBackOff, observe.ReasonBackOff, s.Waits, s.Now)
	} else {
		c.Clear(observe.ConditionBackOff, s.Now)
	}
}

// health writes whether machines of the pool come up. What was learnt of
// another generation of the pool or its class says nothing about this one.
func health(p *v1.NodePool, s Seen) {
	c := p.Conditions()
	was := c.Get(v1.ConditionNodeRegistrationHealthy)
	if was == nil || was.ObservedGeneration != p.Generation || p.Status.NodeClassObservedGeneration != s.Class.Generation {
		c.Unknown(v1.ConditionNodeRegistrationHealthy, "AwaitingReconciliation", "no node of this generation has registered or failed to", s.Now)
		p.Status.NodeClassObservedGeneration = s.Class.Generation
		return
	}
	switch healthy, known := s.Health.Verdict(); {
	case !known:
	case healthy:
		c.True(v1.ConditionNodeRegistrationHealthy, "", "", s.Now)
	case was.Status != metav1.ConditionFalse:
		c.False(v1.ConditionNodeRegistrationHealthy, s.Health.Reason, s.Health.Message, s.Now)
	}
}

// text writes problems as one message.
func text(l field.ErrorList) string {
	const maxMessageBytes = 1024
	s := l.ToAggregate().Error()
	if len(s) > maxMessageBytes {
		s = s[:maxMessageBytes] + "..."
	}
	return s
}

// Obstacle is why a pool buys nothing now; empty if it does.
type Obstacle struct {
	Ready string // it is not ready, and why
	Yet   string // it waits, after nodes that came to nothing
}

// waits is what a pool's status says of the wait for its next node; empty if it does not wait.
func waits(w *world.World, p *world.Pool) string {
	if p == nil {
		return ""
	}
	if b := w.PoolBackoff(p); b != nil && b.Until() > b.Last {
		return observe.BackoffText(b)
	}
	return ""
}

// StatusOfProvisioner writes into a Provisioner what is seen of it, and why it buys nothing now, if that is so. While
// there is nothing to say its status stays empty.
func StatusOfProvisioner(p *v1alpha5.Provisioner, used amount.List, not Obstacle, scaled, now time.Time) {
	if used != nil {
		p.Status.Resources = observe.ResourceList(positive(used))
	}
	if at := metav1.NewTime(scaled.Truncate(time.Second)); !scaled.IsZero() && (p.Status.LastScaleTime == nil || p.Status.LastScaleTime.Before(&at)) {
		p.Status.LastScaleTime = &at
	}
	say := func(kind string, status metav1.ConditionStatus, reason, message string) {
		for i := range p.Status.Conditions {
			if c := &p.Status.Conditions[i]; c.Type == kind {
				c.Reason, c.Message, c.ObservedGeneration = reason, message, p.Generation
				return
			}
		}
		p.Status.Conditions = append(p.Status.Conditions, metav1.Condition{
			Type: kind, Status: status, Reason: reason, Message: message,
			LastTransitionTime: metav1.NewTime(now.Truncate(time.Second)), ObservedGeneration: p.Generation,
		})
	}
	unsay := func(kind string) {
		var left []metav1.Condition
		for _, c := range p.Status.Conditions {
			if c.Type != kind {
				left = append(left, c)
			}
		}
		p.Status.Conditions = left
	}
	switch problems := p.Problems(); {
	case len(problems) > 0:
		say(conditionActive, metav1.ConditionFalse, reasonInvalid, text(problems))
	case not.Ready != "":
		say(conditionActive, metav1.ConditionFalse, reasonNoClass, not.Ready)
	default:
		unsay(conditionActive)
	}
	if not.Yet != "" {
		say(observe.ConditionBackOff, metav1.ConditionTrue, observe.ReasonBackOff, not.Yet)
	} else {
		unsay(observe.ConditionBackOff)
	}
	unsay(ConditionConsolidation) // which earlier releases said
}

// positive leaves out what there is none of, and the count of nodes, which that API does not know.
func positive(l amount.List) amount.List {
	var out amount.List
	for _, e := range l {
		if e.Value > 0 && e.Name != amount.Nodes {
			out = append(out, e)
		}
	}
	return out
}

// Usage is what the nodes of each pool have together, those that are going left
// out. A pool of the cluster state without nodes has nothing of what every node has.
func Usage(w *world.World) map[world.PoolID]amount.List {
	out := map[world.PoolID]amount.List{}
	none := amount.Of(
		amount.Entry{Name: amount.CPU}, amount.Entry{Name: amount.Memory}, amount.Entry{Name: amount.Pods},
		amount.Entry{Name: amount.Ephemeral}, amount.Entry{Name: amount.Nodes},
	)
	for _, p := range w.Pools() {
		out[p.ID] = none
	}
	for _, at := range w.Places() {
		sum, ok := out[at.Pool()]
		if !ok || at.Node == nil || at.Deleting() {
			continue
		}
		out[at.Pool()] = sum.Plus(at.Node.Capacity).Plus(amount.Of(amount.Entry{Name: amount.Nodes, Value: amount.Unit}))
	}
	return out
}

// Scaled is when the newest node of a pool was made; zero if it has none.
func Scaled(w *world.World, id world.PoolID) time.Time {
	var newest int64
	for _, at := range w.Places() {
		if at.Node != nil && at.Pool() == id {
			newest = max(newest, at.Node.Created)
		}
	}
	if newest == 0 {
		return time.Time{}
	}
	return time.Unix(newest, 0)
}

// missing is the message about a class that does not exist.
func missing(ref *v1.NodeClassReference) string {
	if ref == nil {
		return "the pool names no class"
	}
	return fmt.Sprintf("%s %q does not exist: create it, or correct spec.template.spec.nodeClassRef", ref.Kind, ref.Name)
}

// ClassOf is how a class stands that has conditions, Ready among them. What was
// said of an older generation says nothing about this one.
func ClassOf(o metav1.Object, conditions []metav1.Condition) Class {
	c := Class{Ending: o.GetDeletionTimestamp() != nil, Generation: o.GetGeneration()}
	for _, said := range conditions {
		if said.Type == condition.Ready && (said.ObservedGeneration == 0 || said.ObservedGeneration == c.Generation) {
			c.Ready, c.Reason, c.Message = said.Status, said.Reason, said.Message
		}
	}
	return c
}
