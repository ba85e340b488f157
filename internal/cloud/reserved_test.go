package cloud_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/cloud"
)

// reservation is a driver that sells what is left of one reservation to two templates.
type reservation struct {
	cloud.Driver

	left, freed int
}

func (r *reservation) Freed() { r.freed++ }

func (r *reservation) Catalog(_ context.Context, t cloud.Template) (world.Catalog, error) {
	return world.Catalog{Template: t.ID, Version: fmt.Sprint(r.left), Shapes: []world.Shape{{Name: "m5.large", Offers: []world.Offer{
		{Zone: "a", CapacityType: "reserved", Reservation: "cr-1", Count: r.left},
	}}}}, nil
}

func (r *reservation) Launch(_ context.Context, orders []cloud.Order) []cloud.Outcome {
	out := make([]cloud.Outcome, len(orders))
	for i, o := range orders {
		for range min(o.Count, r.left) {
			r.left--
			out[i].Machines = append(out[i].Machines, cloud.Machine{ID: cloud.MachineID(fmt.Sprint(r.left)), Reservation: "cr-1"})
		}
	}
	return out
}

// What a machine that has ended gives back is on sale at once, and what others give back within a minute.
func TestReturnedReservationsAreOnSale(t *testing.T) {
	left := map[world.TemplateID]int{}
	now := time.Unix(1_000_000, 0)
	d := &reservation{left: 0}
	c := cloud.New(cloud.Config{
		Driver: d, Now: func() time.Time { return now }, Attempts: 1,
		Publish: func(w world.Catalog) { left[w.Template] = w.Shapes[0].Offers[0].Count },
	})
	c.Want(cloud.Template{ID: "one"})
	c.Want(cloud.Template{ID: "two"})
	if next := c.Refresh(t.Context()); next.Sub(now) > time.Minute {
		t.Errorf("what others give back is seen after %v", next.Sub(now))
	}
	d.left = 1
	c.For("terminator").Freed()
	c.Refresh(t.Context())
	if diff := cmp.Diff(map[world.TemplateID]int{"one": 1, "two": 1}, left); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if d.freed != 1 {
		t.Error("the driver is not told, and counts what it counted")
	}
}

// The next plan knows what an order drew from a reservation before its
// claims are said to be launched, and other templates that sell from it follow.
func TestDrawnReservationsAreToldAtOnce(t *testing.T) {
	left := map[world.TemplateID]int{}
	now := time.Unix(1_000_000, 0)
	c := cloud.New(cloud.Config{
		Driver: &reservation{left: 5}, Now: func() time.Time { return now }, Attempts: 1,
		Publish: func(w world.Catalog) { left[w.Template] = w.Shapes[0].Offers[0].Count },
	})
	c.Want(cloud.Template{ID: "one"})
	c.Want(cloud.Template{ID: "two"})
	c.Refresh(t.Context())
	c.Launch(t.Context(), []cloud.Order{{Template: cloud.Template{ID: "one"}, Count: 3}})
	if diff := cmp.Diff(map[world.TemplateID]int{"one": 2, "two": 5}, left); diff != "" {
		t.Errorf("when the launch returns -want +got\n%s", diff)
	}
	c.Refresh(t.Context())
	if diff := cmp.Diff(map[world.TemplateID]int{"one": 2, "two": 2}, left); diff != "" {
		t.Errorf("at the next look, which is at once -want +got\n%s", diff)
	}
}
