package launch_test

import (
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/engine/enginetest/chance"
	"github.com/tenon-sh/tenon/internal/annotation"
	"github.com/tenon-sh/tenon/internal/cloud"
	"github.com/tenon-sh/tenon/internal/controller/launch"
)

func claim(name string, zone string) *v1.NodeClaim {
	return &v1.NodeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("uid-" + name)},
		Spec: v1.NodeClaimSpec{
			NodeClassRef: &v1.NodeClassReference{Group: "g", Kind: "K", Name: "n"},
			Requirements: []v1.Requirement{{Key: v1.LabelZone, Operator: "In", Values: []string{zone}}},
		},
	}
}

// annotated writes orders to their claims, as the reconciler does.
func annotated(orders []launch.Order) {
	for _, o := range orders {
		for place, c := range o.Claims {
			c.Annotations = map[string]string{
				v1.AnnotationOrder: o.Token, v1.AnnotationOrderPlace: strconv.Itoa(place), v1.AnnotationOrderSize: strconv.Itoa(o.Size),
			}
		}
	}
}

func TestClaimsThatWantTheSameAreOneOrder(t *testing.T) {
	a, b, c := claim("a", "z1"), claim("b", "z2"), claim("c", "z1")
	orders := launch.Group([]*v1.NodeClaim{c, b, a}, 0)
	sizes := map[string]int{}
	for _, o := range orders {
		for _, m := range o.Claims {
			sizes[m.Name] = o.Size
		}
	}
	if diff := cmp.Diff(map[string]int{"a": 2, "b": 1, "c": 2}, sizes); diff != "" {
		t.Error(diff)
	}
	again := launch.Group([]*v1.NodeClaim{a, b, c}, 0)
	if orders[0].Token != again[0].Token || orders[1].Token != again[1].Token {
		t.Error("the order in which claims are listed changed a token")
	}
	if next := launch.Group([]*v1.NodeClaim{a, b, c}, 1); next[0].Token == orders[0].Token || next[0].Attempt() != 1 {
		t.Errorf("a new attempt has token %s of attempt %d", next[0].Token, next[0].Attempt())
	}
}

// Whatever was dealt before a crash, no machine goes to two claims, and every
// claim gets one while there are enough.
func TestDealSurvivesCrashes(t *testing.T) {
	chance.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(t, "claims")
		var claims []*v1.NodeClaim
		for i := range n {
			claims = append(claims, claim(string(rune('a'+i)), "z"))
		}
		orders := launch.Group(claims, 0)
		annotated(orders)
		var machines []cloud.Machine
		for i := range rapid.IntRange(0, n).Draw(t, "machines") {
			id := "i-" + strconv.Itoa(i)
			machines = append(machines, cloud.Machine{ID: cloud.MachineID(id), ProviderID: id, Order: orders[0].Token})
		}
		machines = append(machines, cloud.Machine{ID: "i-x", ProviderID: "i-x", Order: "other"})
		for range 3 { // crashes
			o, ok := launch.Gather(orders[0].Token, rapid.Permutation(claims).Draw(t, "listed"))
			if !ok {
				t.Fatal("the order is not found again")
			}
			dealt := o.Deal(rapid.Permutation(machines).Draw(t, "answer"))
			for _, c := range claims {
				if m, ok := dealt[c.Name]; ok && rapid.Bool().Draw(t, "written") {
					c.Status.ProviderID = m.ProviderID
				}
			}
		}
		o, _ := launch.Gather(orders[0].Token, claims)
		for name, m := range o.Deal(machines) {
			claims[int(name[0]-'a')].Status.ProviderID = m.ProviderID
		}
		holder := map[string]string{}
		for _, c := range claims {
			if id := c.Status.ProviderID; id != "" {
				if holder[id] != "" {
					t.Fatalf("machine %s went to %s and %s", id, holder[id], c.Name)
				}
				holder[id] = c.Name
			}
		}
		if len(holder) != len(machines)-1 {
			t.Errorf("%d machines of %d were dealt to %d claims", len(holder), len(machines)-1, n)
		}
	})
}

