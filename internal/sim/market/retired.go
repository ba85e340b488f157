package market

import (
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/internal/catalog"
)

// stillSold returns types that a region has on its price list though the catalogue has dropped them:
// the p3 family, retired nearly everywhere, in cn-north-1.
func stillSold(r *catalog.Region) []Type {
	if r.Name != "cn-north-1" {
		return nil
	}
	var out []Type
	for _, s := range []struct {
		size                  string
		vcpus, gpus           int
		memory                int64
		price                 money.Micro
		interfaces, addresses int
		ebs                   int
	}{
		{"2xlarge", 8, 1, 61 * 1024, 36_078_000, 4, 15, 1750},
		{"8xlarge", 32, 4, 244 * 1024, 144_314_000, 8, 30, 7000},
		{"16xlarge", 64, 8, 488 * 1024, 288_627_000, 8, 30, 14000},
	} {
		t := Type{
			Type: catalog.Type{
				Name: "p3." + s.size, Family: "p3", Size: s.size, Category: "p", Generation: 3, Current: true,
				Arch: "amd64", Archs: []string{"x86_64"}, VCPUs: s.vcpus, Cores: s.vcpus / 2, ThreadsPerCore: 2, CPUManufacturer: "Intel",
				ClockMHz: 2300, MemoryMiB: s.memory, Hypervisor: "xen", UsageClasses: []string{OnDemand, Spot}, Virtualization: []string{"hvm"},
				BootModes: []string{"legacy-bios"}, RootDevices: []string{"ebs"}, Placement: []string{"cluster", "partition", "spread"},
				NetworkText: "10 Gigabit", ENA: "supported", Cards: []catalog.Card{{ENIs: s.interfaces, Text: "10 Gigabit"}},
				ENIs: s.interfaces, DefaultCardENIs: s.interfaces, IPv4PerENI: s.addresses, IPv6: true, IPv6PerENI: s.addresses,
				EBSOptimized: "default", EBSMbps: s.ebs, EBSBaselineMbps: s.ebs, EBSNVMe: "unsupported",
				Accelerators: []catalog.Accelerator{{Kind: catalog.GPU, Name: "V100", Manufacturer: "NVIDIA", Count: s.gpus, Logical: s.gpus, MemoryMiB: 16 * 1024}},
			},
			OnDemand: s.price, SpotFrom: map[string]money.Micro{},
		}
		for _, z := range r.Zones {
			t.Zones = append(t.Zones, z.Name)
			t.SpotFrom[z.Name] = s.price * 3 / 10
		}
		out = append(out, t)
	}
	return out
}
