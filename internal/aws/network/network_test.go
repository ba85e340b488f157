package network

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/google/go-cmp/cmp"

	"github.com/tenon-sh/tenon/internal/aws/nodeclass"
)

func TestFilters(t *testing.T) {
	tests := map[string]struct {
		why      string
		selector nodeclass.Selector
		id       string
		want     map[string][]string
	}{
		"Tags": {
			why:      "A tag with values is asked for by them, one without only has to be there.",
			selector: nodeclass.Selector{Tags: []nodeclass.Tag{{Key: "team", Values: []string{"a", "b"}}, {Key: "any"}}}, id: "subnet-id",
			want: map[string][]string{"tag:team": {"a", "b"}, "tag-key": {"any"}},
		},
		"IDs":       {"Things are named in EC2's own way.", nodeclass.Selector{IDs: []string{"sg-1"}}, "group-id", map[string][]string{"group-id": {"sg-1"}}},
		"GroupName": {"A group's name has a filter of its own.", nodeclass.Selector{Name: "nodes"}, "group-id", map[string][]string{"group-name": {"nodes"}}},
		"ImageName": {"An image's has another.", nodeclass.Selector{Name: "my-*"}, "image-id", map[string][]string{"name": {"my-*"}}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := map[string][]string{}
			for _, f := range Filters(tc.selector, tc.id) {
				got[aws.ToString(f.Name)] = f.Values
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n%s", tc.why, diff)
			}
		})
	}
}

// Subnets are ranked by the addresses that are left when those promised to
// machines on their way are taken off. A true count replaces the promises.
func TestRanked(t *testing.T) {
	f := New(nil, Fresh{}, time.Now)
	found := []Subnet{{ID: "b", Free: 100}, {ID: "a", Free: 100}, {ID: "c", Free: 50}, {ID: "a", Free: 100}}
	order := func() string {
		ids := ""
		for _, s := range f.ranked(found) {
			ids += s.ID
		}
		return ids
	}
	if got := order(); got != "abc" {
		t.Errorf("got %s, want each once, most addresses first, then by name", got)
	}
	f.Book("a", 80)
	if got := order(); got != "bca" {
		t.Errorf("with 80 addresses of a promised: got %s", got)
	}
	f.Book("a", -30)
	f.Book("b", 70)
	if got := order(); got != "acb" && got != "cab" {
		t.Errorf("after some were given back: got %s", got)
	}
	f.forget(found)
	if got := order(); got != "abc" {
		t.Errorf("after EC2 was asked again: got %s", got)
	}
}
