package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/disrupt"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/reason"
)

// maxPodsListed is how many pods of a node are shown before it is said how many more there are.
const maxPodsListed = 12

// Text writes the answer for a person; wide names every pod.
func (n Node) Text(wide bool) string {
	var b textLines
	b.line("%s: %s", strings.ToUpper(n.name()[:1])+n.name()[1:], n.kind())
	head := []string{n.State}
	if n.Created != "" {
		head = append(head, "since "+n.Created)
	}
	if n.Node != "" && n.Claim != "" {
		head = append(head, "claim "+n.Claim)
	}
	b.line("  %s", strings.Join(head, ", "))
	n.writePods(&b, wide)
	n.writeBought(&b)
	n.writeBack(&b)
	for _, d := range n.Due {
		b.line("Due %s: %s", d.At, d.What)
	}
	return b.String()
}

func (n Node) writePods(b *textLines, wide bool) {
	uses := make([]string, len(n.uses))
	for i, u := range n.uses {
		uses[i] = u.String()
	}
	b.line("Runs %s: %s", amount.Count(len(n.Pods), "pod"), strings.Join(uses, ", "))
	own := slices.DeleteFunc(slices.Clone(n.Pods), func(p Resident) bool { return p.Daemon })
	show := own
	if !wide && len(own) > maxPodsListed+1 {
		show = own[:maxPodsListed]
	}
	width := 0
	for _, p := range show {
		width = max(width, len(p.Pod))
	}
	for _, p := range show {
		b.line("    %s", strings.TrimRight(fmt.Sprintf("%-*s  %s", width, p.Pod, shortOf(p.Requests)), " "))
	}
	if more := len(own) - len(show); more > 0 {
		b.line("    and %d others", more)
	}
	if daemons := len(n.Pods) - len(own); daemons > 0 {
		b.line("    and %s that every such node runs", amount.Count(daemons, "pod"))
	}
	if len(n.Awaits) > 0 {
		b.line("Awaits %s: %s", amount.Count(len(n.Awaits), "waiting pod"), plan.Some(n.Awaits, wide))
	}
}

func (n Node) writeBought(b *textLines) {
	if o := n.Bought; o != nil {
		asked := shortOf(o.For)
		if asked == "" {
			asked = "it is not known what"
		}
		b.line("Bought for %s", asked)
		switch {
		case o.Types == 0:
		case n.InstanceType == "":
			b.line("  %s would do; the cloud has not said yet which it is", amount.Count(o.Types, "type"))
		case len(o.Cheaper) == 0:
			b.line("  %s would do, and none of them is cheaper there today", amount.Count(o.Types, "type"))
		default:
			b.line("  %s would do; cheaper there today: %s", amount.Count(o.Types, "type"), plan.Some(o.Cheaper, false))
		}
	}
	t := n.Today
	switch {
	case t == nil:
	case t.Misfit > 0:
		b.line("  today %s of its pods would find no node to buy", fmt.Sprint(t.Misfit))
	case t.Nodes == 1:
		b.line("  today its pods alone would get %s, %s, %s; %s", t.Type, t.capacityType, priceText(n.Currency, t.Price, t.Synthetic), t.Choice.text())
	case t.Nodes > 1:
		b.line("  today its pods alone would get %d nodes at %s", t.Nodes, priceText(n.Currency, t.Price, t.Synthetic))
	}
}

func (n Node) writeBack(b *textLines) {
	if d := n.Drift; d != nil {
		what := d.Reason
		if d.Change != "" {
			what += ": " + d.Change
		}
		b.line("It has drifted (%s): %s", what, d.Next)
	}
	if n.Back.Now {
		text := "It can be given back now: " + n.Back.Reason
		if n.Back.First {
			text += fmt.Sprintf("; what its pods need is bought first, if it can be had within %d minutes", disrupt.Overstay/60)
		}
		b.line("%s", text)
		return
	}
	if n.State == Going {
		b.line("It is being given back already")
		for _, h := range n.Back.Holds {
			if len(h.Pods) > 0 {
				b.line("    waits for %s", h.text())
			}
		}
		return
	}
	b.line("It is not given back now:")
	for _, h := range n.Back.Holds {
		if h.Code == reason.InUse {
			b.line("    %s", h.use())
			continue
		}
		b.line("    %s", h.text())
	}
	w := n.Without
	if w == nil {
		return
	}
	var to []string
	if w.Stay > 0 {
		to = append(to, fmt.Sprintf("%s would fit on %s (%s)", amount.Count(w.Stay, "pod"), amount.Count(len(w.Others), "node"), plan.Some(w.Others, false)))
	}
	if len(w.Buys) > 0 {
		kinds := make([]string, len(w.Buys))
		for i, m := range w.Buys {
			kinds[i] = m.InstanceType + " at " + m.price()
		}
		to = append(to, fmt.Sprintf("%s would need %s (%s)", amount.Count(w.Pods-w.Stay-len(w.Refused), "pod"), amount.Count(len(w.Buys), "new node"), plan.Some(kinds, false)))
	}
	if len(w.Refused) > 0 {
		to = append(to, fmt.Sprintf("%s would find no place (%s)", amount.Count(len(w.Refused), "pod"), plan.Some(w.Refused, false)))
	}
	b.line("If it went: %s; that %s", strings.Join(to, ", "), saving(n.Currency, w.Saves))
}

