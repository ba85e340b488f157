package cloudtest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/cloud"
)

// catalog wants shapes in order, with offers, and the same version while nothing changes.
func catalog(t *testing.T, s Stage) {
	d := s.Start()
	c, err := d.Catalog(t.Context(), s.Template)
	if err != nil {
		t.Fatal(err)
	}
	if c.Template != s.Template.ID || c.Version == "" || c.Region == "" {
		t.Errorf("the catalogue is of template %q, version %q, region %q", c.Template, c.Version, c.Region)
	}
	if !slices.IsSortedFunc(c.Shapes, func(a, b world.Shape) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("the shapes are not in order of name")
	}
	for _, shape := range c.Shapes {
		if len(shape.Offers) == 0 {
			t.Errorf("%s has no offer", shape.Name)
		}
		for _, o := range shape.Offers {
			if o.Price <= 0 || o.Zone == "" || o.CapacityType == "" {
				t.Errorf("%s has the offer %+v", shape.Name, o)
			}
		}
	}
	for _, name := range s.Menu {
		if !slices.ContainsFunc(c.Shapes, func(s world.Shape) bool { return s.Name == name }) {
			t.Errorf("%s is not in the catalogue", name)
		}
	}
	again, err := d.Catalog(t.Context(), s.Template)
	if err != nil || again.Version != c.Version {
		t.Errorf("nothing changed, and the version went from %q to %q, %v", c.Version, again.Version, err)
	}
}

// catalogSoldOut wants what turned out to be sold out to be marked, in a new
// version, and to be offered again some time later.
func catalogSoldOut(t *testing.T, s Stage) {
	d := s.Start()
	before, err := d.Catalog(t.Context(), s.Template)
	if err != nil {
		t.Fatal(err)
	}
	s.SellOut(s.Menu[0], "", 0)
	o := s.Order("one", 1, label.OnDemand)
	o.Menu = s.Menu[:1]
	if out := settled(t, d, o); cloud.CodeOf(out.Err) != cloud.Capacity {
		t.Fatalf("%s is sold out: %v", s.Menu[0], out.Err)
	}
	after, err := d.Catalog(t.Context(), s.Template)
	if err != nil {
		t.Fatal(err)
	}
	if after.Version == before.Version || offered(after, s.Menu[0], label.OnDemand) {
		t.Errorf("%s is sold out and still offered; version %q became %q", s.Menu[0], before.Version, after.Version)
	}
	if !offered(before, s.Menu[0], label.OnDemand) || !offered(after, s.Menu[1], label.OnDemand) {
		t.Errorf("an earlier catalogue was changed, or %s is not offered", s.Menu[1])
	}
	s.SellOut(s.Menu[0], "", -1)
	time.Sleep(time.Hour)
	later, err := d.Catalog(t.Context(), s.Template)
	if err != nil || !offered(later, s.Menu[0], label.OnDemand) || later.Version == after.Version {
		t.Errorf("an hour later %s is not offered again in a new version, %v", s.Menu[0], err)
	}
}

func offered(c world.Catalog, shape, kind string) bool {
	return slices.ContainsFunc(c.Shapes, func(s world.Shape) bool {
		return s.Name == shape && slices.ContainsFunc(s.Offers, func(o world.Offer) bool { return o.CapacityType == kind && !o.Gone })
	})
}

// terminate wants a machine to end once, and every further word about it to be nil or Gone.
func terminate(t *testing.T, s Stage) {
	d := s.Start()
	o := s.Order("one", 4, label.OnDemand)
	out := one(t.Context(), d, o)
	whole(t, s, o, out)
	unknown := cloud.MachineID(string(out.Machines[0].ID[:len(out.Machines[0].ID)-4]) + "beef")
	end := []cloud.MachineID{out.Machines[0].ID, unknown, out.Machines[1].ID}
	for range 3 {
		errs := d.Terminate(t.Context(), end)
		if len(errs) != len(end) {
			t.Fatalf("%d answers for %d machines", len(errs), len(end))
		}
		for i, err := range errs {
			if err != nil && (cloud.CodeOf(err) != cloud.Gone || end[i] != unknown) {
				t.Errorf("end %s: %v", end[i], err)
			}
		}
		only(t, s, out.Machines[2:])
		time.Sleep(time.Minute)
	}
	if errs := d.Terminate(t.Context(), nil); len(errs) != 0 {
		t.Errorf("no machines gave %v", errs)
	}
	alive := []cloud.MachineID{}
	found, err := d.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range found {
		if !m.Ending {
			alive = append(alive, m.ID)
		}
	}
	if !slices.Equal(alive, ids(out.Machines[2:])) {
		t.Errorf("the list shows %v, want %v", alive, ids(out.Machines[2:]))
	}
}

// terminateDisturbed wants what is reported as ended to have ended, and what has
// not to be ended by the next call.
func terminateDisturbed(t *testing.T, s Stage) {
	for _, f := range []Fault{Throttle, Lose, Drop} {
		d := s.Start()
		o := s.Order("order-"+string(f), 3, label.OnDemand)
		out := settled(t, d, o)
		whole(t, s, o, out)
		s.Fault(End, f, 100)
		errs := d.Terminate(t.Context(), ids(out.Machines))
		running := s.Running()
		for i, err := range errs {
			if err == nil && slices.Contains(running, out.Machines[i].ID) {
				t.Errorf("%s: %s runs and was reported as ended", f, out.Machines[i].ID)
			}
		}
		s.Fault(End, f, 0)
		time.Sleep(time.Minute)
		for i, err := range d.Terminate(t.Context(), ids(out.Machines)) {
			if err != nil {
				t.Errorf("%s: end %s later: %v", f, out.Machines[i].ID, err)
			}
		}
		only(t, s, nil)
	}
}

// list wants every machine once, in order, with its tags and its order.
func list(t *testing.T, s Stage) {
	d := s.Start()
	if found, err := d.List(t.Context()); err != nil || len(found) != 0 {
		t.Fatalf("an empty cluster lists %v, %v", ids(found), err)
	}
	orders, each := 12, 100
	if s.Small {
		orders = 2
	}
	for i := range orders {
		if out := settled(t, d, s.Order(fmt.Sprintf("order-%d", i), each, label.OnDemand)); out.Err != nil {
			t.Fatal(out.Err)
		}
	}
	for name, driver := range map[string]cloud.Driver{"the same process": d, "another process": s.Start()} {
		found, err := driver.List(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		only(t, s, found)
		if !slices.IsSorted(ids(found)) {
			t.Errorf("%s: the list is not in order", name)
		}
		count := map[string]int{}
		for _, m := range found {
			count[m.Order]++
			if m.Tags["purpose"] != "law" || m.ProviderID == "" || m.Shape == "" || m.Zone == "" || m.Launched.IsZero() {
				t.Fatalf("%s: a machine lacks something: %+v", name, m)
			}
		}
		if len(count) != orders || count["order-1"] != each {
			t.Errorf("%s: machines by order: %v", name, count)
		}
	}
}
