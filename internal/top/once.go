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
	_, err := io.WriteString(out, strings.Join(lines, "\n")+"\n")
	return err
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
