// Package page writes HTML pages that stand by themselves: without scripts, and without anything from elsewhere.
//
// Every text is escaped. Templates are not used: they look methods up while the program runs, and with them every
// exported method of every library would stay in it.
package page

import (
	"errors"
	"fmt"
	"html"
	"io"
	"os"
	"strings"

	"github.com/tenon-sh/tenon/internal/cli/verb"
)

// Printable is a text without control characters but line ends.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && (r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069) {
			return '\ufffd'
		}
		return r
	}, s)
}

func escaped(s string) string { return html.EscapeString(Printable(s)) }

// style is all that pages look by.
const style = `:root{color-scheme:light dark}body{font:15px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem}
table{border-collapse:collapse;width:100%}th,td{text-align:left;vertical-align:top;padding:.3rem .6rem;border-bottom:1px solid #8886}td:first-child{white-space:nowrap}td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}
svg{width:100%;height:auto}figure{margin:1rem 0}pre{overflow-x:auto;margin:0}.wide{overflow-x:auto}.grid{stroke:#8884}
.price{color:#2f8f6b}.list{color:#8a8f98}.bound{color:#b5651d}.other{color:#7a4fd0}`

// Page is one that is being written.
type Page struct{ b strings.Builder }

// New begins a page.
func New(title string) *Page {
	p := &Page{}
	fmt.Fprintf(&p.b, `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'"><title>Tenon: %s</title><style>%s</style></head><body><h1>%s</h1>`,
		escaped(title), style, escaped(strings.ToUpper(title[:1])+title[1:]))
	return p
}

// Heading adds a heading.
func (p *Page) Heading(text string) { fmt.Fprintf(&p.b, "<h2>%s</h2>", escaped(text)) }

// Text adds a paragraph.
func (p *Page) Text(text string) { fmt.Fprintf(&p.b, "<p>%s</p>", escaped(text)) }

// Column is one of a table.
type Column struct {
	Name   string
	Number bool // its cells are numbers
	Lines  bool // its cells have line ends, and spaces that count
}

// Table adds a table. Rows have a cell for each column.
func (p *Page) Table(columns []Column, rows [][]string) {
	class := func(c Column) string {
		if c.Number {
			return ` class="n"`
		}
		return ""
	}
	p.b.WriteString(`<div class="wide"><table><thead><tr>`)
	for _, c := range columns {
		fmt.Fprintf(&p.b, `<th scope="col"%s>%s</th>`, class(c), escaped(c.Name))
	}
	p.b.WriteString("</tr></thead><tbody>")
	for _, row := range rows {
		p.b.WriteString("<tr>")
		for i, c := range columns {
			cell := escaped(row[i])
			if c.Lines {
				cell = "<pre>" + cell + "</pre>"
			}
			fmt.Fprintf(&p.b, "<td%s>%s</td>", class(c), cell)
		}
		p.b.WriteString("</tr>")
	}
	p.b.WriteString("</tbody></table></div>")
}

// String is the whole page.
func (p *Page) String() string { return p.b.String() + "</body></html>\n" }

// Write writes the page to a file that is not there yet.
func (p *Page) Write(name string) error {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, os.ErrExist) {
		return verb.BadInputf("%s is there already, and is not written over: name another file", name)
	} else if err != nil {
		return verb.BadInputf("write the page: %w", err)
	}
	if _, err = io.WriteString(f, p.String()); err != nil {
		return errors.Join(err, f.Close(), os.Remove(name))
	}
	return f.Close()
}
