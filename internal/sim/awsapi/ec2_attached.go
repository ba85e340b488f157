package awsapi

import (
	"crypto/sha256"
	"encoding/hex"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/tenon-sh/tenon/internal/sim/market"
)

// attachedPages is how the calls for what is attached to machines are paged.
var attachedPages = pages{least: 5, most: 1000, usual: 1000}

// idsOrPages refuses ids together with a size of pages, as EC2 does.
func idsOrPages(name string, ids []string, size int) error {
	if len(ids) > 0 && size > 0 {
		return market.Errorf(market.InvalidParameterCombination, "The parameter %s cannot be used with the parameter maxResults", name)
	}
	return nil
}

func describeVolumes(c *call) ([]node, error) {
	var in struct {
		lookup

		VolumeId []string
	}
	if err := c.look(&in); err != nil {
		return nil, err
	}
	if err := idsOrPages("volumeSet", in.VolumeId, in.MaxResults); err != nil {
		return nil, err
	}
	all, err := named(c.market.Disks(), in.VolumeId, func(d market.Disk) string { return d.ID }, func(id string) error {
		if !strings.HasPrefix(id, "vol-") {
			return market.Errorf(market.InvalidParameterValue, "Value (%s) for parameter volumes is invalid. Expected: 'vol-...'.", id)
		}
		return market.Errorf(market.InvalidVolumeNotFound, "The volume '%s' does not exist.", id)
	})
	if err != nil {
		return nil, err
	}
	return describe(in.lookup, all, view[market.Disk]{
		set: "volumeSet", pages: attachedPages,
		tags:  func(d market.Disk) market.Tags { return d.Tags },
		facts: volumeFacts,
		shows: volumeNodes,
	})
}

func volumeFacts(d market.Disk) facts {
	return func(name string) ([]string, bool) {
		if what, found := strings.CutPrefix(name, "attachment."); found {
			value, known := map[string]string{
				"delete-on-termination": strconv.FormatBool(d.Delete), "device": d.Device, "instance-id": d.Instance, "status": "attached",
			}[what]
			if d.Instance == "" {
				return nil, known
			}
			return []string{value}, known
		}
		return table(map[string]string{
			"availability-zone": d.Zone, "encrypted": strconv.FormatBool(d.Encrypted), "multi-attach-enabled": "false", "size": strconv.Itoa(d.SizeGiB),
			"snapshot-id": d.Snapshot, "status": volumeState(d), "volume-id": d.ID, "volume-type": d.Kind,
		})(name)
	}
}

func volumeState(d market.Disk) string {
	if d.Instance == "" {
		return "available"
	}
	return "in-use"
}

func volumeNodes(d market.Disk) []node {
	attachments := node{}
	if d.Instance != "" {
		attachments = list("attachmentSet", []market.Disk{d}, func(d market.Disk) []node {
			return []node{
				txt("volumeId", d.ID), txt("instanceId", d.Instance), txt("device", d.Device), txt("status", "attached"),
				moment("attachTime", d.Created), flag("deleteOnTermination", d.Delete),
			}
		})
	}
	return []node{
		txt("volumeId", d.ID), num("size", d.SizeGiB), txt("snapshotId", d.Snapshot), txt("availabilityZone", d.Zone), txt("status", volumeState(d)),
		moment("createTime", d.Created), attachments, tagSet("tagSet", d.Tags), txt("volumeType", d.Kind), count("iops", d.IOPS),
		count("throughput", d.Throughput), flag("encrypted", d.Encrypted), txt("kmsKeyId", d.KMSKey), flag("multiAttachEnabled", false),
	}
}

// wired is a network interface with the machine it is on.
type wired struct {
	market.Interface
	on market.Instance
}

func describeNetworkInterfaces(c *call) ([]node, error) {
	var in struct {
		lookup

		NetworkInterfaceId []string
	}
	if err := c.look(&in); err != nil {
		return nil, err
	}
	if err := idsOrPages("networkInterfaceIdSet", in.NetworkInterfaceId, in.MaxResults); err != nil {
		return nil, err
	}
	var all []wired
	for _, i := range c.market.Instances() {
		if i.State == market.Terminated {
			continue
		}
		for _, n := range i.Interfaces {
			all = append(all, wired{n, i})
		}
	}
	slices.SortFunc(all, func(a, b wired) int { return strings.Compare(a.ID, b.ID) })
	all, err := named(all, in.NetworkInterfaceId, func(w wired) string { return w.ID }, func(id string) error {
		if !strings.HasPrefix(id, "eni-") {
			return market.Errorf("InvalidNetworkInterfaceId.Malformed", `Invalid id: "%s" (expecting "eni-...")`, id)
		}
		return market.Errorf(market.InvalidInterfaceNotFound, "The networkInterface ID '%s' does not exist", id)
	})
	if err != nil {
		return nil, err
	}
	return describe(in.lookup, all, view[wired]{
		set: "networkInterfaceSet", pages: attachedPages,
		tags:  func(w wired) market.Tags { return w.Tags },
		facts: func(w wired) facts { return interfaceFacts(c, w) },
		shows: func(w wired) []node {
			return append(wiredNodes(c, w), txt("availabilityZone", w.on.Zone), flag("requesterManaged", false), tagSet("tagSet", w.Tags))
		},
	})
}

