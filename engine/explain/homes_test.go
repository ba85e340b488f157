package explain_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tenon-sh/tenon/engine/enginetest"
	"github.com/tenon-sh/tenon/engine/explain"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/provision"
	"github.com/tenon-sh/tenon/engine/suppose"
	"github.com/tenon-sh/tenon/engine/world"
)

// bound is a World in which what a plan places on nodes that are there runs there.
func bound(t *rapid.T, w *world.World) *world.World {
	p := provision.Decide(w, provision.Options{})
	b := w.Edit()
	for _, f := range p.Filled {
		for _, k := range f.Pods {
			pod := *w.Pod(k)
			if pod.Node != "" || f.Node == "" {
				continue
			}
			pod.Node, pod.Waiting = f.Node, false
			if err := b.SetPod(pod); err != nil {
				t.Fatal(err)
			}
		}
	}
	return b.Snapshot(w.At())
}

// Where Rehome sends the pods of a node, kube-scheduler could bind them; asking
// about one node changes no answer about another.
func TestRehomeIsValid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := enginetest.Lines().Draw(t, "lines")
		s := enginetest.NewScene()
		for _, line := range lines {
			if err := s.Line(line); err != nil {
				t.Fatal(err)
			}
		}
		w := bound(t, s.World())
		homes := explain.NewHomes(w)
		for _, p := range w.Places() {
			moves, ok := homes.Rehome(p.Name())
			if again, fresh := explain.NewHomes(w).Rehome(p.Name()); fresh != ok || len(again) != len(moves) {
				t.Fatalf("%s: %v, and asked first %v", p.Name(), ok, fresh)
			}
			if !ok {
				continue
			}
			gone, err := suppose.Apply(w, suppose.WithoutNode(p.Name()))
			if err != nil {
				t.Fatal(err)
			}
			b := gone.Edit()
			for _, other := range gone.Waiting() {
				if moves[other.Key] == "" {
					b.DeletePod(other.Key)
				}
			}
			for _, other := range gone.Places() { // whose pods are going is not asked
				if other.Deleting() {
					for _, pod := range other.Pods {
						b.DeletePod(pod.Key)
					}
				}
			}
			only := b.Snapshot(w.At())
			d := plan.Plan{World: only.Digest(), Waiting: len(moves)}
			fills := map[string]int{}
			for _, pod := range only.Waiting() {
				to := moves[pod.Key]
				if _, there := fills[to]; !there {
					fills[to] = len(d.Filled)
					d.Filled = append(d.Filled, plan.Fill{Node: to})
				}
				d.Filled[fills[to]].Pods = append(d.Filled[fills[to]].Pods, pod.Key)
			}
			if faults := enginetest.Check(only, d); len(faults) > 0 {
				t.Fatalf("%s: %s\n\n%s\n\n%v", p.Name(), strings.Join(faults, "\n"), strings.Join(lines, "\n"), moves)
			}
		}
	})
}

func TestNodes(t *testing.T) {
	b := enginetest.Steady(30, 0).Edit()
	for i := range 30 {
		for j := range 8 { // half of what runs there
			b.DeletePod(world.Key{Namespace: "default", Name: fmt.Sprintf("run-%d-%d", i, j)})
		}
	}
	w := b.Snapshot(0)
	rows := explain.New(w, provision.Options{}).Nodes()
	if len(rows) != 30 || !slices.ContainsFunc(rows, func(r explain.Row) bool { return r.Elsewhere }) {
		t.Errorf("%d rows, and none whose pods would fit elsewhere", len(rows))
	}
	if text := explain.RowsText(rows); !strings.HasPrefix(text, "NODE") || !strings.Contains(text, "\n30 nodes, $") {
		t.Error(text)
	}
}

func BenchmarkRehome(b *testing.B) {
	w := enginetest.Steady(2000, 0)
	homes := explain.NewHomes(w)
	places := w.Places()
	i := 0
	for b.Loop() {
		homes.Rehome(places[i%len(places)].Name())
		i++
	}
}
