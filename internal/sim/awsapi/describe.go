package awsapi

import "github.com/tenon-sh/tenon/internal/sim/market"

// lookup is what describe calls take beside what is their own.
type lookup struct {
	Filter     []filter
	MaxResults int
	NextToken  string
	DryRun     bool
}

// view is how a describe call shows what it found.
type view struct {
	set   string // name of the list
	pages pages
}

// describe answers a describe call: of all there is, what the filters let through,
// page by page. tags and of are what filters look at.
func describe[T any](in lookup, all []T, v view, tags func(T) market.Tags, of func(T) facts, shows func(T) []node) ([]node, error) {
	found, err := keep(all, in.Filter, tags, of)
	if err != nil {
		return nil, err
	}
	page, next, err := cut(found, v.pages, in.MaxResults, in.NextToken)
	if err != nil {
		return nil, err
	}
	return []node{list(v.set, page, shows), txt("nextToken", next)}, nil
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
