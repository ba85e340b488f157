package interrupt_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/cloud"
	"github.com/tenon-sh/tenon/internal/controller/interrupt"
)

func idOf(providerID string) (cloud.MachineID, bool) {
	id, ok := strings.CutPrefix(providerID, "aws:///a/")
	return cloud.MachineID(id), ok
}

func TestNext(t *testing.T) {
	spot := map[string]string{label.CapacityType: label.Spot, label.InstanceType: "m5.large", label.Zone: "a"}
	places := []*world.Place{
		{Node: &world.Node{Name: "n1", Labels: spot}, Claim: &world.Claim{Name: "c1", ProviderID: "aws:///a/i-1"}},
		{Node: &world.Node{Name: "n2"}, Claim: &world.Claim{Name: "c2", ProviderID: "aws:///a/i-2", Deleting: true}},
		{Claim: &world.Claim{Name: "c3", ProviderID: "aws:///a/i-3", Labels: map[string]string{label.CapacityType: label.OnDemand, label.InstanceType: "m5.large", label.Zone: "a"}}},
		{Claim: &world.Claim{Name: "unlaunched"}},
		{Claim: &world.Claim{Name: "other", ProviderID: "gce:///i-0"}},
		{Node: &world.Node{Name: "foreign", ProviderID: "aws:///a/i-4"}},
	}
	tests := map[string]struct {
		why    string
		notice interrupt.Notice
		want   []interrupt.Step
	}{
		"Spot": {
			"There are two minutes to drain, and the next machine is another.",
			interrupt.Notice{Event: "SpotInterrupted", Going: true, Reclaims: true, Machines: []cloud.MachineID{"i-1"}},
			[]interrupt.Step{{Claim: "c1", Node: "n1", Event: "SpotInterrupted", End: true, Shape: "m5.large", Zone: "a"}},
		},
		"Advice": {
			"It may be taken some time: people are told and nothing is done.",
			interrupt.Notice{Event: "SpotRebalanceRecommendation", Machines: []cloud.MachineID{"i-1"}},
			[]interrupt.Step{{Claim: "c1", Node: "n1", Event: "SpotRebalanceRecommendation"}},
		},
		"Twice": {
			"A notice may come again while the machine is going, and what we end ourselves is announced, too.",
			interrupt.Notice{Event: "InstanceStopping", Going: true, Machines: []cloud.MachineID{"i-2"}},
			nil,
		},
		"NoNode": {
			"A machine that has not joined goes as well; on demand nothing is sold out by it.",
			interrupt.Notice{Event: "InstanceTerminating", Going: true, Reclaims: true, Machines: []cloud.MachineID{"i-3"}},
			[]interrupt.Step{{Claim: "c3", Event: "InstanceTerminating", End: true}},
		},
		"Reclaimed": {
			"What is taken back is not to be had, also of a machine that is going already.",
			interrupt.Notice{Event: "SpotInterrupted", Going: true, Reclaims: true, Forced: true, Machines: []cloud.MachineID{"i-2"}},
			[]interrupt.Step{{Claim: "c2", Node: "n2", Event: "SpotInterrupted"}},
		},
		"Ill": {
			"A machine that is of no use goes at once.",
			interrupt.Notice{Event: "InstanceUnhealthy", Going: true, Forced: true, Machines: []cloud.MachineID{"i-1"}},
			[]interrupt.Step{{Claim: "c1", Node: "n1", Event: "InstanceUnhealthy", End: true, Force: true}},
		},
		"Nameless": {
			"A notice that names no machine is about none.",
			interrupt.Notice{Event: "InstanceTerminating", Going: true, Machines: []cloud.MachineID{""}},
			nil,
		},
		"Foreign": {
			"A machine without a claim is somebody else's.",
			interrupt.Notice{Event: "InstanceTerminating", Going: true, Machines: []cloud.MachineID{"i-4", "i-9"}},
			nil,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, interrupt.Next(tc.notice, places, idOf)); diff != "" {
				t.Errorf("%s\n-want +got\n%s", tc.why, diff)
			}
		})
	}
}