func saving(currency string, price float64) string {
	switch {
	case price > 0:
		return "saves " + hourlyText(currency, price)
	case price < 0:
		return "costs " + hourlyText(currency, -price) + " more"
	}
	return "saves nothing"
}

// Text writes the answer for a person.
func (p Pool) Text() string {
	var b textLines
	price := ""
	if p.Price > 0 { // without nodes there is none, and without a catalogue it is not known
		price = ", " + hourlyText(p.Currency, p.Price)
	}
	b.line("%s %s: %s, %s%s", p.Kind, p.Name, amount.Count(p.Nodes, "node"), amount.Count(p.Pods, "pod"), price)
	for _, x := range p.Problems {
		b.line("  problem:  %s", x)
	}
	if p.Requires != "" {
		b.line("  requires: %s", p.Requires)
	}
	if p.Weight != 0 {
		b.line("  weight:   %d", p.Weight)
	}
	if p.Gives.Replicas != nil {
		b.line("  buys:     nothing for pods; it is static and keeps %s", amount.Count(*p.Gives.Replicas, "node"))
	}
	if p.Static != nil {
		b.line("  now:      %s", p.Static.Standing())
	}
	switch {
	case p.Cheapest == nil:
		b.line("  may buy:  nothing")
	default:
		more := ""
		if p.Barred > 0 {
			more = fmt.Sprintf("; %d more would exceed its limits", p.Barred)
		}
		b.line("  may buy:  %s, the cheapest %s, %s, %s, %s%s", amount.Count(p.Types, "type"), p.Cheapest.InstanceType, p.Cheapest.Zone, p.Cheapest.CapacityType, priceText(p.Currency, p.Cheapest.Price, p.Cheapest.Synthetic), more)
	}
	if p.Waiting > 0 {
		b.line("  now:      %s for waiting pods", amount.Count(p.Waiting, "new node"))
	}
	if len(p.Limits) == 0 {
		b.line("  limits:   none")
	}
	for i, l := range p.Limits {
		b.line("  %-9s %s %s used of %s", head(i, "limits:"), l.Resource, l.Used, l.Limit)
	}
	for i, line := range p.budgets() {
		b.line("  %-9s %s", head(i, "budgets:"), line)
	}
	b.line("  gives back: %s", p.Gives.text())
	return b.String()
}

// budgets says how many nodes may go at once: of reasons together that share it,
// and without reasons where all do.
func (p Pool) budgets() []string {
	var said []string
	reasons := map[string][]string{}
	for _, r := range p.Budgets {
		next := ""
		if r.Next > 0 {
			next = fmt.Sprintf("; %d may from %s", r.Then, time.Unix(r.Next, 0).UTC().Format("Mon 2 Jan 15:04 UTC"))
		}
		text := fmt.Sprintf("%d of %d may go at once, %d are going or not ready%s", r.Allowed, p.Nodes, r.Going, next)
		if reasons[text] == nil {
			said = append(said, text)
		}
		reasons[text] = append(reasons[text], r.Reason)
	}
	if len(said) == 1 {
		return said
	}
	for i, text := range said {
		said[i] = strings.Join(reasons[text], ", ") + ": " + text
	}
	return said
}

func head(i int, text string) string {
	if i > 0 {
		return ""
	}
	return text
}

func (g GivesBack) text() string {
	var parts []string
	switch {
	case g.MoveAfter != "" && g.MoveAfter == g.EmptyAfter:
		parts = append(parts, "an empty or underutilized node after "+g.MoveAfter)
	case g.EmptyAfter != "":
		parts = append(parts, "an empty node after "+g.EmptyAfter)
	case g.Replicas == nil:
		parts = append(parts, "no empty node (consolidateAfter is Never)")
	}
	if g.MoveAfter != "" && g.MoveAfter != g.EmptyAfter {
		parts = append(parts, "an underutilized one after "+g.MoveAfter)
	}
	if g.Expires != "" {
		parts = append(parts, "any node "+g.Expires+" old")
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, ", ")
}

// RowsText writes all nodes for a person, and what they come to.
func RowsText(rows []Row) string {
	var b strings.Builder
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	total, unpriced, free, currency := 0.0, 0, 0, ""
	fmt.Fprintln(table, "NODE\tTYPE\tPRICE\tPODS\tCPU\tMEMORY\tKEPT BY")
	for _, r := range rows {
		total += r.Price
		currency = r.Currency
		price := r.price()
		if r.Price == 0 {
			price = "-"
			unpriced++
		}
		kept := strings.Join(r.Holds, ", ")
		switch {
		case r.Back != "":
			kept = "nothing: " + r.Back
		case r.Elsewhere:
			free++
			kept += "; its pods would fit elsewhere"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%d\t%d %%\t%d %%\t%s\n", cmp.Or(r.Node, r.Claim), r.InstanceType, price, r.Pods, r.CPU, r.Memory, kept)
	}
	_ = table.Flush() // into memory
	b.WriteString(amount.Count(len(rows), "node"))
	if unpriced < len(rows) {
		b.WriteString(", " + hourlyText(currency, total))
	}
	if unpriced > 0 {
		fmt.Fprintf(&b, ", the price of %d is not known", unpriced)
	}
	if free > 0 {
		fmt.Fprintf(&b, "; the pods of %d, each by itself, would fit on the others", free)
	}
	return b.String() + "\n"
}