// A claim that is deleted while its order is under way takes its machine with
// it, after those that still want one.
func TestLeavingClaimsGetTheirMachines(t *testing.T) {
	claims := []*v1.NodeClaim{claim("a", "z"), claim("b", "z"), claim("c", "z")}
	orders := launch.Group(claims, 0)
	annotated(orders)
	claims[0].DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
	o, ok := launch.Gather(orders[0].Token, claims)
	if !ok || !o.Whole() {
		t.Fatalf("gathered %+v", o)
	}
	machine := func(id string) cloud.Machine {
		return cloud.Machine{ID: cloud.MachineID(id), ProviderID: id, Order: o.Token}
	}
	two := o.Deal([]cloud.Machine{machine("i-1"), machine("i-2")})
	if diff := cmp.Diff(map[string]string{"b": "i-1", "c": "i-2"}, names(two)); diff != "" {
		t.Errorf("of too few machines those get one that want it: -want +got\n%s", diff)
	}
	all := o.Deal([]cloud.Machine{machine("i-1"), machine("i-2"), machine("i-3")})
	if diff := cmp.Diff(map[string]string{"b": "i-1", "c": "i-2", "a": "i-3"}, names(all)); diff != "" {
		t.Errorf("no machine is left without a claim: -want +got\n%s", diff)
	}
	if fate := launch.FateOf(o, errors.New("no answer")); fate != launch.Resend {
		t.Errorf("an order without an answer is not to be cut again, though a claim leaves: %s", fate)
	}
}

func names(dealt map[string]cloud.Machine) map[string]string {
	out := map[string]string{}
	for name, m := range dealt {
		out[name] = string(m.ID)
	}
	return out
}

func TestGatherRefusesContradictions(t *testing.T) {
	size := func(text string) func(a, b *v1.NodeClaim) {
		return func(a, b *v1.NodeClaim) {
			a.Annotations[v1.AnnotationOrderSize], b.Annotations[v1.AnnotationOrderSize] = text, text
		}
	}
	tests := map[string]struct {
		why    string
		change func(a, b *v1.NodeClaim)
	}{
		"SamePlace": {"Two claims cannot have one machine.", func(a, b *v1.NodeClaim) {
			b.Annotations[v1.AnnotationOrderPlace] = a.Annotations[v1.AnnotationOrderPlace]
		}},
		"OtherSize": {"An order has one size.", func(_, b *v1.NodeClaim) { b.Annotations[v1.AnnotationOrderSize] = "3" }},
		"NoNumber":  {"What a user wrote there is not trusted.", func(a, _ *v1.NodeClaim) { a.Annotations[v1.AnnotationOrderPlace] = "first" }},
		"Outside":   {"A place is within the size.", func(a, _ *v1.NodeClaim) { a.Annotations[v1.AnnotationOrderPlace] = "2" }},
		"Absurd":    {"A size that no order has is not allocated.", size("101")},
		"Nought":    {"Nor is none.", size("0")},
		"Negative":  {"Nor is less.", size("-1")},
		"Below":     {"A place is not before the first.", func(a, _ *v1.NodeClaim) { a.Annotations[v1.AnnotationOrderPlace] = "-1" }},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			claims := []*v1.NodeClaim{claim("a", "z"), claim("b", "z")}
			orders := launch.Group(claims, 0)
			annotated(orders)
			tc.change(claims[0], claims[1])
			if o, ok := launch.Gather(orders[0].Token, claims); ok {
				t.Errorf("%s Gathered %+v", tc.why, o)
			}
		})
	}
}

// Where no claim has the token there is no order, and the largest one may have lost most of its claims.
func TestGatherParts(t *testing.T) {
	if o, ok := launch.Gather("t", []*v1.NodeClaim{claim("a", "z")}); ok {
		t.Errorf("of nothing it gathered %+v", o)
	}
	c := claim("a", "z")
	c.Annotations = map[string]string{v1.AnnotationOrder: "t", v1.AnnotationOrderSize: "100", v1.AnnotationOrderPlace: "99"}
	o, ok := launch.Gather("t", []*v1.NodeClaim{c})
	if !ok || o.Size != 100 || o.Whole() || len(o.Left()) != 1 || len(o.Leaving()) != 0 {
		t.Errorf("of one of a hundred it gathered %d, whole: %t, %d that want a machine", o.Size, o.Whole(), len(o.Left()))
	}
	if got := o.Deal([]cloud.Machine{{ID: "i-1", ProviderID: "i-1", Order: "t", Ending: true}, {ID: "i-2", ProviderID: "i-2", Order: "t"}}); got["a"].ID != "i-2" || len(got) != 1 {
		t.Errorf("dealt %v, want the machine that stays", got)
	}
	if got := launch.FateOf(o, errors.New("no answer")); got != launch.Recut {
		t.Errorf("it cannot be sent as it was, and its fate is %s", got)
	}
}

