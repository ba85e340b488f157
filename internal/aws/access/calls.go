// Package access is how Tenon reaches AWS: the clients, the calls it may make, and how fast.
package access

import (
	"slices"
	"strings"
)

// Call is one operation of a service that Tenon uses. The IAM policies that an
// installation needs are made from this list, and a call that is not on it is
// refused before it is sent.
type Call struct {
	Service string // as IAM names it: ec2, iam, ssm
	Action  string
	Use     Use
}

// Permission is what IAM calls the right to make the call. What does many things
// of a kind at once needs the right to do one.
func (c Call) Permission() string { return c.Service + ":" + strings.TrimSuffix(c.Action, "Batch") }

// Use says on what a call may act, from which the policy's conditions follow.
type Use string

// The uses of calls.
const (
	Read       Use = "read"       // describes what is there; no condition but the region
	Create     Use = "create"     // makes machines and templates, which must carry the cluster's tags
	Tag        Use = "tag"        // tags what was just made, or our own machines
	Delete     Use = "delete"     // ends what carries the cluster's tags
	Profile    Use = "profile"    // changes instance profiles that carry the cluster's tags
	PassRole   Use = "pass-role"  // gives the node role to machines; a permission only
	Queue      Use = "queue"      // the interruption queue
	Cluster    Use = "cluster"    // the EKS cluster itself
	Parameter  Use = "parameter"  // public parameters of AWS
	Everywhere Use = "everywhere" // cannot be narrowed
)

// Calls lists every operation, sorted by service and action.
func Calls() []Call {
	calls := []Call{
		{"arc-zonal-shift", "GetManagedResource", Cluster},
		{"ec2", "CreateFleet", Create},
		{"ec2", "CreateLaunchTemplate", Create},
		{"ec2", "CreateTags", Tag},
		{"ec2", "DeleteLaunchTemplate", Delete},
		{"ec2", "DescribeCapacityReservations", Read},
		{"ec2", "DescribeImages", Read},
		{"ec2", "DescribeInstanceStatus", Read},
		{"ec2", "DescribeInstanceTypeOfferings", Read},
		{"ec2", "DescribeInstanceTypes", Read},
		{"ec2", "DescribeInstances", Read},
		{"ec2", "DescribeLaunchTemplates", Read},
		{"ec2", "DescribePlacementGroups", Read},
		{"ec2", "DescribeSecurityGroups", Read},
		{"ec2", "DescribeSpotPriceHistory", Read},
		{"ec2", "DescribeSubnets", Read},
		{"ec2", "RunInstances", Create},
		{"ec2", "TerminateInstances", Delete},
		{"eks", "DescribeCluster", Cluster},
		{"iam", "AddRoleToInstanceProfile", Profile},
		{"iam", "CreateInstanceProfile", Profile},
		{"iam", "DeleteInstanceProfile", Profile},
		{"iam", "GetInstanceProfile", Profile},
		{"iam", "ListInstanceProfiles", Everywhere},
		{"iam", "PassRole", PassRole},
		{"iam", "RemoveRoleFromInstanceProfile", Profile},
		{"iam", "TagInstanceProfile", Profile},
		{"pricing", "GetProducts", Everywhere},
		{"sqs", "DeleteMessage", Queue},
		{"sqs", "DeleteMessageBatch", Queue},
		{"sqs", "GetQueueUrl", Queue},
		{"sqs", "ReceiveMessage", Queue},
		{"ssm", "GetParameter", Parameter},
	}
	slices.SortFunc(calls, func(a, b Call) int {
		return strings.Compare(a.Service+"/"+a.Action, b.Service+"/"+b.Action)
	})
	return calls
}
