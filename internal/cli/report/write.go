package report

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/internal/cli/page"
)

// otherwise is said of claims that went without a decision of the journal.
const otherwise = "otherwise"

// share is how much less a price is than on demand.
func share(is, onDemand float64) string {
	if onDemand <= 0 || is >= onDemand {
		return ""
	}
	return fmt.Sprintf(", %.0f %% below on demand", 100*(onDemand-is)/onDemand)
}

// ended writes counts by reason.
func ended(by map[string]int) string {
	var parts []string
	for _, why := range slices.Sorted(maps.Keys(by)) {
		parts = append(parts, fmt.Sprintf("%d %s", by[why], strings.ReplaceAll(cmp.Or(why, otherwise), "_", " ")))
	}
	return strings.Join(parts, ", ")
}

func clockText(at int64) string { return time.Unix(at, 0).UTC().Format(time.DateTime) }

func seconds(n int64) string { return (time.Duration(n) * time.Second).String() }

// lines say the whole in sentences.
func (p Period) lines() []string {
	out := []string{
		fmt.Sprintf("%s to %s UTC, by %s", clockText(p.From), clockText(p.Until), amount.Count(p.Decisions, "decision")),
		fmt.Sprintf("The nodes of pools cost %.2f %s%s.", p.Cost, p.Currency, share(p.Cost, p.OnDemand)),
	}
	if n := len(p.Curve); n > 0 {
		last := p.Curve[n-1]
		line := fmt.Sprintf("At the end %.4f %s an hour", last.Price, p.Currency)
		if last.Bound > 0 {
			line += fmt.Sprintf("; new nodes for the pods that could move would cost %.4f at least", last.Bound)
		}
		out = append(out, line+".")
	}
	went := 0
	for _, n := range p.Ended {
		went += n
	}
	line := fmt.Sprintf("%s came, %d went", amount.Count(p.Bought, "machine"), went)
	if went > 0 {
		line += " (" + ended(p.Ended) + ")"
	}
	if p.Interrupted > 0 {
		line += fmt.Sprintf(", %d of them because the cloud took or ended them", p.Interrupted)
	}
	if p.Shadow == nil {
		line += "; " + amount.Count(p.Moved, "pod") + " moved"
	}
	out = append(out, line+".")
	if p.Shadow != nil {
		out = append(out, p.Shadow.lines(p.Currency, p.Cost)...)
	}
	if p.Ended[""] > 0 {
		out = append(out, "Otherwise: the journal does not say why, as after a deletion by hand, or by another controller.")
	}
	if w := p.Waits; w.Pods > 0 {
		out = append(out, fmt.Sprintf("%s waited for a node: half of them %s at most, 95 %% %s, the longest %s.", amount.Count(w.Pods, "pod"), seconds(w.Median), seconds(w.Most95), seconds(w.Longest)))
	} else {
		out = append(out, "No pod was seen to wait and then to start.")
	}
	if p.Waits.Waiting > 0 {
		out = append(out, amount.Count(p.Waits.Waiting, "pod")+" waited at the end.")
	}
	return out
}

// text is for people.
func (p Period) text() string {
	var b bytes.Buffer
	for _, l := range p.lines() {
		fmt.Fprintln(&b, l)
	}
	fmt.Fprintln(&b)
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "DAY\tPOOL\tCOST\tON DEMAND\tCAME\tINTERRUPTED\tMOVED\tWENT")
	for _, r := range p.Rows {
		fmt.Fprintf(t, "%s\t%s\t%.4f\t%.4f\t%d\t%d\t%d\t%s\n", r.Day, oneLine(cmp.Or(r.Pool, "-")), r.Cost, r.OnDemand, r.Bought, r.Interrupted, r.Moved, oneLine(cmp.Or(ended(r.Ended), "0")))
	}
	_ = t.Flush() // a buffer takes all
	return page.Printable(b.String())
}

