package cloudtest

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/internal/cloud"
)

func providerIDs(machines []cloud.Machine) []string {
	out := make([]string, len(machines))
	for i, m := range machines {
		out[i] = m.ProviderID
	}
	return out
}

// find wants the machines that are asked for by id, and no others; what has ended
// may be among them for a while, and says so.
func find(t *testing.T, s Stage) {
	d := s.Start()
	o := s.Order("one", 4, label.OnDemand)
	out := one(t.Context(), d, o)
	whole(t, s, o, out)
	asked := providerIDs(out.Machines[:3])
	unknown := asked[0][:len(asked[0])-4] + "beef"
	for name, driver := range map[string]cloud.Driver{"the same process": d, "another process": s.Start()} {
		found, err := driver.Find(t.Context(), append([]string{unknown, "other:///machine", ""}, asked...))
		if err != nil {
			t.Fatal(err)
		}
		got := providerIDs(found)
		slices.Sort(got)
		want := slices.Sorted(slices.Values(asked))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s found others than were asked for: -want +got\n%s", name, diff)
		}
		for _, m := range found {
			if m.ID == "" || m.Shape == "" || m.Zone == "" || m.Order != "one" || m.Unlisted != "" || m.Foreign != "" {
				t.Errorf("%s: a machine is returned as %+v", name, m)
			}
		}
	}
	if errs := d.Terminate(t.Context(), ids(out.Machines[:1])); errs[0] != nil {
		t.Fatal(errs[0])
	}
	time.Sleep(10 * time.Minute)
	found, err := d.Find(t.Context(), asked)
	found = slices.DeleteFunc(found, func(m cloud.Machine) bool { return m.Ended && m.ID == out.Machines[0].ID })
	if err != nil || len(found) != 2 || slices.ContainsFunc(found, func(m cloud.Machine) bool { return m.Ended }) {
		t.Errorf("two of three are left, and found are %v, %v", providerIDs(found), err)
	}
	if found, err := d.Find(t.Context(), nil); err != nil || len(found) != 0 {
		t.Errorf("asked for none it found %v, %v", providerIDs(found), err)
	}
}

// findStripped wants a machine that no list shows, because someone took its tags,
// to be found by its id, with the reason, and to be ended as any other.
func findStripped(t *testing.T, s Stage) {
	d := s.Start()
	o := s.Order("one", 2, label.OnDemand)
	out := one(t.Context(), d, o)
	whole(t, s, o, out)
	lost := out.Machines[0]
	s.Strip(lost.ID)
	listed, err := d.List(t.Context())
	if err != nil || len(listed) != 1 {
		t.Fatalf("the list shows %v, %v", ids(listed), err)
	}
	found, err := d.Find(t.Context(), []string{lost.ProviderID})
	if err != nil || len(found) != 1 || found[0].ID != lost.ID {
		t.Fatalf("it runs, and found is %v, %v", ids(found), err)
	}
	if !strings.Contains(found[0].Unlisted, "tag") || found[0].Foreign != "" {
		t.Errorf("why it is not listed is said to be %q, and whose it is %q", found[0].Unlisted, found[0].Foreign)
	}
	if errs := d.Terminate(t.Context(), []cloud.MachineID{found[0].ID}); errs[0] != nil {
		t.Errorf("end it: %v", errs[0])
	}
	only(t, s, out.Machines[1:])
}

// findDisturbed wants no machine to be taken for gone because the cloud did not answer.
func findDisturbed(t *testing.T, s Stage) {
	d := s.Start()
	o := s.Order("one", 2, label.OnDemand)
	out := settled(t, d, o)
	whole(t, s, o, out)
	for _, f := range []Fault{Throttle, Lose, Drop} {
		s.Fault(Look, f, 1_000)
		if found, err := d.Find(t.Context(), providerIDs(out.Machines)); err == nil && len(found) < 2 {
			t.Errorf("%s: the cloud did not answer, and %d of 2 machines are said to be there", f, len(found))
		}
		s.Fault(Look, f, 0)
	}
	if found, err := d.Find(t.Context(), providerIDs(out.Machines)); err != nil || len(found) != 2 {
		t.Errorf("later it found %v, %v", ids(found), err)
	}
}

// complete wants machines that a new process finds in a list to be described as they
// were when they were bought: all that their claims are to show.
func complete(t *testing.T, s Stage) {
	d := s.Start()
	o := s.Order("one", 3, label.OnDemand)
	bought := settled(t, d, o)
	whole(t, s, o, bought)
	again := s.Start()
	listed, err := again.List(t.Context())
	if err != nil || len(listed) != 3 {
		t.Fatalf("the list shows %v, %v", ids(listed), err)
	}
	was := slices.Clone(listed)
	got, err := again.Complete(t.Context(), s.Template, listed)
	if err != nil || len(got) != 3 {
		t.Fatalf("completed are %v, %v", ids(got), err)
	}
	if diff := cmp.Diff(was, listed); diff != "" {
		t.Errorf("the list was changed, which others share:\n%s", diff)
	}
	for i, m := range bought.Machines {
		if diff := cmp.Diff(shown(m), shown(got[i])); diff != "" {
			t.Errorf("%s is described otherwise than when it was bought: -bought +found\n%s", m.ID, diff)
		}
		why, err := again.Drift(t.Context(), got[i], s.Template)
		if why != (cloud.Drifted{}) || err != nil {
			t.Errorf("%s has drifted as soon as it was found: %q, %v", m.ID, why, err)
		}
	}
}

// shown is what a claim shows of its machine.
func shown(m cloud.Machine) map[string]any {
	return map[string]any{
		"provider id": m.ProviderID, "image": m.Image, "labels": m.Labels, "annotations": m.Annotations,
		"capacity": m.Capacity.Map(), "allocatable": m.Allocatable.Map(),
	}
}

// completeBroken wants what a machine itself shows to be returned although its class cannot be used.
func completeBroken(t *testing.T, s Stage) {
	d := s.Start()
	o := s.Order("one", 1, label.OnDemand)
	whole(t, s, o, settled(t, d, o))
	listed, err := d.List(t.Context())
	if err != nil || len(listed) != 1 {
		t.Fatalf("the list shows %v, %v", ids(listed), err)
	}
	s.Break()
	time.Sleep(time.Hour) // what was found before is asked for again
	got, err := s.Start().Complete(t.Context(), s.Template, listed)
	if cloud.CodeOf(err) != cloud.NotReady || len(got) != 1 {
		t.Fatalf("a broken class gave %v, %v", ids(got), err)
	}
	m := got[0]
	if m.Labels[label.InstanceType] != m.Shape || m.Labels[label.Zone] != m.Zone || m.Labels[label.CapacityType] != m.CapacityType {
		t.Errorf("the labels of %s in %s are %v", m.Shape, m.Zone, m.Labels)
	}
}

// terminateThrottled wants a provider that is asked too often not to be asked
// once more for every machine.
func terminateThrottled(t *testing.T, s Stage) {
	d := s.Start()
	o := s.Order("one", 50, label.OnDemand)
	out := settled(t, d, o)
	whole(t, s, o, out)
	for _, f := range []Fault{Throttle, Lose, Drop} {
		before := s.Calls(End)
		s.Fault(End, f, 1_000)
		d.Terminate(t.Context(), ids(out.Machines))
		s.Fault(End, f, 0)
		if n := s.Calls(End) - before; n > 10 {
			t.Errorf("%s: 50 machines that were to end by one call took %d", f, n)
		}
	}
}
