package awsapi

import (
	"cmp"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/tenon-sh/tenon/internal/sim/market"
)

func describeInstances(c *call) ([]node, error) {
	var in struct {
		lookup

		InstanceId []string
	}
	if err := c.look(&in); err != nil {
		return nil, err
	}
	if len(in.InstanceId) > 0 && in.MaxResults > 0 {
		return nil, market.Errorf(market.InvalidParameterCombination, "The parameter instancesSet cannot be used with the parameter maxResults")
	}
	found, err := instances(c, in.InstanceId, in.Filter)
	if err != nil {
		return nil, err
	}
	page, next, err := cut(found, pages{least: 5, most: 1000, usual: 1000}, in.MaxResults, in.NextToken)
	if err != nil {
		return nil, err
	}
	return []node{list("reservationSet", byLaunch(page), func(l []market.Instance) []node { return reservationNodes(c, l) }), txt("nextToken", next)}, nil
}

// instances finds machines by id and filter.
func instances(c *call, ids []string, filters []filter) ([]market.Instance, error) {
	var found []market.Instance
	if len(ids) > 0 {
		var err error
		if found, err = c.market.Find(ids); err != nil {
			return nil, err
		}
	} else {
		found = c.market.Instances()
	}
	return keep(found, filters, func(i market.Instance) market.Tags { return i.Tags }, instanceFacts)
}

func instanceFacts(i market.Instance) facts {
	return func(name string) ([]string, bool) {
		switch name {
		case "instance.group-id", "group-id":
			return i.Groups, true
		case "instance-state-name":
			return []string{string(i.State)}, true
		case "instance-state-code":
			return []string{strconv.Itoa(i.State.Code())}, true
		case "instance-id":
			return []string{i.ID}, true
		case "instance-type":
			return []string{i.Type}, true
		case "instance-lifecycle":
			if i.CapacityType == market.OnDemand {
				return nil, true
			}
			return []string{i.CapacityType}, true
		case "image-id":
			return []string{i.Image}, true
		case "availability-zone":
			return []string{i.Zone}, true
		case "subnet-id":
			return []string{i.Subnet}, true
		case "vpc-id":
			return []string{i.VPC}, true
		case "architecture":
			return []string{i.Arch}, true
		case "client-token":
			return []string{i.Token}, true
		case "private-dns-name":
			return []string{i.DNS}, true
		case "private-ip-address":
			return []string{i.Address.String()}, true
		case "reservation-id":
			return []string{i.Launch}, true
		case "capacity-reservation-id":
			return []string{i.Reservation}, true
		case "iam-instance-profile.name":
			return []string{i.Profile}, true
		default:
			return nil, false
		}
	}
}

// byLaunch groups machines that were launched together.
func byLaunch(all []market.Instance) [][]market.Instance {
	at := map[string]int{}
	var out [][]market.Instance
	for _, i := range all {
		k, ok := at[i.Launch]
		if !ok {
			k = len(out)
			at[i.Launch] = k
			out = append(out, nil)
		}
		out[k] = append(out[k], i)
	}
	return out
}

func reservationNodes(c *call, l []market.Instance) []node {
	id := ""
	if len(l) > 0 {
		id = l[0].Launch
	}
	return []node{
		txt("reservationId", id), txt("ownerId", c.market.Account()),
		list("instancesSet", l, func(i market.Instance) []node { return instanceNodes(c, i) }),
	}
}

