package aws_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/google/go-cmp/cmp"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/aws/access"
	"github.com/tenon-sh/tenon/internal/aws/inventory"
	"github.com/tenon-sh/tenon/internal/aws/nodeclass"
	"github.com/tenon-sh/tenon/internal/aws/profile"
	"github.com/tenon-sh/tenon/internal/cloud"
	"github.com/tenon-sh/tenon/internal/sim/fault"
	"github.com/tenon-sh/tenon/internal/sim/market"
)

// clients returns clients of the account; onCall may be nil.
func (w *virtual) clients(onCall access.OnCall) *access.Clients {
	w.t.Helper()
	w.account()
	c, err := access.Connect(context.Background(), access.Options{Region: "us-west-2", Version: "test", HTTP: &http.Client{Transport: w.server}, OnCall: onCall})
	if err != nil {
		w.t.Fatal(err)
	}
	return c
}

// A call that the policies do not grant is never sent, and every call is told.
func TestOnlyDeclaredCallsAreMade(t *testing.T) {
	credentials(t)
	synctest.Test(t, func(t *testing.T) {
		w := &virtual{t: t}
		var told []string
		c := w.clients(func(service, action string, _ any) { told = append(told, service+":"+action) })
		if _, err := c.EC2.StopInstances(t.Context(), &ec2.StopInstancesInput{InstanceIds: []string{"i-1"}}); err == nil || !strings.Contains(err.Error(), "StopInstances is not among the declared calls") {
			t.Errorf("an undeclared call gave %v", err)
		}
		if n := len(w.account().Market.Calls(0)); n != 0 {
			t.Errorf("%d calls were sent", n)
		}
		if _, err := c.EC2.DescribeSubnets(t.Context(), nil); err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff([]string{"ec2:DescribeSubnets"}, told); diff != "" {
			t.Error(diff)
		}
		for i, call := range access.Calls() {
			if i > 0 && access.Calls()[i-1] == call || call.Service == "" || call.Use == "" {
				t.Errorf("%+v is declared twice or in part", call)
			}
		}
	})
}