// A claim waits for a machine that was not bought for it, and one that leaves is kept while one may have been.
func TestWhoWaitsAndWhoLeaves(t *testing.T) {
	for name, tc := range map[string]struct {
		why            string
		change         func(*v1.NodeClaim)
		waits, leaving bool
	}{
		"New":      {"It wants one.", func(*v1.NodeClaim) {}, true, false},
		"Adopts":   {"Its machine is there, and only has to be written down.", func(c *v1.NodeClaim) { c.Annotations = map[string]string{annotation.Adopts: "n"} }, false, false},
		"Has":      {"It has one.", func(c *v1.NodeClaim) { c.Status.ProviderID = "i" }, false, false},
		"Launched": {"It had one.", func(c *v1.NodeClaim) { c.Conditions().True(v1.ConditionLaunched, "", "", time.Unix(1, 0)) }, false, false},
		"Deleted":  {"It leaves, and was never ordered.", func(c *v1.NodeClaim) { c.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)} }, false, false},
		"Ordered": {"It leaves, and its order may have bought a machine for it.", func(c *v1.NodeClaim) {
			c.DeletionTimestamp, c.Annotations = &metav1.Time{Time: time.Unix(1, 0)}, map[string]string{v1.AnnotationOrder: "t"}
		}, false, true},
	} {
		c := claim("a", "z")
		tc.change(c)
		if waits, leaving := launch.Waiting(c), launch.Leaving(c); waits != tc.waits || leaving != tc.leaving {
			t.Errorf("%s: waits: %t, leaves: %t, want %t, %t: %s", name, waits, leaving, tc.waits, tc.leaving, tc.why)
		}
	}
}

func TestFate(t *testing.T) {
	whole := launch.Group([]*v1.NodeClaim{claim("a", "z"), claim("b", "z")}, 0)[0]
	partial := launch.Group([]*v1.NodeClaim{claim("a", "z"), claim("b", "z")}, 0)[0]
	partial.Claims[0].Status.ProviderID = "i-1"
	tests := map[string]struct {
		why   string
		order launch.Order
		err   error
		want  launch.Fate
	}{
		"SoldOut":   {"Its pods are planned again without the offers.", whole, cloud.Errorf(cloud.Capacity, "", "none left"), launch.GiveUp},
		"NotReady":  {"The class cannot be used.", whole, cloud.Errorf(cloud.NotReady, "", "no subnets"), launch.GiveUp},
		"Invalid":   {"The same request can never succeed.", whole, cloud.Errorf(cloud.Invalid, "", "no such image"), launch.Recut},
		"Throttled": {"Nothing was bought; the same token may be sent again.", whole, cloud.Errorf(cloud.Throttled, "", "slow down"), launch.Resend},
		"Lost":      {"It may have bought machines: only its own token can tell.", whole, errors.New("connection reset"), launch.Resend},
		"Rest":      {"The order has bought some of its machines; what is left is a new order.", partial, errors.New("fewer"), launch.Recut},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := launch.FateOf(tc.order, tc.err); got != tc.want {
				t.Errorf("%s, want %s: %s", got, tc.want, tc.why)
			}
		})
	}
}

// What ends by itself is tried again soon; what a person has to mend is not, and
// nothing is given more than a minute.
func TestWaitAfterErrors(t *testing.T) {
	for name, tc := range map[string]struct {
		err  error
		want []time.Duration // by how often it was tried before
	}{
		"Unclear":      {errors.New("no answer"), []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second, 32 * time.Second, time.Minute}},
		"Invalid":      {cloud.Errorf(cloud.Invalid, "X", "no such image"), []time.Duration{5 * time.Second, 10 * time.Second, 20 * time.Second, 40 * time.Second, time.Minute}},
		"Unauthorised": {cloud.Errorf(cloud.Unauthorised, "X", "denied"), []time.Duration{10 * time.Second, 20 * time.Second, 40 * time.Second, time.Minute, time.Minute}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []time.Duration
			for attempt := range tc.want {
				got = append(got, launch.Group([]*v1.NodeClaim{claim("a", "z")}, attempt)[0].Wait(tc.err))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}
