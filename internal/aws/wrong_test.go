package aws_test

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/internal/aws/access"
	"github.com/tenon-sh/tenon/internal/aws/nodeclass"
	"github.com/tenon-sh/tenon/internal/cloud"
	"github.com/tenon-sh/tenon/internal/sim/fault"
	"github.com/tenon-sh/tenon/internal/sim/market"
)

// Whatever is wrong, the caller is told what, and no machine runs that was
// not told of. What can be got over is.
func TestWhatGoesWrong(t *testing.T) {
	credentials(t)
	rule := func(r fault.Rule) func(*virtual) { return func(w *virtual) { w.account().Rules.Add(r) } }
	class := func(f func(*nodeclass.Class)) func(*virtual) { return func(w *virtual) { w.change = f } }
	tests := map[string]struct {
		why    string
		wrong  func(*virtual)
		menu   []string
		code   cloud.Code // empty: it is got over
		reason string
		says   string
	}{
		"NoSubnet": {
			why: "The selector of the subnets meets nothing.", wrong: class(func(c *nodeclass.Class) { c.Subnets = []nodeclass.Selector{{IDs: []string{"subnet-0"}}} }),
			code: cloud.NotReady, reason: "SubnetsNotFound", says: "correct the selector",
		},
		"NoGroup": {
			why: "Nor does that of the groups.", wrong: class(func(c *nodeclass.Class) { c.Groups = []nodeclass.Selector{{Name: "none"}} }),
			code: cloud.NotReady, reason: "SecurityGroupsNotFound", says: "correct the selector",
		},
		"OtherArch": {
			why: "The class' only image is for another architecture than what was ordered.",
			wrong: func(w *virtual) {
				i := w.account().Market.AddImage(market.Image{Name: "arm", Arch: "arm64", Owner: "123456789012"})
				w.change = func(c *nodeclass.Class) {
					c.Images = []nodeclass.ImageSelector{{Selector: nodeclass.Selector{IDs: []string{i.ID}}}}
				}
			},
			code: cloud.Capacity, reason: "InsufficientCapacity", says: "no image of class default boots them",
		},
		"UserData": {
			why: "The user's own data cannot be merged.", wrong: class(func(c *nodeclass.Class) {
				c.Family, c.Images, c.UserData = "Bottlerocket", []nodeclass.ImageSelector{{Alias: "bottlerocket@latest"}}, "[[["
			}),
			code: cloud.Invalid, reason: "InvalidUserData", says: "not TOML",
		},
		"LongUserData": {
			why: "It is too long with what the node needs.", wrong: class(func(c *nodeclass.Class) { c.UserData = "#!/bin/sh\n" + strings.Repeat("echo hello\n", 1480) }),
			code: cloud.Invalid, reason: "UserDataSizeLimitExceeded", says: "shorten spec.userData",
		},
		"NoRole": {
			why: "The role does not exist.", wrong: class(func(c *nodeclass.Class) { c.Role = "none" }),
			code: cloud.NotReady, reason: "InstanceProfileRoleNotFound", says: "create it",
		},
		"NoPermission": {
			why: "The controller may not create fleets.", wrong: rule(fault.Rule{Action: "CreateFleet", Kind: fault.Deny}),
			code: cloud.Unauthorised, reason: "Unauthorized", says: "UnauthorizedOperation",
		},
		"Expired": {
			why: "The credentials have expired.", wrong: rule(fault.Rule{Kind: fault.Expire}),
			code: cloud.Unauthorised, says: "expired",
		},
		"NoSpotRole": {
			why: "The account lacks the role for spot, and on-demand will do.", wrong: func(w *virtual) { w.account().Market.ForbidSpotRole(true) },
		},
		"TemplateDeleted": {
			why: "Somebody deleted the launch template: it is made again.",
			wrong: func(w *virtual) {
				warm(w)
				for _, l := range w.account().Market.Templates() {
					if _, err := w.account().Market.DeleteTemplate(market.TemplateRef{Name: l.Name}); err != nil {
						w.t.Fatal(err)
					}
				}
			},
		},
		"FullSubnet": {
			why: "One subnet is full, the others are not.",
			wrong: func(w *virtual) {
				warm(w)
				for _, s := range w.account().Market.Subnets()[1:] {
					_ = w.account().Market.SetFreeAddresses(s.ID, 0)
				}
			},
		},
		"FullEverywhere": {
			why: "All subnets are full.",
			wrong: func(w *virtual) {
				for _, s := range w.account().Market.Subnets() {
					_ = w.account().Market.SetFreeAddresses(s.ID, 0)
				}
			},
			code: cloud.Capacity, reason: "InsufficientFreeAddressesInSubnet", says: "not enough free addresses",
		},
		"NotSold": {why: "The region does not sell one of the types.", menu: []string{"u-24tb1.112xlarge", "c5.large"}},
		"NothingSold": {
			why: "It sells none of them.", menu: []string{"u-24tb1.112xlarge"}, code: cloud.Capacity, reason: "InsufficientCapacity", says: "us-west-2 sells none of u-24tb1.112xlarge",
		},
		"PricesDown":     {why: "Prices cannot be had; the bundled ones will do.", wrong: rule(fault.Rule{Service: "pricing", Kind: fault.Fail})},
		"SpotPricesDown": {why: "Nor can those of spot.", wrong: rule(fault.Rule{Action: "DescribeSpotPriceHistory", Kind: fault.Drop})},
		"EKSDown":        {why: "EKS is in trouble, and knows nothing that is not known without it.", wrong: rule(fault.Rule{Service: "eks", Kind: fault.Fail}), code: cloud.Unknown, says: "describe cluster demo"},
		"AnswersLost":    {why: "The answers to two fleets are lost; what they bought is found.", wrong: rule(fault.Rule{Action: "CreateFleet", Kind: fault.Lose, Times: 2})},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &virtual{t: t}
				w.account()
				if tc.wrong != nil {
					tc.wrong(w)
				}
				before := running(w)
				d := w.start()
				c := cloud.New(cloud.Config{Driver: d, Now: time.Now})
				o := order("one", 2, label.Spot, label.OnDemand)
				if tc.menu != nil {
					o.Menu = tc.menu
				}
				out := c.Launch(t.Context(), []cloud.Order{o})[0]
				if code := cloud.CodeOf(out.Err); code != tc.code {
					t.Fatalf("%s Got %s: %v", tc.why, code, out.Err)
				}
				if e, ok := errors.AsType[*cloud.Error](out.Err); ok && (tc.reason != "" && e.Reason != tc.reason || !strings.Contains(out.Err.Error(), tc.says)) {
					t.Errorf("%s It is told as %s: %v", tc.why, e.Reason, e)
				}
				want := 0
				if tc.code == "" {
					want = 2
				}
				if n := running(w) - before; len(out.Machines) != want || n != want {
					t.Errorf("%s %d machines were told of, %d run", tc.why, len(out.Machines), n)
				}
			})
		})
	}
}

