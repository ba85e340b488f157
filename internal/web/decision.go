package web

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/internal/journal"
	"github.com/tenon-sh/tenon/internal/web/live"
)

// made is a row of the page of decisions.
type made struct {
	Digest, At, Kind            string
	Waiting, New, Refused, Back int
	Quiet                       string // how many did nothing before it; "": none
	Cost, Proven, Panic         string
}

func madeOf(e journal.Entry) made {
	m := made{
		Digest: e.World.Digest(), At: clockText(e.World.At()), Kind: title(e.Kind), Waiting: e.Plan.Waiting, New: len(e.Plan.Asks()),
		Refused: len(e.Plan.Refused), Back: len(e.Plan.Back()), Cost: priced(e.Plan.Cost), Panic: e.Panic,
	}
	m.Proven = e.Plan.Proven()
	if e.Quiet > 0 {
		m.Quiet = amount.Count(e.Quiet, "decision")
	}
	return m
}

// decision is the page of one decision.
type decision struct {
	made

	Currency string
	Asks     []ask
	Fills    []fill
	Refusal  []verdict
	Gives    []give
	Text     string
}

// ask is a machine to be bought, and why that one.
type ask struct {
	Name, Pool, Shape, Zone, Capacity, Price, Requests string
	Menu, Why                                          string
	Pods                                               []string
}

// fill is a place that is there and receives pods.
type fill struct {
	Place string
	Pods  []string
}

// give is a machine to be given back.
type give struct{ Name, Pool, Reason, Price string }

func decisionOf(e journal.Entry) decision {
	d := decision{made: madeOf(e), Text: e.Plan.Text(true), Currency: live.Currency(e.World)}
	for _, a := range e.Plan.Asks() {
		one := ask{
			Name: a.Name, Pool: a.Pool.Name, Shape: a.Shape, Zone: a.Zone, Capacity: a.CapacityType, Price: priced(a.Price), Requests: a.Requests.String(),
			Menu: menu(a.Menu), Why: choosing(a.Why),
		}
		for _, k := range a.Pods {
			one.Pods = append(one.Pods, k.String())
		}
		d.Asks = append(d.Asks, one)
	}
	for _, f := range e.Plan.Filled {
		one := fill{Place: cmp.Or(f.Node, f.Claim)}
		for _, k := range f.Pods {
			one.Pods = append(one.Pods, k.String())
		}
		d.Fills = append(d.Fills, one)
	}
	said := map[string]int{}
	for _, r := range e.Plan.Refused {
		line := r.Why.Line()
		i, ok := said[line]
		if !ok {
			i = len(d.Refusal)
			said[line] = i
			d.Refusal = append(d.Refusal, verdict{State: "refused", Text: line, Why: r.Why})
		}
		d.Refusal[i].Pods = append(d.Refusal[i].Pods, r.Pod.String())
	}
	d.Refusal = alike(d.Refusal)
	for _, g := range e.Plan.Back() {
		name := g.Node
		if name == "" {
			name = g.Claim
		}
		d.Gives = append(d.Gives, give{name, g.Pool.Name, g.Reason, priced(g.Price)})
	}
	return d
}

// choosing says why a machine is of its type.
func choosing(c plan.Choosing) string {
	text := c.Binds
	if text != "" {
		text += " leaves no room for a smaller one"
	}
	if c.RunnerUp != "" {
		text += "; the next best is " + c.RunnerUp + " at " + priced(c.RunnerUpPrice)
	}
	if c.LeftOut != "" {
		text += "; left out, since no pod needs them: " + c.LeftOut
	}
	return strings.TrimPrefix(text, "; ")
}

// menu names the types that would do, cheapest first, with their prices.
func menu(choices []plan.Choice) string {
	const shown = 12
	parts := make([]string, 0, shown)
	for _, c := range choices[:min(len(choices), shown)] {
		parts = append(parts, c.Shape+" "+priced(c.Price))
	}
	text := strings.Join(parts, ", ")
	if more := len(choices) - shown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// heads are the innermost causes of a refusal, the first few: its short form.
func heads(w *reason.Why) []string {
	if w == nil {
		return nil
	}
	var out []string
	for _, c := range w.Causes {
		last := c
		for len(last.Causes) == 1 {
			last = last.Causes[0]
		}
		text := string(last.Code)
		if last.Detail != "" {
			text += " (" + last.Detail + ")"
		}
		if c.Subject != "" {
			text = c.Subject + ": " + text
		}
		out = append(out, text)
	}
	if len(out) == 0 {
		out = append(out, w.Line())
	}
	return out[:min(len(out), 3)]
}
