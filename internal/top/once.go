package top

import (
	"fmt"
	"io"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/internal/web/live"
)

// Shown is the cluster with the nodes that are selected, and what they come to.
func (m *Model) Shown() Cluster {
	c := m.cluster
	c.Nodes = m.nodes.rows
	c.Totals = shownTotals(c.Totals, c.Nodes, m.every())
	return c
}

// Know takes over values of labels, for a Model that is written once.
func (m *Model) Know(values map[string][]string) {
	m.values = values
	m.refresh()
}

// Keys are the labels that are shown or selected by.
func (m *Model) Keys() []string { return m.keys() }

// Write writes the nodes and the pods that wait once, without colours and as wide as it needs.
func (m *Model) Write(out io.Writer) error {
	c := m.Shown()
	m.nodes.screen = false
	m.refresh()
	lines := []string{
		ansi.Strip(m.sums(c.Totals)),
		fmt.Sprintf("cpu %d%%  memory %d%%", c.Totals.CPU, c.Totals.Memory),
		"",
	}
	lines = append(lines, plain(&m.nodes)...)
	if len(c.Nodes) == 0 {
		lines = append(lines, m.nothing())
	}
	if waiting := sum(m.pods.rows); waiting > 0 {
		lines = append(lines, "", amount.Count(waiting, "pod")+" without a node:", "")
		lines = append(lines, plain(&m.pods)...)
	}
	lines = append(lines, saved(c)...)
	_, err := io.WriteString(out, strings.Join(lines, "\n")+"\n")
	return err
}

// saved says what consolidation could save, and what keeps the rest.
func saved(c Cluster) []string {
	s := c.Savings
	if s == nil {
		return nil
	}
	line := fmt.Sprintf("Consolidation saves %s %s/h now", priced(s.Now), clean(c.Currency))
	if s.Held > 0 {
		line += fmt.Sprintf(", and %s that something holds up", priced(s.Held))
	}
	line += fmt.Sprintf("; the nodes of pools cost %s", priced(s.Price))
	if s.Bound > 0 {
		line += fmt.Sprintf(", and new nodes for what can move would cost %s at least", priced(s.Bound))
	}
	lines := []string{"", line}
	for _, b := range s.Best {
		line := fmt.Sprintf("  %s  %s: %s, moves %s", priced(b.Saves), clean(short(b.Nodes)), clean(b.Reason), amount.Count(b.Pods, "pod"))
		if b.Buys > 0 {
			line += ", buys " + amount.Count(b.Buys, "node")
		}
		if b.HeldUp != "" {
			line += "; held up: " + clean(b.HeldUp)
		}
		lines = append(lines, line)
	}
	for _, k := range s.Stay {
		lines = append(lines, fmt.Sprintf("  stay: %s of %s/h: %s, such as %s", amount.Count(k.Nodes, "node"), priced(k.Price), clean(k.Code), clean(k.Such)))
	}
	return lines
}

func sum(groups []live.Group) int {
	n := 0
	for _, g := range groups {
		n += g.Count
	}
	return n
}

// plain is a whole table.
func plain[R any](t *table[R]) []string {
	if len(t.rows) == 0 {
		return nil
	}
	at, widths := t.shown(0)
	out := []string{strings.TrimRight(t.head(0), " ")}
	for _, r := range t.rows {
		out = append(out, strings.TrimRight(t.line(r, at, widths, false), " "))
	}
	return out
}
