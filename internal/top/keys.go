package top

import (
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
)

// press does what a key is for.
func (m *Model) press(k tea.KeyPressMsg) tea.Cmd {
	name := k.String()
	switch {
	case name == "ctrl+c":
		return tea.Quit
	case m.typing != toKeys:
		return m.write(name, k.Text)
	case m.help:
		m.help = false
		return nil
	case m.detail != nil && m.detail.press(name, m.height):
		return nil
	}
	switch name {
	case "q":
		if m.detail == nil {
			return tea.Quit
		}
		m.detail = nil
	case "esc", "backspace", "left", "h":
		m.back()
	case "?":
		m.help = true
	case "w":
		return m.without()
	case ":":
		m.typing, m.typed = toQuestion, ""
	default:
		if m.detail == nil {
			return m.browse(name)
		}
	}
	return nil
}

// back goes back by one step.
func (m *Model) back() {
	switch {
	case m.detail != nil:
		m.detail = m.detail.before
	case m.filters[m.page] != "":
		m.filters[m.page] = ""
		m.refresh()
	}
}

// browse moves over the tables.
func (m *Model) browse(name string) tea.Cmd {
	l, page := m.list(), max(1, m.height-chrome)
	switch name {
	case "1", "2", "3", "4":
		m.page = int(name[0] - '1')
	case "tab":
		m.page = (m.page + 1) % pageCount
	case "shift+tab":
		m.page = (m.page + pageCount - 1) % pageCount
	case "up", "k":
		l.move(-1)
	case "down", "j":
		l.move(1)
	case "pgup", "ctrl+b":
		l.move(-page)
	case "pgdown", "ctrl+f", "space":
		l.move(page)
	case "home", "g":
		l.move(-l.count())
	case "end", "G":
		l.move(l.count())
	case "<", ",":
		l.sort(-1, l.backwards())
	case ">", ".":
		l.sort(1, l.backwards())
	case "r":
		l.sort(0, !l.backwards())
	case "/":
		m.typing = toFilter
	case "enter", "right", "l":
		return m.ask(m.question())
	}
	return nil
}

// write takes over what is typed into the filter or a question.
func (m *Model) write(name, text string) tea.Cmd {
	into := &m.filters[m.page]
	if m.typing == toQuestion {
		into = &m.typed
	}
	var cmd tea.Cmd
	switch {
	case name == "enter":
		if m.typing == toQuestion {
			cmd = m.suppose(m.typed)
		}
		m.typing = toKeys
	case name == "esc":
		*into, m.typing = "", toKeys
	case name == "backspace":
		_, size := utf8.DecodeLastRuneInString(*into)
		*into = (*into)[:len(*into)-size]
	case name == "ctrl+u":
		*into = ""
	case text != "":
		*into += clean(text)
	}
	m.refresh()
	return cmd
}
