package inventory

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/tenon-sh/tenon/internal/catalog"
)

// Type turns EC2's description of a type into facts. What EC2 does not say,
// such as the number of branch interfaces, is taken from the bundled facts of
// the type, if it is known there. That goes for every field: a server that
// speaks like EC2 may describe less.
func Type(info ec2types.InstanceTypeInfo, known *catalog.Type) catalog.Type {
	var t catalog.Type
	if known != nil {
		t = *known
	} else {
		t = named(string(info.InstanceType))
	}
	said(&t.Current, info.CurrentGeneration)
	said(&t.BareMetal, info.BareMetal)
	said(&t.Burstable, info.BurstablePerformanceSupported)
	if t.Hypervisor = cmp.Or(string(info.Hypervisor), t.Hypervisor); t.BareMetal {
		t.Hypervisor = ""
	}
	if e := info.NitroEnclavesSupport; e != "" {
		t.NitroEnclaves = e == ec2types.NitroEnclavesSupportSupported
	}
	t.UsageClasses = listed(info.SupportedUsageClasses, t.UsageClasses, "on-demand", "spot")
	t.Virtualization = listed(info.SupportedVirtualizationTypes, t.Virtualization, "hvm")
	if p := info.PlacementGroupInfo; p != nil {
		t.Placement = listed(p.SupportedStrategies, t.Placement)
	}
	if v := info.VCpuInfo; v != nil {
		said(&t.VCPUs, whole(v.DefaultVCpus))
		said(&t.Cores, whole(v.DefaultCores))
		said(&t.ThreadsPerCore, whole(v.DefaultThreadsPerCore))
	}
	if m := info.MemoryInfo; m != nil {
		said(&t.MemoryMiB, m.SizeInMiB)
	}
	processor(&t, info.ProcessorInfo)
	network(&t, info.NetworkInfo)
	disks(&t, info)
	if known == nil {
		t.Accelerators = accelerators(info)
	}
	return t
}

// named reads what the name of a type says: family, size, category, generation.
func named(name string) catalog.Type {
	t := catalog.Type{Name: name}
	t.Family, t.Size, _ = strings.Cut(name, ".")
	end := strings.IndexFunc(t.Family, func(r rune) bool { return !unicode.IsLetter(r) })
	if end < 0 {
		return t
	}
	t.Category = t.Family[:end]
	for _, r := range t.Family[end:] {
		if !unicode.IsDigit(r) {
			break
		}
		t.Generation = 10*t.Generation + int(r-'0')
	}
	return t
}

func processor(t *catalog.Type, p *ec2types.ProcessorInfo) {
	if p == nil {
		return
	}
	if len(p.SupportedArchitectures) > 0 {
		t.Archs, t.Arch = texts(p.SupportedArchitectures), ""
	}
	for _, a := range t.Archs {
		switch a {
		case "x86_64":
			t.Arch = "amd64"
		case "arm64":
			t.Arch = "arm64"
		}
	}
	if slices.Contains(p.SupportedFeatures, "nested-virtualization") {
		t.NestedVirtualization = true
	}
	if m := aws.ToString(p.Manufacturer); m != "" {
		t.CPUManufacturer = m
	}
	if c := aws.ToFloat64(p.SustainedClockSpeedInGhz); c > 0 {
		t.ClockMHz = int(c*1000 + 0.5)
	}
}

