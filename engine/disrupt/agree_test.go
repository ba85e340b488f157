package disrupt_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/tenon-sh/tenon/engine/disrupt"
	"github.com/tenon-sh/tenon/engine/disrupt/begun"
	"github.com/tenon-sh/tenon/engine/enginetest"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
)

// What consolidation decides is carried on once what it buys is there: most of it at once, the rest when pods have found
// their places, which the first may take from others.
func TestJudgeAgrees(t *testing.T) {
	for seed := range uint64(3) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			w := enginetest.Shrunk(400, seed+1)
			p := disrupt.Decide(w, disrupt.Options{Only: []disrupt.Part{disrupt.Consolidating}})
			b := w.Edit()
			n := 0
			marks := map[string]int64{}
			for _, c := range p.Commands {
				if c.Verdict != plan.Begin {
					continue
				}
				var names []string
				for _, g := range c.Back {
					names = append(names, g.Claim)
					claim := *w.Place(g.Node).Claim
					claim.Going = plan.Underutilized
					if err := b.SetClaim(claim); err != nil {
						t.Fatal(err)
					}
					node := *w.Place(g.Node).Node
					node.Taints = append(slices.Clone(node.Taints), begun.Mark())
					for _, f := range c.Moves {
						node.Moves = append(node.Moves, world.Move{To: f.Node, Pods: f.Pods})
					}
					marks[node.Name] = 10_000
					if err := b.SetNode(node); err != nil {
						t.Fatal(err)
					}
				}
				for _, a := range c.New {
					n++
					shapes := w.CatalogFor(a.Pool, a.Template).Shapes
					i := slices.IndexFunc(shapes, func(s world.Shape) bool { return s.Name == a.Shape })
					name := fmt.Sprintf("new-%d", n)
					enginetest.Join(b, w.Pool(a.Pool), &shapes[i], world.Offer{Zone: a.Zone, CapacityType: a.CapacityType}, name)
					claim := *b.Snapshot(w.At()).Place(name).Claim
					claim.Replaces, claim.Pods, claim.Created = names, a.Pods, w.At()
					if err := b.SetClaim(claim); err != nil {
						t.Fatal(err)
					}
				}
			}
			now := b.Snapshot(w.At())
			may, begun := 0, disrupt.Decide(now, disrupt.Options{Only: []disrupt.Part{disrupt.Judging}, Marked: marks}).Commands
			for _, c := range begun {
				if c.Verdict == plan.CarryOn {
					may++
				}
				if c.Why != nil {
					t.Errorf("%s: %s", c.Nodes(), text(c))
				}
			}
			if 2*may < len(begun) {
				t.Errorf("of %d commands %d may go on now", len(begun), may)
			}
		})
	}
}
