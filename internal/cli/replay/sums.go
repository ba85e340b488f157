package replay

import (
	"fmt"
	"strings"
	"time"

	"github.com/tenon-sh/tenon/internal/cli/estimate"
	"github.com/tenon-sh/tenon/internal/cli/page"
)

// sum is one figure of both sides.
type sum struct{ what, recorded, replayed, change string }

func count(what string, recorded, replayed int) sum {
	s := sum{what, fmt.Sprint(recorded), fmt.Sprint(replayed), ""}
	if replayed != recorded {
		s.change = fmt.Sprintf("%+d", replayed-recorded)
	}
	return s
}

// figures are what both sides come to.
func figures(d estimate.Day) []sum {
	a, b := d.Recorded, d.Replayed
	cost := sum{"cost, " + d.Currency, fmt.Sprintf("%.2f", a.Cost), fmt.Sprintf("%.2f", b.Cost), ""}
	if diff := b.Cost - a.Cost; diff >= 0.005 || diff <= -0.005 {
		cost.change = fmt.Sprintf("%+.2f", diff)
		if a.Cost > 0 {
			cost.change += fmt.Sprintf(" (%+.1f %%)", 100*diff/a.Cost)
		}
	}
	bought := sum{"  for, an hour", fmt.Sprintf("%.4f", a.Hourly), fmt.Sprintf("%.4f", b.Hourly), ""}
	if diff := b.Hourly - a.Hourly; diff >= 0.00005 || diff <= -0.00005 {
		bought.change = fmt.Sprintf("%+.4f", diff)
	}
	waited := sum{"  for", length(a.Waited), length(b.Waited), ""}
	if diff := b.Waited - a.Waited; diff < 0 {
		waited.change = "-" + length(-diff)
	} else if diff > 0 {
		waited.change = "+" + length(diff)
	}
	return []sum{
		cost, count("machines bought", a.Bought, b.Bought), bought, count("machines given back", a.GivenBack, b.GivenBack), count("pods moved", a.Moved, b.Moved),
		count("pods that needed a machine", a.Needed, b.Needed), count("pods refused at some time", a.Refused, b.Refused), waited,
	}
}

func length(seconds int64) string { return (time.Duration(seconds) * time.Second).String() }

func clockText(at int64) string { return time.Unix(at, 0).UTC().Format(time.DateTime) }

// estimated says what the second column is.
const estimated = "Each decision is made of the World as it was, so what the others come to is estimated: what is bought otherwise counts for as long as its pods are there, and what would be given back for as long as it was there."

// sums say what differs in all; nothing where nothing does, or where no time passes.
func (r report) sums() string {
	d := r.Day
	if r.Different == 0 || d.Until <= d.From {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\nFrom %s to %s UTC, %s:\n", clockText(d.From), clockText(d.Until), length(d.Until-d.From))
	for _, s := range append([]sum{{"", "recorded", "replayed", "difference"}}, figures(d)...) {
		b.WriteString(strings.TrimRight(fmt.Sprintf("  %-26s %12s %12s  %s", s.what, s.recorded, s.replayed, s.change), " ") + "\n")
	}
	return page.Printable(b.String()) + estimated + "\n"
}

// mostDifferences is how many decisions that differ are on the page.
const mostDifferences = 200

// page is the report as a page by itself.
func (r report) page() *page.Page {
	out := page.New("decided again")
	d := r.Day
	if d.Until > d.From {
		out.Text(fmt.Sprintf("From %s to %s UTC, %s.", clockText(d.From), clockText(d.Until), length(d.Until-d.From)))
	}
	first, _, _ := strings.Cut(r.text(), "\n")
	out.Text(first)
	var rows [][]string
	for _, s := range figures(d) {
		rows = append(rows, []string{s.what, s.recorded, s.replayed, s.change})
	}
	out.Table([]page.Column{{Name: ""}, {Name: "Recorded", Number: true}, {Name: "Replayed", Number: true}, {Name: "Difference", Number: true}}, rows)
	out.Text(estimated)
	r.plots(out)
	if len(d.Days) > 1 {
		out.Heading("By day")
		rows = nil
		for _, one := range d.Days {
			rows = append(rows, []string{one.Day, fmt.Sprintf("%.4f", one.Recorded), fmt.Sprintf("%.4f", one.Replayed), fmt.Sprintf("%+.4f", one.Replayed-one.Recorded)})
		}
		out.Table([]page.Column{{Name: "Day"}, {Name: "Cost, " + d.Currency, Number: true}, {Name: "Replayed", Number: true}, {Name: "Difference", Number: true}}, rows)
	}
	r.differences(out)
	return out
}

func (r report) plots(out *page.Page) {
	curve := func(name, class string, of func(estimate.Moment) float64) page.Curve {
		c := page.Curve{Name: name, Class: class}
		for _, m := range r.Day.Curve {
			c.Points = append(c.Points, page.Point{At: m.At, Value: of(m)})
		}
		return c
	}
	for _, p := range []page.Plot{
		{Name: "price an hour", Unit: r.Day.Currency, Curves: []page.Curve{
			curve("price an hour, recorded", "price", func(m estimate.Moment) float64 { return m.Recorded }),
			curve("replayed", "other", func(m estimate.Moment) float64 { return m.Replayed }),
		}},
		{Name: "saved since the beginning", Unit: r.Day.Currency, Curves: []page.Curve{curve("saved since the beginning", "bound", func(m estimate.Moment) float64 { return m.Saved })}},
		{Name: "pods refused", Curves: []page.Curve{
			curve("pods refused, recorded", "price", func(m estimate.Moment) float64 { return float64(m.Refuses[0]) }),
			curve("replayed", "other", func(m estimate.Moment) float64 { return float64(m.Refuses[1]) }),
		}},
		{Name: "pods moved since the beginning", Curves: []page.Curve{
			curve("pods moved since the beginning, recorded", "price", func(m estimate.Moment) float64 { return float64(m.Moved[0]) }),
			curve("replayed", "other", func(m estimate.Moment) float64 { return float64(m.Moved[1]) }),
		}},
	} {
		p.From, p.Until = r.Day.From, r.Day.Until
		out.Plot(p)
	}
}

// differences lists the decisions that come out otherwise.
func (r report) differences(out *page.Page) {
	var rows [][]string
	for _, d := range r.Decisions {
		if d.Verdict == different || d.Verdict == broken {
			if len(rows) < mostDifferences {
				text := d.Panic
				if d.Difference != nil {
					text = d.Difference.Text(false)
				}
				rows = append(rows, []string{clockText(d.At), d.Kind, text})
			}
		}
	}
	if len(rows) == 0 {
		return
	}
	out.Heading("Decisions that come out otherwise")
	if n := r.Different + r.Broken; n > len(rows) {
		out.Text(fmt.Sprintf("The first %d of %d; the others are in -o json.", len(rows), n))
	}
	out.Table([]page.Column{{Name: "At, UTC"}, {Name: "Kind"}, {Name: "Difference", Lines: true}}, rows)
}
