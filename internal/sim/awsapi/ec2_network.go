package awsapi

import (
	"slices"
	"strconv"

	"github.com/tenon-sh/tenon/internal/sim/market"
)

func describeSubnets(c *call) ([]node, error) {
	var in struct {
		lookup

		SubnetId []string
	}
	if err := c.look(&in); err != nil {
		return nil, err
	}
	all, err := named(c.market.Subnets(), in.SubnetId, func(s market.Subnet) string { return s.ID }, func(id string) error {
		return market.Errorf(market.InvalidSubnetIDNotFound, "The subnet ID '%s' does not exist", id)
	})
	if err != nil {
		return nil, err
	}
	return describe(in.lookup, all, view[market.Subnet]{
		set: "subnetSet", pages: pages{least: 5, most: 1000},
		tags: func(s market.Subnet) market.Tags { return s.Tags },
		facts: func(s market.Subnet) facts {
			return table(map[string]string{
				"subnet-id": s.ID, "vpc-id": s.VPC, "availability-zone": s.Zone, "availabilityZone": s.Zone, "availability-zone-id": s.ZoneID,
				"cidr-block": s.Range.String(), "state": "available", "available-ip-address-count": strconv.Itoa(s.Free),
				"map-public-ip-on-launch": strconv.FormatBool(s.Public), "owner-id": c.market.Account(),
			})
		},
		shows: func(s market.Subnet) []node {
			return []node{
				txt("subnetId", s.ID), txt("subnetArn", arn(c, "ec2", "subnet/"+s.ID)), txt("state", "available"), txt("ownerId", c.market.Account()),
				txt("vpcId", s.VPC), txt("cidrBlock", s.Range.String()), ipv6(s), num("availableIpAddressCount", s.Free),
				txt("availabilityZone", s.Zone), txt("availabilityZoneId", s.ZoneID), flag("defaultForAz", false),
				flag("mapPublicIpOnLaunch", s.Public), flag("assignIpv6AddressOnCreation", s.Range6.IsValid()), tagSet("tagSet", s.Tags),
			}
		},
	})
}

func ipv6(s market.Subnet) node {
	if !s.Range6.IsValid() {
		return node{}
	}
	return list("ipv6CidrBlockAssociationSet", []market.Subnet{s}, func(s market.Subnet) []node {
		return []node{txt("ipv6CidrBlock", s.Range6.String()), el("ipv6CidrBlockState", txt("state", "associated"))}
	})
}

func describeSecurityGroups(c *call) ([]node, error) {
	var in struct {
		lookup

		GroupId   []string
		GroupName []string
	}
	if err := c.look(&in); err != nil {
		return nil, err
	}
	all, err := named(c.market.SecurityGroups(), in.GroupId, func(g market.SecurityGroup) string { return g.ID }, func(id string) error {
		return market.Errorf(market.InvalidGroupNotFound, "The security group '%s' does not exist", id)
	})
	if err != nil {
		return nil, err
	}
	if len(in.GroupName) > 0 {
		all = slices.DeleteFunc(all, func(g market.SecurityGroup) bool { return !slices.Contains(in.GroupName, g.Name) })
	}
	return describe(in.lookup, all, view[market.SecurityGroup]{
		set: "securityGroupInfo", pages: pages{least: 5, most: 1000},
		tags: func(g market.SecurityGroup) market.Tags { return g.Tags },
		facts: func(g market.SecurityGroup) facts {
			return table(map[string]string{
				"group-id": g.ID, "group-name": g.Name, "vpc-id": g.VPC, "description": g.Description, "owner-id": c.market.Account(),
			})
		},
		shows: func(g market.SecurityGroup) []node {
			return []node{
				txt("ownerId", c.market.Account()), txt("groupId", g.ID), txt("groupName", g.Name), txt("groupDescription", g.Description),
				txt("vpcId", g.VPC), tagSet("tagSet", g.Tags),
			}
		},
	})
}

