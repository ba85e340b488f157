// Package placement finds the placement group that a class' machines belong to.
package placement

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/tenon-sh/tenon/internal/aws/answers"
	"github.com/tenon-sh/tenon/internal/aws/nodeclass"
	"github.com/tenon-sh/tenon/internal/aws/refusal"
	"github.com/tenon-sh/tenon/internal/clock"
)

// How long an answer is used: a group keeps its strategy for life, but may be
// deleted and recreated under its name. One that is missing may be made any time.
const (
	fresh        = 15 * time.Minute
	freshMissing = time.Minute
)

// Group is a placement group. The zero Group is none.
type Group struct {
	ID         string
	Strategy   string // cluster, spread or partition
	Partitions int    // of a partition group
}

// Finder asks EC2 and remembers the answers for a while.
type Finder struct {
	ec2   *ec2.Client
	found *answers.Memory[Group] // by selector
}

// New returns a Finder over a client.
func New(c *ec2.Client, now clock.Now) *Finder {
	return &Finder{ec2: c, found: answers.New(now, answers.Rules[Group]{})}
}

// Find returns the group that a selector names by id or name; false if there is none.
func (f *Finder) Find(ctx context.Context, s nodeclass.Selector) (Group, bool, error) {
	g, err := f.found.Get(ctx, s.Key(), func(ctx context.Context) (Group, time.Duration, error) { return f.ask(ctx, s) })
	return g, g.ID != "", err
}

func (f *Finder) ask(ctx context.Context, s nodeclass.Selector) (Group, time.Duration, error) {
	in := &ec2.DescribePlacementGroupsInput{GroupIds: s.IDs}
	if s.Name != "" {
		in.GroupNames = []string{s.Name}
	}
	out, err := f.ec2.DescribePlacementGroups(ctx, in)
	if refusal.Is(err, "InvalidPlacementGroup.Unknown") || refusal.Is(err, "InvalidPlacementGroupId.Malformed") {
		return Group{}, freshMissing, nil
	}
	if err != nil {
		return Group{}, 0, refusal.Wrap("describe placement groups", err)
	}
	for _, g := range out.PlacementGroups {
		usable := g.State == "" || g.State == ec2types.PlacementGroupStateAvailable
		if usable && s.Meets(aws.ToString(g.GroupId), "", nil) && (s.Name == "" || s.Name == aws.ToString(g.GroupName)) {
			return Group{ID: aws.ToString(g.GroupId), Strategy: string(g.Strategy), Partitions: int(aws.ToInt32(g.PartitionCount))}, fresh, nil
		}
	}
	return Group{}, freshMissing, nil
}
