package page

import (
	"fmt"
	"strings"
	"time"
)

// The size of a plot, and where its curves begin.
const (
	width  = 900.0
	height = 240.0
	left   = 64.0
	low    = 20.0
)

// Plot is curves over time. A value stands until the next one.
type Plot struct {
	Name   string // what is drawn
	Unit   string
	From   int64 // seconds since 1970
	Until  int64
	Curves []Curve
}

// Curve is one of a plot.
type Curve struct {
	Name   string
	Class  string // its colour: price, list, bound or other
	Points []Point
}

// Point is a value that stands from a moment on.
type Point struct {
	At    int64
	Value float64
}

// extent is from where to where values reach; nothing is always within.
func (p Plot) extent() (least, most float64) {
	for _, c := range p.Curves {
		for _, v := range c.Points {
			least, most = min(least, v.Value), max(most, v.Value)
		}
	}
	return least, most
}

// Plot adds a plot, unless there is nothing to see: no time, or no value.
func (p *Page) Plot(plot Plot) {
	least, most := plot.extent()
	if plot.Until <= plot.From || least == most {
		return
	}
	x := func(at int64) float64 {
		return left + (width-left)*float64(at-plot.From)/float64(plot.Until-plot.From)
	}
	y := func(v float64) float64 { return (height - low) * (1 - (v-least)/(most-least)) }
	fmt.Fprintf(&p.b, `<figure><svg viewBox="0 -10 %.0f %.0f" role="img" aria-label="%s over time">`, width, height+10, escaped(plot.Name))
	marks := []float64{least, (least + most) / 2, most}
	if least < 0 && most > 0 {
		marks = []float64{least, 0, most}
	}
	for _, v := range marks {
		fmt.Fprintf(&p.b, `<line class="grid" x1="%.0f" x2="%.0f" y1="%.1f" y2="%.1f"/><text x="0" y="%.1f" font-size="12" fill="currentColor">%s</text>`, left, width, y(v), y(v), y(v)+4, number(v, most-least))
	}
	for _, c := range plot.Curves {
		fmt.Fprintf(&p.b, `<polyline class="%s" fill="none" stroke="currentColor" stroke-width="2" points="%s"/>`, c.Class, c.path(plot.Until, x, y))
	}
	fmt.Fprintf(&p.b, `<text x="%.0f" y="%.0f" font-size="12" fill="currentColor">%s</text><text x="%.0f" y="%.0f" font-size="12" fill="currentColor" text-anchor="end">%s</text></svg><figcaption>`,
		left, height-4, clock(plot.From), width, height-4, clock(plot.Until))
	for i, c := range plot.Curves {
		if i > 0 {
			p.b.WriteString(", ")
		}
		fmt.Fprintf(&p.b, `<span class="%s">%s</span>`, c.Class, escaped(c.Name))
	}
	if plot.Unit != "" {
		p.b.WriteString("; " + escaped(plot.Unit))
	}
	p.b.WriteString("</figcaption></figure>")
}

// path are the corners of a curve.
func (c Curve) path(until int64, x func(int64) float64, y func(float64) float64) string {
	var d strings.Builder
	for i, v := range c.Points {
		if i > 0 {
			fmt.Fprintf(&d, "%.1f,%.1f ", x(v.At), y(c.Points[i-1].Value))
		}
		fmt.Fprintf(&d, "%.1f,%.1f ", x(v.At), y(v.Value))
	}
	if n := len(c.Points); n > 0 {
		fmt.Fprintf(&d, "%.1f,%.1f", x(until), y(c.Points[n-1].Value))
	}
	return strings.TrimSpace(d.String())
}

// number writes a value with as many digits as it takes to tell it from others of a range.
func number(v, extent float64) string {
	digits := 0
	for limit := 100.0; digits < 4 && extent < limit; limit /= 10 {
		digits++
	}
	return fmt.Sprintf("%.*f", digits, v)
}

func clock(at int64) string { return time.Unix(at, 0).UTC().Format(time.DateTime) }
