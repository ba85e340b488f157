package enginetest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/world"
)

// Scene is a World that is built line by line.
type Scene struct {
	builder *world.Builder
	catalog world.Catalog
	now     int64
}

// NewScene returns a Scene with nothing in it.
func NewScene() *Scene {
	return &Scene{builder: world.NewBuilder(), catalog: world.Catalog{Template: "t", Region: "r"}}
}

// World returns what has been built so far.
func (s *Scene) World() *world.World {
	if err := s.builder.SetCatalog(s.catalog); err != nil {
		panic(err) // Line refuses what the Builder would
	}
	return s.builder.Snapshot(s.now)
}

// Line adds one item, written as its kind, its name and key=value pairs:
//
//	type m5.large cpu=2 memory=8Gi price=0.096 spot=0.03 zones=a,b family=m5 attaches=ebs:27
//	pool general weight=10 limit=cpu:10 taint=gpu:NoSchedule require=zone:In:a|b
//	pool fixed replicas=3
//	node n1 cpu=4 zone=a pool=general taint=dedicated=x:NoSchedule
//	claim c1 pool=general type=m5.large zone=a cpu=2
//	daemonset log cpu=100m tolerate=*
//	pod web x3 cpu=1 node=n1 select=zone:a spread=zone:1 apart=host near=zone:db
//	node n2 cpu=4 device=DRIVER/NAME:sel=SELECTION|SELECTION:taken:ATTRIBUTE=VALUE lost=DRIVER/POOL
//	pool gpu devices=KEY:VALUE>DEVICE,DEVICE
//	pod job cpu=1 wants=CLAIM:SELECTION*2+SELECTION*1|SELECTION*all:alike=ATTRIBUTE shared=CLAIM:SELECTION*1:on=n2
//	namespace default team=x
//	now 600
//
// A field that has no word is written by its name in JSON with a dot before it: pod web cpu=1 .preempts=true
// node n1 cpu=4 .created=300. Text after # is a remark.
func (s *Scene) Line(line string) error {
	line, _, _ = strings.Cut(line, "#")
	words := strings.Fields(line)
	if len(words) == 0 {
		return nil
	}
	if len(words) < 2 {
		return fmt.Errorf("%q needs a kind and a name", line)
	}
	a, err := parse(words[2:])
	if err != nil {
		return fmt.Errorf("%s: %w", line, err)
	}
	a.name = words[1]
	switch words[0] {
	case "type":
		err = s.addType(a)
	case "pool":
		err = s.addPool(a)
	case "node":
		err = s.addNode(a)
	case "claim":
		err = s.addClaim(a)
	case "daemonset":
		p := a.pod(a.name)
		a.fail(a.setFields(&p))
		err = s.builder.SetDaemonSet(world.DaemonSet{Key: p.Key, Pod: p})
	case "namespace":
		err = s.builder.SetNamespace(world.Namespace{Name: a.name, Labels: a.rest(nil)})
	case "pod":
		err = s.addPods(a)
	case "now":
		s.now, err = strconv.ParseInt(a.name, 10, 64)
	default:
		err = fmt.Errorf("unknown kind %q", words[0])
	}
	if err == nil {
		err = a.err
	}
	if err != nil {
		return fmt.Errorf("%s: %w", line, err)
	}
	return nil
}

// args are the words of one line.
type args struct {
	name  string
	count int
	pairs [][2]string
	used  []bool
	err   error
}

func parse(words []string) (*args, error) {
	a := &args{count: 1}
	for _, w := range words {
		k, v, ok := strings.Cut(w, "=")
		if n, err := strconv.Atoi(strings.TrimPrefix(w, "x")); !ok && err == nil {
			a.count = n
			continue
		}
		if !ok {
			v = "true"
		}
		a.pairs = append(a.pairs, [2]string{k, v})
	}
	a.used = make([]bool, len(a.pairs))
	return a, nil
}

// all returns the values of a key, in order.
func (a *args) all(key string) []string {
	var out []string
	for i, p := range a.pairs {
		if p[0] == key {
			a.used[i] = true
			out = append(out, p[1])
		}
	}
	return out
}

func (a *args) one(key, fallback string) string {
	if all := a.all(key); len(all) > 0 {
		return all[0]
	}
	return fallback
}

func (a *args) flag(key string) bool { return a.one(key, "") == "true" }

func (a *args) number(key string, fallback int) int {
	n, err := strconv.Atoi(a.one(key, strconv.Itoa(fallback)))
	a.fail(err)
	return n
}

func (a *args) fail(err error) {
	if a.err == nil {
		a.err = err
	}
}

// setFields sets the fields of an item that are written by their names.
func (a *args) setFields(item any) error {
	for i, p := range a.pairs {
		if name, ok := strings.CutPrefix(p[0], "."); ok {
			a.used[i] = true
			if err := setField(item, name, p[1]); err != nil {
				return err
			}
		}
	}
	return nil
}

