package packing_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/enginetest/bins"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/market"
	"github.com/tenon-sh/tenon/engine/packing"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
)

// at is the machine of that name that is there or on its way, or one that is planned: its type and its zone.
func at(t *testing.T, k *packing.Packing, machine string, pods ...string) *packing.Bin {
	t.Helper()
	if shape, zone, planned := strings.Cut(machine, " "); planned {
		return bins.Buy(t, k, shape, zone, pods...)
	}
	bins.On(t, k, machine, pods...)
	return k.Existing[slices.IndexFunc(k.Existing, func(b *packing.Bin) bool { return b.Place.Name == machine })]
}

// waits is the pod of that name that has no place.
func waits(t *testing.T, k *packing.Packing, name string) *packing.Pod {
	t.Helper()
	i := slices.IndexFunc(k.Unplaced, func(x *packing.Pod) bool { return x.Pod.Name == name })
	if i < 0 {
		t.Fatalf("no pod %s waits", name)
	}
	return k.Unplaced[i]
}

// A machine takes a pod if nothing is against it: room, labels, what its other pods have settled or taken, and the pool's minValues.
func TestAccepts(t *testing.T) {
	fleet := []string{"type small cpu=2 memory=4Gi price=0.10 zones=a,b", "type large cpu=8 memory=16Gi price=0.40 zones=a,b"}
	several := []string{"pool general require=type:Exists:/2"}
	open := []string{"pool general require=team:x|y"}
	address := func(name, ip string) string {
		return "pod " + name + ` cpu=100m .ports=[{"ip":"` + ip + `","protocol":"TCP","port":80}]`
	}
	for name, tc := range map[string]struct {
		why   string
		world []string
		at    string
		on    []string
		pod   string
		o     packing.Options
		want  bool
	}{
		"Room":       {why: "There is room.", world: []string{"node n cpu=2", "pod web cpu=1", "pod api cpu=1"}, at: "n", on: []string{"web"}, pod: "api", want: true},
		"Full":       {why: "There is none left.", world: []string{"node n cpu=2", "pod web cpu=1", "pod api cpu=1100m"}, at: "n", on: []string{"web"}, pod: "api"},
		"Zone":       {why: "What is planned is in another zone.", world: []string{"pool general", "pod web cpu=1 select=zone:b"}, at: "small a", pod: "web"},
		"ThatZone":   {why: "It is in that zone.", world: []string{"pool general", "pod web cpu=1 select=zone:b"}, at: "small b", pod: "web", want: true},
		"Here":       {why: "The node is in another zone.", world: []string{"node n cpu=2 zone=a", "pod web cpu=1 select=zone:b"}, at: "n", pod: "web"},
		"Unsettled":  {why: "The pool's machines may be of either team, and this one is of none yet.", world: append(open, "pod web cpu=100m select=team:x"), at: "small a", pod: "web", want: true},
		"Settled":    {why: "Its pods have made it one of team x.", world: append(open, "pod web cpu=100m select=team:x", "pod api cpu=100m select=team:y"), at: "small a", on: []string{"web"}, pod: "api"},
		"SameTeam":   {why: "It is of their team.", world: append(open, "pod web cpu=100m select=team:x", "pod api cpu=200m select=team:x"), at: "small a", on: []string{"web"}, pod: "api", want: true},
		"NoTeam":     {why: "A pod that asks for no team goes to either.", world: append(open, "pod web cpu=100m select=team:x", "pod api cpu=200m"), at: "small a", on: []string{"web"}, pod: "api", want: true},
		"NoneYet":    {why: "A pod that asks for no team settles none.", world: append(open, "pod web cpu=100m", "pod api cpu=200m select=team:y"), at: "small a", on: []string{"web"}, pod: "api", want: true},
		"TwoTypes":   {why: "With it the machine may still be of two types.", world: append(several, "pod web cpu=1", "pod api cpu=900m"), at: "small a", on: []string{"web"}, pod: "api", want: true},
		"OneType":    {why: "With it only large machines would do, and the pool wants two types to choose from.", world: append(several, "pod web cpu=1", "pod api cpu=2"), at: "large a", on: []string{"web"}, pod: "api"},
		"AlsoOne":    {why: "Under BestEffort one type is enough.", world: append(several, "pod web cpu=1", "pod api cpu=2"), at: "large a", on: []string{"web"}, pod: "api", o: packing.Options{MinValuesPolicy: packing.BestEffort}, want: true},
		"AnyNumber":  {why: "A pool that says nothing of it has machines of one type.", world: []string{"pool general", "pod web cpu=1", "pod api cpu=2"}, at: "large a", on: []string{"web"}, pod: "api", want: true},
		"Address":    {why: "A port of one address is free on another.", world: []string{"node n cpu=2", address("web", "10.0.0.1"), address("api", "10.0.0.2")}, at: "n", on: []string{"web"}, pod: "api", want: true},
		"AnyAddress": {why: "One of all addresses is free on none of them.", world: []string{"node n cpu=2", address("web", "10.0.0.1"), address("api", "")}, at: "n", on: []string{"web"}, pod: "api"},
		"Volumes":    {why: "It attaches one, which another pod has.", world: []string{"node n cpu=2 attaches=ebs:1", "pod web cpu=100m volume=v:ebs", "pod api cpu=100m volume=w:ebs"}, at: "n", on: []string{"web"}, pod: "api"},
		"SameVolume": {why: "They share it.", world: []string{"node n cpu=2 attaches=ebs:1", "pod web cpu=100m volume=v:ebs", "pod api cpu=100m volume=v:ebs"}, at: "n", on: []string{"web"}, pod: "api", want: true},
		"Shared":     {why: "Others share one, and there is room for one only.", world: []string{"node n cpu=2 attaches=ebs:1", "pod web x2 cpu=100m volume=v:ebs", "pod api cpu=100m volume=w:ebs"}, at: "n", on: []string{"web-0"}, pod: "api"},
		"Empty":      {why: "Nothing is there.", world: []string{"node n cpu=2 zone=a", "pod web cpu=1"}, at: "n", pod: "web", want: true},
		"DaemonKept": {why: "What a DaemonSet will run there keeps away from it.", world: []string{"pool general", "daemonset log cpu=100m tolerate=* apart=host:web", "pod web cpu=100m"}, at: "small a", pod: "web"},
		"DaemonNear": {why: "What a DaemonSet will run there wants to be near to it.", world: []string{"pool general", "daemonset log cpu=100m tolerate=* near=host:web", "pod web cpu=100m"}, at: "small a", pod: "web", want: true},
		"DaemonWish": {why: "What a DaemonSet will run there would rather be without it.", world: []string{"pool general", "daemonset log cpu=100m tolerate=* apart=host:web:50", "pod web cpu=100m"}, at: "small a", pod: "web", want: true},
		"Apart":      {why: "They keep away from each other.", world: []string{"node n cpu=2 zone=a", "pod web x2 cpu=100m apart=host"}, at: "n", on: []string{"web-0"}, pod: "web-1"},
		"ByHost":     {why: "A machine that is only planned is a host, too.", world: []string{"pool general", "pod web x2 cpu=100m apart=host"}, at: "small a", on: []string{"web-0"}, pod: "web-1"},
	} {
		t.Run(name, func(t *testing.T) {
			k := bins.Ready(t, tc.o, append(slices.Clone(fleet), tc.world...)...)
			b, x, steps := at(t, k, tc.at, tc.on...), waits(t, k, tc.pod), k.Steps
			if got := k.Accepts(b, x); got != tc.want {
				t.Errorf("%s It takes %s: %t", tc.why, tc.pod, got)
			}
			if k.Steps != steps+1 {
				t.Errorf("to ask is one step, and counted as %d", k.Steps-steps)
			}
			k.Close(b)
			if k.Accepts(b, x) {
				t.Error("a closed machine takes one")
			}
			k.Open(b)
			if b.Machine != nil && len(b.Pods) == 0 {
				if k.TakeAway(b, nil); k.Accepts(b, x) {
					t.Error("a machine that is gone takes one")
				}
			}
		})
	}
}

