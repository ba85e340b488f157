package cloud_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cloud"
	"github.com/tenon-sh/tenon/internal/metric"
)

// closed is a driver whose calls come to nothing.
type closed struct {
	cloud.Driver

	gives cloud.Outcome
}

func (c closed) Launch(context.Context, []cloud.Order) []cloud.Outcome {
	return []cloud.Outcome{c.gives}
}

func (closed) List(context.Context) ([]cloud.Machine, error) {
	return []cloud.Machine{{ID: "i-1", Zone: "a", ZoneID: "use1-az1"}}, nil
}

func (closed) Terminate(_ context.Context, ids []cloud.MachineID) []error {
	return slices.Repeat([]error{errors.New("not now")}, len(ids))
}

// What came to nothing is counted by zone, under the labels that dashboards of Karpenter have.
func TestFailuresAreCountedByZone(t *testing.T) {
	reg := prometheus.NewRegistry()
	set, err := metric.New(reg, nil)
	if err != nil {
		t.Fatal(err)
	}
	open := func(gives cloud.Outcome) *cloud.Cloud {
		return cloud.New(cloud.Config{Driver: closed{gives: gives}, Now: clock.Wall, Metrics: set, Attempts: 1})
	}
	sold := cloud.Failure{Zone: "a", ZoneID: "use1-az1", CapacityType: "spot", Reason: "LaunchFailed"}
	full := cloud.Failure{Zone: "b", ZoneID: "use1-az2", CapacityType: "spot", Reason: "InsufficientFreeAddressesInSubnet"}
	c := open(cloud.Outcome{Failed: []cloud.Failure{sold, sold, full}, Err: cloud.Errorf(cloud.Capacity, "LaunchFailed", "sold out")})
	c.Launch(t.Context(), []cloud.Order{{Count: 1}})
	open(cloud.Outcome{Err: cloud.Errorf(cloud.Unauthorised, "Unauthorized", "no")}).Launch(t.Context(), []cloud.Order{{Count: 3}})
	if _, err := c.List(t.Context(), clock.Wall()); err != nil {
		t.Fatal(err)
	}
	c.Terminate(t.Context(), "i-1", "i-2")

	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range families {
		if f.GetName() != metric.LaunchFailures && f.GetName() != metric.TerminationFailures {
			continue
		}
		for _, m := range f.GetMetric() {
			line := ""
			for _, l := range m.GetLabel() {
				line += l.GetName() + "=" + l.GetValue() + " "
			}
			got = append(got, fmt.Sprint(line, m.GetCounter().GetValue()))
		}
	}
	want := []string{
		"capacity_type= reason=Unauthorized zone= zone_id= 1",
		"capacity_type=spot reason=InsufficientFreeAddressesInSubnet zone=b zone_id=use1-az2 1",
		"capacity_type=spot reason=LaunchFailed zone=a zone_id=use1-az1 2",
		"zone= zone_id= 1",
		"zone=a zone_id=use1-az1 1",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}
