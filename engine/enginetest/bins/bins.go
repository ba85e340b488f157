// Package bins makes a packing of a World written as lines, puts pods onto its machines by name, and writes it as text, for tests of the packages that change or read packings.
package bins

import (
	"slices"
	"strings"
	"testing"

	"github.com/tenon-sh/tenon/engine/enginetest"
	"github.com/tenon-sh/tenon/engine/packing"
)

// Ready is the packing of a World written as lines, with its pods waiting.
func Ready(t testing.TB, o packing.Options, lines ...string) *packing.Packing {
	t.Helper()
	s := enginetest.NewScene()
	for _, line := range lines {
		if err := s.Line(line); err != nil {
			t.Fatal(err)
		}
	}
	k := packing.New(s.World(), o)
	pods, _ := packing.Admit(s.World())
	k.Waiting = len(pods)
	k.Ready(pods)
	return k
}

// On puts waiting pods onto the machine of this name that is there or on its way.
func On(t testing.TB, k *packing.Packing, machine string, pods ...string) {
	t.Helper()
	for _, b := range k.Existing {
		if b.Place.Name == machine {
			join(t, k, b, pods)
			return
		}
	}
	t.Fatalf("there is no machine %s", machine)
}

// Buy plans a machine of a type in a zone, the first that is offered, with waiting pods on it.
func Buy(t testing.TB, k *packing.Packing, shape, zone string, pods ...string) *packing.Bin {
	t.Helper()
	for i := range k.Market.Offers {
		if o := &k.Market.Offers[i]; o.Type.Shape.Name == shape && o.Zone == zone {
			b := k.Buy(i)
			join(t, k, b, pods)
			return b
		}
	}
	t.Fatalf("there is no %s in %s", shape, zone)
	return nil
}

// join puts waiting pods onto a bin, whatever is against that.
func join(t testing.TB, k *packing.Packing, b *packing.Bin, pods []string) {
	t.Helper()
	for _, name := range pods {
		i := slices.IndexFunc(k.Unplaced, func(x *packing.Pod) bool { return x.Pod.Name == name })
		if i < 0 {
			t.Fatalf("no pod %s waits", name)
		}
		k.Join(b, k.Unplaced[i])
		k.Unplaced = slices.Delete(k.Unplaced, i, i+1)
	}
}

// Text is which pods each machine has, planned machines by type, zone and capacity type, and which pods have none.
func Text(k *packing.Packing) string {
	var lines []string
	for _, b := range k.Existing {
		if len(b.Pods) > 0 {
			lines = append(lines, b.Place.Name+": "+names(b.Pods))
		}
	}
	for _, b := range k.Planned {
		o := &k.Market.Offers[b.Offer]
		lines = append(lines, o.Type.Shape.Name+" "+o.Zone+" "+o.CapacityType+": "+names(b.Pods))
	}
	slices.Sort(lines)
	if len(k.Unplaced) > 0 {
		lines = append(lines, "waiting: "+names(k.Unplaced))
	}
	return strings.Join(lines, "\n")
}

func names(pods []*packing.Pod) string {
	var out []string
	for _, x := range pods {
		out = append(out, x.Pod.Name)
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// Case is a World, and what is put where before the step that is tested.
type Case struct {
	Why     string
	Options packing.Options
	World   []string
	Start   func(t testing.TB, k *packing.Packing) // nil if all pods wait
	Want    string                                 // the Text after the step; empty if the step must not act
}

// Run plays the cases: a step that has a Want has to change the packing into it, the others have to leave it as it was.
func Run(t *testing.T, cases map[string]Case, step func(*packing.Packing)) {
	t.Helper()
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Log(c.Why)
			k := Ready(t, c.Options, c.World...)
			if c.Start != nil {
				c.Start(t, k)
			}
			before := Text(k)
			step(k)
			switch after := Text(k); {
			case c.Want == before:
				t.Fatal("the step starts from what is wanted: without it the case would pass")
			case c.Want == "" && after != before:
				t.Errorf("it has acted on\n%s\nwhich is now\n%s", before, after)
			case c.Want != "" && after != c.Want:
				t.Errorf("of\n%s\nit has made\n%s\nand not\n%s", before, after, c.Want)
			}
		})
	}
}
