// Package cloudtest is the law that every Driver obeys, as tests that run in virtual time.
//
// A driver's own tests open a Stage and call Run. What a provider cannot be made
// to do, such as losing an answer where there is no wire, its Stage leaves out,
// and the law about it is skipped.
package cloudtest

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/cloud"
)

// Fault is what goes wrong with a call of the provider.
type Fault string

// The faults.
const (
	Lose     Fault = "lose"     // the work is done and the answer lost
	Drop     Fault = "drop"     // the call is lost before any work is done
	Throttle Fault = "throttle" // the call is refused as too frequent
)

// Call is what a fault befalls.
type Call string

// The calls.
const (
	Buy  Call = "buy"
	End  Call = "end"
	Look Call = "look"
)

// Stage is a provider of its own for one test, and a driver for it. Start,
// Template, Menu and Running are needed; the other functions may be missing.
type Stage struct {
	// Start returns a driver as a new process has it: it remembers nothing.
	Start func() cloud.Driver
	// Template is one whose machines can be had.
	Template cloud.Template
	// Menu is at least two shapes that the provider sells, cheapest first.
	Menu []string
	// Running lists the machines that there truly are and that are not ending,
	// shown to the driver or not.
	Running func() []cloud.MachineID
	// SellOut leaves so many machines of a shape; a negative number lifts it. An
	// empty shape or capacity type stands for all.
	SellOut func(shape, capacityType string, left int)
	// Fault has the next calls go wrong; times 0 heals.
	Fault func(c Call, f Fault, times int)
	// Hide has the provider show machines only a while after they were made. It
	// is called before anything else.
	Hide func(time.Duration)
	// Small says that a thousand machines are more than one answer should list.
	Small bool
	// Break makes the class of the template unusable.
	Break func()
	// Strip takes from a machine the tags by which it is known to be this cluster's.
	Strip func(cloud.MachineID)
	// Calls counts the calls that have reached the provider.
	Calls func(Call) int
}

// Order is an order of the stage's menu.
func (s Stage) Order(token string, count int, kinds ...string) cloud.Order {
	return cloud.Order{
		Token: token, Template: s.Template, Pool: world.PoolID{Kind: world.NodePool, Name: "general"}, Count: count, Menu: s.Menu,
		Requirements: label.SetOf(label.Is(label.CapacityType, kinds...)),
		Requests:     amount.Of(amount.Entry{Name: amount.CPU, Value: 500}, amount.Entry{Name: amount.Pods, Value: 3 * amount.Unit}),
		Labels:       map[string]string{"karpenter.sh/nodepool": "general"},
		Tags:         map[string]string{"purpose": "law"},
	}
}

// Run holds a driver to the law. open is called once for every part of it, in a
// bubble of virtual time of its own.
func Run(t *testing.T, open func(t *testing.T) Stage) {
	t.Helper()
	for _, l := range laws() {
		t.Run(l.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := open(t)
				if l.needs != nil && !l.needs(s) {
					t.Skip("this provider cannot be made to do so")
				}
				l.check(t, s)
			})
		})
	}
}

// law is one part of the law.
type law struct {
	name  string
	needs func(Stage) bool
	check func(*testing.T, Stage)
}

func laws() []law {
	faults := func(s Stage) bool { return s.Fault != nil }
	sells := func(s Stage) bool { return s.SellOut != nil }
	both := func(s Stage) bool { return faults(s) && sells(s) }
	hides := func(s Stage) bool { return s.Hide != nil }
	all := func(s Stage) bool { return both(s) && hides(s) }
	return []law{
		{"Catalog", nil, catalog},
		{"CatalogSaysWhatIsSoldOut", sells, catalogSoldOut},
		{"Launch", nil, launch},
		{"SameTokenSameMachines", nil, sameToken},
		{"TwoCallersOfOneOrder", nil, twoCallers},
		{"ManyOrdersAtOnce", nil, manyOrders},
		{"LostAnswer", faults, lostAnswer},
		{"LostAnswersOfEveryCall", faults, lostEverywhere},
		{"LostCall", faults, lostCall},
		{"Throttled", faults, throttled},
		{"SoldOutNextChoice", sells, nextChoice},
		{"SpotSoldOut", sells, spotSoldOut},
		{"OwnPrices", nil, ownPrices},
		{"PartOfAnOrder", sells, partial},
		{"NothingLeft", sells, nothingLeft},
		{"CrashAfterSoldOut", both, crashAfterSoldOut},
		{"FreshMachinesAreNotShown", hides, hidden},
		{"CrashBeforeMachinesAreShown", all, crashWhileHidden},
		{"Terminate", nil, terminate},
		{"TerminateDisturbed", faults, terminateDisturbed},
		{"TerminateThrottled", func(s Stage) bool { return faults(s) && s.Calls != nil }, terminateThrottled},
		{"ListIsComplete", nil, list},
		{"FindByID", nil, find},
		{"FindWithoutTags", func(s Stage) bool { return s.Strip != nil }, findStripped},
		{"FindDisturbed", faults, findDisturbed},
		{"CompleteAsLaunched", nil, complete},
		{"CompleteWithoutClass", func(s Stage) bool { return s.Break != nil }, completeBroken},
		{"ClassNotReady", func(s Stage) bool { return s.Break != nil }, notReady},
		{"Cancelled", nil, cancelled},
		{"WhateverHappens", all, whatever},
	}
}

// one carries out one order.
func one(ctx context.Context, d cloud.Driver, o cloud.Order) cloud.Outcome {
	return d.Launch(ctx, []cloud.Order{o})[0]
}

// settled sends an order again while it is not known what became of it, as the
// caller of a driver does. Time passes between, which is virtual.
func settled(t *testing.T, d cloud.Driver, o cloud.Order) cloud.Outcome {
	t.Helper()
	var out cloud.Outcome
	for range 20 {
		out = one(t.Context(), d, o)
		if c := cloud.CodeOf(out.Err); c != cloud.Unknown && c != cloud.Throttled {
			return out
		}
		time.Sleep(10 * time.Second)
	}
	t.Fatalf("order %s never came to an end: %v", o.Token, out.Err)
	return out
}

func ids(machines []cloud.Machine) []cloud.MachineID {
	out := make([]cloud.MachineID, len(machines))
	for i, m := range machines {
		out[i] = m.ID
	}
	return out
}

// whole wants an order to have all its machines, and the provider to run no others.
func whole(t *testing.T, s Stage, o cloud.Order, out cloud.Outcome) {
	t.Helper()
	if out.Err != nil || len(out.Machines) != o.Count {
		t.Fatalf("order %s of %d got %d machines and the error %v", o.Token, o.Count, len(out.Machines), out.Err)
	}
	only(t, s, out.Machines)
}

// only wants the provider to run exactly these machines.
func only(t *testing.T, s Stage, machines []cloud.Machine) {
	t.Helper()
	want, got := ids(machines), slices.Clone(s.Running())
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(want, got) {
		t.Fatalf("the driver returned %v, there are %v", want, got)
	}
}
