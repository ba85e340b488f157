// Package types computes what a node of each EC2 instance type offers: capacity, what the system keeps of it, and labels.
//
// It is arithmetic on values: the facts of a type (catalog.Type) and the
// settings of a class. Where the facts and the offers come from, the bundled
// catalogue or the account's own API, is not known here.
package types

import (
	"github.com/tenon-sh/tenon/internal/aws/kubelet"
	"github.com/tenon-sh/tenon/internal/aws/nodeclass"
)

// MemoryOverhead is the part of a machine's memory that its hypervisor and kernel
// are taken to keep, until a real node of the type says otherwise.
const MemoryOverhead = 0.075

// Settings are what decides, besides the type, what a node offers.
type Settings struct {
	Class          nodeclass.Class
	Kubelet        kubelet.Config
	Region         string
	MemoryOverhead float64          // as a fraction
	ReservedENIs   int              // network interfaces that pods do not get
	Seen           map[string]int64 // bytes of memory that nodes of a type were seen to have
	Placement      string           // id of the class' placement group; empty without one
	Strategy       string           // the group's
	Partitions     int              // the group's, if it has any
	OldLabels      bool             // also the labels that only Provisioners knew

	// Computed gives the values of the expressions in Kubelet; nil if there are none. It follows from them, so it is no part of what is compared.
	Computed Computer `json:"-"`
}

// Computer computes kubelet settings for a type. pods is how many pods the type takes by some settings.
type Computer interface {
	Compute(k kubelet.Config, m kubelet.Machine, pods func(kubelet.Config) int64) (kubelet.Config, error)
}

// Default is an AL2023 class with nothing set, in a region.
func Default(region string) Settings {
	return Settings{Class: nodeclass.Class{Family: AL2023}, Region: region, MemoryOverhead: MemoryOverhead}
}

// Deciding is the settings without what decides nothing of what nodes offer: of
// classes that are equal in the rest, nodes of each type are the same.
func Deciding(s Settings) Settings {
	c, k := s.Class, s.Kubelet
	s.Class = nodeclass.Class{Family: c.Family, RAID0: c.RAID0, Interfaces: c.Interfaces, Nested: c.Nested}
	for _, d := range c.Disks {
		s.Class.Disks = append(s.Class.Disks, nodeclass.Disk{Device: d.Device, Root: d.Root, SizeGiB: d.SizeGiB})
	}
	if c.Tracking != nil {
		s.Class.Tracking = &nodeclass.Tracking{}
	}
	s.Kubelet = kubelet.Config{
		MaxPods: k.MaxPods, PodsPerCore: k.PodsPerCore, KubeReserved: k.KubeReserved, SystemReserved: k.SystemReserved, EvictionHard: k.EvictionHard,
		Expressions: k.Expressions,
	}
	return s
}