func instanceNodes(c *call, i market.Instance) []node {
	lifecycle := ""
	if i.CapacityType != market.OnDemand {
		lifecycle = i.CapacityType
	}
	address, dns, address6 := i.Address.String(), i.DNS, ""
	if i.Address6.IsValid() {
		address6 = i.Address6.String()
	}
	if i.State == market.Terminated {
		address, dns, address6 = "", "", ""
	}
	return []node{
		txt("instanceId", i.ID), txt("imageId", i.Image), el("instanceState", stateNodes(i.State)...),
		txt("privateDnsName", dns), txt("privateIpAddress", address), txt("ipv6Address", address6), txt("reason", i.Reason.Message), txt("keyName", i.Data.Key),
		num("amiLaunchIndex", i.Index), txt("instanceType", i.Type), moment("launchTime", i.Launched),
		el("placement", txt("availabilityZone", i.Zone), txt("availabilityZoneId", i.ZoneID), txt("groupName", i.Placement.GroupName),
			txt("groupId", i.Placement.GroupID), count("partitionNumber", i.Placement.Partition), txt("tenancy", cmp.Or(i.Placement.Tenancy, "default"))),
		el("monitoring", txt("state", monitoring(i))), txt("subnetId", i.Subnet), txt("vpcId", i.VPC),
		flag("sourceDestCheck", true), groupSet(c, i.Groups),
		el("stateReason", txt("code", i.Reason.Code), txt("message", i.Reason.Message)),
		txt("architecture", i.Arch), txt("rootDeviceType", "ebs"), txt("rootDeviceName", root(i)), volumes(i),
		txt("virtualizationType", "hvm"), txt("instanceLifecycle", lifecycle), txt("spotInstanceRequestId", i.SpotRequest),
		txt("clientToken", i.Token), tagSet("tagSet", i.Tags), txt("hypervisor", "xen"), interfaces(c, i), profile(c, i),
		flag("ebsOptimized", i.Data.EBSOptimized != nil && *i.Data.EBSOptimized), flag("enaSupport", true),
		txt("capacityReservationId", i.Reservation), reservationSpec(i.Data.Reservation), metadataNode(i.Data.Metadata),
		txt("platform", i.Platform), txt("platformDetails", platform(i.Platform)), txt("usageOperation", "RunInstances"),
	}
}

func monitoring(i market.Instance) string {
	if i.Data.Monitoring != nil && *i.Data.Monitoring {
		return "enabled"
	}
	return "disabled"
}

func root(i market.Instance) string {
	if len(i.Volumes) == 0 {
		return ""
	}
	return i.Volumes[0].Device
}

func volumes(i market.Instance) node {
	if i.State == market.Terminated {
		return node{}
	}
	return list("blockDeviceMapping", i.Volumes, func(v market.Volume) []node {
		return []node{txt("deviceName", v.Device), el("ebs", txt("volumeId", v.ID), txt("status", "attached"), moment("attachTime", i.Launched), flag("deleteOnTermination", v.Delete))}
	})
}

func profile(c *call, i market.Instance) node {
	if i.Profile == "" {
		return node{}
	}
	p, err := c.market.Profile(i.Profile)
	if err != nil {
		return el("iamInstanceProfile", txt("arn", c.market.IAMARN("instance-profile/"+i.Profile)))
	}
	return el("iamInstanceProfile", txt("arn", p.ARN), txt("id", p.ID))
}

func groupSet(c *call, ids []string) node {
	names := map[string]string{}
	for _, g := range c.market.SecurityGroups() {
		names[g.ID] = g.Name
	}
	return list("groupSet", ids, func(id string) []node { return []node{txt("groupId", id), txt("groupName", names[id])} })
}

func interfaces(c *call, i market.Instance) node {
	if i.State == market.Terminated {
		return node{}
	}
	return list("networkInterfaceSet", i.Interfaces, func(n market.Interface) []node {
		return wiredNodes(c, wired{n, i})
	})
}

// ip is the address of an interface, if it has one.
func ip(a netip.Addr) node {
	if !a.IsValid() {
		return node{}
	}
	return txt("privateIpAddress", a.String())
}

func describeInstanceStatus(c *call) ([]node, error) {
	var in struct {
		lookup

		InstanceId          []string
		IncludeAllInstances bool
	}
	if err := c.look(&in); err != nil {
		return nil, err
	}
	found, err := statuses(c, in.InstanceId, in.Filter)
	if err != nil {
		return nil, err
	}
	if !in.IncludeAllInstances {
		found = slices.DeleteFunc(found, func(i market.Instance) bool { return i.State != market.Running })
	}
	page, next, err := cut(found, pages{least: 5, most: 1000, usual: 100}, in.MaxResults, in.NextToken)
	if err != nil {
		return nil, err
	}
	return []node{list("instanceStatusSet", page, statusNodes), txt("nextToken", next)}, nil
}

