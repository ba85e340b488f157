// Package machine lists, describes, ends and tags the instances of this cluster.
package machine

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	awsv1 "github.com/tenon-sh/tenon/api/aws/v1"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/internal/aws/refusal"
	"github.com/tenon-sh/tenon/internal/aws/template"
	"github.com/tenon-sh/tenon/internal/cloud"
)

// Tags that instances carry.
const (
	TagOrder       = "tenon.sh/order" // the order that made it, set when it is made
	TagNodePool    = "karpenter.sh/nodepool"
	TagProvisioner = "karpenter.sh/provisioner-name"
	TagClaim       = "karpenter.sh/nodeclaim"
	TagCluster     = "eks:eks-cluster-name"
	TagClass       = "karpenter.k8s.aws/ec2nodeclass"
	TagName        = "Name"
)

// Owned is the tag key by which everything of a cluster is found; its value is "owned".
func Owned(cluster string) string { return "kubernetes.io/cluster/" + cluster }

// maxInstancesPerCall is how many instances one call names at most.
const maxInstancesPerCall = 500

// Set is the instances of one cluster.
type Set struct {
	ec2     *ec2.Client
	cluster string
}

// New returns the instances of a cluster.
func New(c *ec2.Client, cluster string) *Set { return &Set{ec2: c, cluster: cluster} }

// List returns every instance of the cluster that is not gone, by id: those of
// pools of either era, whichever controller launched them.
func (s *Set) List(ctx context.Context) ([]cloud.Machine, error) {
	var out []cloud.Machine
	for _, key := range []string{TagNodePool, TagProvisioner} {
		found, err := s.describe(ctx, &ec2.DescribeInstancesInput{MaxResults: aws.Int32(1000), Filters: []ec2types.Filter{
			{Name: aws.String("tag-key"), Values: []string{key}},
			{Name: aws.String("tag:" + Owned(s.cluster)), Values: []string{"owned"}},
			alive(),
		}}, func(m cloud.Machine, _ ec2types.Instance) bool {
			_, ok := m.Tags[key]
			return ok && s.owns(m)
		})
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	slices.SortFunc(out, func(a, b cloud.Machine) int { return cmp.Compare(a.ID, b.ID) })
	return slices.CompactFunc(out, func(a, b cloud.Machine) bool { return a.ID == b.ID }), nil
}

// Profiles returns the names of the instance profiles that instances of the cluster use.
func (s *Set) Profiles(ctx context.Context) (map[string]bool, error) {
	out := map[string]bool{}
	pages := ec2.NewDescribeInstancesPaginator(s.ec2, &ec2.DescribeInstancesInput{MaxResults: aws.Int32(1000), Filters: []ec2types.Filter{
		{Name: aws.String("tag:" + Owned(s.cluster)), Values: []string{"owned"}}, alive(),
	}})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, refusal.Wrap("describe instances", err)
		}
		for _, r := range page.Reservations {
			for _, i := range r.Instances {
				if p := i.IamInstanceProfile; p != nil {
					arn := aws.ToString(p.Arn)
					out[arn[strings.LastIndexByte(arn, '/')+1:]] = true
				}
			}
		}
	}
	return out, nil
}

// OfOrder returns the instances that an order made, by id.
func (s *Set) OfOrder(ctx context.Context, token string) ([]cloud.Machine, error) {
	out, err := s.describe(ctx, &ec2.DescribeInstancesInput{Filters: []ec2types.Filter{
		{Name: aws.String("tag:" + TagOrder), Values: []string{token}},
		{Name: aws.String("tag:" + Owned(s.cluster)), Values: []string{"owned"}},
		alive(),
	}}, func(m cloud.Machine, _ ec2types.Instance) bool { return m.Order == token && s.owns(m) })
	slices.SortFunc(out, func(a, b cloud.Machine) int { return cmp.Compare(a.ID, b.ID) })
	return out, err
}

