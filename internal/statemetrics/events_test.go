package statemetrics_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/internal/statemetrics"
)

func TestTell(t *testing.T) {
	said := func(kind string, conditions ...metav1.Condition) statemetrics.Object {
		return statemetrics.Object{CamelKind: kind, UID: "1", Conditions: conditions}
	}
	is := func(kind string, status metav1.ConditionStatus) metav1.Condition {
		return metav1.Condition{Type: kind, Status: status, Reason: "Because"}
	}
	tests := map[string]struct {
		why     string
		was, is statemetrics.Object
		want    []statemetrics.Event
	}{
		"Launched": {
			"A claim has come a step further.", said("NodeClaim"),
			said("NodeClaim", is("Launched", "True"), is("Registered", "Unknown")),
			[]statemetrics.Event{{"Launched", "Condition Launched: Unknown -> True, reason Because"}},
		},
		"Same":   {"Another reason is no news.", said("NodePool", is("Ready", "True")), said("NodePool", is("Ready", "True")), nil},
		"Quiet":  {"That a claim may go is said by what goes.", said("NodeClaim"), said("NodeClaim", is("Consolidatable", "True")), nil},
		"Broken": {"A pool says why it cannot be used.", said("NodePool", is("Ready", "True")), said("NodePool", metav1.Condition{Type: "Ready", Status: "False", Reason: "A", Message: "B"}), []statemetrics.Event{{"Ready", "Condition Ready: True -> False, reason A: B"}}},
		"Node":   {"Nodes have events of their own.", said("Node"), said("Node", is("Ready", "True")), nil},
		"Ended": {
			"Our part of its end is done, while somebody else's is not.",
			statemetrics.Object{CamelKind: "Node", UID: "1", Deleted: time.Unix(1, 0), Finalizers: []string{v1.Finalizer, "example.com/mine"}},
			statemetrics.Object{CamelKind: "Node", UID: "1", Deleted: time.Unix(1, 0), Finalizers: []string{"example.com/mine"}},
			[]statemetrics.Event{{"Finalized", "Finalized karpenter.sh/termination"}},
		},
		"Freed": {
			"A finalizer that goes while nothing ends is no end.", statemetrics.Object{UID: "1", Finalizers: []string{v1.Finalizer}}, statemetrics.Object{UID: "1"}, nil,
		},
		"Other": {"It is another object of the same name.", statemetrics.Object{UID: "2"}, said("NodePool", is("Ready", "True")), nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, statemetrics.Events(tc.was, tc.is)); diff != "" {
				t.Errorf("%s -want +got\n%s", tc.why, diff)
			}
		})
	}
}
