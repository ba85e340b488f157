package market

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/fit"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
)

// Host ports and attachments of volumes are counted like resources where that is
// the same: a machine has one of each port, and so many attachments of a driver.
// It is not the same for a port that pods want on different addresses and for
// volumes that several share; pods with such are looked at one by one.

// counter is what is counted: attachments of a driver, or a port.
type counter struct {
	driver   string
	ip       string // of the machine; empty is every one
	protocol string
	port     int32
}

// Counters are all that is counted in one packing.
type Counters struct {
	rules   *fit.Rules
	list    []counter
	First   int              // the position of the first among the dimensions
	drivers map[string]bool  // whose volumes are counted, or need not be
	ports   map[counter]bool // that are counted
}

// plenty is room without a limit.
const plenty = int64(1<<31) * amount.Unit

// maxPortsCounted is how many ports are counted; each costs something on every machine.
const maxPortsCounted = 16

func (t counter) String() string {
	if t.driver != "" {
		return "volumes of " + t.driver
	}
	if t.ip != "" {
		return fmt.Sprintf("host port %s:%d/%s", t.ip, t.port, t.protocol)
	}
	return fmt.Sprintf("host port %d/%s", t.port, t.protocol)
}

func portCounter(p world.Port) counter {
	t := counter{ip: p.IP, protocol: cmp.Or(p.Protocol, "TCP"), port: p.Port}
	if everywhere(p) {
		t.ip = ""
	}
	return t
}

// meets reports whether two ports cannot be had on one machine.
func (t counter) meets(o counter) bool {
	return t.protocol == o.protocol && t.port == o.port && (t.ip == o.ip || t.ip == "" || o.ip == "")
}

// everywhere reports whether a port is asked for on all addresses of the machine.
func everywhere(p world.Port) bool { return p.IP == "" || p.IP == "0.0.0.0" }

// NewCounters finds out what can be counted for the pods.
func NewCounters(w *world.World, places []*world.Place, pods []*world.Pod) Counters {
	t := Counters{rules: fit.In(w), drivers: map[string]bool{}, ports: map[counter]bool{}}
	t.countVolumes(w.Catalogs(), places, pods)
	t.countPorts(pods)
	slices.SortFunc(t.list, func(a, b counter) int { return strings.Compare(a.String(), b.String()) })
	return t
}

func (t *Counters) countVolumes(catalogs []*world.Catalog, places []*world.Place, pods []*world.Pod) {
	users := map[fit.Attached]int{}
	for _, p := range pods {
		for _, v := range p.Volumes {
			if v.Driver != "" {
				users[fit.Attached{Driver: v.Driver, ID: v.ID}]++
				t.drivers[v.Driver] = true
			}
		}
	}
	if len(users) == 0 {
		return
	}
	for _, m := range places {
		for _, p := range m.Pods {
			for _, v := range p.Volumes {
				a := fit.Attached{Driver: v.Driver, ID: v.ID}
				if n, mounted := users[a]; mounted && !(m.Deleting() && p.Moves() && p.Plannable()) {
					users[a] = n + 1
				}
			}
		}
	}
	for v, n := range users {
		if n > 1 {
			t.drivers[v.Driver] = false // shared, which counts once on each machine
		}
	}
	for driver, simple := range t.drivers {
		if simple && limited(catalogs, places, driver) {
			t.list = append(t.list, counter{driver: driver})
		}
	}
}

// limited reports whether some machine attaches only so many volumes of the driver.
func limited(catalogs []*world.Catalog, places []*world.Place, driver string) bool {
	has := func(ls []world.DriverLimit) bool {
		return slices.ContainsFunc(ls, func(l world.DriverLimit) bool { return l.Driver == driver })
	}
	for _, c := range catalogs {
		for i := range c.Shapes {
			if has(c.Shapes[i].VolumeLimits) {
				return true
			}
		}
	}
	return slices.ContainsFunc(places, func(m *world.Place) bool { return m.Node != nil && has(m.Node.VolumeLimits) })
}