func TestProfiles(t *testing.T) {
	credentials(t)
	synctest.Test(t, func(t *testing.T) {
		w := &virtual{t: t}
		m := w.account().Market
		m.AddRole(market.Role{Name: "other", Path: "/team/"})
		s := profile.NewStore(w.clients(nil).IAM, time.Now)
		o := profile.Owner{Cluster: "demo", Region: "us-west-2", Class: "default", UID: "u", Role: "KarpenterNodeRole-demo", Tags: map[string]string{"team": "a"}}
		name, err := s.Ensure(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		p, err := m.Profile(name)
		if err != nil || !slices.Equal(p.Roles, []string{"KarpenterNodeRole-demo"}) || p.Path != "/karpenter/us-west-2/demo/u/" || p.Tags["team"] != "a" || p.Tags["kubernetes.io/cluster/demo"] != "owned" {
			t.Errorf("the profile is %+v, %v", p, err)
		}
		before := len(m.Calls(0))
		if again, err := s.Ensure(t.Context(), o); err != nil || again != name || len(m.Calls(0)) != before {
			t.Errorf("asked again, %s became %s with %d calls, %v", name, again, len(m.Calls(0))-before, err)
		}
		if !s.Young(name) {
			t.Error("a new profile is not young")
		}
		time.Sleep(2 * time.Minute)
		if s.Young(name) {
			t.Error("two minutes later it still is")
		}
		// Someone put another role in. A new process finds and corrects it.
		if _, err := w.clients(nil).IAM.RemoveRoleFromInstanceProfile(t.Context(), &iam.RemoveRoleFromInstanceProfileInput{InstanceProfileName: &name, RoleName: &o.Role}); err != nil {
			t.Fatal(err)
		}
		if err := m.AddRoleToProfile(name, "other"); err != nil {
			t.Fatal(err)
		}
		if _, err := profile.NewStore(w.clients(nil).IAM, time.Now).Ensure(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		if p, _ := m.Profile(name); !slices.Equal(p.Roles, []string{"KarpenterNodeRole-demo"}) {
			t.Errorf("the profile holds %v", p.Roles)
		}
		// Another role is another profile, and of a role with a path the name is used.
		o.Role = "team/other"
		second, err := s.Ensure(t.Context(), o)
		if err != nil || second == name {
			t.Errorf("another role gave the profile %s, %v", second, err)
		}
		if roles, there, err := s.Roles(t.Context(), second); err != nil || !there || !slices.Equal(roles, []string{"other"}) {
			t.Errorf("it holds %v, %v, %v", roles, there, err)
		}
		if _, there, err := s.Roles(t.Context(), "none"); err != nil || there {
			t.Errorf("a profile that is not there: %v, %v", there, err)
		}
		o.Role = "missing"
		if _, err := s.Ensure(t.Context(), o); err == nil {
			t.Error("a role that does not exist was put in a profile")
		}
		if err := s.Delete(t.Context(), o.Path(), func(n string) bool { return n == second }); err != nil {
			t.Fatal(err)
		}
		if left := m.Profiles(o.Path()); len(left) != 1 || left[0].Name != second {
			t.Errorf("left are %+v", left)
		}
		if err := s.Delete(t.Context(), o.Path(), nil); err != nil || len(m.Profiles(o.Path())) != 0 {
			t.Errorf("not all are gone: %v", err)
		}
	})
}

// Prices are the region's own; where it cannot be asked, the bundled ones.
func TestPrices(t *testing.T) {
	credentials(t)
	all, err := loaded()
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		why      string
		deny     string
		isolated bool
		failed   bool
		spotOwn  bool
	}{
		"Asked":       {why: "The market's own prices.", spotOwn: true},
		"PricingDown": {why: "The price list is away; bundled prices are used and it is said.", deny: "GetProducts", failed: true, spotOwn: true},
		"SpotDown":    {why: "So are spot prices.", deny: "DescribeSpotPriceHistory", failed: true},
		"Isolated":    {why: "Prices of on-demand are not asked for.", isolated: true, spotOwn: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &virtual{t: t}
				m := w.account().Market
				m.SetPrice(market.PriceRule{Type: "c5.large", CapacityType: label.Spot, Price: 12_345})
				if tc.deny != "" {
					w.account().Rules.Add(fault.Rule{Action: tc.deny, Kind: fault.Deny})
				}
				c := w.clients(nil)
				clients := inventory.Clients{EC2: c.EC2, Pricing: c.Pricing}
				if tc.isolated {
					clients.Pricing = nil
				}
				shelf, err := inventory.New(clients, all, "us-west-2", time.Now).Shelf(t.Context())
				if err != nil || (shelf.Unpriced != nil) != tc.failed || len(shelf.Types) == 0 {
					t.Fatalf("%s Got %d types, %v, prices %v", tc.why, len(shelf.Types), err, shelf.Unpriced)
				}
				typ, _ := all.Type("c5.large")
				offers := shelf.Offers(typ, shelf.Zones["c5.large"])
				if len(offers) != 8 {
					t.Errorf("%d offers, want two in each of four zones", len(offers))
				}
				for _, o := range offers {
					if o.CapacityType == label.OnDemand && o.Price != 85_000 {
						t.Errorf("%s On-demand costs %d", tc.why, o.Price)
					}
					if o.CapacityType == label.Spot && (o.Price == 12_345) != tc.spotOwn {
						t.Errorf("%s Spot costs %d", tc.why, o.Price)
					}
				}
				if got := w.calls("GetProducts") == 0; got != tc.isolated {
					t.Errorf("%s The price list was asked %d times", tc.why, w.calls("GetProducts"))
				}
			})
		})
	}
}

func TestPricingRegion(t *testing.T) {
	for region, want := range map[string]string{
		"us-west-2": "us-east-1", "ap-northeast-1": "ap-south-1", "cn-north-1": "cn-northwest-1", "eu-west-1": "eu-central-1", "sa-east-1": "us-east-1",
	} {
		if got := inventory.PricingRegion(region); got != want {
			t.Errorf("prices of %s are asked of %s, want %s", region, got, want)
		}
	}
}