// What a planned machine has used is what its pods need, whichever came and went, and what it has free is the rest.
func TestUsedIsWhatPodsNeed(t *testing.T) {
	k := bins.Ready(t, packing.Options{}, append(slices.Clone(shop), "pod web x4 cpu=500m memory=1Gi", "pod api cpu=1 port=80")...)
	b := bins.Buy(t, k, "large", "a", "web-0", "web-1", "web-2", "api")
	check := func(when string) {
		t.Helper()
		want := make([]int64, len(k.Market.Dims))
		for _, x := range b.Pods {
			for i, n := range x.Class.Need {
				want[i] += n
			}
		}
		if diff := cmp.Diff(want, b.Used); diff != "" {
			t.Errorf("%s: used -want +got\n%s", when, diff)
		}
		for i, room := range k.Market.Offers[b.Offer].Type.Room {
			if b.Free[i] != room-b.Used[i] {
				t.Errorf("%s: free are %v of %v, of which %v are used", when, b.Free, k.Market.Offers[b.Offer].Type.Room, b.Used)
				break
			}
		}
	}
	check("joined")
	k.Leave(b.Pods[3])
	check("one with a port has left")
	k.Leave(b.Pods[0])
	check("one more has left")
	k.Turn(b, offer(t, k, "small", "a"))
	check("turned")
	if b.Changes == 0 {
		t.Error("what was done to it is not counted")
	}
}

