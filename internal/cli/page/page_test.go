package page_test

import (
	"strings"
	"testing"

	"github.com/tenon-sh/tenon/internal/cli/page"
)

// Whatever a text holds, it is text on the page.
func TestTextsStayTexts(t *testing.T) {
	const hostile = "<script>alert(1)</script>\x1b[2J\u202e\"'>&"
	p := page.New("a page")
	p.Heading(hostile)
	p.Text(hostile)
	p.Table([]page.Column{{Name: hostile}, {Name: "n", Number: true}, {Name: "l", Lines: true}}, [][]string{{hostile, hostile, hostile}})
	p.Plot(page.Plot{Name: hostile, Unit: hostile, From: 0, Until: 10, Curves: []page.Curve{{Name: hostile, Class: "price", Points: []page.Point{{0, -1}, {5, 2}}}}})
	text := p.String()
	for _, not := range []string{"<script", "\x1b", "\u202e", "alert(1)</script>", "NaN", "Inf", "http:", "https:"} {
		if strings.Contains(text, not) {
			t.Errorf("the page has %q", not)
		}
	}
	for _, want := range []string{"&lt;script&gt;", `<polyline class="price"`, `<td class="n">`, "<pre>", "<h1>A page</h1>", "-1.00", "2.00"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page has no %q: %s", want, text)
		}
	}
}

// What would be an empty picture is none.
func TestNothingIsNotDrawn(t *testing.T) {
	for name, plot := range map[string]page.Plot{
		"no time":  {From: 5, Until: 5, Curves: []page.Curve{{Points: []page.Point{{5, 1}}}}},
		"no value": {From: 5, Until: 9, Curves: []page.Curve{{Points: []page.Point{{5, 0}}}}},
		"nothing":  {From: 5, Until: 9},
	} {
		p := page.New("x")
		p.Plot(plot)
		if strings.Contains(p.String(), "<svg") {
			t.Errorf("%s: it is drawn", name)
		}
	}
}
