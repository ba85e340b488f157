package enginetest

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
)

// hasDevices returns why the pod's resource claims have no devices of the node; empty if they have, or are given some.
func (c *checker) hasDevices(p *world.Pod, s *nodeInfo) string {
	used, served := c.inUse(s)
	for i := range p.Devices {
		x := &p.Devices[i]
		switch {
		case x.Problem.Code != "":
			return "a resource claim that cannot be planned for"
		case x.Allocated && x.Node != s.name && (p.Node == "" || p.Node != x.Node):
			return "a resource claim that has devices of " + x.Node
		case x.Shared && c.servedElsewhere(x.Key, s):
			return "a resource claim that another pod has"
		}
	}
	if _, ok := grant(s, used, lacking(p, s, served)); !ok {
		return "devices"
	}
	return ""
}

// surely reports whether the pod and those on the node are given devices in whichever of two orders they are bound: a
// pod that would be left over in one of them is not planned there.
func (c *checker) surely(p *world.Pod, s *nodeInfo) bool {
	if len(p.Devices) == 0 {
		return true
	}
	was := s.pods
	defer func() { s.pods = was }()
	var there, come []*world.Pod
	for _, q := range was {
		if q.Node == "" || c.target[q.Key] == s {
			come = append(come, q)
		} else {
			there = append(there, q)
		}
	}
	come = append(come, p)
	for _, order := range []func(a, b *world.Pod) int{byName, func(a, b *world.Pod) int { return byName(b, a) }} {
		slices.SortFunc(come, func(a, b *world.Pod) int { return cmp.Or(cmp.Compare(b.Priority, a.Priority), order(a, b)) })
		s.pods = slices.Clone(there)
		for _, q := range come {
			if c.hasDevices(q, s) != "" {
				return false
			}
			s.pods = append(s.pods, q)
		}
	}
	return true
}

// inUse is which devices of the node are given to claims, and to whose, once its pods have been bound one after the other.
func (c *checker) inUse(s *nodeInfo) (used []bool, served map[world.Key]bool) {
	used, served = make([]bool, len(s.devices)), map[world.Key]bool{}
	for i, d := range s.devices {
		used[i] = d.Taken
	}
	for _, q := range s.pods {
		var want []*world.DeviceClaim
		if s.forming {
			want = all(q)
		} else {
			want = lacking(q, s, served)
		}
		given, _ := grant(s, used, want)
		for _, i := range given {
			used[i] = true
		}
		for _, x := range all(q) {
			served[x.Key] = true
		}
	}
	return used, served
}

func all(p *world.Pod) []*world.DeviceClaim {
	var out []*world.DeviceClaim
	for i := range p.Devices {
		out = append(out, &p.Devices[i])
	}
	return out
}

// lacking are the pod's claims that have no devices of the node.
func lacking(p *world.Pod, s *nodeInfo, served map[world.Key]bool) []*world.DeviceClaim {
	return slices.DeleteFunc(all(p), func(x *world.DeviceClaim) bool {
		return served[x.Key] || x.Allocated && x.Node == s.name
	})
}

// servedElsewhere reports whether a pod on another node has the claim.
func (c *checker) servedElsewhere(k world.Key, s *nodeInfo) bool {
	return slices.ContainsFunc(c.order, func(o *nodeInfo) bool {
		return o != s && slices.ContainsFunc(o.pods, func(q *world.Pod) bool {
			return slices.ContainsFunc(q.Devices, func(x world.DeviceClaim) bool { return x.Key == k })
		})
	})
}

// slot is one device that a request is to be given.
type slot struct {
	claim   int
	request string
	option  world.DeviceOption
	exactly int // this device; -1: any that is accepted
}

// grant tries every way to fill the slots of every choice of options, in order, and returns the first that holds.
func grant(s *nodeInfo, used []bool, claims []*world.DeviceClaim) ([]int, bool) {
	for _, slots := range choices(s, claims) {
		if given, ok := fill(s, slices.Clone(used), claims, slots, nil); ok {
			return given, true
		}
	}
	return nil, false
}

