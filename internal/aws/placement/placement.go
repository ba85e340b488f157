// Package placement finds the placement group that a class' machines belong to.
package placement

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/tenon-sh/tenon/internal/aws/nodeclass"
	"github.com/tenon-sh/tenon/internal/aws/refusal"
	"github.com/tenon-sh/tenon/internal/clock"
)

// How long an answer is used: a group keeps its strategy for life, but may be
// deleted and made anew under its name. One that is missing may be made any time.
const (
	fresh        = 15 * time.Minute
	freshMissing = time.Minute
	forgotten    = time.Hour // no class asks for it any more
)

// Group is a placement group. The zero Group is none.
type Group struct {
	ID         string
	Strategy   string // cluster, spread or partition
	Partitions int    // of a partition group
}

// Finder asks EC2 and remembers the answers for a while.
type Finder struct {
	ec2 *ec2.Client
	now clock.Now

	mu    sync.Mutex
	found map[string]answer
}

type answer struct {
	group Group
	at    time.Time
}

// New returns a Finder over a client.
func New(c *ec2.Client, now clock.Now) *Finder {
	return &Finder{ec2: c, now: now, found: map[string]answer{}}
}

// Find returns the group that a selector names by id or name; false if there is none.
func (f *Finder) Find(ctx context.Context, s nodeclass.Selector) (Group, bool, error) {
	f.mu.Lock()
	known, ok := f.found[s.Key()]
	f.mu.Unlock()
	age := f.now.Since(known.at)
	switch {
	case ok && known.group.ID != "" && age < fresh:
		return known.group, true, nil
	case ok && known.group.ID == "" && age < freshMissing:
		return Group{}, false, nil
	}
	in := &ec2.DescribePlacementGroupsInput{GroupIds: s.IDs}
	if s.Name != "" {
		in.GroupNames = []string{s.Name}
	}
	out, err := f.ec2.DescribePlacementGroups(ctx, in)
	unknown := refusal.Is(err, "InvalidPlacementGroup.Unknown") || refusal.Is(err, "InvalidPlacementGroupId.Malformed")
	if err != nil && !unknown {
		return Group{}, false, refusal.Wrap("describe placement groups", err)
	}
	if unknown {
		out = &ec2.DescribePlacementGroupsOutput{}
	}
	for _, g := range out.PlacementGroups {
		usable := g.State == "" || g.State == ec2types.PlacementGroupStateAvailable
		if !usable || !s.Meets(aws.ToString(g.GroupId), "", nil) || s.Name != "" && s.Name != aws.ToString(g.GroupName) {
			continue
		}
		group := Group{ID: aws.ToString(g.GroupId), Strategy: string(g.Strategy), Partitions: int(aws.ToInt32(g.PartitionCount))}
		f.keep(s, group)
		return group, true, nil
	}
	f.keep(s, Group{})
	return Group{}, false, nil
}

func (f *Finder) keep(s nodeclass.Selector, g Group) {
	f.mu.Lock()
	defer f.mu.Unlock()
	maps.DeleteFunc(f.found, func(_ string, old answer) bool { return f.now.Since(old.at) > forgotten })
	f.found[s.Key()] = answer{g, f.now()}
}
