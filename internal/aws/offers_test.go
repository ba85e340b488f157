package aws_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/internal/cloud"
	"github.com/tenon-sh/tenon/internal/sim/market"
)

// What an order requires beside its menu decides which offers it becomes.
func TestRequirementsOfOrders(t *testing.T) {
	credentials(t)
	in := func(key string, values ...string) func(*cloud.Order) {
		return func(o *cloud.Order) { o.Requirements = o.Requirements.And(label.Is(key, values...)) }
	}
	free := func(o *cloud.Order) { o.Menu = nil }
	preview := func(o *cloud.Order) {
		free(o)
		in(label.InstanceType, "p5e.48xlarge")(o)
	}
	tests := map[string]struct {
		why    string
		change func(*cloud.Order)
		want   func(market.Instance) bool
		none   bool
	}{
		"ZoneID": {
			why: "A zone's id is a label of its offers.", change: in("topology.k8s.aws/zone-id", "usw2-az3"),
			want: func(i market.Instance) bool { return i.ZoneID == "usw2-az3" },
		},
		"UnknownZoneID": {why: "A zone that the class has no subnet in is not sold.", change: in("topology.k8s.aws/zone-id", "euw1-az1"), none: true},
		"Reservation":   {why: "Nothing is reserved.", change: in("karpenter.k8s.aws/capacity-reservation-id", "cr-1"), none: true},
		"Dedicated": {
			why: "Only hardware of one's own will do.", change: in("karpenter.k8s.aws/instance-tenancy", "dedicated"),
			want: func(i market.Instance) bool { return i.Data.Placement.Tenancy == "dedicated" },
		},
		"EitherTenancy": {
			why: "Shared hardware costs less.", change: in("karpenter.k8s.aws/instance-tenancy", "dedicated", "default"),
			want: func(i market.Instance) bool { return i.Data.Placement.Tenancy == "" },
		},
		"OwnPrice": {
			why: "What the pool pays decides, where that is not what EC2 says.",
			change: func(o *cloud.Order) {
				o.Prices = map[cloud.Offer]money.Micro{{Shape: "m5.large", Zone: "us-west-2b", CapacityType: label.OnDemand}: 1}
			},
			want: func(i market.Instance) bool { return i.Type == "m5.large" && i.Zone == "us-west-2b" },
		},
		"Preview": {
			why: "What EC2 has no price for is bought where the pool has one.",
			change: func(o *cloud.Order) {
				preview(o)
				o.Prices = map[cloud.Offer]money.Micro{}
				for _, zone := range []string{"us-west-2a", "us-west-2b", "us-west-2c"} {
					o.Prices[cloud.Offer{Shape: "p5e.48xlarge", Zone: zone, CapacityType: label.OnDemand}] = 1
				}
			},
			want: func(i market.Instance) bool { return i.Type == "p5e.48xlarge" },
		},
		"PreviewUnpriced": {why: "Where it has no price, it would be bought as if it cost nothing.", change: preview, none: true},
		"NoMenu": {
			why: "Without a menu no accelerators were asked for.", change: free,
			want: func(i market.Instance) bool { return !strings.HasPrefix(i.Type, "g5") },
		},
		"OnlyAccelerators": {
			why: "Where nothing else would do they are sold.",
			change: func(o *cloud.Order) {
				free(o)
				in("karpenter.k8s.aws/instance-family", "g5")(o)
			},
			want: func(i market.Instance) bool { return strings.HasPrefix(i.Type, "g5.") },
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &virtual{t: t, sold: []string{"c5", "m5", "m5a", "m6g", "g5", "p5e"}}
				o := order("one", 2, label.OnDemand)
				tc.change(&o)
				out := w.start().Launch(t.Context(), []cloud.Order{o})[0]
				run := w.account().Market.Instances()
				if tc.none {
					if cloud.CodeOf(out.Err) != cloud.Capacity || len(run) != 0 {
						t.Errorf("%s Got %d machines, %v", tc.why, len(run), out.Err)
					}
					return
				}
				if out.Err != nil || len(run) != 2 || slices.ContainsFunc(run, func(i market.Instance) bool { return !tc.want(i) }) {
					t.Errorf("%s Got %v, %+v", tc.why, out.Err, run)
				}
			})
		})
	}
}

// A person reads why spot became on-demand, and what EC2 said when it gave nothing.
func TestWhatIsSaid(t *testing.T) {
	credentials(t)
	synctest.Test(t, func(t *testing.T) {
		w := &virtual{t: t}
		d := w.start()
		w.account().Market.SetCapacity(market.Capacity{CapacityType: market.Spot, Left: 0})
		w.account().Market.SetCapacity(market.Capacity{Type: "c5.large", Zone: "us-west-2a", Left: 0})
		w.account().Market.SetCapacity(market.Capacity{Type: "c5.large", Left: 0})
		if out := d.Launch(t.Context(), []cloud.Order{order("one", 1, label.Spot, label.OnDemand)})[0]; out.Err != nil {
			t.Fatal(out.Err)
		}
		for _, want := range []string{
			"Provisioning failed, launching node, creating cloud provider instance, with fleet error(s), InsufficientInstanceCapacity: ",
			"at least 5 instance types are recommended when spot may become on-demand: the order leaves 3 (c5.large, m5.large, m5a.large)",
			"Launched instance: i-",
		} {
			if !slices.ContainsFunc(w.said, func(s string) bool { return strings.HasPrefix(s, want) }) {
				t.Errorf("nothing said begins with %q; said was\n%s", want, strings.Join(w.said, "\n"))
			}
		}
	})
}