// ByID returns the instances of these ids that EC2 shows already; a fresh one may be missing for a moment.
func (s *Set) ByID(ctx context.Context, ids []string) ([]cloud.Machine, error) {
	var out []cloud.Machine
	for part := range slices.Chunk(ids, maxInstancesPerCall) {
		found, err := s.describe(ctx, &ec2.DescribeInstancesInput{Filters: []ec2types.Filter{
			{Name: aws.String("instance-id"), Values: part},
		}}, func(m cloud.Machine, _ ec2types.Instance) bool { return slices.Contains(part, string(m.ID)) })
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return out, nil
}

// Find returns the instances of these provider ids that EC2 knows, with any tags
// or none, and says why List does not show them.
func (s *Set) Find(ctx context.Context, providerIDs []string) ([]cloud.Machine, error) {
	wanted := map[cloud.MachineID]string{}
	for _, id := range providerIDs {
		if i, ok := IDOf(id); ok {
			wanted[i] = id
		}
	}
	var out []cloud.Machine
	for part := range slices.Chunk(slices.Sorted(maps.Keys(wanted)), maxInstancesPerCall) {
		names := make([]string, len(part))
		for i, id := range part {
			names[i] = string(id)
		}
		ended := map[cloud.MachineID]bool{}
		found, err := s.describe(ctx, &ec2.DescribeInstancesInput{Filters: []ec2types.Filter{
			{Name: aws.String("instance-id"), Values: names},
		}}, func(m cloud.Machine, i ec2types.Instance) bool {
			ended[m.ID] = i.State != nil && i.State.Name == ec2types.InstanceStateNameTerminated
			return slices.Contains(part, m.ID)
		})
		if err != nil {
			return nil, err
		}
		for _, m := range found {
			m.ProviderID = wanted[m.ID] // it may not say yet in which zone it is
			m.Ended, m.Unlisted, m.Foreign = ended[m.ID], s.unlisted(m), s.foreign(m)
			out = append(out, m)
		}
	}
	return out, nil
}

// unlisted says why List does not show an instance; empty if it does.
func (s *Set) unlisted(m cloud.Machine) string {
	_, pool := m.Tags[TagNodePool]
	_, provisioner := m.Tags[TagProvisioner]
	switch {
	case !s.owns(m):
		return fmt.Sprintf("its tag %s=owned is missing", Owned(s.cluster))
	case !pool && !provisioner:
		return fmt.Sprintf("its tag %s is missing", TagNodePool)
	}
	return ""
}

// foreign says whose an instance is if not this cluster's: an Auto Scaling group
// would replace it, and another cluster has pods on it.
func (s *Set) foreign(m cloud.Machine) string {
	if group := m.Tags["aws:autoscaling:groupName"]; group != "" {
		return "Auto Scaling group " + group
	}
	if s.owns(m) {
		return ""
	}
	for _, key := range slices.Sorted(maps.Keys(m.Tags)) {
		if name, ok := strings.CutPrefix(key, Owned("")); ok && m.Tags[key] == "owned" {
			return "cluster " + name
		}
	}
	return ""
}

func alive() ec2types.Filter {
	return ec2types.Filter{Name: aws.String("instance-state-name"), Values: []string{"pending", "running", "stopping", "stopped", "shutting-down"}}
}

// owns reports whether the tags of an instance say that it is the cluster's. A
// server may pass over filters that it does not know, and what is listed here may be ended.
func (s *Set) owns(m cloud.Machine) bool { return m.Tags[Owned(s.cluster)] == "owned" }

// describe returns the instances that EC2 shows and that are meant.
func (s *Set) describe(ctx context.Context, in *ec2.DescribeInstancesInput, meant func(cloud.Machine, ec2types.Instance) bool) ([]cloud.Machine, error) {
	var out []cloud.Machine
	pages := ec2.NewDescribeInstancesPaginator(s.ec2, in)
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, refusal.Wrap("describe instances", err)
		}
		for _, r := range page.Reservations {
			for _, i := range r.Instances {
				if m := fromEC2(i); meant(m, i) {
					out = append(out, m)
				}
			}
		}
	}
	return out, nil
}

