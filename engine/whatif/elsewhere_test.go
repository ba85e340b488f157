package whatif_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tenon-sh/tenon/engine/enginetest"
	"github.com/tenon-sh/tenon/engine/enginetest/chance"
	"github.com/tenon-sh/tenon/engine/packing"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/provision"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/whatif"
	"github.com/tenon-sh/tenon/engine/world"
)

// running generates a World of nodes and the pods that run on them.
func running(t *rapid.T) (*world.World, string) {
	lines := enginetest.ChargedLines().Draw(t, "lines")
	s := enginetest.NewScene()
	for _, line := range lines {
		if err := s.Line(line); err != nil {
			t.Fatal(err)
		}
	}
	w := s.World()
	return enginetest.Bound(w, provision.Decide(w, provision.Options{Steps: 1000})), strings.Join(lines, "\n")
}

// without is the World in which the machine and some pods are gone, the machine's other pods wait and nothing can be bought.
func without(w *world.World, p *world.Place, ended []*world.Pod) *world.World {
	b := w.Edit()
	for _, pool := range w.Pools() {
		b.DeletePool(pool.ID)
	}
	if p.Claim != nil {
		b.DeleteClaim(p.Claim.Name)
	}
	b.DeleteNode(p.Name())
	for _, pod := range p.Pods {
		if !pod.Moves() || slices.Contains(ended, pod) {
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

// Where the pods of a machine go, they can; a pod that finds no place would not be taken
// anywhere; and a machine goes if all of its pods find one.
func TestMovesAreValid(t *testing.T) {
	chance.Check(t, func(t *rapid.T) {
		w, lines := running(t)
		w = enginetest.Settled(w)
		c := whatif.New(w, packing.Options{}, whatif.Staying)
		for i, p := range c.Places() {
			p = w.Place(p.Name())
			moves, homeless := c.Elsewhere(i)
			if goes := c.Goes(i); goes != (len(homeless) == 0) {
				t.Errorf("%s goes: %t, without a place are %v", p.Name(), goes, homeless)
			}
			last := func(h *world.Pod) bool { return enginetest.LastOfDomain(w, p, h) }
			after := without(w, p, slices.DeleteFunc(slices.Clone(homeless), func(h *world.Pod) bool { return !last(h) }))
			if faults := enginetest.Check(after, told(moves, slices.DeleteFunc(homeless, last))); len(faults) > 0 {
				t.Errorf("without %s:\n%s", p.Name(), strings.Join(faults, "\n"))
			}
		}
		if t.Failed() {
			t.Fatal(lines)
		}
	})
}

// told is a plan that says where pods are moved, and which find no place.
func told(moves []whatif.Move, homeless []*world.Pod) plan.Plan {
	p := plan.Plan{Waiting: len(moves) + len(homeless)}
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
	for _, h := range homeless {
		p.Refused = append(p.Refused, plan.Refusal{Pod: h.Key, Why: &reason.Why{Code: reason.NoPlace}})
	}
	return p
}

// What a few machines say when they are asked.
func TestGoes(t *testing.T) {
	tests := map[string]struct {
		why   string
		lines string
		want  map[string]bool
	}{
		"Fits":      {why: "What runs on either fits on the other.", lines: "node n1 cpu=4\nnode n2 cpu=4\npod a x2 cpu=1 node=n1\npod b x2 cpu=1 node=n2", want: map[string]bool{"n1": true, "n2": true}},
		"Full":      {why: "There is room for one of two.", lines: "node n1 cpu=4\nnode n2 cpu=4\npod a x2 cpu=1 node=n1\npod b cpu=3 node=n2", want: map[string]bool{"n1": false, "n2": false}},
		"Promised":  {why: "The room that a pod was promised is not given away.", lines: "node n1 cpu=4\nnode n2 cpu=4\npod a x2 cpu=1 node=n1\npod b cpu=3 nominated=n2", want: map[string]bool{"n1": false}},
		"Together":  {why: "Pods that share a machine go to one with room for all of them.", lines: "node n1 cpu=2\nnode n2 cpu=4\nnode n3 cpu=4\npod crew x4 cpu=1 near=host node=n3", want: map[string]bool{"n3": true}},
		"Apart":     {why: "One that keeps away from its like has no place beside it.", lines: "node n1 cpu=4\nnode n2 cpu=4\npod a cpu=1 apart=host node=n1\npod a-too cpu=1 app=a apart=host:a node=n2", want: map[string]bool{"n1": false}},
		"LastZone":  {why: "Pods that are spread over zones do not leave one for good because its last machine goes.", lines: "node n1 cpu=4 zone=a\nnode n2 cpu=4 zone=b\npod a cpu=1 spread=zone:1 node=n1\npod a-too cpu=1 app=a spread=zone:1:of=a node=n2", want: map[string]bool{"n1": false, "n2": false}},
		"Uncounted": {why: "For a pod whose devices are not understood no place can be looked for.", lines: "node n1 cpu=4\nnode n2 cpu=4\npod a cpu=1 claims node=n1", want: map[string]bool{"n1": false, "n2": true}},
		"Daemons":   {why: "What every machine runs need not go anywhere.", lines: "node n1 cpu=1\nnode n2 cpu=1\npod d cpu=1 owner=log node=n1", want: map[string]bool{"n1": true}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := enginetest.NewScene()
			for line := range strings.Lines(tc.lines) {
				if err := s.Line(line); err != nil {
					t.Fatal(err)
				}
			}
			w := s.World()
			c := whatif.New(w, packing.Options{}, whatif.Staying)
			for i, p := range c.Places() {
				if want, asked := tc.want[p.Name()]; asked && c.Goes(i) != want {
					t.Errorf("%s\n%s goes: %t", tc.why, p.Name(), !want)
				}
			}
		})
	}
}
