package awsapi

import (
	"slices"
	"strconv"
	"strings"

	"github.com/tenon-sh/tenon/internal/catalog"
	"github.com/tenon-sh/tenon/internal/sim/market"
)

func describeInstanceTypes(c *call) ([]node, error) {
	var in struct {
		lookup

		InstanceType []string
	}
	if err := c.look(&in); err != nil {
		return nil, err
	}
	types := c.market.Types()
	if len(in.InstanceType) > 0 {
		if len(in.InstanceType) > 100 {
			return nil, market.Errorf(market.InvalidParameterValue, "The maximum number of instance types specified on a single call is 100")
		}
		types = slices.DeleteFunc(types, func(t *market.Type) bool { return !slices.Contains(in.InstanceType, t.Name) })
		if len(types) != len(in.InstanceType) {
			return nil, unknownTypes(in.InstanceType, types)
		}
	}
	return describe(in.lookup, types, view[*market.Type]{
		set: "instanceTypeSet", pages: pages{least: 5, most: 100, usual: 100},
		facts: typeFacts,
		shows: typeNodes,
	})
}

func unknownTypes(asked []string, have []*market.Type) error {
	unknown := slices.DeleteFunc(slices.Clone(asked), func(n string) bool {
		return slices.ContainsFunc(have, func(t *market.Type) bool { return t.Name == n })
	})
	return market.Errorf("InvalidInstanceType", "The following supplied instance types do not exist: [%s]", strings.Join(unknown, ", "))
}

func typeFacts(t *market.Type) facts {
	if t == nil {
		t = &market.Type{}
	}
	return func(name string) ([]string, bool) {
		switch name {
		case "instance-type":
			return []string{t.Name}, true
		case "bare-metal":
			return []string{strconv.FormatBool(t.BareMetal)}, true
		case "burstable-performance-supported":
			return []string{strconv.FormatBool(t.Burstable)}, true
		case "current-generation":
			return []string{strconv.FormatBool(t.Current)}, true
		case "hypervisor":
			return []string{t.Hypervisor}, true
		case "processor-info.supported-architecture":
			return t.Archs, true
		case "supported-usage-class":
			return t.UsageClasses, true
		case "supported-virtualization-type":
			return t.Virtualization, true
		case "vcpu-info.default-vcpus":
			return []string{strconv.Itoa(t.VCPUs)}, true
		case "memory-info.size-in-mib":
			return []string{strconv.FormatInt(t.MemoryMiB, 10)}, true
		default:
			return nil, false
		}
	}
}

func typeNodes(t *market.Type) []node {
	return []node{
		txt("instanceType", t.Name),
		flag("currentGeneration", t.Current),
		flag("freeTierEligible", t.Name == "t2.micro" || t.Name == "t3.micro"),
		texts("supportedUsageClasses", t.UsageClasses),
		texts("supportedRootDeviceTypes", t.RootDevices),
		texts("supportedVirtualizationTypes", t.Virtualization),
		flag("bareMetal", t.BareMetal),
		txt("hypervisor", t.Hypervisor),
		el("processorInfo", texts("supportedArchitectures", t.Archs), clock(t.ClockMHz), txt("manufacturer", t.CPUManufacturer)),
		el("vCpuInfo", num("defaultVCpus", t.VCPUs), count("defaultCores", t.Cores), count("defaultThreadsPerCore", t.ThreadsPerCore)),
		el("memoryInfo", num("sizeInMiB", t.MemoryMiB)),
		flag("instanceStorageSupported", t.DiskGB > 0),
		storage(t),
		ebs(t),
		network(t),
		accelerators(t, catalog.GPU),
		accelerators(t, catalog.FPGA),
		accelerators(t, catalog.Inference),
		accelerators(t, catalog.Neuron),
		accelerators(t, catalog.Media),
		el("placementGroupInfo", texts("supportedStrategies", t.Placement)),
		flag("hibernationSupported", false),
		flag("burstablePerformanceSupported", t.Burstable),
		flag("dedicatedHostsSupported", true),
		flag("autoRecoverySupported", !t.BareMetal),
		texts("supportedBootModes", t.BootModes),
		txt("nitroEnclavesSupport", supported(t.NitroEnclaves)),
		txt("nitroTpmSupport", supported(t.Hypervisor == "nitro")),
	}
}

func clock(mhz int) node {
	if mhz == 0 {
		return node{}
	}
	return decimal("sustainedClockSpeedInGhz", float64(mhz)/1000)
}

func supported(yes bool) string {
	if yes {
		return "supported"
	}
	return "unsupported"
}

func storage(t *market.Type) node {
	if t.DiskGB == 0 {
		return node{}
	}
	disk := []node{num("sizeInGB", t.DiskSizeGB), num("count", t.Disks), txt("type", t.DiskType)}
	return el("instanceStorageInfo", num("totalSizeInGB", t.DiskGB), txt("nvmeSupport", t.DiskNVMe),
		list("disks", [][]node{disk}, func(d []node) []node { return d }))
}