// A pod that is taken off gives its machine back if that was planned and holds no other.
func TestRemove(t *testing.T) {
	for name, tc := range map[string]struct {
		at   string
		on   []string
		left int // planned machines
	}{
		"Last":  {"small a", []string{"web-0"}, 0},
		"Other": {"small a", []string{"web-0", "web-1"}, 1},
		"There": {"n", []string{"web-0"}, 0},
	} {
		k := bins.Ready(t, packing.Options{}, append(slices.Clone(shop), "node n cpu=2 zone=a", "pod web x2 cpu=500m")...)
		b := at(t, k, tc.at, tc.on...)
		k.Remove(b.Pods[0])
		if len(b.Pods) != len(tc.on)-1 || len(k.Planned) != tc.left || len(k.Existing) != 1 {
			t.Errorf("%s: %d pods are left there, and %d planned machines, want %d", name, len(b.Pods), len(k.Planned), tc.left)
		}
	}
}

// Planned machines have names that no machine has, and none twice.
func TestNamesOfPlannedMachines(t *testing.T) {
	k := bins.Ready(t, packing.Options{}, "type small cpu=2 memory=4Gi price=0.10 zones=a", "pool a", "pool a-1", "pool a kind=Provisioner", "node a-2 cpu=1", "pod web cpu=1", "pod api cpu=1 select=karpenter.sh/nodepool:a-1", "pod old cpu=1 select=karpenter.sh/provisioner-name:a")
	var got []string
	buy := func(kind, pool string) *packing.Bin {
		i := slices.IndexFunc(k.Market.Pools, func(p *market.Pool) bool { return p.ID == world.PoolID{Kind: kind, Name: pool} })
		b := k.Buy(k.Market.Pools[i].Types[0].First)
		got = append(got, b.Place.Name)
		if b.Place.Labels[label.Hostname] != b.Place.Name {
			t.Errorf("%s has the host name %s", b.Place.Name, b.Place.Labels[label.Hostname])
		}
		return b
	}
	buy(world.NodePool, "a")
	b := buy(world.NodePool, "a") // not a-2, which is there
	k.Drop(b)
	buy(world.NodePool, "a")
	buy(world.NodePool, "a-1")
	buy(world.Provisioner, "a") // which counts for itself
	mark := k.Mark()
	buy(world.NodePool, "a")
	k.Undo(mark)
	buy(world.NodePool, "a") // as if that had not been
	if diff := cmp.Diff([]string{"a-1", "a-3", "a-4", "a-1-1", "a-5", "a-6", "a-6"}, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// Which offers could host all that a planned machine holds: of its pool, with the room, and with ports, attachments and devices of its pods.
func TestHosting(t *testing.T) {
	types := []string{
		"type small cpu=2 memory=4Gi price=0.10 zones=a attaches=ebs:1", "type middle cpu=4 memory=8Gi price=0.20 zones=a attaches=ebs:2", "type large cpu=8 memory=16Gi price=0.40 zones=a,b attaches=ebs:2", "pool general",
	}
	for name, tc := range map[string]struct {
		why  string
		pods []string
		want string
	}{
		"Plain":   {"Those with room.", []string{"pod web cpu=3"}, "middle a, large a, large b"},
		"Zone":    {"Of the zone that its pods want.", []string{"pod web cpu=1 select=zone:a"}, "small a, middle a, large a"},
		"Volumes": {"Those that attach both volumes.", []string{"pod web cpu=100m volume=v:ebs", "pod api cpu=100m volume=w:ebs"}, "middle a, large a, large b"},
		"Shared":  {"Pods that share a volume are looked at one by one: three volumes are too many for each.", []string{"pod web cpu=100m volume=v:ebs", "pod api cpu=100m volume=v:ebs volume=w:ebs"}, "middle a, large a, large b"},
		"Once":    {"One that they share is attached once.", []string{"pod web cpu=100m volume=v:ebs", "pod api cpu=100m volume=v:ebs"}, "small a, middle a, large a, large b"},
	} {
		t.Run(name, func(t *testing.T) {
			k := bins.Ready(t, packing.Options{}, append(slices.Clone(types), tc.pods...)...)
			var names []string
			for _, x := range k.Unplaced {
				names = append(names, x.Pod.Name)
			}
			b := bins.Buy(t, k, "large", "a", names...)
			var got []string
			for i := range k.Hosting(b).All {
				got = append(got, k.Market.Offers[i].Type.Shape.Name+" "+k.Market.Offers[i].Zone)
			}
			if diff := cmp.Diff(tc.want, strings.Join(got, ", ")); diff != "" {
				t.Errorf("%s -want +got\n%s", tc.why, diff)
			}
		})
	}
}

// Devices that pods were given on a planned machine have to be those of each type that it may become, and bound how many pods it holds.
func TestDevicesOfPlannedMachines(t *testing.T) {
	k := bins.Ready(t, packing.Options{}, "type one cpu=8 memory=16Gi price=0.10 zones=a", "type same cpu=8 memory=16Gi price=0.20 zones=a", "type two cpu=8 memory=16Gi price=0.40 zones=a", "type none cpu=8 memory=16Gi price=0.05 zones=a",
		"pool gpu devices=type:one|same>gpu/0:sel=a devices=type:two>gpu/0:sel=a,gpu/1:sel=a", "pod job x3 cpu=1 wants=gpu:a*1", "pod web cpu=1")
	job, web := waits(t, k, "job-0"), waits(t, k, "web")
	for shape, want := range map[string]int{"one": 1, "two": 2, "none": 0} {
		if got := k.Holds(offer(t, k, shape, "a"), job, 3); got != want {
			t.Errorf("%s holds %d pods with a device, want %d", shape, got, want)
		}
		if got := k.Holds(offer(t, k, shape, "a"), web, 3); got != 3 {
			t.Errorf("%s holds %d of 3 pods without devices", shape, got)
		}
	}
	if got := k.Holds(offer(t, k, "two", "a"), job, 1); got != 1 {
		t.Errorf("of at most one, two hold %d", got)
	}
	b := bins.Buy(t, k, "one", "a", "job-0")
	empty := bins.Buy(t, k, "one", "a", "web")
	for shape, want := range map[string]bool{"one": true, "same": true, "two": false, "none": false} {
		i := offer(t, k, shape, "a")
		if got := k.KeepsDevices(b, i); got != want {
			t.Errorf("a machine with a device in use may become one of type %s: %t", shape, got)
		}
		if got := k.Hosting(b).Has(i); got != want {
			t.Errorf("one of type %s hosts it: %t", shape, got)
		}
		if !k.KeepsDevices(empty, i) || !k.Hosting(empty).Has(i) {
			t.Errorf("a machine without devices in use may not become one of type %s", shape)
		}
	}
}

// Machines that are there come first, and none that is not to be: a claim that failed or goes. Pods that are nominated are where the scheduler has them.
func TestMachinesAndNominations(t *testing.T) {
	k := bins.Ready(t, packing.Options{}, "type small cpu=2 memory=4Gi price=0.10 zones=a", "pool general",
		"claim coming pool=general type=small zone=a cpu=2", "claim failed pool=general type=small zone=a cpu=2 failed", "claim going pool=general type=small zone=a cpu=2 .deleting=true",
		"node z cpu=2 zone=a", "node leaves cpu=2 zone=a deleting",
		"pod there cpu=1 nominated=z", "pod ours cpu=1 nominated=z promised", "pod leaving cpu=1 nominated=leaves", "pod nowhere cpu=1 nominated=gone", "pod free cpu=1", "pod runs cpu=1 node=leaves")
	var machines []string
	for i, b := range k.Existing {
		if machines = append(machines, b.Place.Name); b.Number != i {
			t.Errorf("%s is number %d, and has %d", b.Place.Name, i, b.Number)
		}
	}
	if diff := cmp.Diff([]string{"leaves", "z", "coming"}, machines); diff != "" {
		t.Errorf("machines -want +got\n%s", diff)
	}
	if diff := cmp.Diff("z: there\nwaiting: free leaving nowhere ours runs", bins.Text(k)); diff != "" {
		t.Errorf("pods -want +got\n%s", diff)
	}
}

// Volumes that are still to be made keep the pods that share one to zones that all of these can reach.
func TestConfineVolumes(t *testing.T) {
	for name, tc := range map[string]struct {
		why  string
		pods []string
		want map[string]string // zones in which each may be on a machine that is bought
	}{
		"Alone": {"No other pod shares it.", []string{"pod web cpu=1 volume=v:ebs@?"}, map[string]string{"web": "a b c"}},
		"Both":  {"Only in b can both be.", []string{"pod web cpu=1 volume=v:ebs@? select=zone:a|b", "pod api cpu=2 volume=v:ebs@? select=zone:b|c"}, map[string]string{"web": "b", "api": "b"}},
		"Tied":  {"A pod that shares two volumes ties all three together.", []string{"pod web cpu=1 volume=v:ebs@? select=zone:a|b", "pod mid cpu=2 volume=v:ebs@? volume=w:ebs@?", "pod api cpu=1 volume=w:ebs@? select=zone:b|c"}, map[string]string{"web": "b", "mid": "b", "api": "b"}},
		"Never": {"They can never be together: the one that comes first is placed, and the other refused.", []string{"pod web cpu=1 volume=v:ebs@? select=zone:a", "pod api cpu=2 volume=v:ebs@? select=zone:c"}, map[string]string{"web": "a", "api": "c"}},
		"Torn": {
			"Two share one volume, and each another with a pod of another zone: the first to be placed decides, and no other is kept from all zones for that.",
			[]string{"pod one cpu=3 volume=v:ebs@? volume=w:ebs@? select=zone:a|b", "pod two cpu=2 volume=v:ebs@? volume=x:ebs@? select=zone:a|b", "pod za cpu=1 volume=w:ebs@? select=zone:a", "pod zb cpu=1 volume=x:ebs@? select=zone:b"},
			map[string]string{"one": "a", "two": "b", "za": "a", "zb": "b"},
		},
		"Another": {"What others share is no matter to it.", []string{"pod web cpu=1 volume=v:ebs@? select=zone:a", "pod api cpu=2 volume=v:ebs@?", "pod own cpu=1 volume=o:ebs@?"}, map[string]string{"web": "a", "api": "a", "own": "a b c"}},
	} {
		t.Run(name, func(t *testing.T) {
			k := bins.Ready(t, packing.Options{}, append([]string{"type small cpu=4 memory=8Gi price=0.10 zones=a,b,c", "pool general"}, tc.pods...)...)
			got := map[string]string{}
			for _, x := range k.Unplaced {
				var zones []string
				for _, zone := range []string{"a", "b", "c"} {
					b := bins.Buy(t, k, "small", zone)
					if k.Accepts(b, x) {
						zones = append(zones, zone)
					}
					k.Drop(b)
				}
				got[x.Pod.Name] = strings.Join(zones, " ")
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s -want +got\n%s", tc.why, diff)
			}
		})
	}
}

// Exotic types are for pods that no other would do for, and forgotten where there are none of these.
func TestExoticIsSpared(t *testing.T) {
	types := []string{"type small cpu=2 memory=4Gi price=0.10 zones=a", "type gpu cpu=8 memory=16Gi price=0.05 zones=a gpu=1", "pool general"}
	for name, tc := range map[string]struct {
		pods          []string
		needs, offers string // pods that need such a type, and that may be on one
	}{
		"None": {[]string{"pod web cpu=1"}, "", ""},
		"One":  {[]string{"pod web cpu=1", "pod job cpu=1 gpu=1"}, "job", "job web"}, // a pod that needs none may be beside one that does
	} {
		k := bins.Ready(t, packing.Options{}, append(slices.Clone(types), tc.pods...)...)
		var needs, offers []string
		for _, c := range k.Classes {
			i := offer(t, k, "gpu", "a")
			if c.NeedsExotic {
				needs = append(needs, c.Pod.Name)
			}
			if c.Offers.Has(i) {
				offers = append(offers, c.Pod.Name)
			}
			if c.Buyable.Has(i) != c.NeedsExotic {
				t.Errorf("%s: a machine with a GPU is bought for %s: %t", name, c.Pod.Name, c.Buyable.Has(i))
			}
		}
		slices.Sort(needs)
		slices.Sort(offers)
		if strings.Join(needs, " ") != tc.needs || strings.Join(offers, " ") != tc.offers || k.NeedsExotic != (tc.needs != "") {
			t.Errorf("%s: %q need one, want %q; %q may be there, want %q", name, needs, tc.needs, offers, tc.offers)
		}
	}
}

// All resources that some pod asks for are counted, of what matters most first.
func TestDimensions(t *testing.T) {
	k := bins.Ready(t, packing.Options{}, "type small cpu=2 memory=4Gi price=0.10 zones=a", "pool general",
		"pod a cpu=1", "pod b disk=1", "pod c memory=1Gi cpu=1", "pod d memory=1Gi gpu=1", "pod e cpu=1", "pod f cpu=1 port=80")
	if diff := cmp.Diff([]string{"cpu", "memory", "ephemeral-storage", "nvidia.com/gpu", "pods", "host port 80/TCP"}, k.Market.Dims); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// Pods are of one class only if nothing tells them apart.
func TestClasses(t *testing.T) {
	for name, tc := range map[string]struct {
		why  string
		pods []string
		want int
	}{
		"Alike":       {"A label that no term looks at tells nothing.", []string{"pod a cpu=1", "pod b cpu=1 team=x"}, 1},
		"Size":        {"", []string{"pod a cpu=1", "pod b cpu=2"}, 2},
		"Priority":    {"", []string{"pod a cpu=1", "pod b cpu=1 priority=1"}, 2},
		"Spread":      {"", []string{"pod a cpu=1 app=x", "pod b cpu=1 app=x spread=zone:1:of=x"}, 2},
		"Skew":        {"", []string{"pod a cpu=1 app=x spread=zone:2:of=x", "pod b cpu=1 app=x spread=zone:1:of=x"}, 2},
		"Terms":       {"", []string{"pod a cpu=1 app=x", "pod b cpu=1 app=x near=zone:x"}, 2},
		"Counted":     {"One is counted by a third, and the other is not.", []string{"pod a cpu=1", "pod b cpu=1", "pod c cpu=1 spread=zone:1:of=a"}, 3},
		"NotCounted":  {"A third counts neither of them.", []string{"pod a cpu=1", "pod b cpu=1", "pod c cpu=1 spread=zone:1"}, 2},
		"Wish":        {"", []string{"pod a cpu=1", "pod b cpu=1 prefer=1:zone:a"}, 2},
		"Weight":      {"", []string{"pod a cpu=1 prefer=2:zone:a", "pod b cpu=1 prefer=1:zone:a"}, 2},
		"Port":        {"", []string{"pod a cpu=1", "pod b cpu=1 port=80"}, 2},
		"Volumes":     {"Each has one of its own, and no pod shares one: they count alike.", []string{"pod a cpu=1 volume=v:ebs", "pod b cpu=1 volume=w:ebs"}, 1},
		"SameVolume":  {"Those that share one are attached once.", []string{"pod a cpu=1 volume=v:ebs", "pod b cpu=1 volume=v:ebs", "pod c cpu=1 volume=w:ebs"}, 2},
		"Requirement": {"", []string{"pod a cpu=1", "pod b cpu=1 select=zone:a"}, 2},
	} {
		k := bins.Ready(t, packing.Options{}, append([]string{"type small cpu=2 memory=4Gi price=0.10 zones=a attaches=ebs:3", "pool general"}, tc.pods...)...)
		if got := len(k.Classes); got != tc.want {
			t.Errorf("%s: %d classes, want %d. %s", name, got, tc.want, tc.why)
		}
	}
}

// What pods take beside resources is looked at pod by pod, and where what they are counted by matters so is the domain of their machine.
func TestWhatClassesAre(t *testing.T) {
	for name, tc := range map[string]struct {
		pods                   []string // the first is looked at
		special, plain, pinned bool
	}{
		"Plain":     {[]string{"pod a cpu=1"}, false, true, false},
		"Port":      {[]string{"pod a cpu=1 port=80"}, true, true, false},
		"Volume":    {[]string{"pod a cpu=1 volume=v:ebs"}, true, true, false},
		"Shared":    {[]string{"pod a cpu=1 volume=v:ebs", "pod b cpu=2 volume=v:ebs"}, true, false, false},
		"Device":    {[]string{"pod a cpu=1 wants=c:x*1"}, true, false, false},
		"Zone":      {[]string{"pod a cpu=1 spread=zone:1"}, false, false, true},
		"Host":      {[]string{"pod a cpu=1 spread=host:1"}, false, false, false},
		"Company":   {[]string{"pod a cpu=1 apart=host:log", "daemonset log cpu=100m tolerate=* select=zone:a"}, false, false, true},
		"NoCompany": {[]string{"pod a cpu=1 apart=host", "daemonset log cpu=100m tolerate=*"}, false, false, false},
		"NotMinded": {[]string{"pod a cpu=1", "pod b cpu=1 apart=host:log", "daemonset log cpu=100m tolerate=* select=zone:a"}, false, true, false},
		"Counted":   {[]string{"pod a cpu=1", "pod b cpu=1 spread=zone:1:of=a"}, false, true, true},
	} {
		k := bins.Ready(t, packing.Options{}, append([]string{"type small cpu=2 memory=4Gi price=0.10 zones=a,b attaches=ebs:3", "pool general"}, tc.pods...)...)
		c := waits(t, k, "a").Class
		if c.Special != tc.special || c.Plain != tc.plain || c.Pinned != tc.pinned {
			t.Errorf("%s: special %t, plain %t, pinned %t", name, c.Special, c.Plain, c.Pinned)
		}
	}
}

// Pods that lie side by side are divided by class.
func TestByClass(t *testing.T) {
	k := bins.Ready(t, packing.Options{}, "pod a cpu=1", "pod b cpu=2", "pod c cpu=1")
	pods := []*packing.Pod{waits(t, k, "a"), waits(t, k, "c"), waits(t, k, "b"), waits(t, k, "a")}
	var got []string
	for c, some := range packing.ByClass(pods) {
		line := ""
		for _, x := range some {
			if x.Class != c {
				t.Errorf("%s is of another class", x.Pod.Name)
			}
			line += x.Pod.Name
		}
		got = append(got, line)
	}
	if diff := cmp.Diff([]string{"ac", "b", "a"}, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	for range packing.ByClass(pods) {
		break
	}
}

// What pods ask for that is no room comes back with them, on machines that are there and on planned ones.
func TestWhatLeavesIsFree(t *testing.T) {
	for _, machine := range []string{"n", "small a"} {
		k := bins.Ready(t, packing.Options{}, append(slices.Clone(shop), "node n cpu=2 zone=a", `pod runs cpu=100m node=n .ports=[{"ip":"10.0.0.9","protocol":"TCP","port":81}]`,
			`pod web cpu=100m .ports=[{"ip":"10.0.0.1","protocol":"TCP","port":80}]`, `pod api cpu=200m .ports=[{"protocol":"TCP","port":80}]`, `pod all cpu=200m .ports=[{"protocol":"TCP","port":81}]`)...)
		b := at(t, k, machine, "web")
		api := waits(t, k, "api")
		if k.Accepts(b, api) {
			t.Errorf("%s: the port is taken on one address, and free on all", machine)
		}
		k.Leave(b.Pods[0])
		if !k.Accepts(b, api) {
			t.Errorf("%s: the port of a pod that left is not free", machine)
		}
		if got := k.Accepts(b, waits(t, k, "all")); got != (machine != "n") {
			t.Errorf("%s: a port that a pod which runs there has is free: %t", machine, got)
		}
	}
}

// A machine that its pods have settled stays so when it becomes one of another type.
func TestTurnKeepsWhatPodsSettled(t *testing.T) {
	k := bins.Ready(t, packing.Options{}, "type small cpu=2 memory=4Gi price=0.10 zones=a", "type large cpu=8 memory=16Gi price=0.40 zones=a", "pool general require=team:x|y", "pod web cpu=100m select=team:x", "pod api cpu=100m select=team:y", "pod any cpu=100m")
	b := bins.Buy(t, k, "small", "a", "any", "web")
	k.Turn(b, offer(t, k, "large", "a"))
	if k.Accepts(b, waits(t, k, "api")) {
		t.Error("a machine of team x takes a pod of team y since it became larger")
	}
}

// A pod that nothing counts leaves a planned machine free to be one of another zone.
func TestPlainPodsPinNothing(t *testing.T) {
	k := bins.Ready(t, packing.Options{}, append(slices.Clone(shop), "pod web cpu=1 spread=zone:1", "pod plain cpu=100m")...)
	b := bins.Buy(t, k, "small", "a", "plain")
	if !b.Allowed.Has(offer(t, k, "small", "b")) || b.Pinned {
		t.Error("a machine with a plain pod may not be in another zone")
	}
}

// Several pods with devices that join at once have a device each.
func TestJoinAllWithDevices(t *testing.T) {
	k := bins.Ready(t, packing.Options{}, "node n cpu=8 device=gpu/0:sel=a device=gpu/1:sel=a", "pod job x3 cpu=1 wants=gpu:a*1")
	b, x := at(t, k, "n"), waits(t, k, "job-2")
	k.JoinAll(b, x.Class, k.Unplaced[:2])
	if k.Accepts(b, x) {
		t.Error("of two devices two pods have one each, and a third pod finds one")
	}
}

// Of machines on which a pod goes without as much it gets the first, and of a pod that is looked at one by one nothing is learnt.
func TestBestOfEquals(t *testing.T) {
	k := bins.Ready(t, packing.Options{}, "node a cpu=4 zone=a", "node b cpu=1 zone=b", "node c cpu=4 zone=c", "node d cpu=4 zone=d", "pod picky cpu=3 prefer=30:zone:z", "pod last cpu=3 prefer=30:zone:d", "pod big cpu=5", "pod sole cpu=5 apart=host")
	from := 0
	if got := k.BestOf(k.Existing, waits(t, k, "picky"), &from, nil); got.Place.Name != "a" || from != 0 {
		t.Errorf("picky goes to %s, want a; %d are known to be too full", got.Place.Name, from)
	}
	if got := k.BestOf(k.Existing, waits(t, k, "last"), &from, nil); got.Place.Name != "d" || from != 0 {
		t.Errorf("last goes to %s, want d; %d are known to be too full", got.Place.Name, from)
	}
	if got := k.BestOf(k.Existing, waits(t, k, "sole"), &from, nil); got != nil || from != 0 {
		t.Errorf("sole, which is no plain pod, has %d known to be too full for the next", from)
	}
	if got := k.BestOf(k.Existing, waits(t, k, "big"), &from, nil); got != nil || from != 4 {
		t.Errorf("all are too small for big, and it is known of %d", from)
	}
}

// What a class has found too full it looks at again once something has left.
func TestFull(t *testing.T) {
	k := bins.Ready(t, packing.Options{}, "node n cpu=2", "pod web cpu=1", "pod api cpu=2")
	web, api := waits(t, k, "web").Class, waits(t, k, "api").Class
	k.Full.Note(web, 3)
	k.Full.Note(api, 2)
	web.FullPlanned, api.FullPlanned = 5, 1
	k.Full.ForgetPlanned(2)
	if web.FullPlanned != 2 || api.FullPlanned != 1 || web.FullExisting != 3 {
		t.Errorf("of planned machines from the third on %d and %d are known, and of those there %d", web.FullPlanned, api.FullPlanned, web.FullExisting)
	}
	k.Full.Forget()
	if web.FullExisting+web.FullPlanned+api.FullExisting+api.FullPlanned != 0 {
		t.Errorf("forgotten, and still known: %d %d %d %d", web.FullExisting, web.FullPlanned, api.FullExisting, api.FullPlanned)
	}
	k.Full.Note(web, 1)
	if k.Full.Forget(); web.FullExisting != 0 {
		t.Error("what is found again is not forgotten again")
	}
}

// Spreading that is only meant to be has a weight, too, beside that of soft taints; what a pod does not tolerate is no taint that it goes without.
func TestSoftSpread(t *testing.T) {
	lines := []string{"node n1 cpu=4 zone=a taint=slow:PreferNoSchedule", "node n2 cpu=4 zone=b", "node n3 cpu=4 zone=b taint=hard:NoSchedule", "pod there x2 cpu=100m app=soft node=n1", "pod soft cpu=100m spread=zone:1:soft", "pod plain cpu=100m"}
	k := bins.Ready(t, packing.Options{}, lines...)
	soft, plain := waits(t, k, "soft").Class, waits(t, k, "plain").Class
	if !k.HasWishes(soft) || k.HasWishes(plain) {
		t.Error("it matters where soft goes, and not where plain does")
	}
	near, far := k.RegretOn(soft, k.Existing[0]), k.RegretOn(soft, k.Existing[1])
	if alone := k.RegretOn(plain, k.Existing[0]); alone != 50 || near <= alone || far != 0 {
		t.Errorf("on n1 plain goes without %d, want 50, and soft without %d, want more; on n2 soft without %d, want 0", alone, near, far)
	}
	if got := k.RegretOn(plain, k.Existing[2]); got != 0 {
		t.Errorf("a taint that keeps it away counts %d as one that it would rather be without", got)
	}
	b := at(t, k, "n1", "soft")
	var terms []string
	lost := packing.Lost(k, b, b.Pods[0], func(_ int, l plan.Loss) { terms = append(terms, l.Term) })
	if len(terms) != 2 || lost != near {
		t.Errorf("on n1 it goes without %q, which is %d, and was to be %d", terms, lost, near)
	}
	k = bins.Ready(t, packing.Options{PreferencePolicy: packing.Ignore}, lines...)
	if k.HasWishes(waits(t, k, "soft").Class) {
		t.Error("nothing is preferred, and it matters where soft goes")
	}
}

// Offers in one domain have one number: all that is not told apart by the keys by which pods are counted.
func TestDomainsOfOffers(t *testing.T) {
	rack := func(of string) string {
		return `{"zone":"a","capacityType":"on-demand","price":100000,"labels":{"rack":"` + of + `"}}`
	}
	types := []string{
		"type small cpu=4 memory=8Gi price=0.10 zones=a,b family=m", "type large cpu=8 memory=16Gi price=0.20 zones=a,b family=c",
		"type own cpu=8 memory=16Gi zones=a family=m .offers=[" + rack("one") + "," + rack("two") + "]",
	}
	for name, tc := range map[string]struct {
		pod  string
		want string // one number for each offer, in the order in which they are
	}{
		"Zone":          {"pod web cpu=1 spread=zone:1", "0 1 0 1 0 0"},
		"Family":        {"pod web cpu=1 spread=family:1", "0 0 1 1 0 0"},
		"CountedFamily": {"pod web cpu=1 spread=zone:1 select=family:m", "0 1 2 3 0 0"},
		"CountedRack":   {"pod web cpu=1 spread=zone:1 select=rack:one", "0 1 0 1 2 0"},
	} {
		k := bins.Ready(t, packing.Options{}, append(slices.Clone(types), "pool general", "pod any cpu=1", tc.pod)...)
		numbers := map[int]int{}
		var got []string
		for _, shape := range []string{"small", "large", "own"} {
			for i := range k.Market.Offers {
				o := &k.Market.Offers[i]
				if o.Type.Shape.Name != shape {
					continue
				}
				if _, known := numbers[o.DomainSet]; !known {
					numbers[o.DomainSet] = len(numbers)
				}
				got = append(got, strconv.Itoa(numbers[o.DomainSet]))
			}
		}
		if diff := cmp.Diff(tc.want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%s: -want +got\n%s", name, diff)
		}
	}
}

// Resources that pods of one size ask for do not hide those of others.
func TestDimensionsOfPodsAlike(t *testing.T) {
	ask := func(name, resource string) world.Pod {
		return world.Pod{Key: world.Key{Name: name}, Waiting: true, Requests: amount.Of(amount.Entry{Name: resource, Value: 1000})}
	}
	w := made(t, []world.Pod{ask("a", "cpu"), ask("b", "memory"), ask("c", "example.com/fpga"), ask("d", "cpu")})
	k := packing.New(w, packing.Options{})
	k.Ready(w.Pods())
	if diff := cmp.Diff([]string{"cpu", "memory", "example.com/fpga"}, k.Market.Dims); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}
