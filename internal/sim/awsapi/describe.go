package awsapi

import "github.com/tenon-sh/tenon/internal/sim/market"

// lookup is what describe calls take beside what is their own.
type lookup struct {
	Filter     []filter
	MaxResults int
	NextToken  string
	DryRun     bool
}

// view is how a describe call filters and shows what it found.
type view[T any] struct {
	set   string // name of the list
	pages pages
	tags  func(T) market.Tags // what filters by tag look at; nil: it has none
	facts func(T) facts       // what all other filters look at
	shows func(T) []node
}

// describe answers a describe call: of all there is, what the filters let through,
// page by page.
func describe[T any](in lookup, all []T, v view[T]) ([]node, error) {
	if v.tags == nil {
		v.tags = func(T) market.Tags { return nil }
	}
	found, err := keep(all, in.Filter, v.tags, v.facts)
	if err != nil {
		return nil, err
	}
	page, next, err := cut(found, v.pages, in.MaxResults, in.NextToken)
	if err != nil {
		return nil, err
	}
	return []node{list(v.set, page, v.shows), txt("nextToken", next)}, nil
}

// look decodes a call that only looks. A dry run of one ends there.
func (c *call) look(into any) error {
	if err := c.decode(into); err != nil {
		return err
	}
	if c.dry {
		return dryRun()
	}
	return nil
}
