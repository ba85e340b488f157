package fit

import (
	"maps"
	"slices"

	"github.com/tenon-sh/tenon/engine/device"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
)

// Allocated refuses a place if a resource claim of the pod has devices of another. Those of the machine that the pod
// leaves are left there.
func Allocated(p *world.Pod, at *Place) *reason.Why {
	for i := range p.Devices {
		if c := &p.Devices[i]; c.Allocated && c.Node != at.Name && (p.Node == "" || c.Node != p.Node) {
			return &reason.Why{Code: reason.DeviceElsewhere, Subject: at.Name, Detail: "resource claim " + c.Name + " has devices of " + c.Node}
		}
	}
	return nil
}

// equipped refuses a place that could not give the pod's resource claims devices even if all of its devices were free.
func equipped(p *world.Pod, at *Place) *reason.Why {
	claims := unmet(p, at.Name)
	if len(claims) == 0 || Allocated(p, at) != nil {
		return nil
	}
	if why := wantsLost(claims, at); why != nil {
		return why
	}
	if device.Could(at.Devices, claims) {
		return nil
	}
	return subjected(device.Why(at.Devices, make([]bool, len(at.Devices)), at.DevicesLost, claims), at.Name)
}

// Devices refuses a place of whose devices too few are free for the pod's resource claims.
func Devices(p *world.Pod, at *Place) *reason.Why {
	if devicesFree(p, at) || Allocated(p, at) != nil || equipped(p, at) != nil {
		return nil // or it has been said that it has none
	}
	claims := at.ungiven(p, at.Name)
	if _, ok := device.Allocate(at.Devices, at.devicesInUse(), claims); !ok {
		return subjected(device.Why(at.Devices, at.devicesInUse(), at.DevicesLost, claims), at.Name)
	}
	return &reason.Why{
		Code: reason.DeviceTaken, Subject: at.Name,
		Detail: "resource claim " + claims[0].Name + ": whether it gets devices depends on which of the pods that go there is bound first",
	}
}

// devicesFree reports whether the pod's claims are given devices beside those of the pods that go there already. If
// these ask for others, which ones kube-scheduler gives depends on the order in which it binds the pods, and that is
// not ours to choose: they have to do in one order and in the reverse.
func devicesFree(p *world.Pod, at *Place) bool {
	claims := at.ungiven(p, at.Name)
	if len(claims) == 0 {
		return true
	}
	if _, ok := device.Allocate(at.Devices, at.devicesInUse(), claims); !ok || at.alike(p) {
		return ok
	}
	pods := append(slices.Clip(at.Served), p)
	_, ok := at.allot(pods, at.Name, byTurn)
	if ok {
		_, ok = at.allot(pods, at.Name, byTurnBack)
	}
	return ok
}

func subjected(why *reason.Why, to string) *reason.Why {
	why.Subject = to
	return why
}

// wantsLost says that a claim wants all devices, of which it is not known which there are.
func wantsLost(claims []*world.DeviceClaim, at *Place) *reason.Why {
	if len(at.DevicesLost) == 0 {
		return nil
	}
	for _, c := range claims {
		for _, r := range c.Requests {
			if slices.ContainsFunc(r.Options, func(o world.DeviceOption) bool { return o.All }) {
				l := &at.DevicesLost[0]
				return &reason.Why{Code: l.Code, Subject: at.Name, Detail: "resource claim " + c.Name + ", request " + r.Name + " wants all devices; pool " + l.Name + " of " + l.Driver + ": " + l.Detail}
			}
		}
	}
	return nil
}

// Given are the devices of a node, by their positions, that claims are given; none if not all have what they ask for.
func Given(n *world.Node, claims []*world.DeviceClaim) []int {
	at := NodeDevices{Devices: n.Devices}
	given, ok := device.Allocate(at.Devices, at.devicesInUse(), claims)
	if !ok {
		return nil
	}
	return given
}

// Drivers are those of the devices that pods are given in one order of binding or in the other, by name.
func (at *Place) Drivers() []string {
	var out []string
	for _, order := range []func(a, b *world.Pod) int{byTurn, byTurnBack} {
		used, _ := at.allot(at.Served, at.Name, order)
		for i := range used {
			if d := &at.Devices[i]; used[i] && !d.Taken && !slices.Contains(out, d.Driver) {
				out = append(out, d.Driver)
			}
		}
	}
	slices.Sort(out)
	return out
}

// DevicesOf is the devices that a machine of the shape will have if the pool buys it. Of several templates that name
// one device the first counts.
func DevicesOf(p *world.Pool, s *world.Shape) []world.Device {
	if len(p.Devices) == 0 {
		return nil
	}
	labels := maps.Clone(p.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	for _, r := range s.Labels {
		if r.Op() == label.In && len(r.Values) == 1 {
			labels[r.Key] = r.Values[0]
		}
	}
	labels[label.InstanceType] = s.Name
	var out []world.Device
	for _, t := range p.Devices {
		if !t.Requirements.Match(labels) {
			continue
		}
		for _, d := range t.Devices {
			if !slices.ContainsFunc(out, func(o world.Device) bool { return o.Driver == d.Driver && o.Name == d.Name }) {
				out = append(out, d)
			}
		}
	}
	return out
}

// equip sets the devices of a machine that is there or on its way, and has pods that run there have theirs. Until it is
// complete they are those that its pool states, of drivers that have to publish them before.
func equip(w *world.World, m *world.Place, at *Place) {
	if m.Node != nil && (m.Claim == nil || !forming(m, w.At())) {
		at.Devices, at.DevicesLost = m.Node.Devices, m.Node.DevicesLost
		return
	}
	if len(m.Claim.Drivers) == 0 {
		return
	}
	for _, d := range stated(w, m) {
		if slices.Contains(m.Claim.Drivers, d.Driver) {
			at.Devices = append(at.Devices, d)
		}
	}
	takenThere(m, at)
}

// takenThere has those of the devices that a pool states be taken that pods are given which run there already.
func takenThere(m *world.Place, at *Place) {
	var served []world.Key
	for _, p := range m.Holders() {
		for i := range p.Devices {
			c := &p.Devices[i]
			if slices.Contains(served, c.Key) {
				continue
			}
			served = append(served, c.Key)
			given, _ := device.Allocate(at.Devices, at.devicesTaken(), []*world.DeviceClaim{c})
			for _, d := range given {
				at.Devices[d].Taken = true
			}
		}
	}
}

// stated are the devices that the machine's pool states for whatever type it may be; none where they differ.
func stated(w *world.World, m *world.Place) []world.Device {
	pool, catalog := w.Pool(m.Claim.Pool), w.CatalogFor(m.Claim.Pool, m.Claim.Template)
	menu, known := m.Claim.Requirements.Find(label.InstanceType)
	if name, is := m.Labels()[label.InstanceType]; is {
		menu, known = label.Is(label.InstanceType, name), true
	}
	if pool == nil || len(pool.Devices) == 0 || catalog == nil || !known {
		return nil
	}
	var out []world.Device
	first := true
	for i := range catalog.Shapes {
		s := &catalog.Shapes[i]
		if !menu.Has(s.Name) {
			continue
		}
		devices := DevicesOf(pool, s)
		if !first && !device.Same(out, devices) {
			return nil
		}
		out, first = devices, false
	}
	return out
}
