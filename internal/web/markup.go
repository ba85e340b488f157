package web

import (
	"bytes"
	"fmt"
	"html"
)

// markup is a page that is being written.
//
// It is no template of html/template: a template calls functions by names that
// are known when it runs, and a program in which anything does so keeps every
// exported method of every library, here twice as much code as all that is used.
type markup struct{ bytes.Buffer }

// fixed is markup that stands in the source: a text that is made elsewhere cannot be given for it by mistake.
type fixed string

// put writes markup in which each verb of fmt stands for one of the values, which
// are text and numbers: whatever they hold, they become no markup.
func (m *markup) put(format fixed, values ...any) {
	for i, v := range values {
		if _, number := v.(int); !number {
			values[i] = html.EscapeString(fmt.Sprint(v))
		}
	}
	fmt.Fprintf(m, string(format), values...)
}

// card writes one of the figures at the top of a page.
func (m *markup) card(figure any, is string) {
	m.put(`<div class="card"><b>%v</b><span>%s</span></div>`, figure, is)
}

// cell writes a cell of a table whose text may be broken.
func (m *markup) cell(text string) { m.put(`<td>%s</td>`, text) }

// whole writes cells of a table whose texts are not broken unless the window is narrow.
func (m *markup) whole(texts ...string) {
	for _, s := range texts {
		m.put(`<td class="w">%s</td>`, s)
	}
}

// number writes cells of a table that are compared as numbers.
func (m *markup) number(figures ...any) {
	for _, f := range figures {
		m.put(`<td class="n">%v</td>`, f)
	}
}

// bar writes the cell of a share in percent.
func (m *markup) bar(percent int) {
	m.put(`<td class="w"><span class="bar"><meter min="0" max="100" low="30" high="60" optimum="100" value="%d"></meter> %d %%</span></td>`, percent, percent)
}

// table begins one with these columns; a column that begins with # has numbers.
func (m *markup) table(columns ...string) {
	m.put(`<div class="wide"><table><tr>`)
	for _, c := range columns {
		if c[0] == '#' {
			m.put(`<th class="n">%s</th>`, c[1:])
			continue
		}
		m.put(`<th>%s</th>`, c)
	}
	m.put("</tr>\n")
}

func (m *markup) endTable() { m.put("</table></div>\n") }

// soft writes a paragraph of less weight.
func (m *markup) soft(text string) { m.put("<p class=\"soft\">%s</p>\n", text) }
