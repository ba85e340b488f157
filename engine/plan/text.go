package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/reason"
)

// String writes the plan for a person.
func (p Plan) String() string { return p.Text(false) }

// Text writes the plan for a person; wide names every pod and every type.
func (p Plan) Text(wide bool) string {
	var b strings.Builder
	if len(p.Static) > 0 {
		p.writeStatic(&b, wide)
		return b.String()
	}
	if p.gives() {
		p.writeBack(&b, wide)
		return b.String()
	}
	p.summary(&b)
	for _, a := range p.New {
		a.write(&b, p.Currency, wide)
	}
	for _, f := range p.Filled {
		fmt.Fprintf(&b, "= %s takes %s: %s\n", f.name(), amount.Count(len(f.Pods), "pod"), Some(names(f.Pods), wide))
	}
	for _, f := range p.Held {
		fmt.Fprintf(&b, "= %s is promised to %s by the scheduler: %s\n", f.name(), amount.Count(len(f.Pods), "pod"), Some(names(f.Pods), wide))
	}
	p.writeRefused(&b, wide)
	p.writeGivenUp(&b, wide)
	return b.String()
}

// gives reports whether the plan is one about giving machines back.
func (p Plan) gives() bool { return p.Waiting == 0 && len(p.Commands)+len(p.Kept)+len(p.Spare) > 0 }

func (p Plan) summary(b *strings.Builder) {
	onNew, onOld := 0, 0
	for _, a := range p.New {
		onNew += len(a.Pods)
	}
	for _, f := range slices.Concat(p.Filled, p.Held) {
		onOld += len(f.Pods)
	}
	gated := p.Gated()
	if p.Waiting == gated {
		b.WriteString("No pod is waiting: nothing to do.\n")
		return
	}
	var where []string
	if onNew > 0 {
		where = append(where, fmt.Sprintf("%d on %s", onNew, amount.Count(len(p.New), "new node")))
	}
	if old := len(p.Filled) + len(p.Held); old > 0 {
		where = append(where, fmt.Sprintf("%d on %s that %s %s", onOld, amount.Count(old, "node"), are(old), p.stage()))
	}
	where = append(where, fmt.Sprintf("%d refused", len(p.Refused)-gated))
	fmt.Fprintf(b, "%s waiting: %s.\n", amount.Count(p.Waiting-gated, "pod"), strings.Join(where, ", "))
	if len(p.New) == 0 {
		return
	}
	fmt.Fprintf(b, "New nodes cost %s an hour", p.money(p.Cost))
	expected := p.Expected()
	if expected != p.Cost {
		fmt.Fprintf(b, ", on average %s with what may be refused or taken back", p.money(expected))
	}
	_, known := p.Gap()
	if known && expected == p.Bound {
		b.WriteString(", proven to be the least possible")
	}
	if slices.ContainsFunc(p.New, func(a Ask) bool { return a.Synthetic }) {
		b.WriteString("; prices marked ~ are synthetic")
	}
	if known && expected != p.Bound {
		fmt.Fprintf(b, ".\nProven: no plan costs less than %s (%s of it). Not known: whether one costs less than this", p.money(p.Bound), p.Proven())
	}
	if spent := p.provenSpend(); spent != "" && (known && expected != p.Bound || p.Charge == 0) {
		fmt.Fprintf(b, ".\nPlans minimise price and %s together: %s of that is proven", p.charges(), spent)
	}
	b.WriteString(".\n")
}

// charges says what nodes count beside their price.
func (p Plan) charges() string {
	var each []string
	for _, a := range p.New {
		if text := p.money(a.Charge) + " of " + a.Pool.Name; a.Charge > 0 && !slices.Contains(each, text) {
			each = append(each, text)
		}
	}
	if len(each) == 0 {
		return p.money(p.Charge) + " for each node"
	}
	return "the charge for each node (" + Some(each, false) + ")"
}

