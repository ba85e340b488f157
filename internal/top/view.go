package top

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/internal/web/live"
)

// chrome is how many lines stand around a table: the head of three, the pages, the titles and the keys.
const chrome = 6

// View is tea.Model's.
func (m *Model) View() tea.View {
	v := tea.NewView(strings.Join(m.screen(), "\n"))
	v.AltScreen = true
	v.WindowTitle = "tenon top " + clean(m.cfg.Name)
	return v
}

// screen is every line of the screen.
func (m *Model) screen() []string {
	lines := append(m.head(), m.tabs())
	room := m.height - len(lines) - 1
	switch {
	case m.help:
		lines = append(lines, head(wrap(helpLines(), m.width), room)...)
	case m.detail != nil:
		lines = append(lines, bold.Styled(fitTo(clean(m.detail.title), m.width, false)))
		lines = append(lines, m.detail.draw(m.width, room-1)...)
	case !m.known:
		lines = append(lines, m.waiting()...)
	case m.list().count() == 0:
		lines = append(lines, faint.Styled(m.nothing()))
	default:
		lines = append(lines, bold.Styled(fitTo(m.list().head(m.width), m.width, false)))
		lines = append(lines, m.list().lines(m.width, room-1)...)
	}
	for len(lines) < m.height-1 {
		lines = append(lines, "")
	}
	lines = append(head(lines, m.height-1), m.foot())
	for i, l := range lines {
		if ansi.StringWidth(l) > m.width {
			lines[i] = ansi.Truncate(l, m.width, "…")
		}
	}
	return lines
}

func head(lines []string, n int) []string { return lines[:max(0, min(len(lines), n))] }

// every reports whether nothing is left out.
func (m *Model) every() bool { return m.cfg.Selector == nil || m.cfg.Selector.Empty() }

// head sums up the whole.
func (m *Model) head() []string {
	right := m.cfg.Now().Format(time.TimeOnly)
	left := bold.Styled("tenon top") + "  " + clean(m.cfg.Name)
	if m.cfg.Note != "" {
		left += "  " + faint.Styled(clean(m.cfg.Note))
	}
	if m.lost != nil {
		right = alert.Styled(" NOT LIVE for " + span(int64(m.cfg.Now.Since(m.since).Seconds())) + " ")
		left = bold.Styled("tenon top") + "  " + poor.Styled(clean(m.lost.Error()))
	}
	room := max(1, m.width-ansi.StringWidth(right)-1)
	out := []string{fitTo(left, room, false) + " " + right}
	t := shownTotals(m.cluster.Totals, m.nodes.rows, m.every())
	return append(out, m.sums(t), fmt.Sprintf("cpu %s  memory %s%s", fill(float64(t.CPU)/100).Styled(bar(float64(t.CPU)/100)), fill(float64(t.Memory)/100).Styled(bar(float64(t.Memory)/100)), m.saves()))
}

// saves says in short what consolidation could save.
func (m *Model) saves() string {
	s := m.cluster.Savings
	if s == nil || !m.every() {
		return ""
	}
	out := "  consolidation saves " + bold.Styled(priced(s.Now)) + " now"
	if s.Held > 0 {
		out += fmt.Sprintf(", %s held up", priced(s.Held))
	}
	if len(s.Best) > 0 {
		out += ", most by " + clean(short(s.Best[0].Nodes))
	}
	if s.Bound > 0 {
		out += fmt.Sprintf(" (bound %s)", priced(s.Bound))
	}
	return out
}

// short names the first of some nodes.
func short(nodes []string) string {
	if len(nodes) == 0 {
		return "claims without a node"
	}
	if len(nodes) == 1 {
		return nodes[0]
	}
	return fmt.Sprintf("%s and %d more", nodes[0], len(nodes)-1)
}

