package fit

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/tenon-sh/tenon/engine/device"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
)

// NodeDevices is the devices of a place.
type NodeDevices struct {
	Devices     []world.Device     // that it has or, if it is not complete, will have
	DevicesLost []world.DevicePool // pools of devices that cannot be had now
	Served      []*world.Pod       // that were put there since, and given some of the devices
	inUse       []bool             // which of the devices claims have, once some were given
}

func hasDevices(p *world.Pod) bool { return len(p.Devices) > 0 }

// appendDevices appends what the pod's resource claims ask for. Claims that others may share, or that have devices, appear by name.
func appendDevices(b []byte, p *world.Pod) []byte {
	b = binary.AppendUvarint(b, uint64(len(p.Devices)))
	for i := range p.Devices {
		c := &p.Devices[i]
		if b = label.AppendFlags(b, c.Shared, c.Allocated); c.Shared || c.Allocated {
			b = label.AppendText(label.AppendText(label.AppendText(label.AppendText(b, c.Namespace), c.Name), c.Node), p.Node)
		}
		b = binary.AppendUvarint(b, uint64(len(c.Requests)))
		for _, r := range c.Requests {
			b = binary.AppendUvarint(label.AppendText(b, r.Name), uint64(len(r.Options)))
			for _, o := range r.Options {
				b = label.AppendFlags(label.AppendText(label.AppendText(b, o.Name), o.Selection), o.All)
				b = binary.AppendVarint(b, int64(o.Count))
			}
		}
		b = binary.AppendUvarint(b, uint64(len(c.Alike)))
		for _, k := range c.Alike {
			b = binary.AppendUvarint(label.AppendText(b, k.Attribute), uint64(len(k.Requests)))
			for _, r := range k.Requests {
				b = label.AppendText(b, r)
			}
		}
	}
	return b
}

// unmet are the pod's resource claims that have no devices of the place of that name.
func unmet(p *world.Pod, on string) []*world.DeviceClaim {
	var out []*world.DeviceClaim
	for i := range p.Devices {
		if c := &p.Devices[i]; !c.On(on) {
			out = append(out, c)
		}
	}
	return out
}

// ungiven are those of them that were not given any since, by pods that share them.
func (l *NodeDevices) ungiven(p *world.Pod, on string) []*world.DeviceClaim {
	return slices.DeleteFunc(unmet(p, on), func(c *world.DeviceClaim) bool {
		return c.Shared && slices.ContainsFunc(l.Served, func(q *world.Pod) bool {
			return slices.ContainsFunc(q.Devices, func(o world.DeviceClaim) bool { return o.Key == c.Key })
		})
	})
}

// devicesTaken is which of the devices claims have, but for pods that were put there since.
func (l *NodeDevices) devicesTaken() []bool {
	out := make([]bool, len(l.Devices))
	for i := range l.Devices {
		out[i] = l.Devices[i].Taken
	}
	return out
}

// devicesInUse is which of the devices claims have.
func (l *NodeDevices) devicesInUse() []bool {
	if l.inUse != nil {
		return l.inUse
	}
	return l.devicesTaken()
}

// serve gives the pod devices, if they can be had.
func (l *NodeDevices) serve(p *world.Pod, on string) {
	if len(unmet(p, on)) == 0 {
		return
	}
	l.Served = append(slices.Clip(l.Served), p)
	l.inUse, _ = l.allot(l.Served, on, byTurn)
}

// byTurn is an order in which kube-scheduler may bind pods.
func byTurn(a, b *world.Pod) int {
	return cmp.Or(cmp.Compare(b.Priority, a.Priority), a.Key.Compare(b.Key))
}

// byTurnBack is another.
func byTurnBack(a, b *world.Pod) int {
	return cmp.Or(cmp.Compare(b.Priority, a.Priority), b.Key.Compare(a.Key))
}

// alike reports whether all pods that were given devices of the place ask for the same as p, so that it does not
// matter which of them comes first.
func (l *NodeDevices) alike(p *world.Pod) bool {
	want := appendDevices(nil, p)
	return !slices.ContainsFunc(l.Served, func(q *world.Pod) bool { return !bytes.Equal(want, appendDevices(nil, q)) })
}

// allot gives the pods devices, one after the other. It returns which are in use then, and whether all got theirs.
func (l *NodeDevices) allot(pods []*world.Pod, on string, order func(a, b *world.Pod) int) (used []bool, all bool) {
	used, all = l.devicesTaken(), true
	var served []world.Key
	for _, p := range slices.SortedFunc(slices.Values(pods), order) {
		claims := slices.DeleteFunc(unmet(p, on), func(c *world.DeviceClaim) bool { return slices.Contains(served, c.Key) })
		given, ok := device.Allocate(l.Devices, used, claims)
		if !ok {
			all = false
			continue
		}
		for _, i := range given {
			used[i] = true
		}
		for _, c := range claims {
			served = append(served, c.Key)
		}
	}
	return used, all
}

// servedAs gives those pods devices that have them of another place, and no others.
func (l *NodeDevices) servedAs(o *NodeDevices, on string) {
	if len(l.Served)+len(o.Served) == 0 {
		return
	}
	l.Served = slices.Clip(o.Served)
	l.inUse, _ = l.allot(l.Served, on, byTurn)
}
