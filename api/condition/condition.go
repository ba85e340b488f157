// Package condition keeps the conditions of one object the way the API promises them.
//
// A kind has one root condition, Ready, and parts it depends on. The root is recomputed at every change, a part is
// never missing, a transition time moves only with the status, and the observed generation is always the current one.
package condition

import (
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Ready is the root condition of every kind.
const Ready = "Ready"

// Reasons that this package itself gives.
const (
	AwaitingReconciliation = "AwaitingReconciliation" // a part that is not judged yet
	UnhealthyDependents    = "UnhealthyDependents"    // the root: some part is False
	ReconcilingDependents  = "ReconcilingDependents"  // the root: some part is Unknown, or judged at an older generation
)

// View is the conditions of one object. It writes to the object it was made from.
type View struct {
	object metav1.Object
	list   *[]metav1.Condition
	parts  []string
}

// Of returns the view of object's conditions, list, whose Ready depends on parts.
func Of(object metav1.Object, list *[]metav1.Condition, parts ...string) View {
	return View{object: object, list: list, parts: parts}
}

// Get returns the condition of that type, or nil.
func (v View) Get(kind string) *metav1.Condition {
	for i := range *v.list {
		if (*v.list)[i].Type == kind {
			return &(*v.list)[i]
		}
	}
	return nil
}

// Is reports whether the condition of that type is True.
func (v View) Is(kind string) bool { return v.status(kind) == metav1.ConditionTrue }

// Isnt reports whether the condition of that type is False.
func (v View) Isnt(kind string) bool { return v.status(kind) == metav1.ConditionFalse }

func (v View) status(kind string) metav1.ConditionStatus {
	if c := v.Get(kind); c != nil {
		return c.Status
	}
	return metav1.ConditionUnknown
}

// Init adds what is missing: every part and the root, Unknown since the object was created.
// It reports whether anything changed.
func (v View) Init(now time.Time) bool {
	before := slices.Clone(*v.list)
	v.settle(now)
	return !slices.Equal(before, *v.list)
}

// True sets a condition to True. Without a reason the type is the reason.
func (v View) True(kind, reason, message string, now time.Time) bool {
	if reason == "" {
		reason = kind
	}
	return v.set(kind, metav1.ConditionTrue, reason, message, now)
}

// False sets a condition to False.
func (v View) False(kind, reason, message string, now time.Time) bool {
	return v.set(kind, metav1.ConditionFalse, reason, message, now)
}

// Unknown sets a condition to Unknown.
func (v View) Unknown(kind, reason, message string, now time.Time) bool {
	return v.set(kind, metav1.ConditionUnknown, reason, message, now)
}

// Clear removes a condition. A part of the root and the root itself cannot be removed: an error in the caller.
func (v View) Clear(kind string, now time.Time) bool {
	if kind == Ready || slices.Contains(v.parts, kind) {
		panic(fmt.Sprintf("condition %s is a part of %s and cannot be cleared", kind, Ready))
	}
	before := slices.Clone(*v.list)
	*v.list = slices.DeleteFunc(*v.list, func(c metav1.Condition) bool { return c.Type == kind })
	v.settle(now)
	return !slices.Equal(before, *v.list)
}

// Together makes several changes one: the time of Ready moves only if it says
// something else after them than before, not where it was unknown in between.
func (v View) Together(change func()) {
	was := v.Get(Ready)
	if was != nil {
		was = was.DeepCopy()
	}
	change()
	if is := v.Get(Ready); was != nil && is != nil && is.Status == was.Status {
		is.LastTransitionTime = was.LastTransitionTime
	}
}

func (v View) set(kind string, status metav1.ConditionStatus, reason, message string, now time.Time) bool {
	before := slices.Clone(*v.list)
	v.put(metav1.Condition{Type: kind, Status: status, Reason: reason, Message: message}, now)
	v.settle(now)
	return !slices.Equal(before, *v.list)
}

// put writes one condition; its time moves only with its status. Times are kept to the second, as JSON keeps them.
func (v View) put(c metav1.Condition, now time.Time) {
	c.ObservedGeneration = v.object.GetGeneration()
	c.LastTransitionTime = metav1.NewTime(now.Truncate(time.Second))
	old := v.Get(c.Type)
	if old == nil {
		*v.list = append(*v.list, c)
		return
	}
	if old.Status == c.Status {
		c.LastTransitionTime = old.LastTransitionTime
	}
	*old = c
}

// settle adds missing parts, recomputes the root, and sorts by time with the root last.
func (v View) settle(now time.Time) {
	for _, part := range v.parts {
		if v.Get(part) == nil {
			v.put(metav1.Condition{
				Type: part, Status: metav1.ConditionUnknown, Reason: AwaitingReconciliation, Message: "not looked at yet",
			}, v.born(now))
		}
	}
	root, at := v.root(), now
	if v.Get(Ready) == nil && root.Status == metav1.ConditionUnknown {
		at = v.born(now)
	}
	v.put(root, at)
	slices.SortStableFunc(*v.list, func(a, b metav1.Condition) int {
		switch {
		case a.Type == Ready:
			return 1
		case b.Type == Ready:
			return -1
		}
		return a.LastTransitionTime.Compare(b.LastTransitionTime.Time)
	})
}

func (v View) born(now time.Time) time.Time {
	if t := v.object.GetCreationTimestamp(); !t.IsZero() {
		return t.Time
	}
	return now
}

// root is what Ready says of the parts.
func (v View) root() metav1.Condition {
	c := metav1.Condition{Type: Ready, Status: metav1.ConditionTrue, Reason: Ready}
	var not []string
	for _, part := range v.parts {
		p := v.Get(part)
		// Earlier programs did not say which generation they judged.
		current := p.ObservedGeneration == 0 || p.ObservedGeneration == v.object.GetGeneration()
		switch {
		case p.Status == metav1.ConditionTrue && current:
			continue
		case p.Status == metav1.ConditionFalse && current:
			c.Status, c.Reason = metav1.ConditionFalse, UnhealthyDependents
		case c.Status != metav1.ConditionFalse:
			c.Status, c.Reason = metav1.ConditionUnknown, ReconcilingDependents
		}
		not = append(not, fmt.Sprintf("%s=%s", part, p.Status))
	}
	c.Message = strings.Join(not, ", ")
	return c
}