func ebs(t *market.Type) node {
	optimised := node{}
	if t.EBSMbps > 0 {
		optimised = el("ebsOptimizedInfo", num("baselineBandwidthInMbps", t.EBSBaselineMbps), num("maximumBandwidthInMbps", t.EBSMbps))
	}
	return el("ebsInfo", txt("ebsOptimizedSupport", t.EBSOptimized), txt("encryptionSupport", "supported"), txt("nvmeSupport", t.EBSNVMe),
		count("maximumEbsAttachments", t.EBSAttachMax), optimised)
}

func network(t *market.Type) node {
	efa := node{}
	if t.EFAs > 0 {
		efa = el("efaInfo", num("maximumEfaInterfaces", t.EFAs))
	}
	type indexed struct {
		at   int
		card catalog.Card
	}
	var cards []indexed
	for k, card := range t.Cards {
		cards = append(cards, indexed{k, card})
	}
	return el("networkInfo",
		txt("networkPerformance", t.NetworkText),
		num("maximumNetworkInterfaces", t.ENIs),
		num("maximumNetworkCards", max(len(t.Cards), 1)),
		num("defaultNetworkCardIndex", t.DefaultCard),
		list("networkCards", cards, func(c indexed) []node {
			return []node{
				num("networkCardIndex", c.at), txt("networkPerformance", c.card.Text), num("maximumNetworkInterfaces", c.card.ENIs),
				decimal("baselineBandwidthInGbps", float64(c.card.BaselineMbps)/1000), decimal("peakBandwidthInGbps", float64(c.card.PeakMbps)/1000),
			}
		}),
		num("ipv4AddressesPerInterface", t.IPv4PerENI),
		num("ipv6AddressesPerInterface", t.IPv6PerENI),
		flag("ipv6Supported", t.IPv6),
		txt("enaSupport", t.ENA),
		flag("efaSupported", t.EFAs > 0),
		efa,
		flag("encryptionInTransitSupported", t.EncryptsInTransit),
	)
}

// accelerators describes the devices of one kind where EC2 describes them.
func accelerators(t *market.Type, kind catalog.Kind) node {
	var devices []catalog.Accelerator
	var memory int64
	for _, a := range t.Accelerators {
		if a.Kind == kind {
			devices = append(devices, a)
			memory += a.MemoryMiB * int64(max(a.Count, 1))
		}
	}
	if len(devices) == 0 {
		return node{}
	}
	size := func(a catalog.Accelerator) node { return el("memoryInfo", num("sizeInMiB", a.MemoryMiB)) }
	plain := func(a catalog.Accelerator) []node {
		return []node{txt("name", a.Name), txt("manufacturer", a.Manufacturer), num("count", a.Count), size(a)}
	}
	switch kind {
	case catalog.GPU:
		return el("gpuInfo", list("gpus", devices, func(a catalog.Accelerator) []node {
			return append(plain(a), count("logicalGpuCount", a.Logical))
		}), num("totalGpuMemoryInMiB", memory))
	case catalog.FPGA:
		return el("fpgaInfo", list("fpgas", devices, plain), num("totalFpgaMemoryInMiB", memory))
	case catalog.Inference:
		return el("inferenceAcceleratorInfo", members("accelerators", devices, plain), num("totalInferenceMemoryInMiB", memory))
	case catalog.Media:
		return el("mediaAcceleratorInfo", list("accelerators", devices, plain), num("totalMediaMemoryInMiB", memory))
	default:
		return el("neuronInfo", list("neuronDevices", devices, func(a catalog.Accelerator) []node {
			each := a.Cores
			if a.Count > 0 {
				each = a.Cores / a.Count
			}
			return []node{num("count", a.Count), txt("name", a.Name), el("coreInfo", num("count", each), num("version", 2)), size(a)}
		}), num("totalNeuronDeviceMemoryInMiB", memory))
	}
}

func describeInstanceTypeOfferings(c *call) ([]node, error) {
	var in struct {
		lookup

		LocationType string
	}
	if err := c.look(&in); err != nil {
		return nil, err
	}
	kind := in.LocationType
	if kind == "" {
		kind = "region"
	}
	offers, err := offeringsBy(c.market, kind)
	if err != nil {
		return nil, err
	}
	return describe(in.lookup, offers, view[offering]{
		set: "instanceTypeOfferingSet", pages: pages{least: 5, most: 1000, usual: 1000},
		facts: func(o offering) facts {
			return table(map[string]string{"instance-type": o.typ, "location": o.location})
		},
		shows: func(o offering) []node {
			return []node{txt("instanceType", o.typ), txt("locationType", kind), txt("location", o.location)}
		},
	})
}

type offering struct{ typ, location string }

// offeringsBy lists what is offered by region, zone or zone id.
func offeringsBy(m *market.Market, kind string) ([]offering, error) {
	ids := map[string]string{}
	for _, z := range m.Zones() {
		ids[z.Name] = z.ID
	}
	var out []offering
	for _, t := range m.Types() {
		switch kind {
		case "region":
			out = append(out, offering{t.Name, m.Region()})
		case "availability-zone":
			for _, z := range t.Zones {
				out = append(out, offering{t.Name, z})
			}
		case "availability-zone-id":
			for _, z := range t.Zones {
				out = append(out, offering{t.Name, ids[z]})
			}
		default:
			return nil, invalid(kind, "LocationType")
		}
	}
	return out, nil
}
