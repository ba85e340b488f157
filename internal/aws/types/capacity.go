package types

import (
	"math"
	"slices"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/internal/catalog"
)

// Names of the resources that machines of EC2 have beside the usual ones.
const (
	podENI      = "vpc.amazonaws.com/pod-eni"
	privateIPv4 = "vpc.amazonaws.com/PrivateIPv4Address"
	efa         = "vpc.amazonaws.com/efa"
	nvidiaGPU   = "nvidia.com/gpu"
	amdGPU      = "amd.com/gpu"
	gaudi       = "habana.ai/gaudi"
	neuron      = "aws.amazon.com/neuron"
	neuronCore  = "aws.amazon.com/neuroncore"
)

// capacity is all that a node of the type has.
func capacity(t *catalog.Type, s Settings) amount.List {
	f := familyOf(s.Class.Family)
	have := []amount.Entry{
		{Name: amount.CPU, Value: int64(t.VCPUs)},
		{Name: amount.Memory, Value: memory(t, s)},
		{Name: amount.Ephemeral, Value: ephemeral(t, s, f)},
		{Name: amount.Pods, Value: pods(t, s, f)},
		{Name: podENI, Value: int64(t.BranchENIs)},
		{Name: efa, Value: adapters(t, s)},
	}
	if f.windows != "" {
		have = append(have, amount.Entry{Name: privateIPv4, Value: int64(t.IPv4PerENI - 1)})
	}
	for _, a := range t.Accelerators {
		switch {
		case a.Kind == catalog.GPU && gpuResource(a.Manufacturer) != "":
			have = append(have, amount.Entry{Name: gpuResource(a.Manufacturer), Value: int64(a.Count)})
		case a.Kind == catalog.Neuron:
			have = append(have, amount.Entry{Name: neuron, Value: int64(a.Count)}, amount.Entry{Name: neuronCore, Value: int64(a.Cores)})
		}
	}
	var list []amount.Entry
	for _, e := range have {
		if e.Value > 0 || e.Name == amount.Pods {
			e.Value *= amount.Unit
			list = append(list, e)
		}
	}
	return amount.Of(list...)
}

func gpuResource(manufacturer string) string {
	switch manufacturer {
	case "NVIDIA":
		return nvidiaGPU
	case "AMD":
		return amdGPU
	case "Habana":
		return gaudi
	}
	return ""
}

// memory in bytes: what EC2 says, less what the firmware keeps on arm64, less the
// overhead in whole MiB; or what nodes of the type were seen to have.
func memory(t *catalog.Type, s Settings) int64 {
	size := t.MemoryMiB
	if len(t.Archs) > 0 && t.Archs[0] == "arm64" {
		size -= 64
	}
	size -= int64(math.Ceil(float64(size*mib) * s.MemoryOverhead / mib))
	if seen, ok := s.Seen[t.Name]; ok {
		return seen
	}
	return size * mib
}

// ephemeral is the size in bytes of the disk that pods write to.
func ephemeral(t *catalog.Type, s Settings, f family) int64 {
	if s.Class.RAID0 && t.DiskGB > 0 {
		return t.DiskGB * 1e9
	}
	disks := s.Class.Disks
	for _, d := range disks {
		if d.Root {
			return sizeOf(d.SizeGiB)
		}
	}
	if s.Class.Family == Custom && len(disks) > 0 {
		return sizeOf(disks[len(disks)-1].SizeGiB)
	}
	for _, d := range slices.Concat(disks, f.disks) {
		if d.Device == f.device {
			return sizeOf(d.SizeGiB)
		}
	}
	return defaultEphemeral
}

// sizeOf is the size of a disk; one that takes its size from a snapshot counts as the default.
func sizeOf(gibs int64) int64 {
	if gibs == 0 {
		return defaultEphemeral
	}
	return gibs * gib
}

// pods is how many pods the node takes.
func pods(t *catalog.Type, s Settings, f family) int64 {
	n := networkPods(t, s, s.ReservedENIs)
	if f.pods > 0 {
		n = f.pods
	}
	if s.Kubelet.MaxPods != nil {
		n = *s.Kubelet.MaxPods
	}
	if per := s.Kubelet.PodsPerCore; per != nil && *per > 0 && !f.noPerCore {
		n = min(n, *per*int64(t.VCPUs))
	}
	return n
}

// networkPods is how many pods get an address of their own: each interface of the
// default card keeps one for itself, and two pods use the host's.
func networkPods(t *catalog.Type, s Settings, reserved int) int64 {
	usable := int64(t.DefaultCardENIs-reserved) - efaOnly(s.Class.Interfaces, 0)
	if usable < 1 {
		return 0
	}
	return usable*int64(t.IPv4PerENI-1) + 2
}

// adapters is how many Elastic Fabric Adapters pods may ask for.
func adapters(t *catalog.Type, s Settings) int64 {
	if len(s.Class.Interfaces) > 0 {
		return efaOnly(s.Class.Interfaces, -1)
	}
	return int64(t.EFAs)
}