// A subnet that has filled up since it was looked at gives way to another of its zone.
func TestSubnetFillsUp(t *testing.T) {
	credentials(t)
	synctest.Test(t, func(t *testing.T) {
		w := &virtual{t: t}
		m := w.account().Market
		first := m.Subnets()[0]
		other := m.AddSubnet(market.Subnet{VPC: first.VPC, Zone: first.Zone, ZoneID: first.ZoneID, Range: netip.MustParsePrefix("192.168.250.0/24"), Free: 100})
		w.change = func(c *nodeclass.Class) { c.Subnets = []nodeclass.Selector{{IDs: []string{first.ID, other.ID}}} }
		d := w.start()
		if _, err := d.Catalog(t.Context(), templateOf()); err != nil {
			t.Fatal(err)
		}
		if err := m.SetFreeAddresses(first.ID, 0); err != nil {
			t.Fatal(err)
		}
		out := d.Launch(t.Context(), []cloud.Order{order("one", 2, label.OnDemand)})[0]
		if out.Err != nil || len(out.Machines) != 2 || out.Machines[0].Subnet != other.ID {
			t.Errorf("got %+v", out)
		}
		if out := d.Launch(t.Context(), []cloud.Order{order("two", 1, label.OnDemand)})[0]; out.Err != nil || w.calls("CreateFleet") != 3 {
			t.Errorf("the next order took %d requests in all, %v", w.calls("CreateFleet"), out.Err)
		}
	})
}

// warm has an earlier process launch and end a machine, so that the account has
// what comes of that.
func warm(w *virtual) {
	w.t.Helper()
	d := w.start()
	out := d.Launch(w.t.Context(), []cloud.Order{order("before", 1, label.OnDemand)})[0]
	if out.Err != nil {
		w.t.Fatal(out.Err)
	}
	d.Terminate(w.t.Context(), []cloud.MachineID{out.Machines[0].ID})
	time.Sleep(5 * time.Minute)
}

// running counts the machines that there truly are.
func running(w *virtual) int {
	all := w.account().Market.Everything()
	return len(slices.DeleteFunc(all, func(i market.Instance) bool { return i.State.Gone() }))
}

// Outside of AWS it is not known which region it is: the message says how to.
func TestNoRegion(t *testing.T) {
	for _, name := range []string{"AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"} {
		t.Setenv(name, "")
	}
	t.Setenv("AWS_CONFIG_FILE", "/dev/null")
	t.Setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", "http://127.0.0.1:1")
	_, err := access.Connect(context.Background(), access.Options{Version: "test"})
	if err == nil || !strings.Contains(err.Error(), "set AWS_REGION") {
		t.Errorf("got %v", err)
	}
}