// choices are the slots of each combination of options, the preferred ones first.
func choices(s *nodeInfo, claims []*world.DeviceClaim) [][]slot {
	out := [][]slot{nil}
	for n, x := range claims {
		for _, r := range x.Requests {
			var next [][]slot
			for _, before := range out {
				for _, o := range r.Options {
					if more, ok := slotsOf(s, n, r.Name, o); ok {
						next = append(next, append(slices.Clip(before), more...))
					}
				}
			}
			out = next
		}
	}
	return slices.DeleteFunc(out, func(slots []slot) bool {
		count := map[int]int{}
		for _, x := range slots {
			count[x.claim]++
		}
		return slices.ContainsFunc(slots, func(x slot) bool { return count[x.claim] > 32 })
	})
}

func slotsOf(s *nodeInfo, claim int, request string, o world.DeviceOption) (out []slot, ok bool) {
	if !o.All {
		for range o.Count {
			out = append(out, slot{claim, request, o, -1})
		}
		return out, true
	}
	if len(s.lost) > 0 {
		return nil, false
	}
	for i, d := range s.devices {
		if slices.Contains(d.Withheld, o.Selection) {
			return nil, false
		}
		if slices.Contains(d.Meets, o.Selection) {
			out = append(out, slot{claim, request, o, i})
		}
	}
	return out, len(out) > 0
}

// fill gives each slot a device in turn; constraints are looked at once all have one.
func fill(s *nodeInfo, used []bool, claims []*world.DeviceClaim, slots []slot, given []int) ([]int, bool) {
	if len(given) == len(slots) {
		return given, alike(s, claims, slots, given)
	}
	x := slots[len(given)]
	for i, d := range s.devices {
		repeats := len(given) > 0 && slots[len(given)-1] == x && i < given[len(given)-1]
		if used[i] || repeats || x.exactly >= 0 && x.exactly != i || !slices.Contains(d.Meets, x.option.Selection) {
			continue
		}
		used[i] = true
		if out, ok := fill(s, used, claims, slots, append(slices.Clip(given), i)); ok {
			return out, true
		}
		used[i] = false
	}
	return nil, false
}

// alike reports whether the devices have in common what the claims' constraints say.
func alike(s *nodeInfo, claims []*world.DeviceClaim, slots []slot, given []int) bool {
	for n, x := range claims {
		for _, k := range x.Alike {
			values := map[string]bool{}
			for j, i := range given {
				about := len(k.Requests) == 0 || slices.Contains(k.Requests, slots[j].request) || slices.Contains(k.Requests, slots[j].request+"/"+slots[j].option.Name)
				if slots[j].claim != n || !about {
					continue
				}
				v, ok := s.devices[i].Attributes[k.Attribute]
				if !ok {
					return false
				}
				values[v] = true
			}
			if len(values) > 1 {
				return false
			}
		}
	}
	return true
}

// stated are the devices that a pool states for machines with these labels.
func stated(p *world.Pool, labels map[string]string) []world.Device {
	var out []world.Device
	if p == nil {
		return nil
	}
	seen := map[string]bool{}
	for _, t := range p.Devices {
		for _, d := range t.Devices {
			if name := d.Driver + "/" + d.Name; t.Requirements.Match(labels) && !seen[name] {
				seen[name] = true
				out = append(out, d)
			}
		}
	}
	return out
}

// equip sets what devices a node has: those that it publishes once it is complete, and before those that its pool
// states, of drivers for which it waits.
func (c *checker) equip(s *nodeInfo, m *world.Place) {
	if m.Claim == nil || m.Claim.Initialized {
		s.devices, s.lost = m.Node.Devices, m.Node.DevicesLost
		return
	}
	s.forming = true
	for _, d := range stated(c.w.Pool(m.Claim.Pool), m.Node.Labels) {
		if slices.Contains(m.Claim.Drivers, d.Driver) {
			s.devices = append(s.devices, d)
		}
	}
}