// A machine that fails its checks is ended at once, unless so many do that the
// cause is likely elsewhere.
func TestLimitForce(t *testing.T) {
	pool := func(name string) world.PoolID { return world.PoolID{Kind: world.NodePool, Name: name} }
	var places []*world.Place
	for i := range 10 {
		places = append(places, &world.Place{Claim: &world.Claim{Name: fmt.Sprint("a", i), Pool: pool("a")}})
	}
	for i := range 40 {
		places = append(places, &world.Place{Claim: &world.Claim{Name: fmt.Sprint("b", i), Pool: pool("b")}})
	}
	ill := func(of string, from, n int) (out []interrupt.Step) {
		for i := range n {
			out = append(out, interrupt.Step{Claim: fmt.Sprint(of, from+i), Pool: pool(of), End: true, Force: true})
		}
		return out
	}
	tests := map[string]struct {
		why    string
		steps  []interrupt.Step
		lately map[string]world.PoolID
		forced int
	}{
		"One":    {"It is of no use any more.", ill("a", 0, 1), nil, 1},
		"Fifth":  {"Two of ten may be bad luck.", ill("a", 0, 2), nil, 2},
		"Zone":   {"A third of a pool fails together: what must stay is asked.", ill("a", 0, 3), nil, 0},
		"Before": {"Two were ended a minute ago, and are gone.", ill("a", 3, 1), map[string]world.PoolID{"gone1": pool("a"), "gone2": pool("a"), "gone3": pool("a")}, 0},
		"Other":  {"Another pool is not the cause of it.", append(ill("a", 0, 3), ill("b", 0, 1)...), nil, 1},
		"All":    {"Each pool may be unlucky, all of them together are not.", append(ill("a", 0, 2), ill("b", 0, 9)...), nil, 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			forced := 0
			for _, s := range interrupt.LimitForce(tc.steps, places, tc.lately) {
				if s.Force {
					forced++
				}
				if !s.End {
					t.Errorf("%s stays", s.Claim)
				}
			}
			if forced != tc.forced {
				t.Errorf("%d are ended at once, want %d: %s", forced, tc.forced, tc.why)
			}
		})
	}
}

// A machine may be announced to go before its claim names it, as when the
// process ended between the two. Such a notice is not done with.
func TestEarly(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	claims := func(providers ...string) (out []*world.Place) {
		for i, p := range providers {
			out = append(out, &world.Place{Claim: &world.Claim{Name: fmt.Sprint("c", i), ProviderID: p}})
		}
		return out
	}
	going := interrupt.Notice{Event: "SpotInterrupted", Going: true, Reclaims: true, Machines: []cloud.MachineID{"i-1"}, At: now.Add(-time.Minute)}
	with := func(change func(*interrupt.Notice)) interrupt.Notice {
		n := going
		change(&n)
		return n
	}
	ending := claims("")
	ending[0].Claim.Deleting = true
	tests := map[string]struct {
		why    string
		notice interrupt.Notice
		places []*world.Place
		want   bool
	}{
		"Unnamed":   {"The machine may be that of the claim whose launch has no answer yet.", going, claims("aws:///a/i-0", ""), true},
		"UnnamedOf": {"So it may, whichever other claims there are.", going, claims("", "aws:///a/i-0"), true},
		"Named":     {"Its claim is known: what is to be done is done at once.", going, claims("aws:///a/i-1", ""), false},
		"Foreign":   {"All claims have their machines: it is another cluster's.", going, claims("aws:///a/i-0"), false},
		"Ending":    {"A claim that ends takes its machine with it, whichever that is.", going, ending, false},
		"Node":      {"A node without a claim was not bought here.", going, []*world.Place{{Node: &world.Node{Name: "n"}}}, false},
		"Old":       {"The machine is gone by now.", with(func(n *interrupt.Notice) { n.At = now.Add(-2*time.Minute - time.Second) }), claims(""), false},
		"JustThere": {"The machine may be there yet.", with(func(n *interrupt.Notice) { n.At = now.Add(-2 * time.Minute) }), claims(""), true},
		"Undated":   {"A notice that says no time would come again for ever.", with(func(n *interrupt.Notice) { n.At = time.Time{} }), claims(""), false},
		"Advice":    {"Nothing is to be done about it.", with(func(n *interrupt.Notice) { n.Going = false }), claims(""), false},
		"OneOfTwo":  {"The other of its machines is not named yet.", with(func(n *interrupt.Notice) { n.Machines = []cloud.MachineID{"i-0", "i-1"} }), claims("aws:///a/i-0", ""), true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := interrupt.Early(tc.notice, tc.places, idOf, now); got != tc.want {
				t.Errorf("%v, want %v: %s", got, tc.want, tc.why)
			}
		})
	}
}