// sums is the line of figures.
func (m *Model) sums(t live.Totals) string {
	price := fmt.Sprintf("%s %s/h", bold.Styled(priced(t.Price)), clean(m.cluster.Currency))
	if t.OnDemand > t.Price {
		price += fmt.Sprintf(" (%s on demand, %d%% less)", priced(t.OnDemand), int(100*float64(t.OnDemand-t.Price)/float64(t.OnDemand)))
	}
	nodes := amount.Count(t.Ready+t.NotReady+t.Coming+t.Going, "node")
	for _, part := range []struct {
		n     int
		words string
		style ansi.Style
	}{{t.Coming, "coming", comes}, {t.Going, "going", fair}, {t.NotReady, "not ready", poor}} {
		if part.n > 0 {
			nodes += ", " + part.style.Styled(fmt.Sprintf("%d %s", part.n, part.words))
		}
	}
	pods := amount.Count(t.Running, "pod")
	if t.Waiting > 0 {
		pods += ", " + fair.Styled(fmt.Sprintf("%d waiting (longest %s)", t.Waiting, span(t.Longest)))
	}
	return price + " · " + nodes + " · " + pods
}

// tabs is the line of pages, and what filters them.
func (m *Model) tabs() string {
	titles := []string{"Nodes", "Pods", "Decisions", "Pools"}
	counts := []int{len(m.nodes.rows), m.cluster.Totals.Waiting, len(m.decisions.rows), len(m.pools.rows)}
	var parts []string
	for i, title := range titles {
		text := fmt.Sprintf(" %d %s %d ", i+1, title, counts[i])
		if i == m.page {
			text = ansi.Style{}.Reverse(true).Styled(text)
		}
		parts = append(parts, text)
	}
	line := strings.Join(parts, " ")
	if m.filters[m.page] != "" || m.typing == toFilter {
		line += "  filter: " + m.filters[m.page]
		if m.typing == toFilter {
			line += "█"
		}
	}
	return line
}

// waiting is said before the first frame.
func (m *Model) waiting() []string {
	if m.lost == nil {
		return []string{faint.Styled("asking the cluster …")}
	}
	return append(wrap(cleanLines(m.lost.Error()), m.width), faint.Styled("It is tried again."))
}

// nothing says why a table is empty.
func (m *Model) nothing() string {
	switch {
	case m.filters[m.page] != "":
		return "Nothing matches the filter; Esc takes it off."
	case m.page == nodesPage && !m.every():
		return "No node matches --node-selector."
	case m.page == nodesPage:
		return "There is no node yet."
	case m.page == podsPage:
		return "No pod waits."
	case m.page == decisionsPage:
		return "Nothing was decided yet."
	}
	return "There is no NodePool and no Provisioner."
}

// foot is the line of keys.
func (m *Model) foot() string {
	switch {
	case m.typing == toQuestion:
		return "what if: " + m.typed + "█  " + faint.Styled("without=node/NAME  sold-out=TYPE[,ZONE[,CAPACITY-TYPE]]  scale=deployment/NS/NAME=N  price=TYPE=PRICE")
	case m.typing == toFilter:
		return faint.Styled("type words that must occur; Enter keeps them, Esc takes them off")
	case m.detail != nil && m.detail.node != "":
		return faint.Styled("↑↓ scroll  w what if it went  Esc back  ? help")
	case m.detail != nil:
		return faint.Styled("↑↓ scroll  Esc back  ? help")
	}
	return faint.Styled("↑↓ move  Enter why  w what if it went  : what if  / filter  < > order  r reverse  1-4 page  ? help  q quit")
}

func helpLines() []string {
	return []string{
		"",
		"1 2 3 4, Tab   nodes, pods that wait, decisions, pools",
		"↑ ↓ j k        move; PgUp PgDn, Home End, g G",
		"Enter          why: what tenon explain says of it; a decision's whole plan",
		"w              what if this node went",
		":              what if something else were so: sold-out=m5.large,us-west-2a,spot",
		"               scale=deployment/default/web=40, without=node/NAME, price=m5.large=0.05",
		"/              filter: words that must all occur; Esc takes it off",
		"< >            order by another column; r the other way round",
		"Esc            back",
		"q, Ctrl-C      end",
		"",
		"A full bar is a well used node: green from 60 %, yellow from 30 %, red below.",
		"Nothing can be changed here.",
	}
}