// Which image a machine boots, by how the class selects images.
func TestImages(t *testing.T) {
	credentials(t)
	const x86 = "x86_64"
	tests := map[string]struct {
		why   string
		made  []market.Image
		class func(*nodeclass.Class)
		boots map[string]string // by type, the beginning of the image's name; empty: no image
	}{
		"AL2023": {
			why:   "Each kind of machine has an image of its own.",
			boots: map[string]string{"m5.large": "amazon-eks-node-al2023-x86_64-standard", "m6g.large": "amazon-eks-node-al2023-arm64-standard", "g5.xlarge": "amazon-eks-node-al2023-x86_64-nvidia"},
		},
		"Bottlerocket": {
			class: func(c *nodeclass.Class) {
				c.Family, c.Images = "Bottlerocket", []nodeclass.ImageSelector{{Alias: "bottlerocket@latest"}}
			},
			why:   "The same for Bottlerocket.",
			boots: map[string]string{"m5.large": "bottlerocket-aws-k8s-1.34-x86_64", "m6g.large": "bottlerocket-aws-k8s-1.34-a", "g5.xlarge": "bottlerocket-aws-k8s-1.34-nvidia-x86_64"},
		},
		"Newest": {
			why: "Of several images the newest is booted, and one that is not deprecated before any that is.",
			made: []market.Image{
				{Name: "own-1", Arch: x86, Owner: "123456789012", Created: time.Unix(8e8, 0)},
				{Name: "own-2", Arch: x86, Owner: "123456789012", Created: time.Unix(7e8, 0)},
				{Name: "own-3", Arch: x86, Owner: "123456789012", Created: time.Unix(9e8, 0), Deprecated: time.Unix(91e7, 0)},
			},
			class: func(c *nodeclass.Class) {
				c.Images = []nodeclass.ImageSelector{{Selector: nodeclass.Selector{Name: "own-*"}, Owners: []string{"self"}}}
			},
			boots: map[string]string{"m5.large": "own-1", "m6g.large": ""},
		},
		"LegacyTags": {
			why: "A tag that is a label of machines narrows which machines an image is for.",
			made: []market.Image{
				{Name: "own-gpu", Arch: x86, Owner: "123456789012", Tags: market.Tags{"team": "a", "karpenter.k8s.aws/instance-family": "g5"}, Created: time.Unix(9e8, 0)},
				{Name: "own-any", Arch: x86, Owner: "123456789012", Tags: market.Tags{"team": "a"}, Created: time.Unix(8e8, 0)},
			},
			class: func(c *nodeclass.Class) {
				c.Images = []nodeclass.ImageSelector{{Legacy: true, Selector: nodeclass.Selector{Tags: []nodeclass.Tag{{Key: "team", Values: []string{"a"}}}}}}
			},
			boots: map[string]string{"g5.xlarge": "own-gpu", "m5.large": "own-any", "m6g.large": ""},
		},
		"OthersImages": {
			why:  "Without an owner, images of this account and of Amazon are meant.",
			made: []market.Image{{Name: "foreign", Arch: x86, Owner: "999999999999", Public: true}, {Name: "foreign-not", Arch: x86, Owner: "123456789012"}},
			class: func(c *nodeclass.Class) {
				c.Images = []nodeclass.ImageSelector{{Selector: nodeclass.Selector{Name: "foreign*"}}}
			},
			boots: map[string]string{"m5.large": "foreign-not"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &virtual{t: t, change: tc.class}
				m := w.account().Market
				for _, i := range tc.made {
					m.AddImage(i)
				}
				d := w.start()
				c, err := d.Catalog(t.Context(), templateOf())
				if err != nil {
					t.Fatal(err)
				}
				for shape, want := range tc.boots {
					sold := slices.ContainsFunc(c.Shapes, func(s world.Shape) bool { return s.Name == shape })
					if sold != (want != "") {
						t.Errorf("%s %s is sold: %v", tc.why, shape, sold)
					}
					if want == "" {
						continue
					}
					o := order("of-"+shape, 1, label.OnDemand)
					o.Menu = []string{shape}
					out := d.Launch(t.Context(), []cloud.Order{o})[0]
					if out.Err != nil {
						t.Errorf("%s: %v", shape, out.Err)
						continue
					}
					for _, i := range m.Images() {
						if i.ID == out.Machines[0].Image && !strings.HasPrefix(i.Name, want) {
							t.Errorf("%s %s booted %s, want %s", tc.why, shape, i.Name, want)
						}
					}
				}
			})
		})
	}
}
