package explain

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
)

// use is how much of one resource of a node is asked for.
type use struct {
	name       string
	used, room int64
}

// usesOf are a machine's uses of cores and memory, and of what else is scarce there.
func usesOf(p *world.Place) []use {
	room := amount.List{}
	switch {
	case p.Node != nil:
		room = p.Node.Allocatable
	case p.Claim != nil:
		room = p.Claim.Allocatable
	}
	var out []use
	for _, e := range room {
		used := p.Used.Value(e.Name)
		if e.Name == amount.CPU || e.Name == amount.Memory || e.Name == amount.Pods || used > 0 && e.Value > 0 {
			out = append(out, use{e.Name, used, e.Value})
		}
	}
	return out
}

func (u use) String() string {
	return fmt.Sprintf("%s %s of %s (%d %%)", u.name, short(u.name, u.used), short(u.name, u.room), u.percent())
}

func (u use) percent() int {
	if u.room <= 0 {
		return 0
	}
	return int(100 * float64(u.used) / float64(u.room))
}

// short writes an amount with few digits.
func short(name string, v int64) string {
	text := amount.Text(name, v)
	if len(text) <= 7 || v == math.MaxInt64 {
		return text
	}
	units := float64(v) / amount.Unit
	if name == amount.Memory || name == amount.Ephemeral {
		for _, u := range []string{"", "Ki", "Mi", "Gi"} {
			if units < 1024 {
				return strings.TrimSuffix(fmt.Sprintf("%.1f", units), ".0") + u
			}
			units /= 1024
		}
		return strings.TrimSuffix(fmt.Sprintf("%.1f", units), ".0") + "Ti"
	}
	return fmt.Sprintf("%.2f", units)
}

// shortOf writes amounts as cpu 500m, memory 1Gi; the one pod that every pod is goes unsaid.
func shortOf(m map[string]string) string {
	l, err := amount.ParseMap(m)
	if err != nil {
		return ""
	}
	var parts []string
	for _, e := range l {
		if e.Name != amount.Pods && e.Value > 0 {
			parts = append(parts, e.Name+" "+short(e.Name, e.Value))
		}
	}
	return strings.Join(parts, ", ")
}

// hourlyText writes units of a currency an hour.
func hourlyText(currency string, perHour float64) string {
	price, _ := money.Of(perHour)
	return price.PerHour(currency)
}

// price writes what a machine costs, with a mark if that was not observed.
func (m Machine) price() string { return priceText(m.Currency, m.Price, m.Synthetic) }

func priceText(currency string, perHour float64, synthetic bool) string {
	if synthetic {
		return "~" + hourlyText(currency, perHour)
	}
	return hourlyText(currency, perHour)
}

// kind is a machine's type, place and price.
func (m Machine) kind() string {
	parts := []string{m.InstanceType, m.Zone, m.CapacityType}
	parts = slices.DeleteFunc(parts, func(s string) bool { return s == "" })
	if m.Price > 0 {
		parts = append(parts, m.price()+m.terms())
	}
	if m.NodePool != "" {
		parts = append(parts, m.PoolKind+" "+m.NodePool)
	}
	return strings.Join(parts, ", ")
}

// terms is what there is to say of a machine's price; nothing if it is plain.
func (m Machine) terms() string {
	var out []string
	if m.Overlaid {
		out = append(out, "by a NodeOverlay")
	}
	if m.Expected > 0 {
		out = append(out, "counted as "+hourlyText(m.Currency, m.Expected))
	}
	if m.Refused > 0 {
		out = append(out, fmt.Sprintf("%.0f %% of asks refused lately", m.Refused*100))
	}
	if len(out) == 0 {
		return ""
	}
	return " (" + strings.Join(out, ", ") + ")"
}

func (m Machine) name() string {
	if m.Node != "" {
		return "node " + m.Node
	}
	return "claim " + m.Claim
}

// Line says on one line what becomes of a pod.
func (p Pod) Line() string {
	switch p.Verdict {
	case Runs:
		return "runs on " + p.Machine.name()
	case Buys:
		return "a new node: " + p.Machine.kind()
	case Fits:
		if p.Machine.Node == "" {
			return "fits on " + p.Machine.name() + ", which is on its way"
		}
		return "fits on " + p.Machine.name()
	case Held:
		return "is promised " + p.Machine.name() + " by the scheduler"
	case Refused:
		return "finds no place: " + Briefly(p.Why)
	case Gated:
		if len(p.Gates) > 0 {
			return "waits for its scheduling gates " + strings.Join(p.Gates, ", ")
		}
		return "waits for its scheduling gates"
	case Done:
		return "has ended"
	case Leaving:
		return "gets no node: " + p.Cause
	case Unjudged:
		return "is not judged by kube-scheduler yet"
	}
	return string(p.Verdict)
}

// Text writes the answer for a person.
func (p Pod) Text() string {
	var b textLines
	said := p.Line()
	if p.Verdict == Refused {
		said = "finds no place"
	}
	b.line("Pod %s/%s: %s", p.Namespace, p.Name, said)
	if asks := shortOf(p.Requests); asks != "" {
		b.line("  asks for: %s", asks)
	}
	if len(p.Devices) > 0 {
		b.line("  devices:  %s", strings.Join(p.Devices, "; "))
	}
	if p.Priority != 0 {
		b.line("  priority: %d", p.Priority)
	}
	switch p.Verdict {
	case Runs:
		b.line("  machine:  %s", p.Machine.kind())
		p.keeping(&b)
	case Buys:
		b.line("  beside:   %s", others(p.With, "waiting pod"))
		b.line("  why:      %s", p.Choice.text())
	case Fits, Held:
		b.line("  machine:  %s", p.Machine.kind())
	case Refused:
		writeTree(&b, p.Why)
	case Gated:
		b.line("  → no node is bought for the pod until its scheduling gates are removed")
	}
	for _, g := range p.GivenUp {
		b.line("  given up: %s", strings.TrimSuffix(g.Term+" ("+g.Why+")", " ()"))
	}
	if p.Next != nil {
		b.line("  its node is going; the pod made in its place: %s", p.Next.Line())
	}
	return b.String()
}

func (p Pod) keeping(b *textLines) {
	switch {
	case len(p.Holds) > 0:
		for _, h := range p.Holds {
			h.Pods = nil
			b.line("  keeps its node: %s", h.text())
		}
	case p.Keeps:
		b.line("  its node:  does not count as empty because of it, but it may be evicted")
	default:
		b.line("  its node:  counts as empty in spite of it")
	}
}

func others(n int, noun string) string {
	switch n {
	case 0:
		return "no other " + noun
	case 1:
		return "1 other " + noun
	}
	return fmt.Sprintf("%d other %ss", n, noun)
}

func (c *Choice) text() string {
	var parts []string
	if c.Binds != "" {
		parts = append(parts, c.Binds+" binds")
	}
	if c.RunnerUp != "" {
		parts = append(parts, fmt.Sprintf("next best %s at %s", c.RunnerUp, hourlyText(c.currency, c.RunnerUpCost)))
	}
	if c.LeftOut != "" {
		parts = append(parts, "left out "+c.LeftOut)
	}
	return strings.Join(append(parts, amount.Count(c.Types, "type")+" would do"), "; ")
}

// text writes a hold on a line.
func (h Hold) text() string {
	s := h.Detail
	if len(h.Pods) > 0 {
		s = plan.Some(h.Pods, false) + ": " + s
	}
	if h.Until != "" {
		s += ", until " + h.Until
	}
	if h.Hint != "" {
		s += " → " + h.Hint
	}
	return s
}
