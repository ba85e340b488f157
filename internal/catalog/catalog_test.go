package catalog_test

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-sh/tenon/internal/catalog"
)

func load(t testing.TB) *catalog.Catalog {
	t.Helper()
	c, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func region(t testing.TB, name string) *catalog.Region {
	t.Helper()
	r, err := load(t).Region(name)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestType(t *testing.T) {
	got, ok := load(t).Type("p4d.24xlarge")
	if !ok {
		t.Fatal("p4d.24xlarge is missing")
	}
	card := catalog.Card{ENIs: 15, BaselineMbps: 100000, PeakMbps: 100000, Text: "100 Gigabit"}
	want := &catalog.Type{
		Name: "p4d.24xlarge", Family: "p4d", Size: "24xlarge", Category: "p", Generation: 4, Current: true,
		Arch: "amd64", Archs: []string{"x86_64"},
		VCPUs: 96, Cores: 48, ThreadsPerCore: 2, CPUManufacturer: "Intel", ClockMHz: 3000, MemoryMiB: 1179648,
		Hypervisor: "nitro", NitroEnclaves: true,
		UsageClasses: []string{"capacity-block", "on-demand", "spot"}, Virtualization: []string{"hvm"},
		BootModes: []string{"legacy-bios"}, RootDevices: []string{"ebs"}, Placement: []string{"cluster", "partition", "spread"},
		NetworkText: "4x 100 Gigabit", NetworkMbps: 400000, BaselineMbps: 100000, PeakMbps: 100000, EncryptsInTransit: true, ENA: "required",
		Cards: []catalog.Card{card, card, card, card}, ENIs: 60, DefaultCardENIs: 15, IPv4PerENI: 50, IPv6: true, IPv6PerENI: 50,
		EFAs: 4, Trunk: true, BranchENIs: 62,
		EBSOptimized: "default", EBSMbps: 19000, EBSBaselineMbps: 19000, EBSNVMe: "required", EBSAttachMax: 28,
		NVMeGB: 8000, DiskGB: 8000, Disks: 8, DiskSizeGB: 1000, DiskType: "ssd", DiskNVMe: "required",
		Accelerators: []catalog.Accelerator{{Kind: catalog.GPU, Name: "A100", Manufacturer: "NVIDIA", Count: 8, Logical: 8, MemoryMiB: 40960}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("p4d.24xlarge: -want +got\n%s", diff)
	}
}

func TestPrice(t *testing.T) {
	tests := map[string]struct {
		why          string
		region, typ  string
		zone         string // empty: on demand
		want         catalog.Price
		known        bool
		wantCurrency string
	}{
		"Own": {
			why:    "A region with a price list of its own shows it.",
			region: "us-east-1", typ: "c5.large", want: catalog.Price{Micro: 85_000}, known: true, wantCurrency: "USD",
		},
		"Derived": {
			why:    "A price that was computed from another region's says so.",
			region: "eu-west-1", typ: "m5.large", want: catalog.Price{Micro: 107_230, Synthetic: true}, known: true, wantCurrency: "USD",
		},
		"Borrowed": {
			why:    "A region without any prices shows those of us-east-1, as made up.",
			region: "eu-central-1", typ: "c5.large", want: catalog.Price{Micro: 85_000, Synthetic: true}, known: true, wantCurrency: "USD",
		},
		"Yuan": {
			why:    "China is priced in its own currency.",
			region: "cn-north-1", typ: "c5.large", want: catalog.Price{Micro: 739_000}, known: true, wantCurrency: "CNY",
		},
		"ObservedSpot": {
			why:    "A spot price that was seen in the market is not called synthetic.",
			region: "us-east-1", typ: "i4i.metal", zone: "us-east-1b", want: catalog.Price{Micro: 3_577_900}, known: true, wantCurrency: "USD",
		},
		"SyntheticSpot": {
			why:    "All others are shares of the on-demand price.",
			region: "us-east-1", typ: "a1.large", zone: "us-east-1a", want: catalog.Price{Micro: 18_360, Synthetic: true}, known: true, wantCurrency: "USD",
		},
		"NoSpot": {
			why:    "A type that is not sold as spot has no spot price.",
			region: "us-east-1", typ: "t2.nano", zone: "us-east-1a", wantCurrency: "USD",
		},
		"NotOffered": {
			why:    "A zone that does not offer the type has no price for it.",
			region: "us-east-1", typ: "m7i.large", zone: "us-east-1e", wantCurrency: "USD",
		},
		"Unpriced": {
			why:    "Macs are sold as dedicated hosts only.",
			region: "us-east-1", typ: "mac2.metal", wantCurrency: "USD",
		},
		"Unknown": {
			why:    "An unknown type has no price, and no panic either.",
			region: "us-east-1", typ: "z99.large", wantCurrency: "USD",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := region(t, tc.region)
			got, known := r.OnDemand(tc.typ)
			if tc.zone != "" {
				got, known = r.Spot(tc.typ, tc.zone)
			}
			if got != tc.want || known != tc.known || r.Currency != tc.wantCurrency {
				t.Errorf("%s\ngot  %+v, %t, %s\nwant %+v, %t, %s", tc.why, got, known, r.Currency, tc.want, tc.known, tc.wantCurrency)
			}
		})
	}
}

func TestOffered(t *testing.T) {
	r := region(t, "us-west-2")
	if got, want := r.Offered("c5.large"), []string{"us-west-2a", "us-west-2b", "us-west-2c", "us-west-2d"}; !slices.Equal(got, want) {
		t.Errorf("c5.large in us-west-2: got %v, want %v", got, want)
	}
	if got := r.ZoneID("us-west-2a"); got != "usw2-az2" {
		t.Errorf("id of us-west-2a: got %q, want usw2-az2", got)
	}
	if got := len(r.Types()); got != 1331 {
		t.Errorf("types of us-west-2: got %d, want 1331", got)
	}
	if r.Assumed {
		t.Error("offerings of us-west-2 are known")
	}
}

func TestUnknownRegion(t *testing.T) {
	_, err := load(t).Region("us-moon-1")
	if err == nil || !strings.Contains(err.Error(), `"us-moon-1"`) || !strings.Contains(err.Error(), ": there is us-east-1, us-east-2, us-gov-east-1, ") {
		t.Errorf("the error should name the region and those near it, got: %v", err)
	}
}

// TestRegions holds the whole catalogue to what every region promises.
func TestRegions(t *testing.T) {
	c := load(t)
	if got := len(c.Regions()); got != 34 {
		t.Errorf("got %d regions, want 34", got)
	}
	if got := len(c.Types()); got != 1373 {
		t.Errorf("got %d types, want 1373", got)
	}
	for _, name := range c.Regions() {
		r, err := c.Region(name)
		if err != nil {
			t.Fatal(err)
		}
		if assumed := r.Partition() != "aws"; r.Assumed != assumed {
			t.Errorf("%s: assumed offerings is %t, want %t", name, r.Assumed, assumed)
		}
		if (r.Currency == "CNY") != (r.Partition() == "aws-cn") {
			t.Errorf("%s: prices in %s", name, r.Currency)
		}
		if len(r.Types()) < 200 || len(r.Zones) < 2 {
			t.Errorf("%s: %d types in %d zones", name, len(r.Types()), len(r.Zones))
		}
		for _, typ := range r.Types() {
			onDemand, _ := r.OnDemand(typ.Name)
			for _, z := range r.Offered(typ.Name) {
				spot, ok := r.Spot(typ.Name, z)
				if ok && (!typ.Spot() || spot.Micro > onDemand.Micro || spot.Micro*20 < onDemand.Micro) {
					t.Errorf("%s in %s: spot %d beside on demand %d, usage classes %v", typ.Name, z, spot.Micro, onDemand.Micro, typ.UsageClasses)
				}
			}
		}
	}
}

func TestRoundTrip(t *testing.T) {
	types := []catalog.Type{
		{Name: "b.large", Archs: []string{"x86_64", "i386"}, VCPUs: 2, Current: true, Cards: []catalog.Card{{ENIs: 3, Text: "low"}}},
		{Name: "a.large", Cards: []catalog.Card{{ENIs: 1}, {ENIs: 2}}, Accelerators: []catalog.Accelerator{{Kind: catalog.FPGA, Name: "f", Count: 8}}},
	}
	sheet := catalog.Sheet{
		Name: "r1", Currency: "USD", Zones: []catalog.Zone{{Name: "r1a", ID: "az2"}, {Name: "r1b", ID: "az1"}},
		Offers: map[string]catalog.Offer{
			"a.large": {
				Zones: []string{"r1b"}, OnDemand: catalog.Price{Micro: 1000, Synthetic: true},
				Spot: map[string]catalog.Price{"r1b": {Micro: 333}},
			},
			"b.large": {
				Zones: []string{"r1a", "r1b"}, OnDemand: catalog.Price{Micro: 7_654_321},
				Spot: map[string]catalog.Price{"r1a": {Micro: 7_654_000, Synthetic: true}, "r1b": {Micro: catalog.ShareOf(7_654_321, 417), Synthetic: true}},
			},
		},
	}
	first, err := catalog.Encode(types, []catalog.Sheet{sheet})
	if err != nil {
		t.Fatal(err)
	}
	c, err := catalog.Decode(first)
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(types)
	if diff := cmp.Diff(types, c.Types()); diff != "" {
		t.Errorf("types: -want +got\n%s", diff)
	}
	r, err := c.Region("r1")
	if err != nil {
		t.Fatal(err)
	}
	for typ, o := range sheet.Offers {
		got := catalog.Offer{Zones: r.Offered(typ), Spot: map[string]catalog.Price{}}
		got.OnDemand, _ = r.OnDemand(typ)
		for _, z := range r.Zones {
			if p, ok := r.Spot(typ, z.Name); ok {
				got.Spot[z.Name] = p
			}
		}
		if diff := cmp.Diff(o, got); diff != "" {
			t.Errorf("%s: -want +got\n%s", typ, diff)
		}
	}
	again, err := catalog.Encode(types, []catalog.Sheet{sheet})
	if err != nil || !bytes.Equal(first, again) {
		t.Errorf("the order of types changed the file (%v)", err)
	}
}

func FuzzDecode(f *testing.F) {
	small, err := catalog.Encode([]catalog.Type{{Name: "a.large", Cards: []catalog.Card{{}}}}, []catalog.Sheet{{Name: "r", Zones: []catalog.Zone{{Name: "ra"}}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(small)
	f.Add(small[:len(small)-3])
	f.Add([]byte("tenon-catalog 1\n"))
	f.Add([]byte("garbage"))
	f.Fuzz(func(t *testing.T, file []byte) {
		c, err := catalog.Decode(file)
		if err == nil && c == nil {
			t.Error("neither a catalogue nor an error")
		}
	})
}

// TestSize keeps the binary small.
func TestSize(t *testing.T) {
	info, err := os.Stat("catalog.bin")
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > 1_500_000 {
		t.Errorf("catalog.bin has %d bytes; it should stay below 1.5 MB", info.Size())
	}
}

func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		if _, err := catalog.Load(); err != nil {
			b.Fatal(err)
		}
	}
}
