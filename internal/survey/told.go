package survey

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
)

// Told is what people read in an event about an object.
type Told struct{ Reason, Message string }

// Tell returns what is to be told of the change between two looks at one
// object: each condition that is another now, by its type. Of claims, of which
// there are many, those on their way to Ready are told.
func Tell(was, is Object) []Told {
	if was.UID != is.UID || is.CamelKind == "Node" {
		return nil
	}
	way := []string{v1.ConditionLaunched, v1.ConditionRegistered, v1.ConditionInitialized, "Ready"}
	before := map[string]metav1.ConditionStatus{}
	for _, c := range was.Conditions {
		before[c.Type] = c.Status
	}
	var out []Told
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
		out = append(out, Told{c.Type, text})
	}
	return out
}
