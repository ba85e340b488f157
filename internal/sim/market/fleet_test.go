package market_test

import (
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/internal/catalog"
	"github.com/tenon-sh/tenon/internal/sim/market"
)

// clock is a virtual clock.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func (c *clock) pass(d time.Duration) { c.at = c.at.Add(d) }

var start = time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)

func typ(name string, vcpus int, onDemand money.Micro, zones ...string) market.Type {
	t := market.Type{
		Type:     catalog.Type{Name: name, Archs: []string{"x86_64"}, VCPUs: vcpus, UsageClasses: []string{market.OnDemand, market.Spot}},
		OnDemand: onDemand, Zones: zones, SpotFrom: map[string]money.Micro{},
	}
	for _, z := range zones {
		t.SpotFrom[z] = onDemand / 3
	}
	return t
}

// small is a market of two zones with a subnet each and a template called "t".
func small(t *testing.T, change func(*market.Config)) (*market.Market, *clock, map[string]string) {
	t.Helper()
	c := &clock{at: start}
	cfg := market.Config{
		Region: "cn-north-1", Account: "123456789012", Now: c.now,
		Zones: []market.Zone{{Name: "cn-north-1a", ID: "cnn1-az1"}, {Name: "cn-north-1b", ID: "cnn1-az2"}},
		Types: []market.Type{
			typ("m5.large", 2, 96_000, "cn-north-1a", "cn-north-1b"),
			typ("m5.xlarge", 4, 192_000, "cn-north-1a", "cn-north-1b"),
			typ("p3.8xlarge", 32, 12_240_000, "cn-north-1a", "cn-north-1b"),
		},
	}
	if change != nil {
		change(&cfg)
	}
	m := market.New(cfg)
	subnets := map[string]string{}
	for k, z := range cfg.Zones {
		s := m.AddSubnet(market.Subnet{VPC: "vpc-1", Zone: z.Name, Range: netip.MustParsePrefix([]string{"192.168.0.0/24", "192.168.1.0/24"}[k])})
		subnets[z.Name] = s.ID
	}
	g := m.AddSecurityGroup(market.SecurityGroup{VPC: "vpc-1", Name: "nodes"})
	i := m.AddImage(market.Image{Name: "al2023", Arch: "x86_64"})
	_, err := m.CreateTemplate(market.NewTemplate{Name: "t-1", Data: market.TemplateData{Image: i.ID, Groups: []string{g.ID}}})
	if err != nil {
		t.Fatal(err)
	}
	return m, c, subnets
}

func ask(n int, capacityType string, overrides ...market.Override) market.FleetRequest {
	return market.FleetRequest{
		Total: n, DefaultType: capacityType,
		Configs: []market.FleetConfig{{Template: market.TemplateRef{Name: "t-1", Version: "$Latest"}, Overrides: overrides}},
	}
}

func TestFleetTakesTheNextPoolWhenOneIsEmpty(t *testing.T) {
	m, _, subnet := small(t, nil)
	m.SetCapacity(market.Capacity{Zone: "cn-north-1a", Type: "p3.8xlarge", Left: 1})
	got, err := m.CreateFleet(ask(3, market.OnDemand,
		market.Override{Type: "p3.8xlarge", Subnet: subnet["cn-north-1a"]},
		market.Override{Type: "p3.8xlarge", Subnet: subnet["cn-north-1b"]},
	))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(got.Launched); n != 2 || len(got.Launched[0].IDs) != 1 || len(got.Launched[1].IDs) != 2 {
		t.Fatalf("launched %+v, want one machine in the zone that has one and two in the other", got.Launched)
	}
	want := "We currently do not have sufficient p3.8xlarge capacity in the Availability Zone you requested (cn-north-1a). " +
		"Our system will be working on provisioning additional capacity. " +
		"You can currently get p3.8xlarge capacity by not specifying an Availability Zone in your request or choosing cn-north-1b."
	if len(got.Errors) != 1 || got.Errors[0].Code != market.InsufficientInstanceCapacity || got.Errors[0].Message != want {
		t.Fatalf("errors are %+v, want one %s: %s", got.Errors, market.InsufficientInstanceCapacity, want)
	}
}

