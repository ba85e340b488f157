package report

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"html"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/tenon-sh/tenon/engine/amount"
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
		parts = append(parts, fmt.Sprintf("%d %s", by[why], cmp.Or(why, otherwise)))
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
			line += fmt.Sprintf("; for the pods that could move %.4f at least, all bought anew", last.Bound)
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
	out = append(out, line+"; "+amount.Count(p.Moved, "pod")+" moved.")
	if p.Ended[""] > 0 {
		out = append(out, "Otherwise: no decision of the journal says why, as after an interruption or a deletion by hand.")
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
	fmt.Fprintln(t, "DAY\tPOOL\tCOST\tON DEMAND\tCAME\tWENT\tMOVED")
	for _, r := range p.Rows {
		fmt.Fprintf(t, "%s\t%s\t%.4f\t%.4f\t%d\t%s\t%d\n", r.Day, oneLine(cmp.Or(r.Pool, "-")), r.Cost, r.OnDemand, r.Bought, oneLine(cmp.Or(ended(r.Ended), "0")), r.Moved)
	}
	_ = t.Flush() // a buffer takes all
	return printable(b.String())
}

// oneLine keeps a text from being more than a cell.
func oneLine(s string) string { return strings.NewReplacer("\n", " ", "\t", " ").Replace(s) }

// csv is for spreadsheets: a line for each pool on each day.
func (p Period) csv() (string, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	reasons := slices.Sorted(maps.Keys(p.Ended))
	head := []string{"day", "pool", "cost", "on_demand", "came", "moved"}
	for _, r := range reasons {
		head = append(head, "went_"+cell(cmp.Or(r, otherwise)))
	}
	err := w.Write(head)
	for _, r := range p.Rows {
		line := []string{r.Day, cell(r.Pool), fmt.Sprintf("%.6f", r.Cost), fmt.Sprintf("%.6f", r.OnDemand), fmt.Sprint(r.Bought), fmt.Sprint(r.Moved)}
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
	s = oneLine(printable(s))
	if strings.HasPrefix(strings.TrimLeft(s, " \ufffd"), "=") || strings.ContainsAny(s[:min(len(s), 1)], "=+-@|%\ufffd") || strings.HasPrefix(s, "\ufffd") {
		return "'" + s
	}
	return s
}

// style is all that the page looks by.
const style = `:root{color-scheme:light dark}body{font:15px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem}
table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.3rem .6rem;border-bottom:1px solid #8886}td.n{text-align:right;font-variant-numeric:tabular-nums}
svg{width:100%;height:auto}.wide{overflow-x:auto}.price{color:#2f8f6b}.list{color:#8a8f98}.bound{color:#b5651d}`

// html is a page by itself, without scripts and without anything from elsewhere.
func (p Period) html() string {
	var b strings.Builder
	put := func(format string, values ...string) {
		escaped := make([]any, len(values))
		for i, v := range values {
			escaped[i] = html.EscapeString(printable(v))
		}
		fmt.Fprintf(&b, format, escaped...)
	}
	b.WriteString(`<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'"><title>Tenon: what it cost</title><style>` + style + `</style></head><body><h1>What it cost</h1>`)
	for _, l := range p.lines() {
		put("<p>%s</p>", l)
	}
	b.WriteString(p.plot())
	b.WriteString(`<h2>By day and pool</h2><div class="wide"><table><thead><tr>`)
	for _, t := range []string{"Day", "Pool", "Cost, " + p.Currency, "On demand", "Came", "Went", "Pods moved"} {
		put(`<th scope="col">%s</th>`, t)
	}
	b.WriteString("</tr></thead><tbody>")
	for _, r := range p.Rows {
		put(`<tr><td>%s</td><td>%s</td><td class="n">%s</td><td class="n">%s</td><td class="n">%s</td><td>%s</td><td class="n">%s</td></tr>`,
			r.Day, cmp.Or(r.Pool, "-"), fmt.Sprintf("%.4f", r.Cost), fmt.Sprintf("%.4f", r.OnDemand), fmt.Sprint(r.Bought), cmp.Or(ended(r.Ended), "0"), fmt.Sprint(r.Moved))
	}
	b.WriteString("</tbody></table></div></body></html>\n")
	return b.String()
}

// plot draws what an hour cost over time. A price stands until the next decision.
func (p Period) plot() string {
	const width, height, left, low = 900.0, 260.0, 60.0, 20.0
	if len(p.Curve) < 2 || p.Until <= p.From {
		return ""
	}
	most := 0.0
	for _, c := range p.Curve {
		most = max(most, c.Price, c.OnDemand, c.Bound)
	}
	if most == 0 {
		return ""
	}
	x := func(at int64) float64 { return left + (width-left)*float64(at-p.From)/float64(p.Until-p.From) }
	y := func(v float64) float64 { return (height - low) * (1 - v/most) }
	line := func(of func(Point) float64) string {
		var d strings.Builder
		last := -1.0
		for _, c := range p.Curve {
			if last >= 0 {
				fmt.Fprintf(&d, "%.1f,%.1f ", x(c.At), y(last))
			}
			last = of(c)
			fmt.Fprintf(&d, "%.1f,%.1f ", x(c.At), y(last))
		}
		return strings.TrimSpace(d.String())
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<figure><svg viewBox="0 -10 %.0f %.0f" role="img" aria-label="price an hour over time">`, width, height+10)
	for _, l := range []struct {
		class string
		of    func(Point) float64
	}{{"list", func(c Point) float64 { return c.OnDemand }}, {"bound", func(c Point) float64 { return c.Bound }}, {"price", func(c Point) float64 { return c.Price }}} {
		fmt.Fprintf(&b, `<polyline class="%s" fill="none" stroke="currentColor" stroke-width="2" points="%s"/>`, l.class, line(l.of))
	}
	for _, v := range []float64{0, most / 2, most} {
		fmt.Fprintf(&b, `<text x="0" y="%.1f" font-size="12" fill="currentColor">%.3f</text>`, y(v)+4, v)
	}
	fmt.Fprintf(&b, `<text x="%.0f" y="%.0f" font-size="12" fill="currentColor">%s</text><text x="%.0f" y="%.0f" font-size="12" fill="currentColor" text-anchor="end">%s</text></svg>`,
		left, height-4, clockText(p.From), width, height-4, clockText(p.Until))
	fmt.Fprintf(&b, `<figcaption><span class="price">price an hour</span>, <span class="list">on demand</span>, <span class="bound">bound of what could move</span>; %s</figcaption></figure>`, html.EscapeString(printable(p.Currency)))
	return b.String()
}
