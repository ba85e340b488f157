package market

import (
	"slices"
	"strings"
)

// Type is an instance type as EC2 describes it, with what it costs here.
type Type struct {
	Name              string
	Archs             []string // x86_64, arm64, i386
	Virtualization    []string
	UsageClasses      []string // on-demand, spot, capacity-block
	Current           bool
	BareMetal         bool
	Burstable         bool
	Hypervisor        string // nitro, xen, or empty on bare metal
	Manufacturer      string // of the processor: Intel, AMD, AWS
	ClockGHz          float64
	VCPUs             int
	Cores             int
	ThreadsPerCore    int
	MemoryMiB         int64
	StorageGB         int64  // all instance-store disks together
	Disks             int    // how many
	DiskKind          string // ssd or hdd
	NVMe              string // unsupported, supported, required
	EBSMbps           int64  // most of the bandwidth to EBS; 0 if not optimised
	EBSBaselineMbps   int64
	EBSOptimized      string // unsupported, supported, default
	Enclaves          bool
	Accelerators      []Accelerator
	Interfaces        int // of all cards
	DefaultCard       int
	Cards             []Card
	IPv4PerInterface  int
	IPv6PerInterface  int
	IPv6              bool
	NetworkText       string // "Up to 10 Gigabit"
	EFA               int    // interfaces; 0 if not supported
	Encrypted         bool   // in transit
	PlacementStrategy []string
	OnDemand          int64            // micro-dollars per hour; 0 if not sold so
	Spot              map[string]int64 // by zone, the price at the start; missing if not sold so
	Zones             []string         // where it is offered, by name
	PriceText         string           // currency: USD or CNY
}

// Kinds of accelerators, which EC2 describes in different places.
const (
	GPU       = "gpu"
	Neuron    = "neuron"
	Inference = "inference"
	FPGA      = "fpga"
)

// Accelerator is one kind of device in a type.
type Accelerator struct {
	Kind         string
	Name         string
	Manufacturer string
	Count        int
	Logical      int // of a fractional GPU
	Cores        int // of one Neuron device
	MemoryMiB    int64
}

// Card is a network card of a type.
type Card struct {
	Index        int
	Interfaces   int
	Performance  string
	BaselineGbps float64
	PeakGbps     float64
}

// Bucket is a group of instance types that shares a quota of vCPUs.
type Bucket string

// The buckets of EC2's on-demand and spot quotas.
const (
	Standard   Bucket = "standard"
	GraphicsVT Bucket = "g-vt"
	Parallel   Bucket = "p"
	HighMemory Bucket = "high-memory"
	Extra      Bucket = "x"
	Field      Bucket = "f"
	Infer      Bucket = "inf"
	Train      Bucket = "trn"
	DeepLearn  Bucket = "dl"
	HPC        Bucket = "hpc"
)

// Spot returns the bucket of the same types bought as spot.
func (b Bucket) Spot() Bucket { return "spot-" + b }

// Bucket returns the quota a type counts against when it is bought on demand.
func (t *Type) Bucket() Bucket {
	name := t.Name
	for _, p := range []struct {
		prefix string
		bucket Bucket
	}{
		{"hpc", HPC},
		{"inf", Infer},
		{"trn", Train},
		{"dl", DeepLearn},
		{"u-", HighMemory},
		{"u7", HighMemory},
		{"vt", GraphicsVT},
		{"g", GraphicsVT},
		{"p", Parallel},
		{"x", Extra},
		{"f", Field},
	} {
		if strings.HasPrefix(name, p.prefix) {
			return p.bucket
		}
	}
	return Standard
}

// Sold reports whether the type is sold in a zone under a capacity type.
func (t *Type) Sold(zone, capacityType string) bool {
	if !slices.Contains(t.Zones, zone) {
		return false
	}
	if capacityType == Spot {
		return slices.Contains(t.UsageClasses, Spot)
	}
	return true
}

// Types returns the types offered in the region, by name.
func (m *Market) Types() []*Type {
	out := make([]*Type, 0, len(m.typeNames))
	for _, n := range m.typeNames {
		out = append(out, m.types[n])
	}
	slices.SortFunc(out, func(a, b *Type) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// Type returns one type; nil if there is none of this name.
func (m *Market) Type(name string) *Type { return m.types[name] }
