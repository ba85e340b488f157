package types

import (
	"github.com/tenon-sh/tenon/internal/aws/nodeclass"
)

// The families of images.
const (
	AL2          = "AL2"
	AL2023       = "AL2023"
	Bottlerocket = "Bottlerocket"
	Ubuntu       = "Ubuntu"
	Windows2019  = "Windows2019"
	Windows2022  = "Windows2022"
	Windows2025  = "Windows2025"
	Custom       = "Custom"
)

// family is what its image decides of a node.
type family struct {
	device      string // the disk that pods' ephemeral storage is on
	disks       []nodeclass.Disk
	windows     string // build; empty for Linux
	pods        int64  // if not what the network interfaces allow
	leanReserve bool   // the memory kept for the kubelet follows the pods there may be, not those the network allows
	noPerCore   bool   // podsPerCore is not known to the image
}

const (
	gib = 1 << 30
	mib = 1 << 20

	defaultEphemeral = 20 * gib
	windowsPods      = 110
)

func familyOf(name string) family {
	disk := func(device string, size int64) nodeclass.Disk {
		return nodeclass.Disk{Device: device, SizeGiB: size, Type: "gp3", Encrypted: new(true)}
	}
	switch name {
	case Bottlerocket:
		return family{
			device: "/dev/xvdb", disks: []nodeclass.Disk{disk("/dev/xvda", 4), disk("/dev/xvdb", 20)},
			leanReserve: true, noPerCore: true,
		}
	case Ubuntu:
		return family{device: "/dev/sda1", disks: []nodeclass.Disk{disk("/dev/sda1", 20)}}
	case Windows2019, Windows2022, Windows2025:
		build := map[string]string{Windows2019: "10.0.17763", Windows2022: "10.0.20348", Windows2025: "10.0.26100"}[name]
		return family{
			device: "/dev/sda1", disks: []nodeclass.Disk{disk("/dev/sda1", 50)},
			windows: build, pods: windowsPods, leanReserve: true,
		}
	case Custom:
		return family{}
	}
	return family{device: "/dev/xvda", disks: []nodeclass.Disk{disk("/dev/xvda", 20)}}
}

// Disks returns the volumes of a class' machines: its own, or else its family's.
func Disks(c nodeclass.Class) []nodeclass.Disk {
	if len(c.Disks) > 0 {
		return c.Disks
	}
	return familyOf(c.Family).disks
}

// Families returns the names of all families.
func Families() []string {
	return []string{AL2, AL2023, Bottlerocket, Ubuntu, Windows2019, Windows2022, Windows2025, Custom}
}
