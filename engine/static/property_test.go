package static_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/disrupt"
	"github.com/tenon-sh/tenon/engine/disrupt/after"
	"github.com/tenon-sh/tenon/engine/disrupt/begun"
	"github.com/tenon-sh/tenon/engine/disrupt/hold"
	"github.com/tenon-sh/tenon/engine/enginetest/chance"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/static"
	"github.com/tenon-sh/tenon/engine/world"
)

// pools draws a World of one static pool in any state that it may come to.
func pools(t *rapid.T) *world.World {
	replicas, limit := rapid.IntRange(0, 6).Draw(t, "replicas"), rapid.IntRange(0, 8).Draw(t, "limit")
	lines := fmt.Sprintf("%spool p replicas=%d", types, replicas)
	if limit > 0 {
		lines += fmt.Sprintf(" limit=nodes:%d", limit)
	}
	claims := changes{}
	var names, marked []string
	for i := range rapid.IntRange(0, 8).Draw(t, "machines") {
		name := fmt.Sprint("n", i)
		names = append(names, name)
		states := map[string]func(*world.Claim){"complete": nil, "deleting": deleting, "unlaunched": unlaunched, "drifted": drifted, "going": going}
		state := rapid.SampledFrom([]string{"complete", "complete", "drifted", "drifted", "going", "deleting", "unlaunched"}).Draw(t, name)
		switch claims[name] = states[state]; {
		case state == "going":
			marked = append(marked, name)
		case len(marked) > 0 && rapid.Bool().Draw(t, "instead"):
			claims[name], marked = instead(marked[0]), marked[1:]
		case rapid.IntRange(0, 9).Draw(t, "stray") == 0:
			claims[name] = instead("n0")
		}
	}
	lines += nodes(strings.Join(names, " "))
	var more []func(*world.Builder) error
	for i := range rapid.IntRange(0, 6).Draw(t, "pods") {
		if len(names) == 0 {
			break
		}
		pod := fmt.Sprint("x", i)
		lines += fmt.Sprintf("\npod %s cpu=%s node=%s", pod, rapid.SampledFrom([]string{"100m", "1"}).Draw(t, "cpu"), rapid.SampledFrom(names).Draw(t, "node"))
		if rapid.IntRange(0, 3).Draw(t, "forbids") == 0 {
			more = append(more, forbid(pod))
		}
	}
	budget := rapid.SampledFrom([]string{"", "0", "1", "2", "50%"}).Draw(t, "budget")
	more = append(more, func(b *world.Builder) error {
		p := *b.Snapshot(now).Pools()[0]
		if budget != "" {
			p.Disruption.Budgets = []world.Budget{{Nodes: budget}}
		}
		return b.SetPool(p)
	})
	w := told(t, lines, claims, more...)
	t.Log(lines, "\nmarked without a replacement:", marked, "budget:", budget)
	return w
}

// Whatever state a pool is in, what is decided about its number and about what has drifted never comes to more
// machines than its limit or than its replicas want, ends none that is needed, and leaves what must stay.
func TestWithinLimitsAndBudgets(t *testing.T) {
	starts, bought, ended := 0, 0, 0
	chance.Check(t, func(t *rapid.T) {
		w := pools(t)
		pool := w.Pools()[0]
		p, d := static.Decide(w, static.Options{}), disrupt.Decide(w, disrupt.Options{Only: []disrupt.Part{disrupt.Replacing}})
		s, r := p.Static[0], begun.In(w).Replicas(w)[pool.ID]
		starts, bought, ended = starts+len(d.Back()), bought+len(p.New), ended+len(p.Back())

		if len(p.New) > 0 && (len(p.Back()) > 0 || len(r.Here)+len(p.New) > *pool.Replicas) {
			t.Errorf("it has %d of %d, buys %d and ends %d", len(r.Here), *pool.Replicas, len(p.New), len(p.Back()))
		}
		if s.New+s.Missing+len(r.Here) < *pool.Replicas {
			t.Errorf("of %d replicas %d are there, %d are bought, and %d are told to be missing", *pool.Replicas, len(r.Here), s.New, s.Missing)
		}
		if n := len(r.Staying()) - len(p.Back()); len(p.Back()) > 0 && n != *pool.Replicas {
			t.Errorf("%d stay of %d, want %d", n, len(r.Staying()), *pool.Replicas)
		}
		if limit, limited := pool.Limits.Find(amount.Nodes); limited {
			asks := len(p.New) + len(d.Asks())
			if all := len(w.Places()); asks > 0 && int64(all+asks) > limit/amount.Unit {
				t.Errorf("%d are there, and %d are bought over a limit of %d", all, asks, limit/amount.Unit)
			}
		}
		if left := hold.RoomOf(begun.In(w).Ending(w), pool, plan.Drifted).Left(); len(d.Back()) > left {
			t.Errorf("%d are replaced, and the budgets let %d go", len(d.Back()), left)
		}
		if len(d.Back()) > 0 && len(p.New)+len(p.Back()) > 0 {
			t.Errorf("%d are replaced while %d are bought and %d end", len(d.Back()), len(p.New), len(p.Back()))
		}
		forbids := func(name string) bool {
			return slices.ContainsFunc(w.Place(name).Pods, func(p *world.Pod) bool { return p.Forbids(now) })
		}
		for _, c := range d.Commands {
			if len(c.New) == 0 || c.New[0].Pool != pool.ID || forbids(c.Back[0].Node) {
				t.Errorf("%s is replaced by %v", c.Back[0].Node, c.New)
			}
		}
		ends := map[string]bool{}
		for _, g := range p.Back() {
			ends[g.Claim] = true
		}
		for _, at := range r.Staying() {
			for name := range ends {
				if forbids(name) && !ends[at.Claim.Name] && !forbids(at.Claim.Name) {
					t.Errorf("%s ends although a pod forbids it, and %s stays", name, at.Claim.Name)
				}
			}
		}
	})
	if starts == 0 || bought == 0 || ended == 0 {
		t.Errorf("%d were replaced, %d bought and %d ended in all draws: the property says nothing", starts, bought, ended)
	}
}

// What is decided is enough: once it has come about, nothing more is. What was bought for nodes that stay is left
// out: it begins to count when these are gone.
func TestSettles(t *testing.T) {
	chance.Check(t, func(t *rapid.T) {
		w := pools(t)
		if len(begun.In(w).Strays) > 0 {
			t.Skip()
		}
		p := static.Decide(w, static.Options{})
		after, err := after.Plan(w, plan.Plan{Commands: append(p.Commands, plan.Command{Verdict: plan.Begin, New: p.New})})
		if err != nil {
			t.Fatal(err)
		}
		if again := static.Decide(after, static.Options{}); again.Acts() {
			t.Errorf("after\n%s\ncomes\n%s", p, again)
		}
	})
}
