package catalog

import "slices"

// Type is an instance type as EC2 describes it.
type Type struct {
	Name       string
	Family     string // before the dot
	Size       string // after it
	Category   string // the leading letters: c, m, hpc
	Generation int    // the number after them; 0 if the name has none
	Current    bool   // of the current generation

	Arch  string   // as Kubernetes calls it: amd64, arm64; empty for types it does not run on
	Archs []string // as EC2 lists them: x86_64, i386, arm64, arm64_mac, x86_64_mac

	VCPUs           int
	Cores           int
	ThreadsPerCore  int
	CPUManufacturer string // Intel, AMD, AWS, Apple
	ClockMHz        int    // sustained; 0 if unknown
	MemoryMiB       int64

	Hypervisor     string // nitro, xen; empty on bare metal
	BareMetal      bool
	Burstable      bool
	NitroEnclaves  bool
	UsageClasses   []string // on-demand, spot, capacity-block
	Virtualization []string // hvm, paravirtual
	BootModes      []string
	RootDevices    []string

	// NestedVirtualization is not known to the bundled catalogue, only to EC2.
	NestedVirtualization bool

	Placement []string // strategies of placement groups it can join

	NetworkText       string // as EC2 puts it: "Up to 10 Gigabit"
	NetworkMbps       int    // all cards together, sustained; 0 where EC2 says only "Moderate"
	BaselineMbps      int    // of the first card, or of all, as EC2 reports it
	PeakMbps          int
	EncryptsInTransit bool
	ENA               string // unsupported, supported, required
	DefaultCard       int
	Cards             []Card // one entry if the type has a single card
	ENIs              int    // of all cards
	DefaultCardENIs   int
	IPv4PerENI        int
	IPv6              bool
	IPv6PerENI        int
	EFAs              int // Elastic Fabric Adapters; 0 if unsupported
	Trunk             bool
	BranchENIs        int // for pods with security groups of their own; 0 unless Trunk

	EBSOptimized    string // unsupported, supported, default
	EBSMbps         int
	EBSBaselineMbps int
	EBSNVMe         string // unsupported, supported, required
	EBSAttachMax    int    // volumes and, on older types, interfaces that share the slots

	NVMeGB     int64  // instance store that NVMe speaks to; 0 if none
	DiskGB     int64  // instance store of any kind
	Disks      int    // how many
	DiskSizeGB int64  // of one
	DiskType   string // ssd, hdd
	DiskNVMe   string // unsupported, required

	Accelerators []Accelerator
}

// Card is one network card.
type Card struct {
	ENIs         int
	BaselineMbps int
	PeakMbps     int
	Text         string // as EC2 puts it
}

// Kind says what sort of accelerator it is; EC2 describes each sort in a place of its own.
type Kind string

// The kinds of accelerator.
const (
	GPU       Kind = "gpu"
	Neuron    Kind = "neuron"
	Inference Kind = "inference"
	FPGA      Kind = "fpga"
	Media     Kind = "media"
)

// Accelerator is one kind of device in a type.
type Accelerator struct {
	Kind         Kind
	Name         string
	Manufacturer string
	Count        int // 0 for a fraction of a GPU
	Logical      int // GPUs as the machine sees them
	Cores        int // Neuron cores of all devices
	MemoryMiB    int64
}

// Spot reports whether the type is sold as spot.
func (t *Type) Spot() bool { return slices.Contains(t.UsageClasses, "spot") }

// Accelerator returns the type's device of one kind; false if it has none.
func (t *Type) Accelerator(k Kind) (Accelerator, bool) {
	i := slices.IndexFunc(t.Accelerators, func(a Accelerator) bool { return a.Kind == k })
	if i < 0 {
		return Accelerator{}, false
	}
	return t.Accelerators[i], true
}