// oneLine keeps a text from being more than a cell.
func oneLine(s string) string { return strings.NewReplacer("\n", " ", "\t", " ").Replace(s) }

// csv is for spreadsheets: a line for each pool on each day.
func (p Period) csv() (string, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	reasons := slices.Sorted(maps.Keys(p.Ended))
	head := []string{"day", "pool", "cost", "on_demand", "came", "moved", "interrupted"}
	for _, r := range reasons {
		head = append(head, "went_"+cell(cmp.Or(r, otherwise)))
	}
	err := w.Write(head)
	for _, r := range p.Rows {
		line := []string{r.Day, cell(r.Pool), fmt.Sprintf("%.6f", r.Cost), fmt.Sprintf("%.6f", r.OnDemand), fmt.Sprint(r.Bought), fmt.Sprint(r.Moved), fmt.Sprint(r.Interrupted)}
		for _, why := range reasons {
			line = append(line, fmt.Sprint(r.Ended[why]))
		}
		err = cmp.Or(err, w.Write(line))
	}
	w.Flush()
	return b.String(), cmp.Or(err, w.Error())
}

// cell keeps spreadsheets from taking a text for a formula.
func cell(s string) string {
	s = oneLine(page.Printable(s))
	if strings.HasPrefix(strings.TrimLeft(s, " \ufffd"), "=") || strings.ContainsAny(s[:min(len(s), 1)], "=+-@|%\ufffd") || strings.HasPrefix(s, "\ufffd") {
		return "'" + s
	}
	return s
}

// html is a page by itself.
func (p Period) html() *page.Page {
	out := page.New("what it cost")
	for _, l := range p.lines() {
		out.Text(l)
	}
	curve := func(name, class string, of func(Point) float64) page.Curve {
		c := page.Curve{Name: name, Class: class}
		for _, at := range p.Curve {
			c.Points = append(c.Points, page.Point{At: at.At, Value: of(at)})
		}
		return c
	}
	curves := []page.Curve{
		curve("on demand", "list", func(c Point) float64 { return c.OnDemand }),
		curve("bound of what could move", "bound", func(c Point) float64 { return c.Bound }),
		curve("price an hour", "price", func(c Point) float64 { return c.Price }),
	}
	if p.Shadow != nil {
		curves = append(curves, curve("with the shadow's decisions", "other", func(c Point) float64 { return c.Would }))
	}
	out.Plot(page.Plot{Name: "price an hour", Unit: p.Currency, From: p.From, Until: p.Until, Curves: curves})
	if p.Shadow != nil && len(p.Shadow.Days) > 0 {
		out.Heading("What the shadow would have saved, by day")
		var rows [][]string
		for _, d := range p.Shadow.Days {
			rows = append(rows, []string{d.Day, fmt.Sprintf("%.4f", d.Recorded), fmt.Sprintf("%.4f", d.Replayed), fmt.Sprintf("%.4f", d.Recorded-d.Replayed)})
		}
		out.Table([]page.Column{{Name: "Day"}, {Name: "Cost, " + p.Currency, Number: true}, {Name: "With its decisions", Number: true}, {Name: "Saved", Number: true}}, rows)
	}
	out.Heading("By day and pool")
	var rows [][]string
	for _, r := range p.Rows {
		rows = append(rows, []string{r.Day, cmp.Or(r.Pool, "-"), fmt.Sprintf("%.4f", r.Cost), fmt.Sprintf("%.4f", r.OnDemand), fmt.Sprint(r.Bought), fmt.Sprint(r.Interrupted), fmt.Sprint(r.Moved), cmp.Or(ended(r.Ended), "0")})
	}
	out.Table([]page.Column{{Name: "Day"}, {Name: "Pool"}, {Name: "Cost, " + p.Currency, Number: true}, {Name: "On demand", Number: true}, {Name: "Came", Number: true}, {Name: "Interrupted", Number: true}, {Name: "Pods moved", Number: true}, {Name: "Went"}}, rows)
	return out
}
