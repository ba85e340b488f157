package provision

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/go-logr/logr/funcr"

	decide "github.com/tenon-sh/tenon/engine/provision"
	"github.com/tenon-sh/tenon/engine/world"
)

// When a class is not ready, or a pool goes, all pods that wait for it are
// refused at once. That is one line, with how many they are.
func TestManyRefusalsAreOneLine(t *testing.T) {
	b := world.NewBuilder()
	errs := []error{b.SetPool(world.Pool{ID: world.PoolID{Kind: world.NodePool, Name: "p"}, NotReady: "its class is not ready"})}
	for i := range 300 {
		errs = append(errs, b.SetPod(world.Pod{Key: world.Key{Namespace: "d", Name: fmt.Sprintf("web-%03d", i)}, UID: fmt.Sprint(i), Waiting: true}))
	}
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	w := b.Snapshot(1)
	var lines []string
	c := &Controller{Log: funcr.New(func(_, line string) { lines = append(lines, line) }, funcr.Options{})}
	p := decide.Decide(w, decide.Options{})
	if len(p.Refused) != 300 {
		t.Fatalf("%d pods are refused, want 300", len(p.Refused))
	}
	c.say(w, p)
	c.say(w, p)
	if len(lines) != 1 || !strings.Contains(lines[0], `"pods"=300`) || !strings.Contains(lines[0], `"pod"="d/web-000"`) {
		t.Errorf("the log has %d lines: %.600q", len(lines), lines)
	}
}
