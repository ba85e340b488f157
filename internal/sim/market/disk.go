package market

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"
)

// What a volume is like of which nothing was said: as the root volume of the node images.
const (
	ImageVolumeGiB  = 20
	ImageVolumeKind = "gp2"
)

// Disk is a volume as the account has it, on a machine or left by one.
type Disk struct {
	ID         string
	Zone       string
	Kind       string // gp2, gp3, …
	SizeGiB    int
	IOPS       int // 0: not said
	Throughput int // 0: not said
	Encrypted  bool
	KMSKey     string
	Snapshot   string
	Created    time.Time
	Instance   string // the machine it is on; empty if on none
	Device     string // there
	Delete     bool   // it ends with that machine
	Tags       Tags
}

// Disks returns the volumes that a describe call may see, by id: those of the machines that are not terminated yet,
// and those that outlived theirs because they were not to be deleted with it.
func (m *Market) Disks() []Disk {
	defer m.lock()()
	var out []Disk
	for _, i := range m.instances {
		if i.State == Terminated || i.visible.After(m.at) {
			continue
		}
		for _, v := range i.Volumes {
			out = append(out, i.disk(v))
		}
	}
	for _, d := range m.left {
		out = append(out, d.clone())
	}
	slices.SortFunc(out, func(a, b Disk) int { return strings.Compare(a.ID, b.ID) })
	return out
}

// disk is a volume of a machine with what the machine's launch asked for.
func (i *Instance) disk(v Volume) Disk {
	d := Disk{
		ID: v.ID, Zone: i.Zone, Kind: ImageVolumeKind, SizeGiB: ImageVolumeGiB, Created: i.Launched,
		Instance: i.ID, Device: v.Device, Delete: v.Delete, Tags: maps.Clone(v.Tags),
	}
	k := slices.IndexFunc(i.Data.Devices, func(asked Device) bool { return asked.Name == v.Device })
	if k < 0 {
		return d
	}
	asked := i.Data.Devices[k]
	d.Kind = cmp.Or(asked.Kind, d.Kind)
	d.SizeGiB = cmp.Or(value(asked.SizeGiB), d.SizeGiB)
	d.IOPS, d.Throughput = value(asked.IOPS), value(asked.Throughput)
	d.Encrypted = value(asked.Encrypted) || asked.KMSKey != ""
	d.KMSKey, d.Snapshot = asked.KMSKey, asked.Snapshot
	return d
}

// leave keeps the volumes that a terminated machine was launched not to delete. The market is locked.
func (m *Market) leave(i *Instance) {
	for _, v := range i.Volumes {
		if v.Delete {
			continue
		}
		d := i.disk(v)
		d.Instance, d.Device = "", ""
		m.left[d.ID] = &d
	}
}

func (d *Disk) clone() Disk {
	out := *d
	out.Tags = maps.Clone(d.Tags)
	return out
}
