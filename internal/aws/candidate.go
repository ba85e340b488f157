package aws

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"

	awsv1 "github.com/tenon-sh/tenon/api/aws/v1"
	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/aws/bootstrap"
	"github.com/tenon-sh/tenon/internal/aws/fleet"
	"github.com/tenon-sh/tenon/internal/aws/nodeclass"
	"github.com/tenon-sh/tenon/internal/aws/soldout"
	"github.com/tenon-sh/tenon/internal/aws/template"
	"github.com/tenon-sh/tenon/internal/aws/types"
	"github.com/tenon-sh/tenon/internal/cloud"
)

// most is how many types one request names.
const most = 60

const efaResource = "vpc.amazonaws.com/efa"

func soldoutOffer(m cloud.Machine) soldout.Offer {
	return soldout.Offer{Type: m.Shape, Zone: m.Zone, CapacityType: m.CapacityType, Group: m.Placement}
}

// candidates turns offers into what a fleet request names: the subnet with the
// most free addresses of each zone, and a launch template for each type.
func (l *launching) candidates(ctx context.Context, offers []offer, kind string) ([]fleet.Candidate, error) {
	subnet := map[string]string{}
	for _, s := range l.subnets {
		if _, have := subnet[s.Zone]; !have && !slices.Contains(l.full, s.ID) {
			subnet[s.Zone] = s.ID
		}
	}
	var out []fleet.Candidate
	templates := map[string]string{} // by shape and reservation
	for _, o := range cheapest(offers, most) {
		key := o.shape.Name + " " + o.Reservation
		name, ok := templates[key]
		if !ok {
			var err error
			if name, err = l.template(ctx, o, kind); err != nil {
				return nil, err
			}
			templates[key] = name
		}
		if name == "" || subnet[o.Zone] == "" {
			continue
		}
		out = append(out, fleet.Candidate{Shape: o.shape.Name, Zone: o.Zone, Subnet: subnet[o.Zone], Template: name, Price: o.Price, Reservation: o.Reservation, Block: block(o.Offer)})
	}
	if len(out) == 0 {
		return nil, cloud.Errorf(cloud.Capacity, "InsufficientCapacity", "no image of class %s boots any type that is to be had in %s", l.class.Ref.Name, zoneOf(offers))
	}
	return out, nil
}

// cheapest returns the offers of the n cheapest shapes.
func cheapest(offers []offer, n int) []offer {
	best := map[string]int64{}
	for _, o := range offers {
		if p, ok := best[o.shape.Name]; !ok || o.Price < p {
			best[o.shape.Name] = o.Price
		}
	}
	names := slices.SortedFunc(maps.Keys(best), func(a, b string) int { return cmp.Or(cmp.Compare(best[a], best[b]), cmp.Compare(a, b)) })
	names = names[:min(n, len(names))]
	return slices.DeleteFunc(slices.Clone(offers), func(o offer) bool { return !slices.Contains(names, o.shape.Name) })
}

// template returns the launch template that a shape starts from; empty if no image boots it.
func (l *launching) template(ctx context.Context, o offer, kind string) (string, error) {
	if l.class.LaunchTemplate != "" {
		return l.class.LaunchTemplate, nil
	}
	if imageFor(l.images, *o.shape) == nil {
		return "", nil
	}
	profile, err := l.profile(ctx)
	if err != nil {
		return "", err
	}
	settings, err := l.settings(o, kind, profile)
	if err != nil {
		return "", err
	}
	name, made, err := l.stores.Ensure(ctx, settings)
	if made != nil {
		l.cfg.Said(Saying{
			Debug: true, Message: "Created launch template, " + made.Name, Pool: l.order.Pool,
			Fields: map[string]string{"launch-template-name": made.Name, "launch-template-id": made.ID},
		})
	}
	return name, err
}

