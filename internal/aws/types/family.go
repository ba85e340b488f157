package types

import (
	"fmt"
	"slices"

	"github.com/tenon-sh/tenon/internal/aws/nodeclass"
	"github.com/tenon-sh/tenon/internal/catalog"
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

// Unfit says why machines of a type cannot be had with these settings; empty if they can.
func Unfit(t *catalog.Type, s Settings) string {
	f := familyOf(s.Class.Family)
	switch {
	case t.Arch == "":
		return "Kubernetes has no name for its architecture"
	case !slices.Contains(t.Virtualization, "hvm"):
		return "it does not virtualise by hardware (hvm), which images need"
	case t.Family == "a1" && s.Class.Family == AL2023:
		return "its first-generation Graviton cannot boot AL2023"
	case f.windows != "" && t.Arch != "amd64":
		return "Windows needs amd64"
	case s.Class.Tracking != nil && t.Hypervisor != "nitro" && !t.BareMetal:
		return "connectionTracking needs a Nitro machine"
	case s.Class.Nested == "enabled" && !t.NestedVirtualization:
		return "it does not support nested virtualisation"
	case s.Strategy != "" && !slices.Contains(t.Placement, s.Strategy):
		return fmt.Sprintf("it cannot be placed by the strategy %q of the placement group", s.Strategy)
	}
	return tooManyInterfaces(t, s.Class.Interfaces)
}

// tooManyInterfaces says which network card cannot hold what the class asks for.
func tooManyInterfaces(t *catalog.Type, wanted []nodeclass.Interface) string {
	perCard := map[int32]int{}
	for _, i := range wanted {
		perCard[i.Card]++
		if int(i.Card) >= len(t.Cards) {
			return fmt.Sprintf("it has no network card %d", i.Card)
		}
		if most := t.Cards[i.Card].ENIs; perCard[i.Card] > most {
			return fmt.Sprintf("its network card %d takes %d interfaces", i.Card, most)
		}
	}
	if n := efaOnly(wanted, -1); n > int64(t.EFAs) {
		return fmt.Sprintf("it has %d Elastic Fabric Adapters, the class asks for %d", t.EFAs, n)
	}
	return ""
}

// efaOnly counts interfaces for the Elastic Fabric Adapter alone, of one card or, with card -1, of all.
func efaOnly(interfaces []nodeclass.Interface, card int32) int64 {
	var n int64
	for _, i := range interfaces {
		if i.EFAOnly && (card < 0 || i.Card == card) {
			n++
		}
	}
	return n
}

// Families returns the names of all families.
func Families() []string {
	return []string{AL2, AL2023, Bottlerocket, Ubuntu, Windows2019, Windows2022, Windows2025, Custom}
}
