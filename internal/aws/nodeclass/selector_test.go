package nodeclass_test

import (
	"testing"

	"github.com/tenon-sh/tenon/internal/aws/nodeclass"
)

func TestMeets(t *testing.T) {
	tags := map[string]string{"team": "a", "path": "x/y"}
	of := func(key string, values ...string) nodeclass.Selector {
		return nodeclass.Selector{Tags: []nodeclass.Tag{{Key: key, Values: values}}}
	}
	tests := map[string]struct {
		why      string
		selector nodeclass.Selector
		id, name string
		tags     map[string]string
		want     bool
	}{
		"ID":         {"It is the one that was named.", nodeclass.Selector{IDs: []string{"a", "b"}}, "b", "", nil, true},
		"OtherID":    {"A server that ignores filters lists all.", nodeclass.Selector{IDs: []string{"a"}}, "b", "", nil, false},
		"Name":       {"An asterisk stands for any text, slashes too.", nodeclass.Selector{Name: "my*-v?"}, "a", "my/node-v2", nil, true},
		"OtherName":  {"The whole name must match.", nodeclass.Selector{Name: "my-*"}, "a", "not-my-node", nil, false},
		"NoName":     {"What the answer leaves out is believed.", nodeclass.Selector{Name: "my-*"}, "a", "", nil, true},
		"Tag":        {"One of the values will do.", of("team", "b", "a"), "", "", tags, true},
		"TagPattern": {"Values may be patterns.", of("path", "x/*"), "", "", tags, true},
		"TagLiteral": {"A backslash takes a pattern's meaning away.", of("path", `x/\*`), "", "", tags, false},
		"OtherValue": {"None of the values is there.", of("team", "b"), "", "", tags, false},
		"NoSuchTag":  {"A tag of any value must be there.", of("none"), "", "", tags, false},
		"NoTags":     {"An answer without tags is believed.", of("none"), "", "", nil, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tc.selector.Meets(tc.id, tc.name, tc.tags); got != tc.want {
				t.Errorf("%s Got %t", tc.why, got)
			}
		})
	}
}
