package room_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tenon-sh/tenon/engine/enginetest"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/provision"
	"github.com/tenon-sh/tenon/engine/room"
	"github.com/tenon-sh/tenon/engine/world"
)

// running generates a World of nodes and the pods that run on them.
func running(t *rapid.T) (*world.World, string) {
	lines := enginetest.Lines().Draw(t, "lines")
	s := enginetest.NewScene()
	for _, line := range lines {
		if err := s.Line(line); err != nil {
			t.Fatal(err)
		}
	}
	w := s.World()
	w = enginetest.Bound(w, provision.Decide(w, provision.Options{Steps: 1000}))
	return w, strings.Join(lines, "\n")
}

// without is the World in which the machine is gone, its pods wait and nothing can be bought.
func without(w *world.World, p *world.Place) *world.World {
	b := w.Edit()
	for _, pool := range w.Pools() {
		b.DeletePool(pool.ID)
	}
	if p.Claim != nil {
		b.DeleteClaim(p.Claim.Name)
	}
	b.DeleteNode(p.Name())
	for _, pod := range p.Pods {
		if !pod.Moves() {
			b.DeletePod(pod.Key)
			continue
		}
		moved := *pod
		moved.Node, moved.Waiting, moved.Terminating, moved.Gated = "", true, false, false
		if err := b.SetPod(moved); err != nil {
			panic(err)
		}
	}
	return b.Snapshot(w.At())
}

// quiet is the World without the pods that wait, and without the nodes that are going.
func quiet(w *world.World) *world.World {
	b := w.Edit()
	for _, p := range w.Places() {
		if p.Deleting() {
			for _, pod := range p.Pods {
				b.DeletePod(pod.Key)
			}
			b.DeleteNode(p.Name())
		}
	}
	for _, p := range w.Waiting() {
		b.DeletePod(p.Key)
	}
	return b.Snapshot(w.At())
}

// Whether a machine can go is what the packer says of the World without it.
func TestGoesAsDecided(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, lines := running(t)
		w = quiet(w)
		l := room.Open(w)
		for _, p := range w.Places() {
			moves, got := l.Clear(p)
			if got {
				l.Undo(0)
			}
			ref := without(w, p)
			d := provision.Decide(ref, provision.Options{PreferencePolicy: "Ignore", ExactOnly: true})
			if want := len(d.Refused) == 0; got != want {
				t.Errorf("%s goes: %t, the packer says %t:\n%s\nmoves %v", p.Name(), got, want, d.Text(true), moves)
			}
			if !got {
				continue
			}
			if faults := enginetest.Check(ref, told(d, moves)); len(faults) > 0 {
				t.Errorf("%s cannot go like this:\n%s", p.Name(), strings.Join(faults, "\n"))
			}
		}
		if t.Failed() {
			t.Fatal(lines)
		}
	})
}

// told is the plan with other moves.
func told(p plan.Plan, moves []room.Move) plan.Plan {
	p.Filled = nil
	for _, m := range moves {
		f := plan.Fill{Pods: []world.Key{m.Pod.Key}}
		if m.To.Node != nil {
			f.Node = m.To.Node.Name
		}
		if m.To.Claim != nil {
			f.Claim = m.To.Claim.Name
		}
		p.Filled = append(p.Filled, f)
	}
	return p
}

// Whatever was asked and taken back, a ledger answers as one that was just opened.
func TestUndo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, lines := running(t)
		l := room.Open(w)
		if len(w.Places()) == 0 {
			return
		}
		place := rapid.SampledFrom(w.Places())
		var marks []room.Mark
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			switch rapid.IntRange(0, 3).Draw(t, "step") {
			case 0:
				marks = append(marks, l.Mark())
			case 1:
				l.Clear(place.Draw(t, "cleared"))
			case 2:
				l.Place(l.Remove(place.Draw(t, "removed")))
			case 3:
				if n := len(marks); n > 0 {
					l.Undo(marks[n-1])
					marks = marks[:n-1]
				}
			}
		}
		l.Undo(0)
		if got, want := answers(l, w), answers(room.Open(w), w); !slices.Equal(got, want) {
			t.Fatalf("after all was taken back the answers are\n%v\nof a new ledger they are\n%v\n%s", got, want, lines)
		}
	})
}

// answers are all that can be asked about single machines.
func answers(l *room.Ledger, w *world.World) []string {
	var out []string
	for _, p := range w.Places() {
		out = append(out, p.Name())
		mark := l.Mark()
		moves, homeless := l.Place(l.Remove(p))
		for _, m := range moves {
			out = append(out, m.Pod.String()+" to "+m.To.Name())
		}
		for _, h := range homeless {
			out = append(out, h.String())
		}
		l.Undo(mark)
	}
	return out
}
