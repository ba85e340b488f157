package suppose

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
)

// Side is a World with the plan made of it.
type Side struct {
	World *world.World
	Plan  plan.Plan
}

// Totals are what a side comes to once its plan is carried out.
type Totals struct {
	Nodes      int     `json:"nodes"` // there, on their way and to be bought
	New        int     `json:"newNodes"`
	HourlyCost float64 `json:"hourlyCost"`
	Waiting    int     `json:"waitingPods"`
	Refused    int     `json:"refusedPods"`
	Back       int     `json:"givenBack"`
	GivenUp    int     `json:"preferencesGivenUp"`
	cost       money.Micro
}

// Difference is how one side is unlike another.
type Difference struct {
	Before Totals `json:"before"`
	After  Totals `json:"after"`
	Same   bool   `json:"same"` // nothing would be done otherwise

	Nodes []Count `json:"nodes"` // kinds of new nodes of which more or fewer are bought
	Pods  []Move  `json:"pods"`  // that go elsewhere

	currency string
}

// Count is a kind of node, and how many more of it there are after than before.
type Count struct {
	Kind  string `json:"kind"` // pool, type, zone and capacity type
	Delta int    `json:"delta"`
}

// Move is pods that are in one place before and in another after.
type Move struct {
	From string   `json:"from"`
	To   string   `json:"to"`
	Pods []string `json:"pods"`
}

// Compare says how the plan of one side differs from that of another.
func Compare(before, after Side) Difference {
	d := Difference{Before: total(before), After: total(after), Nodes: []Count{}, Pods: []Move{}, currency: cmp.Or(after.Plan.Currency, before.Plan.Currency)}
	was, is := kinds(before.Plan), kinds(after.Plan)
	for _, k := range keys(was, is) {
		if n := is[k] - was[k]; n != 0 {
			d.Nodes = append(d.Nodes, Count{k, n})
		}
	}
	d.Pods = moves(where(before), where(after))
	d.Same = len(d.Nodes)+len(d.Pods) == 0 && d.Before == d.After
	return d
}

func total(s Side) Totals {
	t := Totals{
		New: len(s.Plan.Asks()), Waiting: s.Plan.Waiting, Refused: len(s.Plan.Refused), Back: len(s.Plan.Back()),
		GivenUp: len(s.Plan.GivenUp), cost: s.Plan.Cost,
	}
	t.Nodes = len(s.World.Places()) + t.New - t.Back
	for _, p := range s.World.Places() {
		t.cost += plan.PriceOf(s.World, p)
	}
	for _, g := range s.Plan.Back() {
		t.cost -= g.Price
	}
	t.HourlyCost = t.cost.Units()
	return t
}

// kinds counts the new nodes of a plan.
func kinds(p plan.Plan) map[string]int {
	m := map[string]int{}
	for _, a := range p.Asks() {
		m[kind(a)]++
	}
	return m
}

func kind(a plan.Ask) string {
	return strings.Join([]string{a.Pool.Name, a.Shape, a.Zone, a.CapacityType}, " ")
}

// where says of every pod where it is or goes.
func where(s Side) map[string]string {
	m := map[string]string{}
	for _, p := range s.World.Places() {
		for _, pod := range p.Pods {
			m[pod.String()] = p.Name()
		}
	}
	for _, a := range s.Plan.Asks() {
		for _, k := range a.Pods {
			m[k.String()] = aNew + kind(a)
		}
	}
	for _, f := range slices.Concat(s.Plan.Filled, s.Plan.Held) {
		for _, k := range f.Pods {
			m[k.String()] = cmp.Or(f.Node, f.Claim)
		}
	}
	for _, r := range s.Plan.Refused {
		m[r.Pod.String()] = "refused"
	}
	for _, c := range s.Plan.Commands {
		if c.Verdict != plan.Begin {
			m["command "+strings.Join(c.Claims(), " ")+" "+c.Reason] = string(c.Verdict)
			continue
		}
		for _, f := range c.Moves {
			for _, k := range f.Pods {
				m[k.String()] = cmp.Or(f.Node, f.Claim)
			}
		}
	}
	for _, k := range s.Plan.Spare {
		m["claim "+k.Claim] = "bought in vain"
	}
	for _, g := range s.Plan.Back() {
		m["node "+cmp.Or(g.Node, g.Claim)] = "given back (" + g.Reason + ")"
	}
	return m
}

// moves gathers the pods that go the same way.
func moves(before, after map[string]string) []Move {
	type way struct{ from, to string }
	pods := map[way][]string{}
	for _, k := range keys(before, after) {
		if w := (way{before[k], after[k]}); w.from != w.to {
			pods[w] = append(pods[w], k)
		}
	}
	out := make([]Move, 0, len(pods))
	for w, p := range pods {
		out = append(out, Move{cmp.Or(w.from, nowhere), cmp.Or(w.to, nowhere), p})
	}
	slices.SortFunc(out, func(a, b Move) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) })
	return out
}

func keys[V any](a, b map[string]V) []string {
	all := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
	slices.Sort(all)
	return slices.Compact(all)
}

// Text writes the difference for a person; wide names every pod.
func (d Difference) Text(wide bool) string {
	var b strings.Builder
	row := func(name, before, after, delta string) {
		b.WriteString(strings.TrimRight(fmt.Sprintf("  %-20s %12s %12s  %s", name, before, after, delta), " ") + "\n")
	}
	number := func(name string, before, after int) {
		if before+after > 0 {
			row(name, fmt.Sprint(before), fmt.Sprint(after), signed(after-before))
		}
	}
	row("", "before", "after", "")
	saved := d.After.cost - d.Before.cost
	change := ""
	switch {
	case saved < 0:
		change = "-" + (-saved).Text(d.currency)
	case saved > 0:
		change = "+" + saved.Text(d.currency)
	}
	row("cost an hour", d.Before.cost.Text(d.currency), d.After.cost.Text(d.currency), change)
	number("nodes", d.Before.Nodes, d.After.Nodes)
	number("new nodes", d.Before.New, d.After.New)
	number("given back", d.Before.Back, d.After.Back)
	number("waiting pods", d.Before.Waiting, d.After.Waiting)
	number("refused pods", d.Before.Refused, d.After.Refused)
	number("preferences given up", d.Before.GivenUp, d.After.GivenUp)
	for _, n := range d.Nodes {
		fmt.Fprintf(&b, "%+d new %s\n", n.Delta, n.Kind)
	}
	for _, m := range d.Pods {
		if !wide && m.between() {
			continue // the nodes say it
		}
		fmt.Fprintf(&b, "%s → %s: %s\n", m.From, m.To, plan.Some(m.Pods, wide))
	}
	return b.String()
}

// aNew is how the place of a pod begins that is a new node.
const aNew = "a new "

// nowhere is the place of a pod that is not there.
const nowhere = "not there"

// between reports whether the pods go from one new node to another, or come with it.
func (m Move) between() bool {
	return strings.HasPrefix(m.To, aNew) && (m.From == nowhere || strings.HasPrefix(m.From, aNew))
}

func signed(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%+d", n)
}
