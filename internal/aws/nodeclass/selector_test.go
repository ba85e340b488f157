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

// Selectors that ask something else have other keys, whatever characters they are made of.
func TestKeys(t *testing.T) {
	of := func(tags ...nodeclass.Tag) nodeclass.Selector { return nodeclass.Selector{Tags: tags} }
	all := []nodeclass.Selector{
		{},
		{Name: "a"},
		{IDs: []string{"a"}},
		{IDs: []string{"a", "b"}},
		{IDs: []string{"a,b"}},
		{Name: "a\nb"},
		{Name: "a", IDs: []string{"b"}},
		of(nodeclass.Tag{Key: "a"}), of(nodeclass.Tag{Key: "a", Values: []string{""}}),
		of(nodeclass.Tag{Key: "a", Values: []string{"b", "c"}}), of(nodeclass.Tag{Key: "a", Values: []string{"b,c"}}),
		of(nodeclass.Tag{Key: "a", Values: []string{"b=c"}}), of(nodeclass.Tag{Key: "a=b", Values: []string{"c"}}),
		of(nodeclass.Tag{Key: "a", Values: []string{"b"}}, nodeclass.Tag{Key: "c", Values: []string{"d"}}), of(nodeclass.Tag{Key: "a", Values: []string{"b\nc=d"}}),
	}
	seen := map[string]int{}
	for i, s := range all {
		if other, ok := seen[s.Key()]; ok {
			t.Errorf("%+v and %+v have the same key %q", all[other], s, s.Key())
		}
		seen[s.Key()] = i
	}
	if a, b := of(nodeclass.Tag{Key: "a", Values: []string{"b"}}), of(nodeclass.Tag{Key: "a", Values: []string{"b"}}); a.Key() != b.Key() {
		t.Errorf("equal selectors have the keys %q and %q", a.Key(), b.Key())
	}
}
