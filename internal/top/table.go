package top

import (
	"cmp"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// column is one of a table of R.
type column[R any] struct {
	title string
	text  func(R) string
	short func(R) string // on a screen; nil: as text
	style func(R) ansi.Style
	order func(a, b R) int // nil: by text
	right bool             // figures stand at the right
	most  int              // it is at most so wide; 0: as wide as what stands in it
	last  int              // columns of the highest go first where there is no room
}

// table is rows that were filtered, ordered and measured.
type table[R any] struct {
	columns []column[R]
	key     func(R) string // which row is which, while they move

	rows   []R
	widths []int

	screen bool // it is drawn on a screen, and not written

	by      int // column of the order
	reverse bool
	cursor  int
	top     int // row that is first in sight
}

// set shows other rows; the cursor stays where it stood.
func (t *table[R]) set(rows []R) {
	at := ""
	if t.cursor < len(t.rows) {
		at = t.key(t.rows[t.cursor])
	}
	order := t.columns[t.by].order
	if order == nil {
		text := t.columns[t.by].text
		order = func(a, b R) int { return strings.Compare(text(a), text(b)) }
	}
	slices.SortStableFunc(rows, func(a, b R) int {
		if t.reverse {
			return order(b, a)
		}
		return order(a, b)
	})
	t.rows = rows
	if i := slices.IndexFunc(rows, func(r R) bool { return t.key(r) == at }); at != "" && i >= 0 {
		t.cursor = i
	}
	t.cursor = max(0, min(t.cursor, len(rows)-1))
	t.widths = make([]int, len(t.columns))
	for i, c := range t.columns {
		title := ansi.StringWidth(c.title)
		if i == t.by {
			title++ // the mark of the order
		}
		w := title
		for _, r := range rows {
			w = max(w, ansi.StringWidth(t.cell(c, r)))
		}
		if c.most > 0 {
			w = min(w, max(c.most, title))
		}
		t.widths[i] = w
	}
}

// cell is what stands in a column of a row.
func (t *table[R]) cell(c column[R], r R) string {
	if t.screen && c.short != nil {
		return c.short(r)
	}
	return c.text(r)
}

// chosen is the row under the cursor.
func (t *table[R]) chosen() (r R, ok bool) {
	if t.cursor >= len(t.rows) {
		return r, false
	}
	return t.rows[t.cursor], true
}

// move moves the cursor.
func (t *table[R]) move(by int) { t.cursor = max(0, min(t.cursor+by, len(t.rows)-1)) }

// sort orders by the next column, or the other way round.
func (t *table[R]) sort(next int, reverse bool) {
	t.by = (t.by + next + len(t.columns)) % len(t.columns)
	t.reverse = reverse
	t.set(t.rows)
}

// gap is between columns.
const gap = 2

// shown chooses the columns that there is room for, and how wide each is.
func (t *table[R]) shown(width int) ([]int, []int) {
	var at []int
	for i := range t.columns {
		at = append(at, i)
	}
	wide := func() int {
		sum := -gap
		for _, i := range at {
			sum += t.widths[i] + gap
		}
		return sum
	}
	for width > 0 && len(at) > 1 && wide() > width {
		drop := slices.MaxFunc(at, func(a, b int) int {
			return cmp.Or(cmp.Compare(t.columns[a].last, t.columns[b].last), cmp.Compare(a, b))
		})
		if t.columns[drop].last == 0 {
			break
		}
		at = slices.DeleteFunc(at, func(i int) bool { return i == drop })
	}
	widths := make([]int, len(at))
	for k, i := range at {
		widths[k] = t.widths[i]
	}
	if over := wide() - width; width > 0 && over > 0 { // the first is cut
		widths[0] = max(4, widths[0]-over)
	}
	return at, widths
}

// head is the line of titles.
func (t *table[R]) head(width int) string {
	at, widths := t.shown(width)
	var cells []string
	for k, i := range at {
		c := t.columns[i]
		title := c.title
		if i == t.by {
			title += map[bool]string{false: "↑", true: "↓"}[t.reverse]
		}
		cells = append(cells, fitTo(title, widths[k], c.right))
	}
	return strings.Join(cells, strings.Repeat(" ", gap))
}

// lines are the rows in sight.
func (t *table[R]) lines(width, height int) []string {
	if height <= 0 {
		return nil
	}
	t.top = max(0, min(t.top, len(t.rows)-height))
	if t.cursor < t.top {
		t.top = t.cursor
	}
	if t.cursor >= t.top+height {
		t.top = t.cursor - height + 1
	}
	at, widths := t.shown(width)
	var out []string
	for i := t.top; i < min(len(t.rows), t.top+height); i++ {
		line := t.line(t.rows[i], at, widths, i != t.cursor)
		if i == t.cursor {
			line = ansi.Style{}.Reverse(true).Styled(fitTo(line, width, false))
		}
		out = append(out, line)
	}
	return out
}

// line is one row.
func (t *table[R]) line(r R, at, widths []int, coloured bool) string {
	var b strings.Builder
	for k, i := range at {
		c := t.columns[i]
		if k > 0 {
			b.WriteString(strings.Repeat(" ", gap))
		}
		cell := fitTo(t.cell(c, r), widths[k], c.right)
		if coloured && c.style != nil {
			cell = c.style(r).Styled(cell)
		}
		b.WriteString(cell)
	}
	return b.String()
}