func describeVpcs(c *call) ([]node, error) {
	var in struct {
		lookup

		VpcId []string
	}
	if err := c.look(&in); err != nil {
		return nil, err
	}
	var ids []string
	for _, s := range c.market.Subnets() {
		if !slices.Contains(ids, s.VPC) {
			ids = append(ids, s.VPC)
		}
	}
	ids, err := named(ids, in.VpcId, func(id string) string { return id }, func(id string) error {
		return market.Errorf("InvalidVpcID.NotFound", "The vpc ID '%s' does not exist", id)
	})
	if err != nil {
		return nil, err
	}
	ids, err = keep(ids, in.Filter, func(string) market.Tags { return nil }, func(id string) facts {
		return table(map[string]string{"vpc-id": id, "state": "available", "owner-id": c.market.Account()})
	})
	if err != nil {
		return nil, err
	}
	return []node{list("vpcSet", ids, func(id string) []node {
		return []node{txt("vpcId", id), txt("state", "available"), txt("ownerId", c.market.Account()), txt("cidrBlock", c.account.cfg.VPC), flag("isDefault", false)}
	})}, nil
}

func describeAvailabilityZones(c *call) ([]node, error) {
	var in struct {
		lookup

		ZoneName             []string
		ZoneId               []string
		AllAvailabilityZones bool
	}
	if err := c.look(&in); err != nil {
		return nil, err
	}
	unknown := func(id string) error {
		return market.Errorf(market.InvalidParameterValue, "Invalid availability zone: [%s]", id)
	}
	zones, err := named(c.market.Zones(), in.ZoneName, func(z market.Zone) string { return z.Name }, unknown)
	if err != nil {
		return nil, err
	}
	zones, err = named(zones, in.ZoneId, func(z market.Zone) string { return z.ID }, unknown)
	if err != nil {
		return nil, err
	}
	zones, err = keep(zones, in.Filter, func(market.Zone) market.Tags { return nil }, func(z market.Zone) facts {
		return table(map[string]string{
			"zone-name": z.Name, "zone-id": z.ID, "zone-type": "availability-zone", "region-name": c.market.Region(),
			"state": "available", "opt-in-status": "opt-in-not-required", "group-name": c.market.Region(),
		})
	})
	if err != nil {
		return nil, err
	}
	return []node{list("availabilityZoneInfo", zones, func(z market.Zone) []node {
		return []node{
			txt("zoneName", z.Name), txt("zoneId", z.ID), txt("zoneState", "available"), txt("regionName", c.market.Region()),
			txt("groupName", c.market.Region()), txt("networkBorderGroup", c.market.Region()), txt("zoneType", "availability-zone"),
			txt("optInStatus", "opt-in-not-required"),
		}
	})}, nil
}

func describePlacementGroups(c *call) ([]node, error) {
	var in struct {
		lookup

		GroupName []string
		GroupId   []string
	}
	if err := c.look(&in); err != nil {
		return nil, err
	}
	unknown := func(id string) error {
		return market.Errorf(market.InvalidPlacementGroupUnknown, "The Placement Group '%s' is unknown.", id)
	}
	groups, err := named(c.market.PlacementGroups(), in.GroupName, func(g market.PlacementGroup) string { return g.Name }, unknown)
	if err != nil {
		return nil, err
	}
	groups, err = named(groups, in.GroupId, func(g market.PlacementGroup) string { return g.ID }, unknown)
	if err != nil {
		return nil, err
	}
	groups, err = keep(groups, in.Filter, func(g market.PlacementGroup) market.Tags { return g.Tags }, func(g market.PlacementGroup) facts {
		return table(map[string]string{"group-name": g.Name, "state": g.State, "strategy": g.Strategy, "spread-level": "rack"})
	})
	if err != nil {
		return nil, err
	}
	return []node{list("placementGroupSet", groups, func(g market.PlacementGroup) []node {
		return []node{
			txt("groupName", g.Name), txt("groupId", g.ID), txt("strategy", g.Strategy), txt("state", g.State),
			count("partitionCount", g.Partitions), txt("groupArn", arn(c, "ec2", "placement-group/"+g.Name)), tagSet("tagSet", g.Tags),
		}
	})}, nil
}

// arn names a resource of the account in its region.
func arn(c *call, service, resource string) string {
	return "arn:" + c.market.Partition() + ":" + service + ":" + c.market.Region() + ":" + c.market.Account() + ":" + resource
}

// named picks the resources of the given ids; without ids, all. An unknown id is an error.
func named[T any](all []T, ids []string, id func(T) string, unknown func(string) error) ([]T, error) {
	if len(ids) == 0 {
		return all, nil
	}
	index := map[string]T{}
	for _, r := range all {
		index[id(r)] = r
	}
	var out []T
	for _, want := range ids {
		r, ok := index[want]
		if !ok {
			return nil, unknown(want)
		}
		out = append(out, r)
	}
	return out, nil
}
