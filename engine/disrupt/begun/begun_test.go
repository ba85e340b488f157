package begun_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-sh/tenon/engine/disrupt/begun"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
)

func TestBegun(t *testing.T) {
	type claims = map[string]func(*world.Claim)
	marked := func(c *world.Claim) { c.Going = plan.Underutilized }
	for name, tc := range map[string]struct {
		why    string
		claims claims
		want   string // each command as "goers <- bought", strays as "? x", awaited as "! x"
	}{
		"Nothing": {"No node is marked; one that is empty is no command.", claims{"a": nil, "b": func(c *world.Claim) { c.Going = plan.Empty }}, ""},
		"Alone":   {"Nothing was bought for them: each goes by itself.", claims{"a": marked, "b": marked, "c": nil}, "a <-\nb <-"},
		"Replaced": {"What was bought for them holds them together.", claims{
			"a": marked, "b": marked, "c": nil, "x": replaces("a", "b"), "y": replaces("a", "b"),
		}, "a b <- x y\n! x y"},
		"Several": {"Each has its own.", claims{"a": marked, "b": marked, "x": replaces("a"), "y": replaces("b")}, "a <- x\nb <- y\n! x y"},
		"Half": {"One is ending: the other is still to go, and what was bought is still awaited.", claims{
			"a": ending, "b": marked, "x": replaces("a", "b"),
		}, "b <- x\n! x"},
		"Draining":  {"All are ending: what was bought is no command's any more, and is awaited.", claims{"a": ending, "x": replaces("a")}, "! x"},
		"Over":      {"All are gone: it is a machine like others.", claims{"x": replaces("a", "b")}, ""},
		"TakenBack": {"No node goes any more: what was bought is not needed.", claims{"a": nil, "b": nil, "x": replaces("a", "b")}, "? x"},
		"Broken":    {"Somebody took the mark from one: the other is not to go alone.", claims{"a": nil, "b": marked, "x": replaces("a", "b")}, "b <- x broken\n! x"},
		"Lost":      {"What was bought is going itself: it belongs to no command.", claims{"a": marked, "x": func(c *world.Claim) { replaces("a")(c); c.Deleting = true }}, "a <-"},
		"Twice":     {"A machine goes with one command only.", claims{"a": marked, "b": nil, "x": replaces("a"), "y": replaces("a", "b")}, "a <- x\n? y\n! x"},
	} {
		t.Run(name, func(t *testing.T) {
			b := world.NewBuilder()
			for name, change := range tc.claims {
				c := world.Claim{Name: name, Node: name, Pool: world.PoolID{Kind: world.NodePool, Name: "p"}, Launched: true, Registered: true, Initialized: true}
				if change != nil {
					change(&c)
				}
				if err := errors.Join(b.SetNode(world.Node{Name: name, Ready: true, Claim: name, Pool: c.Pool}), b.SetClaim(c)); err != nil {
					t.Fatal(err)
				}
			}
			w := b.Snapshot(1)
			all := begun.In(w)
			if diff := cmp.Diff(tc.want, tell(all)); diff != "" {
				t.Errorf("%s -want +got\n%s", tc.why, diff)
			}
			for _, p := range all.Ending(w).Places() {
				if before := w.Place(p.Name()); p.Deleting() != (before.Deleting() || begun.Intended(before)) {
					t.Errorf("%s is ending: %t", p.Name(), p.Deleting())
				}
			}
		})
	}
}

func replaces(claims ...string) func(*world.Claim) {
	return func(c *world.Claim) { c.Replaces = claims }
}

func ending(c *world.Claim) { c.Going, c.Deleting = plan.Underutilized, true }

func tell(b begun.Begun) string {
	names := func(places []*world.Place) (out string) {
		for _, p := range places {
			out += " " + p.Name()
		}
		return out
	}
	var lines []string
	for _, c := range b.Commands {
		line := strings.TrimSpace(names(c.Back)) + " <-" + names(c.New)
		if c.Broken {
			line += " broken"
		}
		lines = append(lines, line)
	}
	if len(b.Strays) > 0 {
		lines = append(lines, "?"+names(b.Strays))
	}
	if len(b.Awaited) > 0 {
		lines = append(lines, fmt.Sprint("! ", strings.Join(b.Awaited, " ")))
	}
	return strings.Join(lines, "\n")
}
