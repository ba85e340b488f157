package awsapi

import (
	"maps"
	"slices"

	"github.com/tenon-sh/tenon/internal/sim/market"
)

// ec2Ops is every EC2 action the account serves.
func ec2Ops() map[string]ec2Op {
	return map[string]ec2Op{
		"CreateFleet":                    createFleet,
		"CreateLaunchTemplate":           createLaunchTemplate,
		"CreateLaunchTemplateVersion":    createLaunchTemplateVersion,
		"CreateTags":                     createTags,
		"DeleteLaunchTemplate":           deleteLaunchTemplate,
		"DeleteTags":                     deleteTags,
		"DescribeAvailabilityZones":      describeAvailabilityZones,
		"DescribeCapacityReservations":   describeCapacityReservations,
		"DescribeImages":                 describeImages,
		"DescribeInstanceStatus":         describeInstanceStatus,
		"DescribeInstanceTypeOfferings":  describeInstanceTypeOfferings,
		"DescribeInstanceTypes":          describeInstanceTypes,
		"DescribeInstances":              describeInstances,
		"DescribeLaunchTemplateVersions": describeLaunchTemplateVersions,
		"DescribeLaunchTemplates":        describeLaunchTemplates,
		"DescribeNetworkInterfaces":      describeNetworkInterfaces,
		"DescribePlacementGroups":        describePlacementGroups,
		"DescribeSecurityGroups":         describeSecurityGroups,
		"DescribeSpotPriceHistory":       describeSpotPriceHistory,
		"DescribeSubnets":                describeSubnets,
		"DescribeVolumes":                describeVolumes,
		"DescribeVpcs":                   describeVpcs,
		"RunInstances":                   runInstances,
		"TerminateInstances":             terminateInstances,
	}
}

// tag is a tag as requests carry it; a tag without a value matters only to DeleteTags.
type tag struct {
	Key   string
	Value *string
}

// tagSpecification is a set of tags for what a call makes.
type tagSpecification struct {
	ResourceType string
	Tag          []tag
}

func tagsOf(in []tag) market.Tags {
	out := market.Tags{}
	for _, t := range in {
		if t.Value != nil {
			out[t.Key] = *t.Value
		} else {
			out[t.Key] = ""
		}
	}
	return out
}

func specsOf(in []tagSpecification) []market.TagSpec {
	var out []market.TagSpec
	for _, s := range in {
		out = append(out, market.TagSpec{Kind: s.ResourceType, Tags: tagsOf(s.Tag)})
	}
	return out
}

// specFor returns the tags meant for one kind of resource.
func specFor(in []tagSpecification, kind string) market.Tags {
	out := market.Tags{}
	for _, s := range in {
		if s.ResourceType == kind {
			maps.Copy(out, tagsOf(s.Tag))
		}
	}
	return out
}

func tagSet(name string, tags market.Tags) node {
	if len(tags) == 0 {
		return node{}
	}
	return list(name, slices.Sorted(maps.Keys(tags)), func(k string) []node {
		return []node{txt("key", k), {name: "value", text: tags[k], keep: true}}
	})
}

// reservedTag says why tags cannot be written: those of AWS are AWS's own.
func reservedTag(tags market.Tags) error {
	for _, k := range slices.Sorted(maps.Keys(tags)) {
		if len(k) >= 4 && k[:4] == "aws:" {
			return market.Errorf(market.InvalidParameterValue, "Tag keys starting with 'aws:' are reserved for internal use")
		}
		if k == "" || len(k) > 127 || len(tags[k]) > 256 {
			return market.Errorf(market.InvalidParameterValue, "Tag key or value exceeds the maximum length: %s", quoted(k))
		}
	}
	return nil
}

func createTags(c *call) ([]node, error) {
	var in struct {
		ResourceId []string
		Tag        []tag
		DryRun     bool
	}
	if err := c.decode(&in); err != nil {
		return nil, err
	}
	if len(in.ResourceId) == 0 {
		return nil, missing("resourceIdSet")
	}
	tags := tagsOf(in.Tag)
	if err := reservedTag(tags); err != nil {
		return nil, err
	}
	if in.DryRun {
		return nil, dryRun()
	}
	if err := c.market.Tag(in.ResourceId, tags); err != nil {
		return nil, err
	}
	return []node{flag("return", true)}, nil
}

func deleteTags(c *call) ([]node, error) {
	var in struct {
		ResourceId []string
		Tag        []tag
		DryRun     bool
	}
	if err := c.decode(&in); err != nil {
		return nil, err
	}
	if in.DryRun {
		return nil, dryRun()
	}
	tags := map[string]*string{}
	for _, t := range in.Tag {
		tags[t.Key] = t.Value
	}
	if err := c.market.Untag(in.ResourceId, tags); err != nil {
		return nil, err
	}
	return []node{flag("return", true)}, nil
}
