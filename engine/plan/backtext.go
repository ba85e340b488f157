package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/reason"
)

// maxMachinesShown is how many machines that stay are named before the text says how many more there are.
const maxMachinesShown = 20

// writeBack writes what is given back for a person; wide names every pod, every
// type and every machine that stays.
func (p Plan) writeBack(b *strings.Builder, wide bool) {
	t := backText{plan: p, wide: wide}
	t.summary()
	t.going()
	t.commands("Under way:", func(c Command) bool { return c.Begun })
	t.commands("May start now:", func(c Command) bool { return !c.Begun && c.Verdict == Begin })
	t.commands("Held up:", func(c Command) bool { return !c.Begun && c.Verdict != Begin })
	t.spare()
	t.kept()
	b.WriteString(strings.TrimPrefix(t.String(), "\n"))
}

type backText struct {
	strings.Builder

	plan Plan
	wide bool
}

func (t *backText) printf(format string, args ...any) { fmt.Fprintf(t, format, args...) }

func (t *backText) money(of money.Micro) string { return of.Text(t.plan.Currency) }

func (t *backText) summary() {
	p := t.plan
	var names []string
	now, back, pods, after := 0, 0, 0, p.Price-p.Possible()
	for _, k := range p.Kept {
		names = append(names, k.Claim)
	}
	for _, c := range p.Commands {
		names = append(names, c.Claims()...)
		if c.Idle() {
			for _, g := range c.Back {
				after -= g.Price
			}
		}
		if c.Idle() || c.Begun {
			continue
		}
		back += len(c.Back)
		pods += c.Pods
		if c.Verdict == Begin {
			now += len(c.Back)
		}
	}
	slices.Sort(names)
	all := len(slices.Compact(names))
	if all < 2 || p.Price == 0 {
		return // what is said of the one says it all
	}
	t.printf("%s of pools cost %s an hour.\n", amount.Count(all, "node"), t.money(p.Price))
	if back == 0 {
		t.printf("None could be given back for less.\n")
		return
	}
	t.printf("%d could be given back: that saves %s an hour (%s) and moves %s.\n", back, t.money(p.Possible()), share(p.Possible(), p.Price), amount.Count(pods, "pod"))
	if now < back {
		t.printf("%d of them may go now: that saves %s an hour (%s) and moves %s.\n", now, t.money(p.Saving()), share(p.Saving(), p.Price), amount.Count(p.Moved(), "pod"))
	}
	if p.Least > 0 && after >= p.Least {
		t.printf("What is left then costs %s; new nodes for these pods would cost %s at least.\n", t.money(after), t.money(p.Least))
	}
}

func share(part, whole money.Micro) string {
	if whole == 0 {
		return "0 %"
	}
	return fmt.Sprintf("%.0f %%", 100*float64(part)/float64(whole))
}

func (t *backText) going() {
	title := "\nGo anyway:\n"
	for _, c := range t.plan.Commands {
		for _, g := range c.Back {
			if !c.Idle() {
				continue
			}
			t.printf("%s- %s: %s\n", title, t.machine(g), strings.ToLower(g.Reason))
			title = ""
		}
	}
}

func (t *backText) commands(title string, of func(Command) bool) {
	for _, c := range t.plan.Commands {
		if c.Idle() || !of(c) {
			continue
		}
		if title != "" {
			t.printf("\n%s\n", title)
			title = ""
		}
		t.command(c)
	}
}

func (t *backText) command(c Command) {
	for i, g := range c.Back {
		t.printf("- %s", t.machine(g))
		switch {
		case i > 0:
		case c.Begun:
			t.printf("  %s, %s", cmp.Or(strings.ToLower(c.Reason), "marked without a reason"), c.state())
		case c.Reason != Underutilized:
			t.printf("  %s, moves %s", strings.ToLower(c.Reason), amount.Count(c.Pods, "pod"))
		default:
			t.printf("  saves %s", t.money(c.Saving))
			if c.Charge != 0 {
				t.printf(", and %s of charges for nodes", t.money(c.Charge))
			}
			if len(c.Back) > 1 {
				t.printf(" together with the next %d", len(c.Back)-1)
			}
			t.printf(", moves %s", amount.Count(c.Pods, "pod"))
		}
		t.printf("\n")
	}
	for _, a := range c.New {
		t.printf("    + %s %s %s %s, or %s: %s: %s\n", a.Shape, a.Zone, a.CapacityType, t.money(a.Price), amount.Count(len(a.Menu)-1, "other type"),
			amount.Count(len(a.Pods), "pod"), Some(names(a.Pods), t.wide))
	}
	for _, f := range c.Moves {
		t.printf("    = %s takes %s: %s\n", f.Node, amount.Count(len(f.Pods), "pod"), Some(names(f.Pods), t.wide))
	}
	for _, name := range c.Bought {
		t.printf("    + %s was bought for its pods\n", name)
	}
	if c.Why != nil {
		t.printf("    held up: %s\n", c.Why.Line())
	}
}

// state says what is done about a command that has begun.
func (c Command) state() string {
	switch c.Verdict {
	case Begin:
		return "not all of it is marked yet"
	case CarryOn:
		return "its pods have places elsewhere: it ends now"
	case TakeBack:
		return "taken back: it stays"
	case Wait:
	}
	return "waits"
}

func (t *backText) spare() {
	for _, s := range t.plan.Spare {
		what := "goes: nothing needs it any more"
		if s.Used {
			what = "stays: it is a node like others now"
		}
		t.printf("\n%s was bought for pods that stay where they are, and %s\n", s.Claim, what)
	}
}

// machine names a machine with its type and price.
func (t *backText) machine(g Give) string {
	kind := strings.Join(slices.DeleteFunc([]string{g.Shape, g.Zone, g.CapacityType}, func(s string) bool { return s == "" }), " ")
	if kind != "" {
		kind += " "
	}
	return fmt.Sprintf("%s (%s%s)", cmp.Or(g.Node, g.Claim), kind, t.money(g.Price))
}

// toldOnce are the machines that stay, without what is said of one a second
// time: that an empty one is empty, beside what keeps it from going.
func (p Plan) toldOnce() []Kept {
	named := map[string]bool{}
	for _, k := range p.Kept {
		if k.Reason == Empty {
			named[k.Claim] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(p.Kept), func(k Kept) bool {
		return k.Reason != Empty && k.Why.Code == reason.Empty && named[k.Claim]
	})
}

func (t *backText) kept() {
	kept := t.plan.toldOnce()
	if len(kept) == 0 {
		return
	}
	t.printf("\nStay, because:\n")
	n := len(kept)
	if !t.wide {
		n = min(n, maxMachinesShown)
	}
	for _, k := range kept[:n] {
		why := *k.Why
		if name := cmp.Or(k.Node, k.Claim); k.Reason != Underutilized && why.Subject == name {
			why.Subject = name + ", " + strings.ToLower(k.Reason)
		}
		for line := range strings.SplitSeq(why.String(), "\n") {
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
