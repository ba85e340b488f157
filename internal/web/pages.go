package web

import (
	"fmt"
	"strings"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/reason"
)

// head begins a page. at is the way from it to the pages' root.
func (m *markup) head(title, at string) {
	m.put(`<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>%s · Tenon</title><link rel="stylesheet" href="%sui/app.css"></head><body><header><b>TENON</b><nav>`, title, at)
	for _, page := range [][2]string{{"/", "Cluster"}, {"/decisions/", "Decisions"}, {"/metrics", "Metrics"}} {
		if page[1] == title {
			m.put(`<a href="%s" aria-current="page">%s</a>`, page[0], page[1])
			continue
		}
		m.put(`<a href="%s">%s</a>`, page[0], page[1])
	}
	m.put("</nav></header><main>\n")
}

func (m *markup) end() { m.put("</main></body></html>") }

// why writes a tree of reasons.
func (m *markup) why(w *reason.Why) {
	m.put(`<li>`)
	if w.Subject != "" {
		m.put(`%s: `, w.Subject)
	}
	m.put(`<b>%s</b>`, w.Code)
	if w.Detail != "" {
		m.put(` <span class="soft">%s</span>`, w.Detail)
	}
	if w.Hint != "" {
		m.put(` <span class="hint">→ %s</span>`, w.Hint)
	}
	if len(w.Causes) > 0 {
		m.put(`<ul>`)
		for _, c := range w.Causes {
			m.why(c)
		}
		m.put(`</ul>`)
	}
	m.put(`</li>`)
}

// reasons writes a tree of reasons, if there is one, and the pods that have them.
func (m *markup) reasons(w *reason.Why, pods []string, more int) {
	if w != nil {
		m.put(`<ul>`)
		m.why(w)
		m.put(`</ul>`)
	}
	m.put(`<p class="pods">%s`, strings.Join(pods, ", "))
	if more > 0 {
		m.put(` and %d more`, more)
	}
	m.put("</p>\n")
}

// verdict writes the card of one.
func (m *markup) verdict(v verdict) {
	m.put(`<details class="v"><summary><span class="tag %s">%s</span> `, v.State, v.State)
	if v.Workload != "" {
		m.put(`<b>%s</b> · `, v.Workload)
	}
	m.put("%s\n<span class=\"soft\">", amount.Count(v.Count, "pod"))
	if v.Why == nil {
		m.put(`%s`, v.Text)
	} else {
		for _, h := range heads(v.Why) {
			m.put(`<br>%s`, h)
		}
	}
	m.put("</span></summary>\n")
	m.reasons(v.Why, v.Pods, v.More)
	for _, o := range v.Others {
		m.reasons(o.Why, o.Pods, o.More)
	}
	if v.Decision != "" {
		m.put(`<p><a href="/decisions/%s">the decision</a></p>`, v.Decision)
	}
	m.put("</details>\n")
}

func (m *markup) overview(o overview) {
	m.head("Cluster", "")
	if o.Live {
		m.put("<script type=\"module\" src=\"ui/app.js\"></script>\n")
	}
	m.put(`<h1>Cluster</h1><p class="at">As of %s UTC`, o.At)
	if o.Decision != "" {
		m.put(` · last decision: <a href="/decisions/%s">%s</a>`, o.Decision, o.Kind)
	}
	m.put("</p>\n")
	m.hint(o.Elsewhere)
	m.put("<div class=\"cards\">")
	m.card(o.Price, o.Currency+" an hour")
	m.card(o.Month, o.Currency+" a month like this")
	ready := noun(o.Ready, "node") + " ready"
	if o.Coming > 0 {
		ready += fmt.Sprintf(", %d on their way", o.Coming)
	}
	m.card(o.Ready, ready)
	m.card(len(o.Leaving), "given back now")
	m.card(o.Running, noun(o.Running, "pod")+" on nodes")
	m.card(o.Waiting, noun(o.Waiting, "pod")+" without a place")
	m.card(fmt.Sprint(o.CPU, " %"), "of CPU asked for")
	m.card(fmt.Sprint(o.Memory, " %"), "of memory asked for")
	m.put("</div>\n<h2>Pods without a place</h2>")
	for _, v := range o.Verdicts {
		m.verdict(v)
	}
	if len(o.Verdicts) == 0 {
		m.soft("None.")
	}
	m.leaving(o.Leaving)
	m.pools(o.Pools)
	m.nodes(o.Nodes, o.More)
	m.end()
}