// stage says whether the nodes that take pods have joined.
func (p Plan) stage() string {
	joined, coming := false, false
	for _, f := range slices.Concat(p.Filled, p.Held) {
		joined, coming = joined || f.Node != "", coming || f.Node == ""
	}
	switch {
	case !coming:
		return "there"
	case !joined:
		return "on the way"
	}
	return "there or on the way"
}

// writeRefused writes each reason once, with the pods it holds for.
func (p Plan) writeRefused(b *strings.Builder, wide bool) {
	type kind struct {
		gated bool
		why   string
	}
	var order []kind
	pods := map[kind][]string{}
	for _, r := range p.Refused {
		k := kind{r.Why != nil && r.Why.Code == reason.Gated, r.Why.String()}
		if !wide {
			k.why = r.Why.Brief().String()
		}
		if _, seen := pods[k]; !seen {
			order = append(order, k)
		}
		pods[k] = append(pods[k], r.Pod.String())
	}
	for _, k := range order {
		say, why := "! refused", k.why
		if k.gated {
			say = ". gated"
		}
		fmt.Fprintf(b, "%s %s: %s\n", say, amount.Count(len(pods[k]), "pod"), Some(pods[k], wide))
		for line := range strings.SplitSeq(why, "\n") {
			b.WriteString("    " + line + "\n")
		}
	}
}

func (p Plan) writeGivenUp(b *strings.Builder, wide bool) {
	var order []string
	pods := map[string][]string{}
	for _, l := range p.GivenUp {
		term := l.Term
		if l.Why != "" {
			term += " (" + l.Why + ")"
		}
		if _, seen := pods[term]; !seen {
			order = append(order, term)
		}
		pods[term] = append(pods[term], l.Pod.String())
	}
	for _, term := range order {
		fmt.Fprintf(b, "~ preference given up for %s: %s\n    %s\n", amount.Count(len(pods[term]), "pod"), Some(pods[term], wide), term)
	}
}

func (f Fill) name() string {
	if f.Node != "" {
		return f.Node
	}
	return f.Claim + " (on its way)"
}

func (p Plan) money(of money.Micro) string { return of.Text(p.Currency) }

func are(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// Diff says what would change if b were done instead of a; empty if nothing would.
func Diff(a, b Plan) string {
	var out strings.Builder
	if a.Cost != b.Cost {
		fmt.Fprintf(&out, "cost %s → %s an hour\n", a.money(a.Cost), b.money(b.Cost))
	}
	lines(&out, "node", counter(a.New, Ask.kind), counter(b.New, Ask.kind))
	where := func(p Plan) map[string]string {
		m := map[string]string{}
		for _, n := range p.New {
			for _, k := range n.Pods {
				m[k.String()] = n.kind()
			}
		}
		for _, f := range slices.Concat(p.Filled, p.Held) {
			for _, k := range f.Pods {
				m[k.String()] = f.name()
			}
		}
		for _, r := range p.Refused {
			m[r.Pod.String()] = "refused: " + r.Why.Line()
		}
		return m
	}
	before, after := where(a), where(b)
	for _, pod := range sortedKeys(before, after) {
		if x, y := before[pod], after[pod]; x != y {
			fmt.Fprintf(&out, "pod %s: %s → %s\n", pod, orNone(x), orNone(y))
		}
	}
	return out.String()
}

func (a Ask) kind() string {
	return strings.Join([]string{a.Pool.Name, a.Shape, a.Zone, a.CapacityType}, " ")
}

func counter[T any](items []T, kind func(T) string) map[string]int {
	m := map[string]int{}
	for _, i := range items {
		m[kind(i)]++
	}
	return m
}

func lines(out *strings.Builder, noun string, before, after map[string]int) {
	for _, k := range sortedKeys(before, after) {
		if d := after[k] - before[k]; d != 0 {
			fmt.Fprintf(out, "%+d %s %s\n", d, noun, k)
		}
	}
}

func sortedKeys[V any](a, b map[string]V) []string {
	var keys []string
	for k := range a {
		keys = append(keys, k)
	}
	for k := range b {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

func orNone(s string) string {
	if s == "" {
		return "not there"
	}
	return s
}
