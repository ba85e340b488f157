package awsapi_test

import (
	"math"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/google/go-cmp/cmp"

	"github.com/tenon-sh/tenon/internal/catalog"
	"github.com/tenon-sh/tenon/internal/sim/awsapi"
)

// essence is what a driver computes capacity and labels from.
type essence struct {
	Archs, Usage                         []string
	VCPUs, ClockMHz                      int
	MemoryMiB, DiskGB                    int64
	Hypervisor, Maker, DiskNVMe          string
	Metal, Burst, Encrypts, Enclaves     bool
	EBSMbps, ENIs, DefaultENIs, IPv4     int
	EFAs, GPUs, GPUMemory, Neurons, Core int
	GPUName, GPUMaker, Inference         string
}

func ofCatalog(t *catalog.Type) essence {
	e := essence{
		Archs: t.Archs, Usage: t.UsageClasses, VCPUs: t.VCPUs, ClockMHz: t.ClockMHz, MemoryMiB: t.MemoryMiB, DiskGB: t.DiskGB,
		Hypervisor: t.Hypervisor, Maker: t.CPUManufacturer, Metal: t.BareMetal, Burst: t.Burstable, Encrypts: t.EncryptsInTransit,
		Enclaves: t.NitroEnclaves, EBSMbps: t.EBSMbps, ENIs: t.ENIs, DefaultENIs: t.DefaultCardENIs, IPv4: t.IPv4PerENI, EFAs: t.EFAs,
	}
	if t.DiskGB > 0 {
		e.DiskNVMe = t.DiskNVMe
	}
	if g, ok := t.Accelerator(catalog.GPU); ok {
		e.GPUs, e.GPUMemory, e.GPUName, e.GPUMaker = g.Count, int(g.MemoryMiB), g.Name, g.Manufacturer
	}
	if n, ok := t.Accelerator(catalog.Neuron); ok {
		e.Neurons, e.Core = n.Count, n.Cores
	}
	if i, ok := t.Accelerator(catalog.Inference); ok {
		e.Inference = i.Name
	}
	return e
}

func ofWire(i types.InstanceTypeInfo) essence {
	e := essence{
		VCPUs: int(aws.ToInt32(i.VCpuInfo.DefaultVCpus)), ClockMHz: int(math.Round(aws.ToFloat64(i.ProcessorInfo.SustainedClockSpeedInGhz) * 1000)),
		MemoryMiB: aws.ToInt64(i.MemoryInfo.SizeInMiB), Hypervisor: string(i.Hypervisor), Maker: aws.ToString(i.ProcessorInfo.Manufacturer),
		Metal: aws.ToBool(i.BareMetal), Burst: aws.ToBool(i.BurstablePerformanceSupported), Encrypts: aws.ToBool(i.NetworkInfo.EncryptionInTransitSupported),
		Enclaves: i.NitroEnclavesSupport == types.NitroEnclavesSupportSupported, ENIs: int(aws.ToInt32(i.NetworkInfo.MaximumNetworkInterfaces)),
		IPv4: int(aws.ToInt32(i.NetworkInfo.Ipv4AddressesPerInterface)),
	}
	for _, a := range i.ProcessorInfo.SupportedArchitectures {
		e.Archs = append(e.Archs, string(a))
	}
	for _, u := range i.SupportedUsageClasses {
		e.Usage = append(e.Usage, string(u))
	}
	for _, c := range i.NetworkInfo.NetworkCards {
		if aws.ToInt32(c.NetworkCardIndex) == aws.ToInt32(i.NetworkInfo.DefaultNetworkCardIndex) {
			e.DefaultENIs = int(aws.ToInt32(c.MaximumNetworkInterfaces))
		}
	}
	if i.NetworkInfo.EfaInfo != nil {
		e.EFAs = int(aws.ToInt32(i.NetworkInfo.EfaInfo.MaximumEfaInterfaces))
	}
	if i.EbsInfo.EbsOptimizedInfo != nil {
		e.EBSMbps = int(aws.ToInt32(i.EbsInfo.EbsOptimizedInfo.MaximumBandwidthInMbps))
	}
	if i.InstanceStorageInfo != nil {
		e.DiskGB, e.DiskNVMe = aws.ToInt64(i.InstanceStorageInfo.TotalSizeInGB), string(i.InstanceStorageInfo.NvmeSupport)
	}
	if i.GpuInfo != nil {
		g := i.GpuInfo.Gpus[0]
		e.GPUs, e.GPUMemory, e.GPUName, e.GPUMaker = int(aws.ToInt32(g.Count)), int(aws.ToInt32(g.MemoryInfo.SizeInMiB)), aws.ToString(g.Name), aws.ToString(g.Manufacturer)
	}
	if i.NeuronInfo != nil {
		n := i.NeuronInfo.NeuronDevices[0]
		e.Neurons, e.Core = int(aws.ToInt32(n.Count)), int(aws.ToInt32(n.Count)*aws.ToInt32(n.CoreInfo.Count))
	}
	if i.InferenceAcceleratorInfo != nil {
		e.Inference = aws.ToString(i.InferenceAcceleratorInfo.Accelerators[0].Name)
	}
	return e
}

// TestTypesLoseNothingOnTheWire compares every type of the largest region with the catalogue it comes from.
func TestTypesLoseNothingOnTheWire(t *testing.T) {
	w := serve(t, func(c *awsapi.Config) { c.Region = "us-east-1" })
	all, err := loaded()
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for p := ec2.NewDescribeInstanceTypesPaginator(w.ec2(), &ec2.DescribeInstanceTypesInput{}); p.HasMorePages(); {
		for _, i := range of(p.NextPage(t.Context())).must(t).InstanceTypes {
			seen++
			want, ok := all.Type(string(i.InstanceType))
			if !ok {
				t.Fatalf("%s is not in the catalogue", i.InstanceType)
			}
			if diff := cmp.Diff(ofCatalog(want), ofWire(i)); diff != "" {
				t.Errorf("%s: -catalogue +wire\n%s", i.InstanceType, diff)
			}
		}
	}
	if seen != 1354 {
		t.Errorf("%d types, want the 1354 of us-east-1", seen)
	}
}