func interfaceFacts(c *call, w wired) facts {
	return func(name string) ([]string, bool) {
		switch name {
		case "group-id":
			return w.Groups, true
		case "group-name":
			var out []string
			for _, g := range c.market.SecurityGroups() {
				if slices.Contains(w.Groups, g.ID) {
					out = append(out, g.Name)
				}
			}
			return out, true
		case "private-ip-address", "addresses.private-ip-address":
			return valid(w.Address), true
		case "ipv6-addresses.ipv6-address":
			return valid(w.address6()), true
		}
		return table(map[string]string{
			"network-interface-id": w.ID, "subnet-id": w.on.Subnet, "vpc-id": w.on.VPC, "availability-zone": w.on.Zone, "owner-id": c.market.Account(),
			"status": "in-use", "interface-type": w.Kind, "mac-address": w.mac(), "private-dns-name": w.dns(c), "description": "", "requester-managed": "false",
			"source-dest-check": "true", "attachment.attachment-id": w.attachment(), "attachment.instance-id": w.on.ID, "attachment.status": "attached",
			"attachment.instance-owner-id": c.market.Account(), "attachment.device-index": strconv.Itoa(w.Device), "attachment.delete-on-termination": "true",
		})(name)
	}
}

// wiredNodes shows an interface as the machine's description has it; its own description has its tags besides.
func wiredNodes(c *call, w wired) []node {
	addresses, six := node{}, node{}
	if w.Address.IsValid() {
		addresses = list("privateIpAddressesSet", []wired{w}, func(w wired) []node {
			return []node{flag("primary", true), ip(w.Address), txt("privateDnsName", w.dns(c))}
		})
	}
	if a := w.address6(); a.IsValid() {
		six = list("ipv6AddressesSet", []string{a.String()}, func(a string) []node { return []node{txt("ipv6Address", a)} })
	}
	return []node{
		txt("networkInterfaceId", w.ID), txt("subnetId", w.on.Subnet), txt("vpcId", w.on.VPC), txt("ownerId", c.market.Account()),
		txt("status", "in-use"), txt("macAddress", w.mac()), ip(w.Address), txt("privateDnsName", w.dns(c)),
		flag("sourceDestCheck", true), groupSet(c, w.Groups), txt("interfaceType", w.Kind), addresses, six,
		el("attachment", txt("attachmentId", w.attachment()), txt("instanceId", w.on.ID), txt("instanceOwnerId", c.market.Account()), num("deviceIndex", w.Device),
			num("networkCardIndex", w.Card), txt("status", "attached"), moment("attachTime", w.on.Launched), flag("deleteOnTermination", true)),
	}
}

// address6 is the interface's IPv6 address: a machine has one at most, on its first interface.
func (w wired) address6() netip.Addr {
	if len(w.on.Interfaces) > 0 && w.on.Interfaces[0].ID == w.ID {
		return w.on.Address6
	}
	return netip.Addr{}
}

// dns is the name of the interface's address.
func (w wired) dns(c *call) string {
	switch {
	case !w.Address.IsValid():
		return ""
	case w.Address == w.on.Address:
		return w.on.DNS
	default:
		return market.PrivateDNS(c.market.Region(), w.Address)
	}
}

// mac is the interface's hardware address: a locally administered one that its id decides.
func (w wired) mac() string {
	sum := sha256.Sum256([]byte(w.ID))
	return net.HardwareAddr{0x02, sum[0], sum[1], sum[2], sum[3], sum[4]}.String()
}

// attachment is the id under which the interface is on its machine.
func (w wired) attachment() string {
	sum := sha256.Sum256([]byte(w.on.ID + "/" + w.ID))
	return "eni-attach-0" + hex.EncodeToString(sum[:8])
}

// valid is the address as text, if it is one.
func valid(a netip.Addr) []string {
	if !a.IsValid() {
		return nil
	}
	return []string{a.String()}
}