func (m *markup) leaving(all []leavingNode) {
	if len(all) == 0 {
		return
	}
	m.put(`<h2>Given back</h2>`)
	m.table("Node", "Pool", "Type", "Why", "State", "#Price/h")
	for _, l := range all {
		m.put(`<tr><td>%s</td><td>%s</td><td>%s</td>`, l.Name, l.Pool, l.Type)
		if l.Decision != "" {
			m.put(`<td><a href="/decisions/%s">%s</a></td>`, l.Decision, l.Why)
		} else {
			m.cell(l.Why)
		}
		m.put(`<td><span class="tag going">%s</span></td>`, l.State)
		m.number(l.Price)
		m.put("</tr>\n")
	}
	m.endTable()
}

func (m *markup) pools(all []pool) {
	m.put(`<h2>Pools</h2>`)
	if len(all) == 0 {
		m.soft("No pool: apply a NodePool.")
		return
	}
	m.table("Pool", "Kind", "State", "#Nodes", "CPU asked for", "Memory asked for", "Limits", "#Price/h")
	for _, p := range all {
		m.put(`<tr><td>%s</td><td>%s</td><td><span class="tag %s">%s</span></td>`, p.Name, p.Kind, p.State, p.State)
		m.number(p.Nodes)
		m.bar(p.CPU)
		m.bar(p.Memory)
		m.cell(p.Limits)
		m.number(p.Price)
		m.put("</tr>\n")
	}
	m.endTable()
}

func (m *markup) nodes(all []node, more int) {
	m.put(`<h2>Nodes</h2>`)
	if len(all) == 0 {
		m.soft("No node.")
		return
	}
	m.table("Node", "Pool", "Type", "Zone", "Bought", "State", "#Pods", "CPU asked for", "Memory asked for", "#Price/h")
	for _, n := range all {
		m.put(`<tr>`)
		m.whole(n.Name, n.Pool, n.Type, n.Zone, n.Capacity)
		m.put(`<td><span class="tag %s">%s</span></td>`, n.State, n.State)
		m.number(n.Pods)
		m.bar(n.CPU)
		m.bar(n.Memory)
		m.number(n.Price)
		m.put("</tr>\n")
	}
	m.endTable()
	if more > 0 {
		m.put(`<p class="soft">And %d more: <code>kubectl get nodes</code> has them all.</p>`, more)
	}
}

// hint is a line that may be missing.
func (m *markup) hint(text string) {
	if text != "" {
		m.soft(text)
	}
}

// decisions are those that are kept.
type decisions struct {
	made []made
	hint string // another replica decides
}

func (m *markup) decisions(of decisions) {
	all := of.made
	m.head("Decisions", "../")
	m.put(`<h1>Decisions</h1><p class="at">Those of the last day that asked for nodes, gave some back or refused other pods than before, latest first, as far as memory allows. <a href="/journal">All of them as a journal</a>, for <code>tenon replay</code>.</p>
`)
	m.hint(of.hint)
	if len(all) == 0 {
		m.soft("Nothing has been decided yet.")
		m.end()
		return
	}
	m.table("When (UTC)", "What", "#Pods", "#New nodes", "#Refused", "#Given back", "#Cost/h", "#Proven necessary")
	for _, d := range all {
		m.put(`<tr><td><a href="/decisions/%s">%s</a></td><td>%s`, d.Digest, d.At, d.Kind)
		if d.Panic != "" {
			m.put(` <span class="tag refused">broke off</span>`)
		}
		m.put(`</td>`)
		m.number(d.Waiting, d.New, d.Refused, d.Back, d.Cost, d.Proven)
		m.put("</tr>\n")
		if d.Quiet != "" {
			m.put("<tr><td class=\"soft\" colspan=\"8\">before it %s of this kind that changed nothing</td></tr>\n", d.Quiet)
		}
	}
	m.endTable()
	m.end()
}

