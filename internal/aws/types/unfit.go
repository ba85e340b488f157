package types

import (
	"fmt"
	"slices"

	"github.com/tenon-sh/tenon/internal/aws/nodeclass"
	"github.com/tenon-sh/tenon/internal/catalog"
)

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