// statuses applies the filters of the status call, which look at health as well.
func statuses(c *call, ids []string, filters []filter) ([]market.Instance, error) {
	found, err := instances(c, ids, nil)
	if err != nil {
		return nil, err
	}
	return keep(found, filters, func(i market.Instance) market.Tags { return i.Tags }, func(i market.Instance) facts {
		return func(name string) ([]string, bool) {
			switch name {
			case "instance-status.status":
				return []string{checkWord(i.Health.InstanceImpaired.IsZero())}, true
			case "system-status.status":
				return []string{checkWord(i.Health.SystemImpaired.IsZero())}, true
			case "instance-status.reachability":
				return []string{reach(i.Health.InstanceImpaired.IsZero())}, true
			case "system-status.reachability":
				return []string{reach(i.Health.SystemImpaired.IsZero())}, true
			case "event.code":
				var out []string
				for _, e := range i.Health.Events {
					out = append(out, e.Code)
				}
				return out, true
			default:
				return instanceFacts(i)(name)
			}
		}
	})
}

func checkWord(fine bool) string {
	if fine {
		return "ok"
	}
	return "impaired"
}

func reach(fine bool) string {
	if fine {
		return "passed"
	}
	return "failed"
}

func statusNodes(i market.Instance) []node {
	check := func(name string, fine bool, since node) node {
		details := []node{txt("name", "reachability"), txt("status", reach(fine)), since}
		return el(name, txt("status", checkWord(fine)), list("details", [][]node{details}, func(n []node) []node { return n }))
	}
	events := node{}
	if len(i.Health.Events) > 0 {
		events = list("eventsSet", i.Health.Events, func(e market.ScheduledEvent) []node {
			return []node{
				txt("instanceEventId", e.ID), txt("code", e.Code), txt("description", e.Description),
				moment("notBefore", e.NotBefore), moment("notAfter", e.NotAfter),
			}
		})
	}
	return []node{
		txt("instanceId", i.ID), txt("availabilityZone", i.Zone), events, el("instanceState", stateNodes(i.State)...),
		check("systemStatus", i.Health.SystemImpaired.IsZero(), moment("impairedSince", i.Health.SystemImpaired)),
		check("instanceStatus", i.Health.InstanceImpaired.IsZero(), moment("impairedSince", i.Health.InstanceImpaired)),
	}
}

func describeCapacityReservations(c *call) ([]node, error) {
	var in struct {
		lookup

		CapacityReservationId []string
	}
	if err := c.look(&in); err != nil {
		return nil, err
	}
	all, err := named(c.market.Reservations(), in.CapacityReservationId, func(r market.Reservation) string { return r.ID }, func(id string) error {
		return market.Errorf(market.InvalidReservationNotFound, "The capacity reservation '%s' does not exist.", id)
	})
	if err != nil {
		return nil, err
	}
	return describe(in.lookup, all, view[market.Reservation]{
		set: "capacityReservationSet", pages: pages{least: 1, most: 1000, usual: 1000},
		tags: func(r market.Reservation) market.Tags { return r.Tags },
		facts: func(r market.Reservation) facts {
			return table(map[string]string{
				"instance-type": r.Type, "owner-id": r.Owner, "instance-platform": "Linux/UNIX", "availability-zone": r.Zone, "tenancy": r.Tenancy,
				"state": r.State, "instance-match-criteria": r.Match, "end-date-type": endType(r), "capacity-reservation-id": r.ID,
			})
		},
		shows: func(r market.Reservation) []node {
			return []node{
				txt("capacityReservationId", r.ID), txt("capacityReservationArn", arn(c, "ec2", "capacity-reservation/"+r.ID)), txt("ownerId", r.Owner),
				txt("instanceType", r.Type), txt("instancePlatform", "Linux/UNIX"), txt("availabilityZone", r.Zone), txt("tenancy", r.Tenancy),
				num("totalInstanceCount", r.Total), num("availableInstanceCount", r.Available), txt("state", r.State), txt("instanceMatchCriteria", r.Match),
				txt("reservationType", r.Kind), moment("startDate", r.Start), moment("endDate", r.End), txt("endDateType", endType(r)),
				moment("createDate", r.Start), flag("interruptible", r.Interruptible), tagSet("tagSet", r.Tags),
			}
		},
	})
}

func endType(r market.Reservation) string {
	if r.End.IsZero() {
		return "unlimited"
	}
	return "limited"
}

func upperHex(uuid string, n int) string {
	return strings.ToUpper(strings.ReplaceAll(uuid, "-", ""))[:n]
}
