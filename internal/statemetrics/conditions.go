package statemetrics

import (
	"iter"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tenon-sh/tenon/api/autoscaling/v1beta1"
	awsv1 "github.com/tenon-sh/tenon/api/aws/v1"
	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/internal/metric"
)

// Object is an object with conditions, as metrics see it.
type Object struct {
	Kind      string // as metrics name it: nodeclaim
	Group     string
	CamelKind string // as the API names it: NodeClaim
	Namespace string
	Name      string
	UID       string
	Deleted   time.Time // since when it is being deleted; zero: it is not
	// Finalizers are what has to be done before it is gone.
	Finalizers []string
	More       []string // further labels of its kind: class, pool, and of nodes whether they are initialized
	// Conditions have the types, states, reasons and times that are shown.
	Conditions []metav1.Condition
}

// ObjectOf reads an object that has metrics of its conditions; false for any other.
func ObjectOf(o any) (Object, bool) {
	switch o := o.(type) {
	case *v1.NodeClaim:
		class := ""
		if o.Spec.NodeClassRef != nil {
			class = o.Spec.NodeClassRef.Name
		}
		return objectOf(o, kindOf{"nodeclaim", v1.Group, "NodeClaim"}, o.Status.Conditions, class, o.Labels[v1.LabelNodePool]), true
	case *v1.NodePool:
		return objectOf(o, kindOf{"nodepool", v1.Group, "NodePool"}, o.Status.Conditions), true
	case *awsv1.EC2NodeClass:
		return objectOf(o, kindOf{"ec2nodeclass", awsv1.Group, "EC2NodeClass"}, o.Status.Conditions), true
	case *corev1.Node:
		var list []metav1.Condition
		for _, c := range o.Status.Conditions {
			list = append(list, metav1.Condition{Type: string(c.Type), Status: metav1.ConditionStatus(c.Status), Reason: c.Reason, LastTransitionTime: c.LastTransitionTime})
		}
		return objectOf(o, kindOf{"node", "", "Node"}, list, o.Labels[v1.LabelNodeClass(awsv1.Group, "EC2NodeClass")], o.Labels[v1.LabelNodePool], o.Labels[v1.LabelInitialized]), true
	case *v1beta1.CapacityBuffer:
		return objectOf(o, kindOf{"capacitybuffer", v1beta1.Group, "CapacityBuffer"}, o.Status.Conditions), true
	}
	return Object{}, false
}

// kindOf is how metrics call a kind: by itself, and among all kinds.
type kindOf struct{ name, group, camel string }

func objectOf(o metav1.Object, of kindOf, conditions []metav1.Condition, more ...string) Object {
	out := Object{
		Kind: of.name, Group: of.group, CamelKind: of.camel, Namespace: o.GetNamespace(), Name: o.GetName(), UID: string(o.GetUID()),
		More: more, Conditions: conditions, Finalizers: o.GetFinalizers(),
	}
	if t := o.GetDeletionTimestamp(); t != nil {
		out.Deleted = t.Time
	}
	return out
}

// both calls f for the metric of the object's kind, and for the one that serves
// all kinds, with the labels that each has at its end.
func (o Object) both(m metric.ConditionMetric, f func(name string, tail []string)) {
	f(m.Of(o.Kind), o.More)
	f(m.Of(""), []string{o.Group, o.CamelKind})
}

// Conditions gives the series of a metric of conditions, one at a time: how objects stand at now.
func Conditions(objects []Object, now time.Time, name string) iter.Seq[metric.Sample] {
	return func(yield func(metric.Sample) bool) {
		m, kind := conditionOf(name)
		for _, o := range objects {
			tail := o.More
			if kind == "" {
				tail = []string{o.Group, o.CamelKind}
			}
			if kind != "" && kind != o.Kind {
				continue
			}
			for s := range o.samples(m, now) {
				if s.Labels = with(s.Labels, tail); !yield(s) {
					return
				}
			}
		}
	}
}

// samples gives the series of one object, without the labels that kinds have at their end.
func (o Object) samples(m metric.ConditionMetric, now time.Time) iter.Seq[metric.Sample] {
	return func(yield func(metric.Sample) bool) {
		if m == metric.TerminationCurrent {
			if !o.Deleted.IsZero() {
				yield(metric.Sample{Labels: []string{o.Namespace, o.Name}, Value: max(now.Sub(o.Deleted), 0).Seconds()})
			}
			return
		}
		for _, c := range o.Conditions {
			s := metric.Sample{Labels: []string{o.Namespace, o.Name, c.Type, string(c.Status), c.Reason}, Value: 1}
			if m == metric.ConditionCurrent {
				s.Value = max(now.Sub(c.LastTransitionTime.Time), 0).Seconds()
			}
			if !yield(s) {
				return
			}
		}
	}
}

// ConditionNames are the metrics that Conditions gives.
func ConditionNames() []string {
	var out []string
	for _, kind := range append(metric.ConditionKinds(), "") {
		for _, m := range conditionMetrics() {
			out = append(out, m.Of(kind))
		}
	}
	return out
}

func conditionMetrics() []metric.ConditionMetric {
	return []metric.ConditionMetric{metric.ConditionCount, metric.ConditionCurrent, metric.TerminationCurrent}
}

// conditionOf is which metric of which kind has a name.
func conditionOf(name string) (m metric.ConditionMetric, kind string) {
	for _, kind := range metric.ConditionKinds() {
		for _, m := range conditionMetrics() {
			if m.Of(kind) == name {
				return m, kind
			}
		}
	}
	for _, m = range conditionMetrics() {
		if m.Of("") == name {
			break
		}
	}
	return m, ""
}

// Moved counts what has changed between two looks at one object.
func Moved(m *metric.Set, was, is Object) {
	if was.UID != is.UID {
		return
	}
	before := map[string]metav1.Condition{}
	for _, c := range was.Conditions {
		before[c.Type] = c
	}
	for _, c := range is.Conditions {
		old, ok := before[c.Type]
		if ok && old.Status == c.Status {
			continue
		}
		is.both(metric.ConditionTransitions, func(name string, tail []string) {
			m.Add(name, 1, with([]string{c.Type, string(c.Status), c.Reason}, tail)...)
		})
		if ok {
			stayed := max(c.LastTransitionTime.Sub(old.LastTransitionTime.Time), 0).Seconds()
			is.both(metric.ConditionTransitionDur, func(name string, tail []string) {
				m.Observe(name, stayed, with([]string{old.Type, string(old.Status)}, tail)...)
			})
		}
	}
}

// Gone counts the end of an object.
func Gone(m *metric.Set, o Object, now time.Time) {
	if o.Deleted.IsZero() {
		return
	}
	took := max(now.Sub(o.Deleted), 0).Seconds()
	o.both(metric.TerminationDuration, func(name string, tail []string) { m.Observe(name, took, tail...) })
}

func with(labels, tail []string) []string { return append(labels[:len(labels):len(labels)], tail...) }
