package market_test

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-sh/tenon/internal/sim/market"
)

// TestWhatAPoolRefuses asks for one machine where something is wrong, and looks at the fleet's error.
func TestWhatAPoolRefuses(t *testing.T) {
	cases := map[string]struct {
		why     string
		spoil   func(*testing.T, *market.Market, market.Override)
		kind    string
		typ     string
		image   string
		code    string
		message string
	}{
		"SubnetFull": {
			why:     "The subnet is named, because the remedy is another subnet and not another type.",
			spoil:   func(t *testing.T, m *market.Market, o market.Override) { check(t, m.SetFreeAddresses(o.Subnet, 0)) },
			code:    market.InsufficientFreeAddressesInSubnet,
			message: "There are not enough free addresses in subnet 'SUBNET' to satisfy the requested number of instances.",
		},
		"NoSpot": {
			why: "Spot says less than on-demand does.",
			spoil: func(_ *testing.T, m *market.Market, _ market.Override) {
				m.SetCapacity(market.Capacity{CapacityType: market.Spot})
			},
			kind:    market.Spot,
			code:    market.InsufficientInstanceCapacity,
			message: "There is no Spot capacity available that matches your request.",
		},
		"Unfulfillable": {
			why: "A pool can be made to refuse in any of EC2's ways.",
			spoil: func(_ *testing.T, m *market.Market, _ market.Override) {
				m.SetCapacity(market.Capacity{Code: market.UnfulfillableCapacity})
			},
			code:    market.UnfulfillableCapacity,
			message: "Unable to fulfill capacity due to your request configuration. Please adjust your request and try again.",
		},
		"SpotRoleMissing": {
			why:     "Without the service-linked role no spot pool works at all.",
			spoil:   func(_ *testing.T, m *market.Market, _ market.Override) { m.ForbidSpotRole(true) },
			kind:    market.Spot,
			code:    market.ServiceLinkedRoleMissing,
			message: "The provided credentials do not have permission to create the service-linked role for EC2 Spot Instances.",
		},
		"NoSuchType": {
			why:     "A type that the region does not have is named.",
			typ:     "m99.large",
			code:    market.InvalidParameterValue,
			message: "Invalid value 'm99.large' for InstanceType.",
		},
		"NoSuchImage": {
			why:     "An image that was deregistered is an error of the pool, not of the call.",
			image:   "ami-0",
			code:    market.InvalidAMIIDNotFound,
			message: "The image id '[ami-0]' does not exist",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			m, _, subnet := small(t, nil)
			o := market.Override{Type: "m5.large", Subnet: subnet["cn-north-1a"], Image: c.image}
			if c.typ != "" {
				o.Type = c.typ
			}
			if c.spoil != nil {
				c.spoil(t, m, o)
			}
			got, err := m.CreateFleet(ask(1, c.kind, o))
			if err != nil || len(got.Launched) != 0 || len(got.Errors) != 1 {
				t.Fatalf("got %+v, %v, want one error: %s", got, err, c.why)
			}
			want := c.code + ": " + strings.ReplaceAll(c.message, "SUBNET", o.Subnet)
			if diff := cmp.Diff(want, got.Errors[0].Code+": "+got.Errors[0].Message); diff != "" {
				t.Errorf("%s -want +got\n%s", c.why, diff)
			}
		})
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestArchitecturesMustMatch(t *testing.T) {
	m, _, subnet := small(t, nil)
	arm := m.AddImage(market.Image{Name: "arm", Arch: "arm64"})
	got, err := m.CreateFleet(ask(1, market.OnDemand, market.Override{Type: "m5.large", Subnet: subnet["cn-north-1a"], Image: arm.ID}))
	if err != nil || len(got.Errors) != 1 || got.Errors[0].Code != market.InvalidParameterValue || !strings.Contains(got.Errors[0].Message, "'arm64'") {
		t.Errorf("an arm image on an Intel machine gave %+v, %v", got, err)
	}
}

func TestReservationsAreUsedUpAndGivenBack(t *testing.T) {
	m, c, subnet := small(t, nil)
	m.SetCapacity(market.Capacity{Type: "m5.large"}) // nothing but what is reserved
	r := m.AddReservation(market.Reservation{Type: "m5.large", Zone: "cn-north-1a", Total: 2})
	a := market.Override{Type: "m5.large", Subnet: subnet["cn-north-1a"]}
	got, err := m.CreateFleet(ask(3, market.OnDemand, a))
	if err != nil || len(got.Launched) != 1 || len(got.Launched[0].IDs) != 2 || len(got.Errors) != 1 || got.Errors[0].Code != market.InsufficientInstanceCapacity {
		t.Fatalf("got %+v, %v, want the two reserved machines and an error for the third", got, err)
	}
	for _, i := range m.Instances() {
		if i.Reservation != r.ID {
			t.Errorf("%s uses reservation %q, want %q", i.ID, i.Reservation, r.ID)
		}
	}
	image := m.Images()[0].ID
	_, err = m.CreateTemplate(market.NewTemplate{Name: "t-2", Data: market.TemplateData{Image: image, Reservation: market.ReservationSpec{ID: r.ID}}})
	check(t, err)
	aimed := ask(1, market.OnDemand, a)
	aimed.Configs[0].Template.Name = "t-2"
	got, err = m.CreateFleet(aimed)
	if err != nil || len(got.Errors) != 1 || got.Errors[0].Code != market.ReservationCapacityExceeded {
		t.Errorf("aiming at the full reservation gave %+v, %v, want %s", got, err, market.ReservationCapacityExceeded)
	}
	_, err = m.Terminate([]string{m.Instances()[0].ID})
	check(t, err)
	c.pass(market.Usual().ShutDown)
	if left := m.Reservations()[0].Available; left != 1 {
		t.Errorf("the reservation has %d left after one machine ended, want 1", left)
	}
	kept, _ := m.Keep()
	again, _, _ := small(t, nil)
	again.Restore(kept)
	if diff := cmp.Diff(m.Reservations(), again.Reservations()); diff != "" {
		t.Errorf("after a restart: -want +got\n%s", diff)
	}
	check(t, m.CancelReservation(r.ID))
	got, err = m.CreateFleet(aimed)
	if err != nil || len(got.Launched) > 0 {
		t.Errorf("aiming at the cancelled reservation gave %+v, %v", got, err)
	}
}

func TestNamesOfMachines(t *testing.T) {
	address := netip.MustParseAddr("10.0.113.17")
	for region, want := range map[string]string{
		"us-east-1":  "ip-10-0-113-17.ec2.internal",
		"cn-north-1": "ip-10-0-113-17.cn-north-1.compute.internal",
	} {
		if got := market.PrivateDNS(region, address); got != want {
			t.Errorf("in %s the machine is called %s, want %s", region, got, want)
		}
	}
}

func TestTemplateVersions(t *testing.T) {
	m, _, _ := small(t, nil)
	ref := market.TemplateRef{Name: "t-1"}
	_, v, err := m.AddTemplateVersion(ref, market.NewTemplate{Description: "second"})
	check(t, err)
	template, err := m.Template(ref)
	check(t, err)
	for text, want := range map[string]int64{"$Latest": 2, "$Default": 1, "": 1, "2": 2} {
		got, err := template.Version(text)
		if err != nil || got.Number != want {
			t.Errorf("version %q is %d, %v, want %d", text, got.Number, err, want)
		}
	}
	if _, err := template.Version("3"); code(err) != market.InvalidLaunchTemplateVersion {
		t.Errorf("version 3 gave %v after version %d was made", err, v.Number)
	}
}

func TestTokensOfOtherCalls(t *testing.T) {
	m, _, subnet := small(t, nil)
	run := market.RunRequest{Template: market.TemplateRef{Name: "t-1"}, Data: market.TemplateData{Type: "m5.large"}, Subnet: subnet["cn-north-1a"], Min: 1, Max: 1, Token: "x"}
	first, err := m.RunInstances(run)
	check(t, err)
	again, err := m.RunInstances(run)
	check(t, err)
	if len(first) != 1 || len(again) != 1 || first[0].ID != again[0].ID {
		t.Errorf("the same token launched %v and then %v", first, again)
	}
	run.Max = 2
	if _, err := m.RunInstances(run); code(err) != market.IdempotentParameterMismatch {
		t.Errorf("another request under the token gave %v, want %s", err, market.IdempotentParameterMismatch)
	}
	made := market.NewTemplate{Name: "t-2", Token: "x"}
	one, err := m.CreateTemplate(made)
	check(t, err)
	two, err := m.CreateTemplate(made)
	check(t, err)
	if one.ID != two.ID {
		t.Errorf("the same token made templates %s and %s", one.ID, two.ID)
	}
}

func TestFabricInterfacesTakeNoAddress(t *testing.T) {
	m, _, subnet := small(t, nil)
	_, err := m.CreateTemplate(market.NewTemplate{Name: "t-2", Data: market.TemplateData{
		Image: m.Images()[0].ID, Interfaces: []market.InterfaceSpec{{}, {Kind: "efa"}, {Kind: "efa-only"}},
	}})
	check(t, err)
	id := subnet["cn-north-1a"]
	check(t, m.SetFreeAddresses(id, 2))
	r := ask(1, market.OnDemand, market.Override{Type: "m5.large", Subnet: id})
	r.Configs[0].Template.Name = "t-2"
	got, err := m.CreateFleet(r)
	if err != nil || len(got.Errors) > 0 || len(m.Instances()[0].Interfaces) != 3 {
		t.Fatalf("got %+v, %v, want a machine of three interfaces", got, err)
	}
	for _, s := range m.Subnets() {
		if s.ID == id && s.Free != 0 {
			t.Errorf("%d addresses are left, want none of two", s.Free)
		}
	}
}
