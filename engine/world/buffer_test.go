package world_test

import (
	"testing"

	"github.com/tenon-sh/tenon/engine/world"
)

// A virtual pod runs, when it is asked which machines could go, where the last plan has it.
func TestSeated(t *testing.T) {
	buffer := world.Key{Namespace: "d", Name: "web"}
	build := func(virtual bool, planned string) *world.World {
		b := world.NewBuilder()
		for _, err := range []error{
			b.SetNode(world.Node{Name: "n1", Claim: "c1"}), b.SetClaim(world.Claim{Name: "c1", Node: "n1"}), b.SetClaim(world.Claim{Name: "c2"}),
			b.SetNode(world.Node{Name: "n3", Deleting: true}),
			b.SetPod(world.Pod{Key: world.VirtualKey(buffer, 1), Virtual: virtual, Waiting: true, Planned: planned}),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		return b.Snapshot(7)
	}
	for name, c := range map[string]struct {
		why     string
		virtual bool
		planned string
		want    string
	}{
		"OnANode":        {virtual: true, planned: "n1", want: "n1"},
		"ByItsClaim":     {why: "the claim has become a node since the plan", virtual: true, planned: "c1", want: "n1"},
		"OnAClaim":       {why: "no pod runs on a machine that has not joined", virtual: true, planned: "c2"},
		"OnOneThatGoes":  {why: "the room goes with it", virtual: true, planned: "n3"},
		"OnOneThatsGone": {virtual: true, planned: "n9"},
		"Nowhere":        {virtual: true},
		"RealPodsWait":   {why: "a real pod is where kube-scheduler binds it", planned: "n1"},
	} {
		t.Run(name, func(t *testing.T) {
			w := build(c.virtual, c.planned)
			before := w.Digest()
			got := w.Seated()
			if p := got.Pod(world.VirtualKey(buffer, 1)); p.Node != c.want {
				t.Errorf("runs on %q, want %q: %s", p.Node, c.want, c.why)
			}
			if of, is := w.Pods()[0].Buffer(); is != c.virtual || w.Buffered() != c.virtual || is && of != buffer {
				t.Errorf("it holds room for %v: %t, and such pods are there: %t", of, is, w.Buffered())
			}
			if w.Digest() != before || w.Pod(world.VirtualKey(buffer, 1)).Node != "" {
				t.Error("the World that was asked has changed")
			}
			if c.want == "" && got != w {
				t.Error("nothing was seated, and yet it is another World")
			}
		})
	}
}