// fromEC2 reads EC2's description of an instance.
func fromEC2(i ec2types.Instance) cloud.Machine {
	m := cloud.Machine{
		ID: cloud.MachineID(aws.ToString(i.InstanceId)), Name: strings.ToLower(aws.ToString(i.PrivateDnsName)),
		Shape: string(i.InstanceType), Image: aws.ToString(i.ImageId), Launched: aws.ToTime(i.LaunchTime),
		CapacityType: label.OnDemand, Tags: map[string]string{}, Reservation: aws.ToString(i.CapacityReservationId),
	}
	if i.Placement != nil {
		m.Zone, m.ZoneID, m.Placement = aws.ToString(i.Placement.AvailabilityZone), aws.ToString(i.Placement.AvailabilityZoneId), aws.ToString(i.Placement.GroupId)
		if n := aws.ToInt32(i.Placement.PartitionNumber); n > 0 {
			m.Labels = map[string]string{awsv1.LabelPlacementGroupPartition: strconv.Itoa(int(n))}
		}
	}
	switch {
	case i.InstanceLifecycle == ec2types.InstanceLifecycleTypeSpot:
		m.CapacityType = label.Spot
	case m.Reservation != "":
		m.CapacityType = label.Reserved
	}
	if i.State != nil {
		m.Ending = i.State.Name == ec2types.InstanceStateNameShuttingDown || i.State.Name == ec2types.InstanceStateNameTerminated
	}
	for _, t := range i.Tags {
		m.Tags[aws.ToString(t.Key)] = aws.ToString(t.Value)
	}
	m.Order = m.Tags[TagOrder]
	m.ProviderID = ProviderID(m.Zone, string(m.ID))
	m.Subnet, m.Groups = aws.ToString(i.SubnetId), groups(i.SecurityGroups)
	return m
}

func groups(in []ec2types.GroupIdentifier) []string {
	out := make([]string, len(in))
	for i, g := range in {
		out[i] = aws.ToString(g.GroupId)
	}
	slices.Sort(out)
	return out
}

// ProviderID is how a node names its instance.
func ProviderID(zone, id string) string { return fmt.Sprintf("aws:///%s/%s", zone, id) }

// IDOf returns the instance of a provider id; false if it names none.
func IDOf(providerID string) (cloud.MachineID, bool) {
	rest, ok := strings.CutPrefix(providerID, "aws:///")
	_, id, cut := strings.Cut(rest, "/")
	return cloud.MachineID(id), ok && cut && strings.HasPrefix(id, "i-")
}

// Terminate ends instances, many in one call. One that EC2 does not know is gone.
// EC2 refuses a call whole for one bad id, so the rest are then ended one by one;
// what it refuses for another reason, or does not answer, says nothing of one of them.
func (s *Set) Terminate(ctx context.Context, ids []cloud.MachineID) []error {
	errs := make([]error, len(ids))
	for start := 0; start < len(ids); start += maxInstancesPerCall {
		part := ids[start:min(start+maxInstancesPerCall, len(ids))]
		err := s.terminate(ctx, part)
		if err == nil {
			continue
		}
		apart := len(part) > 1 && ofOne(err)
		for i, id := range part {
			if apart {
				err = s.terminate(ctx, []cloud.MachineID{id})
			}
			if !refusal.Gone(err) {
				errs[start+i] = refusal.Wrap("terminate "+string(id), err)
			}
		}
	}
	return errs
}

// ofOne reports whether a call was refused for a single instance that it names.
func ofOne(err error) bool {
	code := refusal.Code(err)
	return strings.HasPrefix(code, "InvalidInstanceID.") || code == "OperationNotPermitted"
}

func (s *Set) terminate(ctx context.Context, ids []cloud.MachineID) error {
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = string(id)
	}
	_, err := s.ec2.TerminateInstances(ctx, &ec2.TerminateInstancesInput{InstanceIds: names})
	return err
}

// Tag adds tags to an instance. An instance that is gone needs none.
func (s *Set) Tag(ctx context.Context, id cloud.MachineID, tags map[string]string) error {
	_, err := s.ec2.CreateTags(ctx, &ec2.CreateTagsInput{Resources: []string{string(id)}, Tags: template.Tags(tags)})
	if refusal.Gone(err) {
		return nil
	}
	return refusal.Wrap("tag "+string(id), err)
}
