package consolidate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
)

// shown is how many machines that stay are named before the text says how many more there are.
const shown = 20

// Text writes the plan for a person, given the World it was made from; wide
// names every pod, every type and every machine that stays.
func (p Plan) Text(w *world.World, wide bool) string {
	t := text{plan: p, world: w, wide: wide}
	t.summary()
	t.going()
	t.commands("May start now:", func(c Command) bool { return c.Why == nil })
	t.commands("Held up:", func(c Command) bool { return c.Why != nil })
	t.kept()
	return strings.TrimPrefix(t.String(), "\n")
}

type text struct {
	strings.Builder

	plan  Plan
	world *world.World
	wide  bool
}

func (t *text) printf(format string, args ...any) { fmt.Fprintf(t, format, args...) }

func (t *text) money(micro int64) string { return plan.Money(t.plan.Currency, micro) }

func (t *text) summary() {
	p := t.plan
	all := len(p.Kept) + len(p.Going)
	now, back, pods := 0, 0, 0
	for _, c := range p.Commands {
		all += len(c.Back)
		back += len(c.Back)
		pods += c.Pods
		if c.Why == nil {
			now += len(c.Back)
		}
	}
	if all < 2 {
		return // what is said of the one says it all
	}
	t.printf("%s of pools cost %s an hour.\n", count(all, "node"), t.money(p.Price))
	if back == 0 {
		t.printf("None could be given back for less.\n")
		return
	}
	t.printf("%d could be given back: that saves %s an hour (%s) and moves %s.\n", back, t.money(p.Possible()), share(p.Possible(), p.Price), count(pods, "pod"))
	if now < back {
		t.printf("%d of them may go now: that saves %s an hour (%s) and moves %s.\n", now, t.money(p.Saving()), share(p.Saving(), p.Price), count(p.Moved(), "pod"))
	}
	after := p.Price - p.Possible()
	for _, g := range p.Going {
		after -= g.Price
	}
	if p.Bound > 0 && after >= p.Bound {
		t.printf("What is left then costs %s; machines for these pods cost %s at least, all bought anew.\n", t.money(after), t.money(p.Bound))
	}
}

func share(part, whole int64) string {
	if whole == 0 {
		return "0 %"
	}
	return fmt.Sprintf("%.0f %%", 100*float64(part)/float64(whole))
}

func (t *text) going() {
	if len(t.plan.Going) == 0 {
		return
	}
	t.printf("\nGo anyway:\n")
	for _, g := range t.plan.Going {
		t.printf("- %s: %s\n", t.machine(g), strings.ToLower(g.Reason))
	}
}

func (t *text) commands(title string, of func(Command) bool) {
	for _, c := range t.plan.Commands {
		if !of(c) {
			continue
		}
		if title != "" {
			t.printf("\n%s\n", title)
			title = ""
		}
		t.command(c)
	}
}

func (t *text) command(c Command) {
	for i, g := range c.Back {
		t.printf("- %s", t.machine(g))
		if i == 0 {
			t.printf("  saves %s", t.money(c.Saving))
			if len(c.Back) > 1 {
				t.printf(" together with the next %d", len(c.Back)-1)
			}
			t.printf(", moves %s", count(c.Pods, "pod"))
		}
		t.printf("\n")
	}
	for _, a := range c.New {
		t.printf("    + %s %s %s %s, or %s: %s: %s\n", a.Shape, a.Zone, a.CapacityType, t.money(a.Price), count(len(a.Menu)-1, "other type"),
			count(len(a.Pods), "pod"), plan.Some(names(a.Pods), t.wide))
	}
	for _, f := range c.Moves {
		t.printf("    = %s takes %s: %s\n", f.Node, count(len(f.Pods), "pod"), plan.Some(names(f.Pods), t.wide))
	}
	if c.Why != nil {
		t.printf("    held up: %s\n", c.Why.Line())
	}
}

// machine names a machine with its type and price.
func (t *text) machine(g plan.Give) string {
	name, kind := g.Node, ""
	if name == "" {
		name = g.Claim
	}
	if p := t.world.Place(name); p != nil {
		l := p.Labels()
		kind = strings.Join(slices.DeleteFunc([]string{l[label.InstanceType], l[label.Zone], l[label.CapacityType]}, func(s string) bool { return s == "" }), " ") + " "
	}
	return fmt.Sprintf("%s (%s%s)", name, kind, t.money(g.Price))
}

func (t *text) kept() {
	kept := t.plan.Kept
	if len(kept) == 0 {
		return
	}
	t.printf("\nStay, because:\n")
	n := len(kept)
	if !t.wide {
		n = min(n, shown)
	}
	for _, k := range kept[:n] {
		for line := range strings.SplitSeq(k.Why.String(), "\n") {
			t.printf("  %s\n", line)
		}
	}
	if n == len(kept) {
		return
	}
	rest := map[reason.Code]int{}
	for _, k := range kept[n:] {
		rest[k.Why.Code]++
	}
	var parts []string
	for code, n := range rest {
		parts = append(parts, fmt.Sprintf("%d %s", n, code))
	}
	slices.Sort(parts)
	t.printf("  and %d more: %s (-o wide names them)\n", len(kept)-n, strings.Join(parts, ", "))
}

func names(keys []world.Key) []string {
	out := make([]string, len(keys))
	for i, k := range keys {
		out[i] = k.String()
	}
	return out
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
