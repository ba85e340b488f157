package launch

import (
	"maps"
	"strconv"

	awsv1 "github.com/tenon-sh/tenon/api/aws/v1"
	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/aws/bootstrap"
	"github.com/tenon-sh/tenon/internal/aws/template"
	"github.com/tenon-sh/tenon/internal/aws/types"
	"github.com/tenon-sh/tenon/internal/cloud"
)

const efaResource = "vpc.amazonaws.com/efa"

// enclaveResource is what pods ask for that run in Nitro enclaves.
const enclaveResource = "eks.amazonaws.com/nip-slots"

// settings are what goes into the launch template for an offer whose shape an image
// boots. The user data is returned even where it is too large.
func (d demand) settings(o offer, kind, profile string) (template.Settings, error) {
	s, c := o.shape, d.sel.Class
	node, err := d.node(s, kind)
	if err != nil {
		return template.Settings{}, cloud.Errorf(cloud.Invalid, awsv1.ReasonKubeletExpressionFailed, "kubelet settings of class %s for type %s: %v", c.Ref.Name, s.Name, err)
	}
	data, err := bootstrap.UserData(node)
	if err != nil {
		return template.Settings{}, cloud.Errorf(cloud.Invalid, awsv1.ReasonInvalidUserData, "user data of class %s: %v", c.Ref.Name, err)
	}
	if len(data) > awsv1.MaxUserData {
		return template.Settings{UserData: data}, cloud.Errorf(cloud.Invalid, awsv1.ReasonUserDataTooLarge,
			"user data of class %s has %d bytes with what the node needs, EC2 takes %d: shorten spec.userData", c.Ref.Name, len(data), awsv1.MaxUserData)
	}
	image, _ := d.sel.Image(s.Labels)
	return template.Settings{
		Legacy: c.Legacy, Class: c.Ref.Name, Pool: d.order.Pool.Name, Image: image.ID, UserData: data, Profile: profile,
		Groups: d.sel.GroupIDs(), Disks: types.Disks(c), Metadata: c.Metadata, Monitoring: c.Monitoring, PublicIP: c.PublicIP,
		IPPrefixes: c.IPPrefixes, Interfaces: c.Interfaces, EFAs: d.adapters(s), Tracking: c.Tracking, Nested: c.Nested,
		Enclaves: d.wants(enclaveResource),
		Spot:     kind == label.Spot, Dedicated: d.dedicated(), IPv6: d.sel.Cluster.IPv6(), AnyReserved: d.anyReserved,
		Placement: d.sel.Placement.ID, Partition: d.partition(),
		Reservation: o.Reservation, Block: block(o.Offer), Interrupts: interrupts(o.Offer), Tags: d.baseTags(),
	}, nil
}

// dedicated reports whether the order allows only hardware of its own.
func (d demand) dedicated() bool { return !d.allows(awsv1.LabelInstanceTenancy, "default") }

// partition is the partition of the placement group that the order demands; zero if any will do.
func (d demand) partition() int {
	var allowed []int
	for n := 1; n <= d.sel.Placement.Partitions; n++ {
		if d.allows(awsv1.LabelPlacementGroupPartition, strconv.Itoa(n)) {
			allowed = append(allowed, n)
		}
	}
	if len(allowed) == 0 || len(allowed) == d.sel.Placement.Partitions {
		return 0
	}
	return allowed[0]
}

// adapters is how many fabric adapters a machine gets: all it has if its pods ask for any.
func (d demand) adapters(s *world.Shape) int {
	if !d.wants(efaResource) {
		return 0
	}
	return int(s.Capacity.Value(efaResource) / amount.Unit)
}

// node is what a machine of the shape boots with.
func (d demand) node(s *world.Shape, kind string) (bootstrap.Node, error) {
	k, err := d.kubelet(s.Name)
	if err != nil {
		return bootstrap.Node{}, err
	}
	labels := maps.Clone(d.order.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	labels[label.CapacityType] = kind
	n := bootstrap.Node{
		Family: d.sel.Class.Family, Legacy: d.sel.Class.Legacy, Cluster: d.sel.Cluster, Taints: d.order.Taints,
		Kubelet: k, RAID0: d.sel.Class.RAID0, Own: d.sel.Class.UserData,
	}
	if !d.sel.Class.Legacy {
		labels["karpenter.k8s.aws/ec2nodeclass"] = d.sel.Class.Ref.Name
		if d.sel.Class.Family != types.Custom {
			labels["karpenter.sh/do-not-sync-taints"] = "true"
		}
		pods := s.Capacity.Value(amount.Pods) / amount.Unit
		n.Kubelet.MaxPods = &pods
	}
	n.Labels = labels
	return n, nil
}

// settings are the demand's; how long the user data is stays known.
func (b *Launcher) settings(d demand, o offer, kind, profile string) (template.Settings, error) {
	out, err := d.settings(o, kind, profile)
	if out.UserData != "" {
		b.userData.wrote(d.sel.Class.Ref.Name, len(out.UserData))
	}
	return out, err
}
