package types_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tenon-sh/tenon/engine/enginetest/chance"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/aws/kubelet"
	"github.com/tenon-sh/tenon/internal/aws/nodeclass"
	"github.com/tenon-sh/tenon/internal/aws/types"
	"github.com/tenon-sh/tenon/internal/catalog"
)

func typeOf(t testing.TB, name string) *catalog.Type {
	t.Helper()
	typ, ok := loadCatalog(t).Type(name)
	if !ok {
		t.Fatalf("no type %s", name)
	}
	return typ
}

func kubeletOf(t testing.TB, raw string) kubelet.Config {
	t.Helper()
	c, err := kubelet.Parse([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestAllocatable is about what settings change. m5.large has 2 vCPUs, 8192 MiB,
// 3 interfaces with 10 addresses each: 29 pods; 6.9 GiB are left by default.
func TestAllocatable(t *testing.T) {
	tests := map[string]struct {
		why     string
		typ     string // m5.large if empty
		class   nodeclass.Class
		kubelet string
		change  func(*types.Settings)
		want    map[string]string // only what the case is about
	}{
		"Default": {
			why:  "Nothing set: the arithmetic of the golden table.",
			want: map[string]string{"cpu": "1930m", "memory": "6903Mi", "pods": "29", "ephemeral-storage": "17Gi"},
		},
		"MaxPods": {
			why:     "More pods may run, but memory is still kept for what the network allows.",
			kubelet: `{"maxPods":110}`,
			want:    map[string]string{"pods": "110", "memory": "6903Mi"},
		},
		"MaxPodsBottlerocket": {
			why:     "Bottlerocket keeps memory for the pods that may run.",
			class:   nodeclass.Class{Family: types.Bottlerocket},
			kubelet: `{"maxPods":110}`,
			want:    map[string]string{"pods": "110", "memory": "6012Mi"},
		},
		"PodsPerCore": {
			why:     "Pods per core lower the number and never raise it.",
			kubelet: `{"podsPerCore":4}`,
			want:    map[string]string{"pods": "8"},
		},
		"PodsPerCoreBottlerocket": {
			why:     "Bottlerocket does not know the setting.",
			class:   nodeclass.Class{Family: types.Bottlerocket},
			kubelet: `{"podsPerCore":4}`,
			want:    map[string]string{"pods": "29"},
		},
		"Windows": {
			why:   "Windows takes 110 pods, one address each from the first interface.",
			class: nodeclass.Class{Family: types.Windows2022},
			want:  map[string]string{"pods": "110", "vpc.amazonaws.com/PrivateIPv4Address": "9", "ephemeral-storage": "44Gi"},
		},
		"ReservedENIs": {
			why:    "An interface that is kept back takes its pods' addresses, not the memory kept for them.",
			change: func(s *types.Settings) { s.ReservedENIs = 1 },
			want:   map[string]string{"pods": "20", "memory": "6903Mi"},
		},
		"NoInterfaceLeft": {
			why:    "Without a usable interface no pod has an address.",
			change: func(s *types.Settings) { s.ReservedENIs = 3 },
			want:   map[string]string{"pods": "0"},
		},
		"KubeReserved": {
			why:     "What is set replaces the default of that resource alone.",
			kubelet: `{"kubeReserved":{"cpu":"500m"},"systemReserved":{"memory":"1Gi","cpu":"100m"}}`,
			want:    map[string]string{"cpu": "1400m", "memory": "5879Mi", "ephemeral-storage": "17Gi"},
		},
		"EvictionPercent": {
			why:     "A percentage is of the node's capacity.",
			kubelet: `{"evictionHard":{"memory.available":"50%","nodefs.available":"25%"}}`,
			want:    map[string]string{"memory": "3291648Ki", "ephemeral-storage": "14Gi"},
		},
		"EvictionOff": {
			why:     "All of it means that the signal is off.",
			kubelet: `{"evictionHard":{"memory.available":"100%"}}`,
			want:    map[string]string{"memory": "7003Mi"},
		},
		"EvictionSoft": {
			why:     "Soft thresholds take nothing from pods.",
			kubelet: `{"evictionSoft":{"memory.available":"2Gi"}}`,
			want:    map[string]string{"memory": "6903Mi"},
		},
		"MemoryOverhead": {
			why:    "The hypervisor's part is a setting.",
			change: func(s *types.Settings) { s.MemoryOverhead = 0 },
			want:   map[string]string{"memory": "7518Mi"},
		},
		"MemorySeen": {
			why:    "What a real node had is better than any estimate.",
			change: func(s *types.Settings) { s.Seen = map[string]int64{"m5.large": 7800 << 20} },
			want:   map[string]string{"memory": "7126Mi"},
		},
		"RootVolume": {
			why: "The volume marked as root is the one pods write to.",
			class: nodeclass.Class{Family: types.AL2023, Disks: []nodeclass.Disk{
				{Device: "/dev/xvda", SizeGiB: 30}, {Device: "/dev/xvdb", SizeGiB: 100, Root: true},
			}},
			want: map[string]string{"ephemeral-storage": "89Gi"},
		},
		"FamilysDevice": {
			why: "Without a mark it is the family's device.",
			class: nodeclass.Class{Family: types.Bottlerocket, Disks: []nodeclass.Disk{
				{Device: "/dev/xvda", SizeGiB: 4}, {Device: "/dev/xvdb", SizeGiB: 50},
			}},
			want: map[string]string{"ephemeral-storage": "44Gi"},
		},
		"OtherDevice": {
			why:   "A volume of another name leaves the family's own.",
			class: nodeclass.Class{Family: types.AL2023, Disks: []nodeclass.Disk{{Device: "/dev/sdf", SizeGiB: 500}}},
			want:  map[string]string{"ephemeral-storage": "17Gi"},
		},
		"CustomLast": {
			why: "A custom image's last volume counts.",
			class: nodeclass.Class{Family: types.Custom, Disks: []nodeclass.Disk{
				{Device: "/dev/xvda", SizeGiB: 8}, {Device: "/dev/sdz", SizeGiB: 40},
			}},
			want: map[string]string{"ephemeral-storage": "35Gi"},
		},
		"RAID0": {
			why: "The instance store, in decimal gigabytes, is what pods write to.", typ: "m5d.large",
			class: nodeclass.Class{Family: types.AL2023, RAID0: true},
			want:  map[string]string{"ephemeral-storage": "66426258176"},
		},
		"RAID0WithoutStore": {
			why:   "Without an instance store the volume counts.",
			class: nodeclass.Class{Family: types.AL2023, RAID0: true},
			want:  map[string]string{"ephemeral-storage": "17Gi"},
		},
		"EFAOnly": {
			why: "Interfaces for the adapter alone are what pods can ask for, and one of card 0 gives no addresses.", typ: "c6in.32xlarge",
			class: nodeclass.Class{Family: types.AL2023, Interfaces: []nodeclass.Interface{
				{Card: 0, Device: 0}, {Card: 0, Device: 1, EFAOnly: true}, {Card: 1, Device: 1, EFAOnly: true},
			}},
			want: map[string]string{"vpc.amazonaws.com/efa": "2", "pods": "345"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if tc.typ == "" {
				tc.typ = "m5.large"
			}
			s := types.Default("us-east-1")
			if tc.class.Family != "" {
				s.Class = tc.class
			}
			s.Kubelet = kubeletOf(t, tc.kubelet)
			if tc.change != nil {
				tc.change(&s)
			}
			shape := types.Shape(typeOf(t, tc.typ), s)
			left := shape.Allocatable().Map()
			got := map[string]string{}
			for k := range tc.want {
				got[k] = left[k]
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n-want +got\n%s", tc.why, diff)
			}
		})
	}
}

// TestAllocatableProperty wants of any settings: no amount is negative,
// and keeping more back never leaves more.
func TestAllocatableProperty(t *testing.T) {
	all := loadCatalog(t).Types()
	quantity := rapid.SampledFrom([]string{"0", "1", "100m", "2Gi", "500Mi", "-1Gi", "5%", "100%", "120%", "x", "9e18"})
	amounts := rapid.MapOf(rapid.SampledFrom([]string{"cpu", "memory", "ephemeral-storage", "pid"}), quantity)
	thresholds := rapid.MapOf(rapid.SampledFrom([]string{"memory.available", "nodefs.available", "pid.available"}), quantity)
	chance.Check(t, func(t *rapid.T) {
		typ := &all[rapid.IntRange(0, len(all)-1).Draw(t, "type")]
		s := types.Default("us-east-1")
		s.Class.Family = rapid.SampledFrom(types.Families()).Draw(t, "family")
		s.Kubelet = kubelet.Config{
			KubeReserved: amounts.Draw(t, "kubeReserved"), SystemReserved: amounts.Draw(t, "systemReserved"),
			EvictionHard: thresholds.Draw(t, "evictionHard"),
		}
		s.ReservedENIs = rapid.IntRange(0, 20).Draw(t, "reserved")
		shape := types.Shape(typ, s)
		left := shape.Allocatable()
		if !left.Fits(shape.Capacity) {
			t.Fatalf("%s: %s left of %s", typ.Name, left, shape.Capacity)
		}
		for _, e := range slices.Concat(shape.Capacity, shape.Overhead, left) {
			if e.Value < 0 {
				t.Fatalf("%s: %s is below zero", typ.Name, e.Name)
			}
		}
		s.ReservedENIs++
		smaller := types.Shape(typ, s)
		if less := smaller.Allocatable(); less.Value("pods") > left.Value("pods") {
			t.Fatalf("%s: one interface less gives %d pods instead of %d", typ.Name, less.Value("pods"), left.Value("pods"))
		}
	})
}

func TestUnfit(t *testing.T) {
	al2023 := nodeclass.Class{Family: types.AL2023}
	tests := map[string]struct {
		why   string
		typ   string
		class nodeclass.Class
		set   func(*types.Settings)
		want  bool
	}{
		"Plain":         {why: "An ordinary type fits.", typ: "m5.large", class: al2023},
		"A1":            {why: "AL2023 needs newer instructions than a1 has.", typ: "a1.large", class: al2023, want: true},
		"A1WithAL2":     {why: "AL2 runs on it.", typ: "a1.large", class: nodeclass.Class{Family: types.AL2}},
		"WindowsOnARM":  {why: "There is no Windows image for arm64.", typ: "m6g.large", class: nodeclass.Class{Family: types.Windows2022}, want: true},
		"Mac":           {why: "Kubernetes does not run on a Mac.", typ: "mac2.metal", class: al2023, want: true},
		"TrackingOnXen": {why: "Only Nitro has the setting.", typ: "m4.large", class: nodeclass.Class{Family: types.AL2, Tracking: &nodeclass.Tracking{}}, want: true},
		"Strategy": {
			why: "Burstable types cannot stand in a cluster placement group.", typ: "t3.large", class: al2023,
			set: func(s *types.Settings) { s.Strategy = "cluster" }, want: true,
		},
		"NoSuchCard": {
			why: "A type with one network card has no card 1.", typ: "m5.large",
			class: nodeclass.Class{Family: types.AL2023, Interfaces: []nodeclass.Interface{{Card: 1}}}, want: true,
		},
		"TooManyAdapters": {
			why: "m5.large has no Elastic Fabric Adapter.", typ: "m5.large",
			class: nodeclass.Class{Family: types.AL2023, Interfaces: []nodeclass.Interface{{}, {Device: 1, EFAOnly: true}}}, want: true,
		},
		"Nested": {why: "The bundled catalogue knows of no nested virtualisation.", typ: "m5.large", class: nodeclass.Class{Family: types.AL2023, Nested: "enabled"}, want: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := types.Settings{Class: tc.class}
			if tc.set != nil {
				tc.set(&s)
			}
			if got := types.Unfit(typeOf(t, tc.typ), s); (got != "") != tc.want {
				t.Errorf("%s\ngot %q", tc.why, got)
			}
		})
	}
}

func valuesOf(s world.Shape, key string) []string {
	r, _ := s.Labels.Find(key)
	return r.Values
}

func TestSell(t *testing.T) {
	region, err := loadCatalog(t).Region("eu-west-1")
	if err != nil {
		t.Fatal(err)
	}
	typ := typeOf(t, "t2.nano")
	s := types.Sell(types.Shape(typ, types.Default("eu-west-1")), types.Offers(region, typ))
	got := map[string][]string{}
	want := map[string][]string{
		label.Zone:         {"eu-west-1a", "eu-west-1b", "eu-west-1c"},
		label.CapacityType: {label.OnDemand},
		label.Region:       {"eu-west-1"},
	}
	for key := range want {
		got[key] = valuesOf(s, key)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("labels that follow from offers: -want +got\n%s", diff)
	}
	if len(s.Offers) != 3 || !s.Offers[0].Synthetic || s.Offers[0].Price == 0 || s.Offers[0].Labels["topology.k8s.aws/zone-id"] != "euw1-az3" {
		t.Errorf("offers of a type without spot in three zones: %+v", s.Offers)
	}
	unsold := types.Sell(s, nil)
	if r, ok := unsold.Labels.Find(label.Zone); !ok || r.Op() != label.DoesNotExist {
		t.Errorf("what is not offered is in no zone, got %v", r)
	}
}

// TestSellReserved wants that a reservation's label is the offer's, and that
// without a reservation the shape can never have it.
func TestSellReserved(t *testing.T) {
	const id = "karpenter.k8s.aws/capacity-reservation-id"
	shape := types.Shape(typeOf(t, "m5.large"), types.Default("us-east-1"))
	if r, ok := shape.Labels.Find(id); !ok || r.Op() != label.DoesNotExist {
		t.Errorf("without a reservation: got %v", r)
	}
	sold := types.Sell(shape, []world.Offer{
		{Zone: "us-east-1a", CapacityType: label.OnDemand},
		{Zone: "us-east-1a", CapacityType: label.Reserved, Reservation: "cr-1", Count: 3, Labels: map[string]string{id: "cr-1"}},
	})
	if r, ok := sold.Labels.Find(id); ok {
		t.Errorf("the label is the reserved offer's alone, got %v for all", r)
	}
}

// TestBundled holds every region's catalogue to what the engine asks of one.
func TestBundled(t *testing.T) {
	c := loadCatalog(t)
	for _, name := range c.Regions() {
		region, err := c.Region(name)
		if err != nil {
			t.Fatal(err)
		}
		got := types.Bundled(region, types.Default(""))
		if len(got.Shapes) < 200 {
			t.Errorf("%s: %d shapes", name, len(got.Shapes))
		}
		if (got.Currency == "CNY/h") != (region.Partition() == "aws-cn") {
			t.Errorf("%s: currency %q", name, got.Currency)
		}
		for i, s := range got.Shapes {
			if i > 0 && got.Shapes[i-1].Name >= s.Name {
				t.Errorf("%s: %s stands after %s", name, s.Name, got.Shapes[i-1].Name)
			}
			if len(s.Offers) == 0 {
				t.Errorf("%s: %s has no offer", name, s.Name)
			}
			for j, r := range s.Labels {
				if j > 0 && s.Labels[j-1].Key >= r.Key {
					t.Fatalf("%s: label %s stands after %s", s.Name, r.Key, s.Labels[j-1].Key)
				}
			}
		}
	}
}

func TestOldLabels(t *testing.T) {
	s := types.Default("us-east-1")
	s.OldLabels = true
	got := map[string][]string{}
	want := map[string][]string{
		"karpenter.k8s.aws/instance-pods":               {"58"},
		"karpenter.k8s.aws/instance-accelerator-name":   {"a10g"},
		"karpenter.k8s.aws/instance-accelerator-count":  {"1"},
		"karpenter.k8s.aws/instance-accelerator-memory": {"22888"},
	}
	shape := types.Shape(typeOf(t, "g5.xlarge"), s)
	for key := range want {
		got[key] = valuesOf(shape, key)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("labels that Provisioners knew: -want +got\n%s", diff)
	}
	if v := valuesOf(types.Shape(typeOf(t, "g5.xlarge"), types.Default("")), "karpenter.k8s.aws/instance-accelerator-name"); v != nil {
		t.Errorf("today a GPU is no accelerator, got %v", v)
	}
}

func TestVolumeLimits(t *testing.T) {
	tests := map[string]struct {
		why  string
		typ  string
		want int
	}{
		"Shared":    {why: "The root volume and a second interface take slots.", typ: "m5.large", want: 25},
		"Dedicated": {why: "Newer types count volumes alone.", typ: "m7i.large", want: 31},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			want := []world.DriverLimit{{Driver: "ebs.csi.aws.com", Count: tc.want}}
			if diff := cmp.Diff(want, types.Shape(typeOf(t, tc.typ), types.Default("")).VolumeLimits); diff != "" {
				t.Errorf("%s\n-want +got\n%s", tc.why, diff)
			}
		})
	}
}