func TestFleetStrategies(t *testing.T) {
	cases := map[string]struct {
		why     string
		request func(a, b string) market.FleetRequest
		want    string
	}{
		"LowestPrice": {
			why: "On-demand goes to the cheapest pool whatever the order of the request.",
			request: func(a, _ string) market.FleetRequest {
				return ask(1, market.OnDemand, market.Override{Type: "m5.xlarge", Subnet: a}, market.Override{Type: "m5.large", Subnet: a})
			},
			want: "m5.large",
		},
		"Prioritized": {
			why: "The lowest number wins, though it costs more.",
			request: func(a, _ string) market.FleetRequest {
				r := ask(1, market.OnDemand, market.Override{Type: "m5.large", Subnet: a, Ranked: true, Priority: 2},
					market.Override{Type: "m5.xlarge", Subnet: a, Ranked: true, Priority: 1})
				r.OnDemandStrategy = market.Prioritized
				return r
			},
			want: "m5.xlarge",
		},
		"PriceCapacityOptimized": {
			why: "Of two pools that are deep enough the cheaper one wins.",
			request: func(a, b string) market.FleetRequest {
				r := ask(1, market.Spot, market.Override{Type: "m5.xlarge", Subnet: a}, market.Override{Type: "m5.large", Subnet: b})
				r.SpotStrategy = market.PriceCapacityOptimized
				return r
			},
			want: "m5.large",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			m, _, subnet := small(t, nil)
			got, err := m.CreateFleet(c.request(subnet["cn-north-1a"], subnet["cn-north-1b"]))
			if err != nil {
				t.Fatal(err)
			}
			if len(got.Launched) != 1 || got.Launched[0].Type != c.want {
				t.Errorf("launched %+v, want one %s: %s", got.Launched, c.want, c.why)
			}
		})
	}
}

func TestSameTokenSameMachines(t *testing.T) {
	m, _, subnet := small(t, nil)
	r := ask(2, market.OnDemand, market.Override{Type: "m5.large", Subnet: subnet["cn-north-1a"]})
	r.Token = "order-1"
	first, err := m.CreateFleet(r)
	if err != nil {
		t.Fatal(err)
	}
	again, err := m.CreateFleet(r)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first, again); diff != "" {
		t.Errorf("the same token gave another answer: -first +again\n%s", diff)
	}
	if n := len(m.Instances()); n != 2 {
		t.Errorf("%d machines exist, want the 2 of the first call", n)
	}
	r.Total = 3
	if _, err := m.CreateFleet(r); code(err) != market.IdempotentParameterMismatch {
		t.Errorf("another request under the token gave %v, want %s", err, market.IdempotentParameterMismatch)
	}
}

func TestQuota(t *testing.T) {
	m, c, subnet := small(t, func(cfg *market.Config) {
		cfg.Quotas = map[market.Bucket]int{market.Standard: 4, market.Standard.Spot(): 2}
	})
	a := subnet["cn-north-1a"]
	got, err := m.CreateFleet(ask(3, market.OnDemand, market.Override{Type: "m5.large", Subnet: a}))
	if err != nil || len(got.Launched[0].IDs) != 2 || got.Errors[0].Code != market.VcpuLimitExceeded {
		t.Fatalf("got %+v, %v, want two machines and %s", got, err, market.VcpuLimitExceeded)
	}
	got, err = m.CreateFleet(ask(1, market.Spot, market.Override{Type: "m5.xlarge", Subnet: a}))
	if err != nil || len(got.Launched) != 0 || got.Errors[0].Code != market.MaxSpotInstanceCountExceeded {
		t.Fatalf("got %+v, %v, want %s", got, err, market.MaxSpotInstanceCountExceeded)
	}
	ids := []string{}
	for _, i := range m.Instances() {
		ids = append(ids, i.ID)
	}
	if _, err := m.Terminate(ids); err != nil {
		t.Fatal(err)
	}
	c.pass(time.Minute)
	got, err = m.CreateFleet(ask(1, market.OnDemand, market.Override{Type: "m5.large", Subnet: a}))
	if err != nil || len(got.Launched) != 1 {
		t.Fatalf("got %+v, %v, want a machine once the others are terminated", got, err)
	}
}

func code(err error) string {
	e, ok := err.(*market.Error)
	if !ok {
		return ""
	}
	return e.Code
}
