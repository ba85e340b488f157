// Package network finds the subnets and security groups that a class selects.
package network

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/tenon-sh/tenon/internal/aws/answers"
	"github.com/tenon-sh/tenon/internal/aws/nodeclass"
	"github.com/tenon-sh/tenon/internal/aws/refusal"
	"github.com/tenon-sh/tenon/internal/clock"
)

// How long an answer of EC2 is used. The addresses that are free in a subnet change
// with every machine.
const (
	fresh       = time.Minute     // of subnets, unless an operator says otherwise
	groupsFresh = 5 * time.Minute // of groups, likewise
)

// Subnet is a subnet that machines may be in.
type Subnet struct {
	ID, Zone, ZoneID, VPC string
	Free                  int // addresses, less those promised to machines that are not there yet
}

// Group is a security group that machines get.
type Group struct {
	ID, Name, VPC string
	Tags          []string // their keys
}

// Finder asks EC2 and remembers the answers for a while.
type Finder struct {
	ec2     *ec2.Client
	fresh   Fresh
	subnets *answers.Memory[[]Subnet] // by selector
	groups  *answers.Memory[[]Group]

	mu     sync.Mutex
	booked map[string]int // addresses promised, by subnet
}

// Fresh is how long answers about subnets and groups are used; for a minute, and for five, where it is zero.
type Fresh struct{ Subnets, Groups time.Duration }

// New returns a Finder over a client.
func New(c *ec2.Client, f Fresh, now clock.Now) *Finder {
	return &Finder{
		ec2: c, fresh: Fresh{cmp.Or(f.Subnets, fresh), cmp.Or(f.Groups, groupsFresh)}, subnets: answers.New(now, answers.Rules[[]Subnet]{}), groups: answers.New(now, answers.Rules[[]Group]{}), booked: map[string]int{},
	}
}

// Subnets returns the subnets that meet one of the selectors, those with the most free addresses first.
func (f *Finder) Subnets(ctx context.Context, selectors []nodeclass.Selector) ([]Subnet, error) {
	out, err := each(ctx, f.subnets, selectors, func(ctx context.Context, of nodeclass.Selector) ([]Subnet, time.Duration, error) {
		var found []Subnet
		pages := ec2.NewDescribeSubnetsPaginator(f.ec2, &ec2.DescribeSubnetsInput{Filters: Filters(of, "subnet-id")})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				return nil, 0, refusal.Wrap("describe subnets", err)
			}
			for _, s := range page.Subnets {
				if !of.Meets(aws.ToString(s.SubnetId), "", TagsOf(s.Tags)) {
					continue
				}
				found = append(found, Subnet{
					ID: aws.ToString(s.SubnetId), Zone: aws.ToString(s.AvailabilityZone), ZoneID: aws.ToString(s.AvailabilityZoneId),
					VPC: aws.ToString(s.VpcId), Free: int(aws.ToInt32(s.AvailableIpAddressCount)),
				})
			}
		}
		f.forget(found)
		return found, f.fresh.Subnets, nil
	})
	if err != nil {
		return nil, err
	}
	return f.ranked(out), nil
}

// forget drops what was promised of subnets whose true count has just been read.
func (f *Finder) forget(found []Subnet) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range found {
		delete(f.booked, s.ID)
	}
}

// ranked returns the subnets once each, less what is promised of them, most free addresses first.
func (f *Finder) ranked(found []Subnet) []Subnet {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := slices.Clone(found)
	for i := range out {
		out[i].Free -= f.booked[out[i].ID]
	}
	slices.SortFunc(out, func(a, b Subnet) int { return cmp.Or(cmp.Compare(a.ID, b.ID)) })
	out = slices.CompactFunc(out, func(a, b Subnet) bool { return a.ID == b.ID })
	slices.SortStableFunc(out, func(a, b Subnet) int { return cmp.Compare(b.Free, a.Free) })
	return out
}

// Book promises addresses of a subnet to machines that are about to be launched; a negative number gives them back.
func (f *Finder) Book(subnet string, addresses int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.booked[subnet] += addresses
}

// Fill notes that a subnet is full, until its true count is read again.
func (f *Finder) Fill(subnet string) { f.Book(subnet, 1<<20) }

// Groups returns the security groups that meet one of the selectors, by id.
func (f *Finder) Groups(ctx context.Context, selectors []nodeclass.Selector) ([]Group, error) {
	out, err := each(ctx, f.groups, selectors, func(ctx context.Context, of nodeclass.Selector) ([]Group, time.Duration, error) {
		var found []Group
		pages := ec2.NewDescribeSecurityGroupsPaginator(f.ec2, &ec2.DescribeSecurityGroupsInput{Filters: Filters(of, "group-id")})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				return nil, 0, refusal.Wrap("describe security groups", err)
			}
			for _, g := range page.SecurityGroups {
				group := Group{ID: aws.ToString(g.GroupId), Name: aws.ToString(g.GroupName), VPC: aws.ToString(g.VpcId)}
				tags := TagsOf(g.Tags)
				if !of.Meets(group.ID, group.Name, tags) {
					continue
				}
				group.Tags = slices.Sorted(maps.Keys(tags))
				found = append(found, group)
			}
		}
		return found, f.fresh.Groups, nil
	})
	if err != nil {
		return nil, err
	}
	out = slices.Clone(out)
	slices.SortFunc(out, func(a, b Group) int { return cmp.Compare(a.ID, b.ID) })
	return slices.CompactFunc(out, func(a, b Group) bool { return a.ID == b.ID }), nil
}

// each answers every selector from memory or by asking, and joins the answers.
func each[T any](ctx context.Context, memory *answers.Memory[[]T], selectors []nodeclass.Selector,
	ask func(context.Context, nodeclass.Selector) ([]T, time.Duration, error),
) ([]T, error) {
	var out []T
	for _, s := range selectors {
		found, err := memory.Get(ctx, s.Key(), func(ctx context.Context) ([]T, time.Duration, error) { return ask(ctx, s) })
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return out, nil
}

// Filters turns a selector into filters of EC2; idFilter is what EC2 calls the
// filter by id. A key that only has to be there is asked for by tag-key.
func Filters(s nodeclass.Selector, idFilter string) []ec2types.Filter {
	var out []ec2types.Filter
	add := func(name string, values ...string) {
		out = append(out, ec2types.Filter{Name: aws.String(name), Values: values})
	}
	if len(s.IDs) > 0 {
		add(idFilter, s.IDs...)
	}
	if s.Name != "" {
		name := "name"
		if idFilter == "group-id" {
			name = "group-name"
		}
		add(name, s.Name)
	}
	for _, t := range s.Tags {
		if len(t.Values) == 0 {
			add("tag-key", t.Key)
		} else {
			add("tag:"+t.Key, t.Values...)
		}
	}
	return out
}

// TagsOf reads tags as EC2 writes them.
func TagsOf(list []ec2types.Tag) map[string]string {
	out := make(map[string]string, len(list))
	for _, t := range list {
		out[aws.ToString(t.Key)] = aws.ToString(t.Value)
	}
	return out
}