func (t *Counters) countPorts(pods []*world.Pod) {
	users := map[counter]int{}
	twice := map[counter]bool{} // asked for twice by one pod
	for _, p := range pods {
		for i, x := range p.Ports {
			c := portCounter(x)
			users[c]++
			if slices.ContainsFunc(p.Ports[:i], func(y world.Port) bool { return portCounter(y) == c }) {
				twice[c] = true
			}
		}
	}
	var all []counter
	mixed := map[counter]int{} // on how many addresses a port is asked for
	for c := range users {
		c.ip = ""
		mixed[c]++
	}
	for c := range users {
		if bare := (counter{protocol: c.protocol, port: c.port}); !twice[c] && mixed[bare] == 1 {
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(a, b counter) int {
		return cmp.Or(cmp.Compare(users[b], users[a]), strings.Compare(a.String(), b.String()))
	})
	for _, c := range all[:min(len(all), maxPortsCounted)] {
		t.ports[c] = true
		t.list = append(t.list, c)
	}
}

// Names are what the counters are called among the dimensions.
func (t *Counters) Names() []string {
	out := make([]string, len(t.list))
	for i, c := range t.list {
		out[i] = c.String()
	}
	return out
}

// Cover reports whether all ports and volumes of the pod are counted.
func (t *Counters) Cover(p *world.Pod) bool {
	if !t.rules.Counted(p) {
		return false
	}
	for _, v := range p.Volumes {
		if v.Driver != "" && !t.drivers[v.Driver] {
			return false
		}
	}
	return !slices.ContainsFunc(p.Ports, func(x world.Port) bool { return !t.ports[portCounter(x)] })
}

// Need fills in what the pod needs of what is counted.
func (t *Counters) Need(p *world.Pod, need []int64) {
	for i, c := range t.list {
		n := int64(0)
		for _, v := range p.Volumes {
			if c.driver != "" && v.Driver == c.driver {
				n++
			}
		}
		for _, x := range p.Ports {
			if portCounter(x) == c {
				n++
			}
		}
		need[t.First+i] = n * amount.Unit
	}
}

// Room fills in what a machine has of what is counted.
func (t *Counters) Room(at *fit.Place, room []int64) {
	for i, c := range t.list {
		room[t.First+i] = c.room(at)
	}
}

func (t counter) room(at *fit.Place) int64 {
	if t.driver == "" {
		if slices.ContainsFunc(at.Ports, func(p world.Port) bool { return portCounter(p).meets(t) }) {
			return 0
		}
		return amount.Unit
	}
	for _, l := range at.Limits {
		if l.Driver != t.driver {
			continue
		}
		left := l.Count
		for _, a := range at.Attached {
			if a.Driver == t.driver {
				left--
			}
		}
		return int64(max(left, 0)) * amount.Unit
	}
	return plenty
}

// Equip gives the machines on sale their room of what is counted.
func (m *Market) Equip(counted *Counters) {
	if len(counted.list) == 0 {
		return
	}
	for _, p := range m.Pools {
		for _, t := range p.Types {
			counted.Room(&fit.Place{Ports: t.Ports, Caps: fit.CapsOf(t.Pool.Pool, t.Shape)}, t.Room)
		}
	}
}

// Why says that no machine on sale has as much of what is counted as a pod needs.
func (t *Counters) Why(d int, need, most int64) *reason.Why {
	c := t.list[d-t.First]
	if c.driver != "" {
		return &reason.Why{
			Code: reason.VolumeLimit, Detail: fmt.Sprintf("%s: wants %d, no machine attaches more than %d", c, need/amount.Unit, most/amount.Unit),
			Hint: "give the pod fewer volumes, or let the pool buy types that attach more",
		}
	}
	return &reason.Why{
		Code: reason.Port, Detail: c.String() + " is taken by a DaemonSet on every machine that would do otherwise",
		Hint: "give the pod or the DaemonSet another host port",
	}
}