// setField sets a field of an item by its name in JSON.
func setField(item any, name, value string) error {
	if !json.Valid([]byte(value)) {
		value = strconv.Quote(value)
	}
	d := json.NewDecoder(strings.NewReader(fmt.Sprintf("{%q: %s}", name, value)))
	d.DisallowUnknownFields()
	return d.Decode(item)
}

// rest returns the pairs that no field has asked for, as labels over those given.
func (a *args) rest(labels map[string]string) map[string]string {
	out := map[string]string{}
	for k, v := range labels {
		out[k] = v
	}
	for i, p := range a.pairs {
		if !a.used[i] && !strings.HasPrefix(p[0], ".") {
			out[longKey(p[0])] = p[1]
		}
	}
	return out
}

// resources reads cpu, memory, gpu, disk and pods.
func (a *args) resources() amount.List {
	names := map[string]string{"cpu": amount.CPU, "memory": amount.Memory, "gpu": "nvidia.com/gpu", "disk": amount.Ephemeral, "pods": amount.Pods}
	var entries []amount.Entry
	for _, short := range []string{"cpu", "memory", "gpu", "disk", "pods"} {
		if v := a.one(short, ""); v != "" {
			n, err := amount.Parse(v)
			a.fail(err)
			entries = append(entries, amount.Entry{Name: names[short], Value: n})
		}
	}
	return amount.Of(entries...)
}

func longKey(key string) string {
	switch key {
	case "zone":
		return label.Zone
	case "host":
		return label.Hostname
	case "type":
		return label.InstanceType
	case "ct":
		return label.CapacityType
	case "arch":
		return label.Arch
	}
	return key
}

// requirement reads key:Op:a|b, or key:a|b for In.
func (a *args) requirement(s string) label.Requirement {
	parts := strings.Split(s, ":")
	op, values := "In", ""
	switch len(parts) {
	case 2:
		values = parts[1]
		if values == "Exists" || values == "DoesNotExist" {
			op, values = values, ""
		}
	case 3:
		op, values = parts[1], parts[2]
	default:
		a.fail(fmt.Errorf("%q is not key:values or key:Op:values", s))
	}
	var vs []string
	if values != "" {
		vs = strings.Split(values, "|")
	}
	r, err := label.New(longKey(parts[0]), label.Op(op), vs...)
	a.fail(err)
	return r
}

func taint(s string) world.Taint {
	rest, effect, ok := strings.Cut(s, ":")
	if !ok {
		effect = world.NoSchedule
	}
	key, value, _ := strings.Cut(rest, "=")
	return world.Taint{Key: key, Value: value, Effect: effect}
}

func (a *args) taints(key string) []world.Taint {
	var out []world.Taint
	for _, s := range a.all(key) {
		out = append(out, taint(s))
	}
	return out
}

func (a *args) price(key string) (money.Micro, bool) {
	s := a.one(key, "")
	if s == "" {
		return 0, false
	}
	price, ok := money.Parse(s)
	if !ok {
		a.fail(fmt.Errorf("%q is no price", s))
	}
	return price, true
}

func (a *args) attaches() []world.DriverLimit {
	var out []world.DriverLimit
	for _, v := range a.all("attaches") {
		driver, count, _ := strings.Cut(v, ":")
		n, err := strconv.Atoi(count)
		a.fail(err)
		out = append(out, world.DriverLimit{Driver: driver, Count: n})
	}
	return out
}

func (s *Scene) addType(a *args) error {
	shape := world.Shape{Name: a.name, Capacity: a.resources(), VolumeLimits: a.attaches()}
	if _, ok := shape.Capacity.Find(amount.Pods); !ok {
		shape.Capacity = shape.Capacity.With(amount.Pods, 110*amount.Unit)
	}
	zones := strings.Split(a.one("zones", "a"), ",")
	onDemand, sold := a.price("price")
	spot, spotted := a.price("spot")
	reserved, gone, refused := a.one("reserved", ""), a.flag("gone"), a.number("refused", 0)
	for _, z := range zones {
		if sold {
			shape.Offers = append(shape.Offers, world.Offer{Zone: z, CapacityType: label.OnDemand, Price: onDemand, Gone: gone})
		}
		if spotted {
			shape.Offers = append(shape.Offers, world.Offer{Zone: z, CapacityType: label.Spot, Price: spot, Gone: gone, Refused: refused})
		}
	}
	for one := range strings.SplitSeq(reserved, ",") {
		id, n, ok := strings.Cut(one, ":")
		if !ok {
			continue
		}
		count, err := strconv.Atoi(n)
		a.fail(err)
		shape.Offers = append(shape.Offers, world.Offer{Zone: zones[0], CapacityType: label.Reserved, Reservation: id, Count: count})
	}
	shape.Labels = label.Exactly(a.rest(map[string]string{label.InstanceType: a.name, label.OS: "linux", label.Arch: a.one("arch", "amd64")}))
	a.fail(a.setFields(&shape))
	s.catalog.Shapes = append(s.catalog.Shapes, shape)
	return nil
}