func (m *markup) decision(d decision) {
	m.head("Decision", "../")
	m.put(`<h1>%s</h1><p class="at">%s UTC · <a href="?o=text">as text</a> · <a href="?o=json">as JSON</a> · <a href="/decisions/%s/world">the world it was made of</a>, to be tried again with <code>tenon plan -f world.json</code></p>
`, d.Kind, d.At, d.Digest)
	if d.Panic != "" {
		m.put(`<h2>It broke off</h2><pre>%s</pre>`, d.Panic)
	}
	m.put(`<div class="cards">`)
	m.figures(d)
	m.put("</div>\n")
	m.asks(d.Asks)
	if len(d.Fills) > 0 {
		m.put(`<h2>On nodes that are there or on their way</h2>`)
		m.table("Node or claim", "Pods")
		for _, f := range d.Fills {
			m.put("<tr><td>%s</td><td class=\"pods\">%s</td></tr>\n", f.Place, strings.Join(f.Pods, ", "))
		}
		m.endTable()
	}
	if len(d.Refusal) > 0 {
		m.put(`<h2>Refused</h2>`)
		for _, v := range d.Refusal {
			m.verdict(v)
		}
	}
	if len(d.Gives) > 0 {
		m.put(`<h2>Given back</h2>`)
		m.table("Node", "Pool", "Why", "#Price/h")
		for _, g := range d.Gives {
			m.put("<tr><td>%s</td><td>%s</td><td>%s</td><td class=\"n\">%s</td></tr>\n", g.Name, g.Pool, g.Reason, g.Price)
		}
		m.endTable()
	}
	m.put(`<details class="v"><summary>The whole decision as text</summary><pre>%s</pre></details>`, d.Text)
	m.end()
}

// figures writes the cards of a decision.
func (m *markup) figures(d decision) {
	if d.Waiting == 0 {
		m.card(d.Back, noun(d.Back, "node")+" given back")
		return
	}
	m.card(d.Waiting, noun(d.Waiting, "pod")+" waited")
	m.card(d.New, noun(d.New, "new node"))
	m.card(d.Cost, d.Currency+" an hour for them")
	switch d.Proven {
	case "":
		m.card("–", "nothing is proven of the cost")
	case "100.0 %":
		m.card(d.Proven, "of the cost proven necessary")
	default:
		m.card(d.Proven, "of the cost proven necessary; of the rest it is not known")
	}
	m.card(d.Refused, noun(d.Refused, "pod")+" refused")
}

func (m *markup) asks(all []ask) {
	if len(all) == 0 {
		return
	}
	m.put(`<h2>New nodes</h2>`)
	m.table("Type", "Zone", "Bought", "Pool", "#Pods", "Asked for", "#Price/h", "Why")
	for _, a := range all {
		m.put(`<tr>`)
		m.whole(a.Shape, a.Zone, a.Capacity)
		m.cell(a.Pool)
		m.number(len(a.Pods))
		m.cell(a.Requests)
		m.number(a.Price)
		why := a.Why
		if why == "" {
			why = "the cheapest that fits"
		}
		m.put("<td><details><summary>%s</summary><p class=\"pods\">Would do: %s</p><p class=\"pods\">Pods: %s</p></details></td></tr>\n", why, a.Menu, strings.Join(a.Pods, ", "))
	}
	m.endTable()
}
