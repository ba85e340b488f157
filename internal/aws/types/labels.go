package types

import (
	"slices"
	"strconv"
	"strings"

	awsv1 "github.com/tenon-sh/tenon/api/aws/v1"
	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/internal/catalog"
)

// labels are what the labels of a node of the type are. A well-known label that
// it cannot have is there as DoesNotExist.
func labels(t *catalog.Type, s Settings, have amount.List) label.Set {
	f := familyOf(s.Class.Family)
	l := lister{set: make(label.Set, 0, 48)}
	l.text(label.InstanceType, t.Name)
	l.text(label.Arch, t.Arch)
	l.text(label.Region, s.Region)
	if f.windows != "" {
		l.text(label.OS, "windows")
	} else {
		l.text(label.OS, "linux")
	}
	l.text(label.WindowsBuild, f.windows)

	l.text(awsv1.LabelInstanceCategory, t.Category)
	l.positive(awsv1.LabelInstanceGeneration, int64(t.Generation))
	l.text(awsv1.LabelInstanceFamily, t.Family)
	l.text(awsv1.LabelInstanceSize, t.Size)
	l.flag(awsv1.LabelInstanceCapabilityFlex, strings.Contains(t.Family, "-flex"))
	l.number(awsv1.LabelInstanceCPU, int64(t.VCPUs))
	l.text(awsv1.LabelInstanceCPUManufacturer, kebab(t.CPUManufacturer))
	l.number(awsv1.LabelInstanceCPUClock, int64(t.ClockMHz))
	l.number(awsv1.LabelInstanceMemory, t.MemoryMiB)
	l.positive(awsv1.LabelInstanceNetworkBandwidth, int64(t.NetworkMbps))
	l.positive(awsv1.LabelInstanceLocalNVMe, t.NVMeGB)
	l.always(awsv1.LabelInstanceHypervisor, t.Hypervisor)
	l.flag(awsv1.LabelInstanceEncryptionInTransit, t.EncryptsInTransit)
	l.flag(awsv1.LabelNitroSandbox, t.NitroEnclaves)
	if t.EBSOptimized == "default" {
		l.number(awsv1.LabelInstanceEBSBandwidth, int64(t.EBSMbps))
	} else {
		l.absent(awsv1.LabelInstanceEBSBandwidth)
	}
	l.set = append(l.set, label.Is(awsv1.LabelInstanceTenancy, "default", "dedicated"))
	l.devices(t, s.OldLabels)
	if s.OldLabels {
		l.number(awsv1.LabelInstancePods, have.Value(amount.Pods)/amount.Unit)
	}
	for _, key := range []string{
		awsv1.LabelCapacityReservationID, awsv1.LabelCapacityReservationType, awsv1.LabelCapacityReservationInterrupts,
	} {
		l.absent(key)
	}
	l.text(awsv1.LabelPlacementGroupID, s.Placement)
	l.partitions(s.Partitions)
	slices.SortFunc(l.set, byKey)
	return l.set
}

func byKey(a, b label.Requirement) int { return strings.Compare(a.Key, b.Key) }

// lister collects labels.
type lister struct{ set label.Set }

func (l *lister) always(key, value string) { l.set = append(l.set, label.Is(key, value)) }
func (l *lister) absent(key string) {
	l.set = append(l.set, label.Requirement{Key: key})
}

func (l *lister) number(key string, n int64) { l.always(key, strconv.FormatInt(n, 10)) }
func (l *lister) flag(key string, on bool)   { l.always(key, strconv.FormatBool(on)) }

// partitions are those of the placement group: a machine can be in any of them.
func (l *lister) partitions(n int) {
	if n == 0 {
		l.absent(awsv1.LabelPlacementGroupPartition)
		return
	}
	numbers := make([]string, n)
	for i := range numbers {
		numbers[i] = strconv.Itoa(i + 1)
	}
	l.set = append(l.set, label.Is(awsv1.LabelPlacementGroupPartition, numbers...))
}

// text sets a label unless there is nothing to say.
func (l *lister) text(key, value string) {
	if value == "" {
		l.absent(key)
		return
	}
	l.always(key, value)
}

// positive sets a label unless the type has none of it.
func (l *lister) positive(key string, n int64) {
	if n == 0 {
		l.absent(key)
		return
	}
	l.number(key, n)
}

// devices sets the labels of GPUs and of other accelerators. Types with several
// kinds of one have no label, which would be true of one kind only. The old
// accelerator labels spoke of GPUs too.
func (l *lister) devices(t *catalog.Type, old bool) {
	gpu, hasGPU := only(t, catalog.GPU)
	if hasGPU {
		l.text(awsv1.LabelInstanceGPUName, kebab(gpu.Name))
		l.text(awsv1.LabelInstanceGPUManufacturer, kebab(gpu.Manufacturer))
		l.number(awsv1.LabelInstanceGPUCount, int64(gpu.Count))
		l.number(awsv1.LabelInstanceGPUMemory, gpu.MemoryMiB)
	} else {
		for _, key := range []string{awsv1.LabelInstanceGPUName, awsv1.LabelInstanceGPUManufacturer, awsv1.LabelInstanceGPUCount, awsv1.LabelInstanceGPUMemory} {
			l.absent(key)
		}
	}
	device, has := only(t, catalog.Neuron)
	if !has {
		device, has = only(t, catalog.Inference)
	}
	if !has && old {
		device, has = gpu, hasGPU
	}
	if has {
		l.text(awsv1.LabelInstanceAcceleratorName, kebab(device.Name))
		l.text(awsv1.LabelInstanceAcceleratorMaker, kebab(device.Manufacturer))
		l.number(awsv1.LabelInstanceAcceleratorCount, int64(device.Count))
	} else {
		for _, key := range []string{awsv1.LabelInstanceAcceleratorName, awsv1.LabelInstanceAcceleratorMaker, awsv1.LabelInstanceAcceleratorCount} {
			l.absent(key)
		}
	}
	if old && has {
		l.positive(awsv1.LabelInstanceAcceleratorMemory, device.MemoryMiB)
	}
}

// only returns the type's device of a kind if there is exactly one such entry.
func only(t *catalog.Type, k catalog.Kind) (catalog.Accelerator, bool) {
	var found catalog.Accelerator
	n := 0
	for _, a := range t.Accelerators {
		if a.Kind == k {
			found, n = a, n+1
		}
	}
	return found, n == 1
}

// kebab writes a name as labels have it: lower case, with hyphens for spaces.
func kebab(s string) string { return strings.ReplaceAll(strings.ToLower(s), " ", "-") }
