package top

import (
	"net/url"

	"github.com/tenon-sh/tenon/internal/web/live"
)

// detail is a question and its answer, over the tables.
type detail struct {
	title  string
	path   string
	query  url.Values
	node   string  // that it is about; empty if it is about none
	before *detail // what it covers

	lines []string
	top   int
	done  bool
	bad   bool
}

// answered takes over the answer.
func (d *detail) answered(text string, err error) {
	d.done = true
	if err != nil {
		d.bad, text = true, err.Error()
	}
	d.lines = cleanLines(text)
}

// press scrolls; false if the key is for something else.
func (d *detail) press(name string, height int) bool {
	page := max(1, height-chrome)
	switch name {
	case "up", "k":
		d.top--
	case "down", "j":
		d.top++
	case "pgup", "ctrl+b":
		d.top -= page
	case "pgdown", "ctrl+f", "space":
		d.top += page
	case "home", "g":
		d.top = 0
	case "end", "G":
		d.top = 1 << 30 // what is drawn brings it back
	default:
		return false
	}
	return true
}

// draw is the part of the answer in sight.
func (d *detail) draw(width, height int) []string {
	if !d.done {
		return []string{faint.Styled("asking …")}
	}
	lines := wrap(d.lines, width)
	d.top = max(0, min(d.top, len(lines)-height))
	lines = lines[d.top:min(len(lines), d.top+height)]
	if d.bad {
		for i := range lines {
			lines[i] = poor.Styled(lines[i])
		}
	}
	return lines
}

// shownTotals are the figures of the nodes that are shown; pods that wait are not of any node.
func shownTotals(all live.Totals, nodes []live.Node, every bool) live.Totals {
	if every {
		return all
	}
	t := totalsOf(nodes)
	t.Waiting, t.Longest = all.Waiting, all.Longest
	return t
}
