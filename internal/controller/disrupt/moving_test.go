package disrupt

import (
	"errors"
	"fmt"
	"testing"

	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
)

// The log says how many pods move, whatever the reason.
func TestMoving(t *testing.T) {
	b := world.NewBuilder()
	errs := []error{b.SetNode(world.Node{Name: "n", Ready: true}), b.SetNode(world.Node{Name: "other", Ready: true})}
	for i := range 7 {
		errs = append(errs, b.SetPod(world.Pod{Key: world.Key{Namespace: "d", Name: fmt.Sprint("web", i)}, Node: "n"}))
	}
	errs = append(errs,
		b.SetPod(world.Pod{Key: world.Key{Namespace: "d", Name: "log"}, Node: "n", DaemonSet: "log"}),
		b.SetPod(world.Pod{Key: world.Key{Namespace: "d", Name: "elsewhere"}, Node: "other"}))
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	if got := moving(b.Snapshot(1), []plan.Give{{Node: "n"}, {Node: "gone"}}); got != 7 {
		t.Errorf("%d pods move, want 7", got)
	}
}
