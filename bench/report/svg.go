package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Colours of the two sides, readable on white and on black.
const (
	oursColour = "#1f8a70"
	peerColour = "#c2643c"
	grey       = "#808080"
)

// drawing is an SVG that grows.
type drawing struct {
	strings.Builder
	width, height int
}

func draw(width, height int, title string) *drawing {
	d := &drawing{width: width, height: height}
	fmt.Fprintf(d, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" font-family="sans-serif" font-size="12" role="img">`+"\n", width, height, width, height)
	fmt.Fprintf(d, "<title>%s</title>\n", title)
	d.text(10, 18, "start", grey, title)
	return d
}

func (d *drawing) text(x, y float64, anchor, colour, s string) {
	fmt.Fprintf(d, `<text x="%.1f" y="%.1f" text-anchor="%s" fill="%s">%s</text>`+"\n", x, y, anchor, colour, strings.NewReplacer("&", "&amp;", "<", "&lt;").Replace(s))
}

func (d *drawing) line(x1, y1, x2, y2 float64, colour, more string) {
	fmt.Fprintf(d, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s" %s/>`+"\n", x1, y1, x2, y2, colour, more)
}

func (d *drawing) bar(x, y, w, h float64, colour string) {
	fmt.Fprintf(d, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>`+"\n", x, y, math.Max(w, 0.5), h, colour)
}

func (d *drawing) dot(x, y float64, colour string, hollow bool) {
	fill := colour
	if hollow {
		fill = "none"
	}
	fmt.Fprintf(d, `<circle cx="%.1f" cy="%.1f" r="4" fill="%s" stroke="%s" stroke-width="1.5"/>`+"\n", x, y, fill, colour)
}

// legend names the two sides at the top right.
func (d *drawing) legend() {
	x := float64(d.width) - 190
	d.bar(x, 8, 12, 12, oursColour)
	d.text(x+17, 18, "start", grey, "Tenon")
	d.bar(x+80, 8, 12, 12, peerColour)
	d.text(x+97, 18, "start", grey, "Karpenter")
}

func (d *drawing) end() string { return d.String() + "</svg>\n" }

// pair is a bar of each side; zero leaves one out.
type pair struct {
	name       string
	ours, peer float64
}

// bars draws pairs from a base value on, with their numbers.
func bars(title string, base float64, format string, pairs []pair) string {
	const left, right, top, step = 170.0, 70.0, 34.0, 38.0
	d := draw(760, int(top+step*float64(len(pairs)))+10, title)
	d.legend()
	most := base
	for _, p := range pairs {
		most = max(most, p.ours, p.peer)
	}
	scale := (float64(d.width) - left - right) / max(most-base, 1e-9)
	for i, p := range pairs {
		y := top + step*float64(i)
		d.text(left-8, y+18, "end", grey, p.name)
		for j, v := range []float64{p.ours, p.peer} {
			at := y + 2 + 14*float64(j)
			if v <= 0 {
				d.text(left+4, at+10, "start", grey, "–")
				continue
			}
			d.bar(left, at, (v-base)*scale, 12, []string{oursColour, peerColour}[j])
			d.text(left+max((v-base)*scale, 0)+4, at+10, "start", grey, fmt.Sprintf(format, v))
		}
	}
	return d.end()
}

// point is a measurement of one side at a size; partial ones are hollow.
type point struct {
	x, y    float64
	partial bool
}

// series is the points of one side in one scenario.
type series struct {
	name   string
	colour string
	dash   string
	points []point
}

// lines draws series on two logarithmic axes.
func lines(title, xAxis string, all []series) string {
	const left, right, top, bottom = 70.0, 150.0, 34.0, 40.0
	d := draw(760, 380, title)
	var xs, ys []float64
	for _, s := range all {
		for _, p := range s.points {
			xs, ys = append(xs, p.x), append(ys, p.y)
		}
	}
	x0, x1 := decades(xs)
	y0, y1 := decades(ys)
	px := func(x float64) float64 {
		return left + (math.Log10(x)-x0)/(x1-x0)*(float64(d.width)-left-right)
	}
	py := func(y float64) float64 {
		return float64(d.height) - bottom - (math.Log10(y)-y0)/(y1-y0)*(float64(d.height)-top-bottom)
	}
	for e := x0; e <= x1; e++ {
		x := px(math.Pow(10, e))
		d.line(x, top, x, float64(d.height)-bottom, grey, `stroke-opacity="0.25"`)
		d.text(x, float64(d.height)-bottom+16, "middle", grey, thousands(int(math.Pow(10, e))))
	}
	for e := y0; e <= y1; e++ {
		y := py(math.Pow(10, e))
		d.line(left, y, float64(d.width)-right, y, grey, `stroke-opacity="0.25"`)
		d.text(left-6, y+4, "end", grey, thousands(int(math.Pow(10, e))))
	}
	d.text(left, float64(d.height)-6, "start", grey, xAxis)
	var names []name
	for _, s := range all {
		for i, p := range s.points {
			if i > 0 {
				q := s.points[i-1]
				d.line(px(q.x), py(q.y), px(p.x), py(p.y), s.colour, fmt.Sprintf(`stroke-width="2" stroke-dasharray="%s"`, s.dash))
			}
			d.dot(px(p.x), py(p.y), s.colour, p.partial)
		}
		if n := len(s.points); n > 0 {
			names = append(names, name{px(s.points[n-1].x) + 9, py(s.points[n-1].y) + 4, s})
		}
	}
	slices.SortStableFunc(names, func(a, b name) int { return cmp.Compare(a.y, b.y) })
	for i, n := range names {
		for _, m := range names[:i] { // none stands on another
			if math.Abs(m.x-n.x) < 80 && n.y < m.y+13 {
				n.y = m.y + 13
			}
		}
		names[i] = n
		d.text(n.x, n.y, "start", n.colour, n.series.name)
	}
	return d.end()
}

// name is where a series is named.
type name struct {
	x, y float64
	series
}

// decades returns the powers of ten around numbers.
func decades(numbers []float64) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, n := range numbers {
		low, high = min(low, math.Floor(math.Log10(n))), max(high, math.Ceil(math.Log10(n)))
	}
	if len(numbers) == 0 {
		return 0, 1
	}
	return low, max(high, low+1)
}

// Plots draws the run: file name to content.
func Plots(run Run) map[string]string {
	var cost, memory []pair
	speed := map[string]*[2]series{}
	var order []string
	for _, r := range run.Rows {
		name := r.Scenario + " " + thousands(r.Pods)
		if ours, peer := r.overBound(); ours > 0 {
			cost = append(cost, pair{name, ours, peer})
		}
		memory = append(memory, pair{name, r.Ours.PeakMiB, r.Peer.PeakMiB})
		if speed[r.Scenario] == nil {
			speed[r.Scenario] = &[2]series{{name: r.Scenario, colour: oursColour}, {name: r.Scenario, colour: peerColour}}
			order = append(order, r.Scenario)
		}
		for i, s := range []Side{r.Ours, r.Peer} {
			if s.Rate() > 0 {
				line := &speed[r.Scenario][i]
				line.points = append(line.points, point{float64(r.Pods), s.Rate(), s.CutOff})
			}
		}
	}
	var all []series
	dashes := []string{"", "6 3", "2 3", "8 3 2 3", "1 2"}
	for _, name := range order {
		if pair := speed[name]; len(pair[0].points) > 1 || len(pair[1].points) > 1 {
			for i := range pair {
				pair[i].dash = dashes[len(all)/2%len(dashes)]
				all = append(all, pair[i])
			}
		}
	}
	return map[string]string{
		"speed.svg":  lines("pods per CPU-second (green Tenon, orange Karpenter; hollow: cut off)", "waiting pods", all),
		"cost.svg":   bars("cost / lower bound (bars begin at 1)", 1, "%.3f", cost),
		"memory.svg": bars("peak memory, MiB", 0, "%.0f", memory),
	}
}