// settings are what goes into the launch template for an offer whose shape an image boots.
func (l *launching) settings(o offer, kind, profile string) (template.Settings, error) {
	s, c := o.shape, l.class
	data, err := bootstrap.UserData(l.node(s, kind))
	if err != nil {
		return template.Settings{}, cloud.Errorf(cloud.Invalid, awsv1.ReasonInvalidUserData, "user data of class %s: %v", c.Ref.Name, err)
	}
	l.wrote(c.Ref.Name, len(data))
	if len(data) > awsv1.MaxUserData {
		return template.Settings{}, cloud.Errorf(cloud.Invalid, awsv1.ReasonUserDataTooLarge,
			"user data of class %s has %d bytes with what the node needs, EC2 takes %d: shorten spec.userData", c.Ref.Name, len(data), awsv1.MaxUserData)
	}
	return template.Settings{
		Legacy: c.Legacy, Class: c.Ref.Name, Pool: l.order.Pool.Name, Image: imageFor(l.images, *s).ID, UserData: data, Profile: profile,
		Groups: l.groupIDs(), Disks: types.Disks(c), Metadata: c.Metadata, Monitoring: c.Monitoring, PublicIP: c.PublicIP,
		IPPrefixes: c.IPPrefixes, Interfaces: c.Interfaces, EFAs: l.adapters(s), Tracking: c.Tracking, Nested: c.Nested,
		Spot: kind == label.Spot, Dedicated: l.dedicated(), IPv6: l.cluster.IPv6(), AnyReserved: l.cfg.Settings.NoReserved,
		Placement: l.placement.ID, Partition: l.partition(),
		Reservation: o.Reservation, Block: block(o.Offer), Tags: l.baseTags(),
	}, nil
}

// profile returns the instance profile of the class, made if the class names a role.
func (l *launching) profile(ctx context.Context) (string, error) {
	return l.Driver.profile(ctx, l.class)
}

func (d *Driver) profile(ctx context.Context, c nodeclass.Class) (string, error) {
	switch {
	case c.Profile != "":
		return c.Profile, nil
	case c.Role != "":
		return d.profiles.Ensure(ctx, d.owner(c))
	}
	return "", cloud.Errorf(cloud.NotReady, "InstanceProfileNotFound",
		"neither spec.instanceProfile of %s %q nor the setting aws.defaultInstanceProfile names an instance profile: set one", c.Ref.Kind, c.Ref.Name)
}

// dedicated reports whether the order allows only hardware of its own.
func (l *launching) dedicated() bool { return !l.allows(awsv1.LabelInstanceTenancy, "default") }

// partition is the partition of the placement group that the order demands; zero if any will do.
func (l *launching) partition() int {
	var allowed []int
	for n := 1; n <= l.placement.Partitions; n++ {
		if l.allows(awsv1.LabelPlacementGroupPartition, strconv.Itoa(n)) {
			allowed = append(allowed, n)
		}
	}
	if len(allowed) == 0 || len(allowed) == l.placement.Partitions {
		return 0
	}
	return allowed[0]
}

// adapters is how many fabric adapters a machine gets: all it has if its pods ask for any.
func (l *launching) adapters(s *world.Shape) int {
	if !l.wants(efaResource) {
		return 0
	}
	return int(s.Capacity.Value(efaResource) / amount.Unit)
}

// node is what a machine of the shape boots with.
func (l *launching) node(s *world.Shape, kind string) bootstrap.Node {
	labels := maps.Clone(l.order.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	labels[label.CapacityType] = kind
	n := bootstrap.Node{
		Family: l.class.Family, Legacy: l.class.Legacy, Cluster: l.cluster, Taints: l.order.Taints,
		Kubelet: l.kubelet, RAID0: l.class.RAID0, Own: l.class.UserData,
	}
	if !l.class.Legacy {
		labels["karpenter.k8s.aws/ec2nodeclass"] = l.class.Ref.Name
		if l.class.Family != types.Custom {
			labels["karpenter.sh/do-not-sync-taints"] = "true"
		}
		pods := s.Capacity.Value(amount.Pods) / amount.Unit
		n.Kubelet.MaxPods = &pods
	}
	n.Labels = labels
	return n
}