func network(t *catalog.Type, n *ec2types.NetworkInfo) {
	if n == nil {
		return
	}
	said(&t.NetworkText, n.NetworkPerformance)
	said(&t.EncryptsInTransit, n.EncryptionInTransitSupported)
	said(&t.ENIs, whole(n.MaximumNetworkInterfaces))
	said(&t.IPv4PerENI, whole(n.Ipv4AddressesPerInterface))
	said(&t.IPv6, n.Ipv6Supported)
	said(&t.IPv6PerENI, whole(n.Ipv6AddressesPerInterface))
	said(&t.DefaultCard, whole(n.DefaultNetworkCardIndex))
	t.ENA = cmp.Or(string(n.EnaSupport), t.ENA)
	if len(n.NetworkCards) > 0 {
		t.Cards, t.DefaultCardENIs = nil, t.ENIs
	} else if len(t.Cards) == 0 {
		t.DefaultCardENIs = t.ENIs
	}
	for _, c := range n.NetworkCards {
		t.Cards = append(t.Cards, catalog.Card{
			ENIs: number(c.MaximumNetworkInterfaces), Text: aws.ToString(c.NetworkPerformance),
			BaselineMbps: int(aws.ToFloat64(c.BaselineBandwidthInGbps) * 1000), PeakMbps: int(aws.ToFloat64(c.PeakBandwidthInGbps) * 1000),
		})
		if number(c.NetworkCardIndex) == t.DefaultCard {
			t.DefaultCardENIs = number(c.MaximumNetworkInterfaces)
		}
	}
	switch {
	case n.EfaSupported != nil && !*n.EfaSupported:
		t.EFAs = 0
	case n.EfaInfo != nil:
		said(&t.EFAs, whole(n.EfaInfo.MaximumEfaInterfaces))
	}
}

func disks(t *catalog.Type, info ec2types.InstanceTypeInfo) {
	if e := info.EbsInfo; e != nil {
		t.EBSOptimized, t.EBSNVMe = string(e.EbsOptimizedSupport), string(e.NvmeSupport)
		if o := e.EbsOptimizedInfo; o != nil {
			t.EBSMbps, t.EBSBaselineMbps = number(o.MaximumBandwidthInMbps), number(o.BaselineBandwidthInMbps)
		}
	}
	s := info.InstanceStorageInfo
	if s == nil {
		return
	}
	t.DiskGB, t.DiskNVMe = aws.ToInt64(s.TotalSizeInGB), string(s.NvmeSupport)
	t.NVMeGB = 0
	if s.NvmeSupport != ec2types.EphemeralNvmeSupportUnsupported {
		t.NVMeGB = t.DiskGB
	}
}

func accelerators(info ec2types.InstanceTypeInfo) []catalog.Accelerator {
	var out []catalog.Accelerator
	if g := info.GpuInfo; g != nil {
		for _, d := range g.Gpus {
			a := catalog.Accelerator{Kind: catalog.GPU, Name: aws.ToString(d.Name), Manufacturer: aws.ToString(d.Manufacturer), Count: number(d.Count)}
			if d.MemoryInfo != nil {
				a.MemoryMiB = int64(number(d.MemoryInfo.SizeInMiB))
			}
			out = append(out, a)
		}
	}
	if n := info.NeuronInfo; n != nil {
		for _, d := range n.NeuronDevices {
			a := catalog.Accelerator{Kind: catalog.Neuron, Name: aws.ToString(d.Name), Manufacturer: "aws", Count: number(d.Count)}
			if d.CoreInfo != nil {
				a.Cores = a.Count * number(d.CoreInfo.Count)
			}
			out = append(out, a)
		}
	}
	return out
}

func number(p *int32) int { return int(aws.ToInt32(p)) }

// whole is a number of EC2's as facts have it; nil if it is not said.
func whole(p *int32) *int {
	if p == nil {
		return nil
	}
	n := int(*p)
	return &n
}

// said takes over what EC2 says, if it says anything.
func said[T any](fact, says *T) {
	if says != nil {
		*fact = *says
	}
}

// listed is a list as EC2 gives it, or as it was known, or else what is usual.
func listed[T ~string](says []T, known []string, usual ...string) []string {
	switch {
	case len(says) > 0:
		return texts(says)
	case len(known) > 0:
		return known
	}
	return usual
}

// texts turns a list of one of the SDK's kinds of text into a list of strings.
func texts[T ~string](list []T) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = string(s)
	}
	return slices.Clip(out)
}
