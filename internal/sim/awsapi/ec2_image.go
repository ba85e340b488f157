package awsapi

import (
	"slices"
	"strconv"
	"time"

	"github.com/tenon-sh/tenon/internal/sim/market"
)

func describeImages(c *call) ([]node, error) {
	var in struct {
		lookup

		ImageId           []string
		Owner             []string
		ExecutableBy      []string
		IncludeDeprecated bool
		IncludeDisabled   bool
	}
	if err := c.look(&in); err != nil {
		return nil, err
	}
	all, err := named(c.market.Images(), in.ImageId, func(i market.Image) string { return i.ID }, func(id string) error {
		return market.Errorf(market.InvalidAMIIDNotFound, "The image id '[%s]' does not exist", id)
	})
	if err != nil {
		return nil, err
	}
	now := c.market.Now()
	all = slices.DeleteFunc(all, func(i market.Image) bool {
		stale := !i.Deprecated.IsZero() && !i.Deprecated.After(now) && !in.IncludeDeprecated && len(in.ImageId) == 0 && i.Owner != c.market.Account()
		return stale || !ownedBy(i, in.Owner, c.market.Account())
	})
	return describe(in.lookup, all, view[market.Image]{
		set: "imagesSet", pages: pages{least: 1, most: 1000},
		tags: func(i market.Image) market.Tags { return i.Tags },
		facts: func(i market.Image) facts {
			return table(map[string]string{
				"image-id": i.ID, "name": i.Name, "description": i.Description, "architecture": i.Arch, "owner-id": i.Owner, "owner-alias": i.OwnerAlias,
				"state": i.State, "platform": i.Platform, "is-public": strconv.FormatBool(i.Public), "image-type": "machine",
				"virtualization-type": "hvm", "root-device-type": "ebs", "root-device-name": i.RootDevice, "hypervisor": "xen",
				"creation-date": stamp(i.Created),
			})
		},
		shows: imageNodes,
	})
}

func imageNodes(i market.Image) []node {
	root := []node{txt("deviceName", i.RootDevice), el("ebs", num("volumeSize", market.ImageVolumeGiB), txt("volumeType", market.ImageVolumeKind), flag("deleteOnTermination", true), flag("encrypted", false))}
	return []node{
		txt("imageId", i.ID), txt("imageLocation", i.OwnerAlias+"/"+i.Name), txt("imageState", i.State), txt("imageOwnerId", i.Owner),
		txt("imageOwnerAlias", i.OwnerAlias), txt("creationDate", stamp(i.Created)), txt("deprecationTime", stamp(i.Deprecated)),
		flag("isPublic", i.Public), txt("architecture", i.Arch), txt("imageType", "machine"), txt("platform", i.Platform),
		txt("name", i.Name), txt("description", i.Description), txt("rootDeviceType", "ebs"), txt("rootDeviceName", i.RootDevice),
		list("blockDeviceMapping", [][]node{root}, func(n []node) []node { return n }),
		txt("virtualizationType", "hvm"), txt("hypervisor", "xen"), flag("enaSupport", true), txt("sriovNetSupport", "simple"),
		txt("platformDetails", platform(i.Platform)), txt("usageOperation", "RunInstances"), tagSet("tagSet", i.Tags),
	}
}

// platform is what EC2 bills a machine as.
func platform(of string) string {
	if of == "windows" {
		return "Windows"
	}
	return "Linux/UNIX"
}

// stamp is a time as the image calls write it; empty for the zero time.
func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05.000Z")
}

// ownedBy reports whether one of the owners is the image's: an account, an alias or "self".
func ownedBy(i market.Image, owners []string, self string) bool {
	return len(owners) == 0 || slices.ContainsFunc(owners, func(o string) bool {
		return o == i.Owner || (o == i.OwnerAlias && o != "") || (o == "self" && i.Owner == self)
	})
}