func BenchmarkBundled(b *testing.B) {
	region, err := loadCatalog(b).Region("us-east-1")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		types.Bundled(region, types.Default(""))
	}
}

// What Deciding leaves out of settings changes nothing of what nodes offer.
func TestDecidingProperty(t *testing.T) {
	all := loadCatalog(t).Types()
	disk := rapid.Custom(func(t *rapid.T) nodeclass.Disk {
		return nodeclass.Disk{
			Device: rapid.SampledFrom([]string{"/dev/xvda", "/dev/xvdb", "/dev/sda1"}).Draw(t, "device"), Root: rapid.Bool().Draw(t, "root"),
			SizeGiB: rapid.Int64Range(0, 100).Draw(t, "size"), Type: "gp3", KMSKey: rapid.String().Draw(t, "key"), Snapshot: "snap-1",
		}
	})
	nic := rapid.Custom(func(t *rapid.T) nodeclass.Interface {
		return nodeclass.Interface{Card: rapid.Int32Range(0, 2).Draw(t, "card"), EFAOnly: rapid.Bool().Draw(t, "efa")}
	})
	chance.Check(t, func(t *rapid.T) {
		typ := &all[rapid.IntRange(0, len(all)-1).Draw(t, "type")]
		s := types.Default("us-east-1")
		s.OldLabels, s.Seen = rapid.Bool().Draw(t, "old"), map[string]int64{typ.Name: 1 << 30}
		s.Class = nodeclass.Class{
			Hash: rapid.String().Draw(t, "hash"), UserData: rapid.String().Draw(t, "data"), Tags: map[string]string{"a": "b"}, Role: "role",
			Family: rapid.SampledFrom(types.Families()).Draw(t, "family"), RAID0: rapid.Bool().Draw(t, "raid"),
			Disks: rapid.SliceOfN(disk, 0, 3).Draw(t, "disks"), Interfaces: rapid.SliceOfN(nic, 0, 3).Draw(t, "interfaces"),
			Nested: rapid.SampledFrom([]string{"", "enabled", "disabled"}).Draw(t, "nested"),
		}
		if rapid.Bool().Draw(t, "tracked") {
			s.Class.Tracking = &nodeclass.Tracking{UDP: new(int32)}
		}
		amounts := rapid.MapOf(rapid.SampledFrom([]string{"cpu", "memory"}), rapid.SampledFrom([]string{"1", "2Gi"}))
		s.Kubelet = kubelet.Config{
			KubeReserved: amounts.Draw(t, "kube"), SystemReserved: amounts.Draw(t, "system"),
			EvictionHard: map[string]string{"memory.available": rapid.SampledFrom([]string{"5%", "1Gi"}).Draw(t, "eviction")},
			All:          map[string]any{"maxPods": 1}, ClusterDNS: []string{"10.0.0.10"},
		}
		if n := rapid.Int64Range(0, 60).Draw(t, "pods"); n > 0 {
			s.Kubelet.MaxPods, s.Kubelet.PodsPerCore = &n, &n
		}
		less := types.Deciding(s)
		if diff := cmp.Diff(types.Shape(typ, s), types.Shape(typ, less)); diff != "" {
			t.Fatalf("%s: -all +deciding\n%s", typ.Name, diff)
		}
		if a, b := types.Unfit(typ, s), types.Unfit(typ, less); a != b {
			t.Fatalf("%s is unfit for %q, and for %q by what decides", typ.Name, a, b)
		}
	})
}
