package statemetrics

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1 "github.com/tenon-sh/tenon/api/aws/v1"
	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
)

// Event is what people read in an event about an object.
type Event struct{ Reason, Message string }

// Events returns the events that are to be published of the change between two looks at one
// object: each condition that is another now, by its type, and that its end is
// done. Of claims, of which there are many, those on their way to Ready have them.
func Events(was, is Object) []Event {
	if was.UID != is.UID {
		return nil
	}
	out := Finalized(was, is.Finalizers)
	if is.CamelKind == "Node" { // which others say much of
		return out
	}
	way := []string{v1.ConditionLaunched, v1.ConditionRegistered, v1.ConditionInitialized, "Ready"}
	before := map[string]metav1.ConditionStatus{}
	for _, c := range was.Conditions {
		before[c.Type] = c.Status
	}
	for _, c := range is.Conditions {
		old, ok := before[c.Type]
		if !ok {
			old = metav1.ConditionUnknown
		}
		if old == c.Status || is.CamelKind == "NodeClaim" && !slices.Contains(way, c.Type) {
			continue
		}
		text := fmt.Sprintf("Condition %s: %s -> %s, reason %s", c.Type, old, c.Status, c.Reason)
		if c.Message != "" {
			text += ": " + c.Message
		}
		out = append(out, Event{c.Type, text})
	}
	return out
}

// Finalized says which of the finalizers that we put on an object are no more,
// as its end is done. An object that is gone has none left.
func Finalized(was Object, left []string) []Event {
	var out []Event
	for _, f := range was.Finalizers {
		if !was.Deleted.IsZero() && (f == v1.Finalizer || f == awsv1.Finalizer) && !slices.Contains(left, f) {
			out = append(out, Event{"Finalized", "Finalized " + f})
		}
	}
	return out
}