func (s *Scene) addPool(a *args) error {
	p := world.Pool{ID: world.PoolID{Kind: a.one("kind", world.NodePool), Name: a.name}, Template: "t", Weight: int32(a.number("weight", 0))}
	p.Taints, p.StartupTaints, p.NotReady = a.taints("taint"), a.taints("startup"), a.one("not-ready", "")
	for _, r := range a.all("require") {
		r, least, _ := strings.Cut(r, "/")
		q := a.requirement(r)
		if least != "" {
			n, err := strconv.Atoi(least)
			a.fail(err)
			q.Least = n
		}
		p.Requirements = p.Requirements.And(q)
	}
	var limits []amount.Entry
	for _, l := range a.all("limit") {
		name, v, _ := strings.Cut(l, ":")
		n, err := amount.Parse(v)
		a.fail(err)
		limits = append(limits, amount.Entry{Name: name, Value: n})
	}
	p.Limits = amount.Of(limits...)
	p.Devices = a.templates()
	if charge, ok := a.price("charge"); ok {
		p.Charge = &charge
	}
	if n := a.number("replicas", -1); n >= 0 {
		p.Replicas = &n
	}
	p.Labels = a.rest(nil)
	a.fail(a.setFields(&p))
	return s.builder.SetPool(p)
}

func (a *args) poolID() world.PoolID {
	if name := a.one("pool", ""); name != "" {
		return world.PoolID{Kind: world.NodePool, Name: name}
	}
	return world.PoolID{}
}

func (s *Scene) addNode(a *args) error {
	n := world.Node{Name: a.name, Taints: a.taints("taint"), Cordoned: a.flag("cordoned"), Ready: true, Deleting: a.flag("deleting"), Pool: a.poolID()}
	if since := a.one("unready", ""); since != "" {
		var err error
		n.Ready = false
		n.Unready, err = strconv.ParseInt(since, 10, 64)
		a.fail(err)
	}
	n.Allocatable = a.resources()
	if _, ok := n.Allocatable.Find(amount.Pods); !ok {
		n.Allocatable = n.Allocatable.With(amount.Pods, 110*amount.Unit)
	}
	n.Capacity = n.Allocatable
	n.VolumeLimits, n.Devices, n.DevicesLost = a.attaches(), a.devices(a.all("device")), a.lostPools()
	labels := map[string]string{label.Hostname: a.name, label.OS: "linux", label.Arch: "amd64"}
	if n.Pool.Name != "" {
		labels[label.NodePool], labels[label.Initialized] = n.Pool.Name, a.one("initialized", "true")
	}
	n.Labels = a.rest(labels)
	a.fail(a.setFields(&n))
	return s.builder.SetNode(n)
}

func (s *Scene) addClaim(a *args) error {
	c := world.Claim{
		Name: a.name, Pool: a.poolID(), Template: "t", Node: a.one("node", ""), Launched: a.flag("launched"), Failed: a.flag("failed"),
		Taints: a.taints("taint"), StartupTaints: a.taints("startup"), Initialized: a.flag("initialized"), Registered: a.flag("registered"),
	}
	c.Booked = a.resources().With(amount.Pods, 110*amount.Unit)
	for _, name := range a.all("pod") {
		c.Pods = append(c.Pods, world.Key{Namespace: "default", Name: name})
	}
	for _, r := range a.all("require") {
		c.Requirements = c.Requirements.And(a.requirement(r))
	}
	c.Drivers = a.all("driver")
	c.Labels = a.rest(nil)
	a.fail(a.setFields(&c))
	return s.builder.SetClaim(c)
}

func (s *Scene) addPods(a *args) error {
	first := a.pod(a.name)
	a.fail(a.setFields(&first))
	for i := range a.count {
		p := first
		if a.count > 1 {
			p.Name = fmt.Sprintf("%s-%d", a.name, i)
			p.Devices = slices.Clone(first.Devices)
			for j := range p.Devices {
				if x := &p.Devices[j]; !x.Shared {
					x.Name = p.Name + strings.TrimPrefix(x.Name, a.name)
				}
			}
		}
		if err := s.builder.SetPod(p); err != nil {
			return err
		}
	}
	return nil
}

// sortRequirements is there for selectors written in any order.
func sortRequirements(s label.Set) label.Set {
	slices.SortFunc(s, func(a, b label.Requirement) int { return cmp.Compare(a.Key, b.Key) })
	return s
}