// drivers checks that an ask names the drivers whose devices its pods are given on what it may become.
func (c *checker) drivers(a plan.Ask, s *nodeInfo) {
	was := s.pods
	var names []string
	for _, order := range []func(a, b *world.Pod) int{byName, func(a, b *world.Pod) int { return byName(b, a) }} {
		var pods []*world.Pod
		for _, k := range a.Pods {
			pods = append(pods, c.w.Pod(k))
		}
		slices.SortFunc(pods, func(a, b *world.Pod) int { return cmp.Or(cmp.Compare(b.Priority, a.Priority), order(a, b)) })
		s.pods = was
		for _, p := range pods {
			if why := c.hasDevices(p, s); why != "" {
				c.fault("%s may become %s, where %s lacks %s", a.Name, s.labels[label.InstanceType], p.Key, why)
			}
			s.pods = append(slices.Clip(s.pods), p)
		}
		used, _ := c.inUse(s)
		for i, d := range s.devices {
			if used[i] {
				names = append(names, d.Driver)
			}
		}
	}
	slices.Sort(names)
	if names = slices.Compact(names); !slices.Equal(names, a.Drivers) {
		c.fault("%s may become %s with devices of %v, and names %v", a.Name, s.labels[label.InstanceType], names, a.Drivers)
	}
	s.pods = was
}

// devices reads DRIVER/NAME and then any of taken, sel=A|B, bar=A|B and attributes KEY=VALUE, all with colons between.
func (a *args) devices(texts []string) []world.Device {
	var out []world.Device
	for _, text := range texts {
		parts := strings.Split(text, ":")
		d := world.Device{}
		d.Driver, d.Name, _ = strings.Cut(parts[0], "/")
		for _, part := range parts[1:] {
			switch k, v, _ := strings.Cut(part, "="); k {
			case "taken":
				d.Taken = true
			case "sel":
				d.Meets = slices.Sorted(slices.Values(strings.Split(v, "|")))
			case "bar":
				d.Withheld = slices.Sorted(slices.Values(strings.Split(v, "|")))
			default:
				if d.Attributes == nil {
					d.Attributes = map[string]string{}
				}
				d.Attributes[k] = v
			}
		}
		out = append(out, d)
	}
	return out
}

// lostPools reads DRIVER/POOL, of which slices are missing.
func (a *args) lostPools() []world.DevicePool {
	var out []world.DevicePool
	for _, text := range a.all("lost") {
		driver, name, _ := strings.Cut(text, "/")
		out = append(out, world.DevicePool{Driver: driver, Name: name, Code: reason.PoolIncomplete, Detail: "slices are missing"})
	}
	return out
}

// templates reads KEY:VALUES>DEVICE,DEVICE.
func (a *args) templates() []world.DeviceTemplate {
	var out []world.DeviceTemplate
	for _, text := range a.all("devices") {
		where, devices, _ := strings.Cut(text, ">")
		t := world.DeviceTemplate{Devices: a.devices(strings.Split(devices, ","))}
		if where != "" {
			t.Requirements = label.SetOf(a.requirement(where))
		}
		out = append(out, t)
	}
	return out
}

// deviceClaims reads NAME:REQUEST+REQUEST and then any of alike=ATTRIBUTE, on=NODE; a request is SELECTION*COUNT, of
// several of which one will do with a bar between. Claims of wants are the pod's own, those of shared are not.
func (a *args) deviceClaims(namespace, pod string) []world.DeviceClaim {
	var out []world.DeviceClaim
	for _, kind := range []string{"wants", "shared"} {
		for _, text := range a.all(kind) {
			parts := strings.Split(text, ":")
			x := world.DeviceClaim{Key: world.Key{Namespace: namespace, Name: parts[0]}, Shared: kind == "shared"}
			if !x.Shared {
				x.Name = pod + "-" + x.Name
			}
			for _, part := range parts[1:] {
				switch k, v, named := strings.Cut(part, "="); {
				case named && k == "alike":
					x.Alike = append(x.Alike, world.DeviceAlike{Attribute: v})
				case named && k == "on":
					x.Allocated, x.Node = true, v
				default:
					for i, r := range strings.Split(part, "+") {
						x.Requests = append(x.Requests, world.DeviceRequest{Name: fmt.Sprint("r", i), Options: a.options(r)})
					}
				}
			}
			out = append(out, x)
		}
	}
	return out
}

func (a *args) options(text string) []world.DeviceOption {
	var out []world.DeviceOption
	several := strings.Contains(text, "|")
	for i, option := range strings.Split(text, "|") {
		selection, count, _ := strings.Cut(option, "*")
		o := world.DeviceOption{Selection: selection, Class: selection}
		if several {
			o.Name = fmt.Sprint("o", i)
		}
		switch count {
		case "all":
			o.All = true
		default:
			n, err := strconv.Atoi(count)
			a.fail(err)
			o.Count = n
		}
		out = append(out, o)
	}
	return out
}
