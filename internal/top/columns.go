package top

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/internal/web/live"
)

// nodeColumns are what is shown of a node: its values of the extra labels last.
func nodeColumns(now func() int64, extra []string, values func(node string) []string) []column[live.Node] {
	plain := func(f func(live.Node) string) func(live.Node) string {
		return func(n live.Node) string { return clean(f(n)) }
	}
	cpu := func(n live.Node) float64 { return share(n.UsedCPU, n.CPU) }
	memory := func(n live.Node) float64 { return share(n.UsedMemory, n.Memory) }
	out := []column[live.Node]{
		{title: "NODE", text: plain(func(n live.Node) string { return n.Name }), short: plain(func(n live.Node) string { return firstPart(n.Name) })},
		{title: "STATE", text: state, style: stateStyle, last: 1},
		{title: "POOL", text: plain(func(n live.Node) string { return n.Pool }), most: 24, last: 7},
		{title: "TYPE", text: plain(func(n live.Node) string { return n.Type })},
		{title: "ZONE", text: plain(func(n live.Node) string { return n.Zone }), last: 8},
		{title: "BOUGHT", text: plain(func(n live.Node) string { return n.Capacity }), last: 5},
		{title: "PODS", text: func(n live.Node) string { return fmt.Sprint(pods(n)) }, order: by(pods), right: true, last: 3},
		{title: "CPU", text: func(n live.Node) string { return bar(cpu(n)) }, style: func(n live.Node) ansi.Style { return fill(cpu(n)) }, order: by(cpu)},
		{title: "MEMORY", text: func(n live.Node) string { return bar(memory(n)) }, style: func(n live.Node) ansi.Style { return fill(memory(n)) }, order: by(memory), last: 4},
		{title: "PRICE/H", text: func(n live.Node) string { return priced(n.Price) }, order: by(func(n live.Node) money.Micro { return n.Price }), right: true, last: 2},
		{title: "AGE", text: func(n live.Node) string { return since(now(), n.Created) }, order: func(a, b live.Node) int { return cmp.Compare(born(b), born(a)) }, right: true, last: 6},
	}
	for i, key := range extra {
		_, name, ok := strings.Cut(key, "/")
		if !ok {
			name = key
		}
		out = append(out, column[live.Node]{title: clean(strings.ToUpper(name)), most: 32, last: 1, text: func(n live.Node) string {
			if v := values(n.Name); i < len(v) {
				return clean(v[i])
			}
			return ""
		}})
	}
	return append(out, column[live.Node]{title: "KEPT BY", text: plain(keptBy), style: func(live.Node) ansi.Style { return faint }, most: 60, last: 9})
}

// firstPart is the part of a node's DNS name that distinguishes it from others.
func firstPart(name string) string {
	first, _, _ := strings.Cut(name, ".")
	return first
}

// by orders by a figure.
func by[R any, F cmp.Ordered](figure func(R) F) func(a, b R) int {
	return func(a, b R) int { return cmp.Compare(figure(a), figure(b)) }
}

func stateStyle(n live.Node) ansi.Style {
	switch s := state(n); {
	case s == live.Ready:
		return good
	case s == live.OnItsWay:
		return comes
	case s == live.NotReady:
		return poor
	}
	return fair
}

func podColumns(now func() int64) []column[live.Group] {
	style := func(g live.Group) ansi.Style {
		switch g.State {
		case live.Refused:
			return poor
		case live.Planned:
			return good
		}
		return fair
	}
	return []column[live.Group]{
		{title: "STATE", text: func(g live.Group) string { return clean(g.State) }, style: style, order: by(func(g live.Group) int { return live.Urgency(g.State) })},
		{title: "PODS", text: func(g live.Group) string { return fmt.Sprint(g.Count) }, order: by(func(g live.Group) int { return g.Count }), right: true},
		{title: "WORKLOAD", text: func(g live.Group) string { return clean(g.Workload) }, most: 48},
		{title: "WAITS", text: func(g live.Group) string { return since(now(), g.Since) }, order: by(func(g live.Group) int64 { return -g.Since }), right: true, last: 1},
		{title: "WHY", text: func(g live.Group) string { return clean(g.Text) }, most: 120},
		{title: "WHAT WOULD HELP", text: func(g live.Group) string { return clean(g.Hint) }, most: 80, last: 2},
	}
}

func decisionColumns() []column[live.Decision] {
	return []column[live.Decision]{
		{title: "AT", text: func(d live.Decision) string { return time.Unix(d.At, 0).Format(time.TimeOnly) }, order: by(func(d live.Decision) int64 { return d.At })},
		{title: "KIND", text: func(d live.Decision) string { return clean(d.Kind) }},
		{title: "WHAT", text: func(d live.Decision) string { return clean(d.Text) }, most: 100, style: func(d live.Decision) ansi.Style {
			switch {
			case d.Panic != "" || d.Refused > 0:
				return poor
			case d.New == 0 && d.Back == 0:
				return faint
			}
			return ansi.Style{}
		}},
		{title: "COST/H", text: func(d live.Decision) string { return unless(d.Cost == 0, priced(d.Cost)) }, order: by(func(d live.Decision) money.Micro { return d.Cost }), right: true, last: 1},
		{title: "PROVEN", text: func(d live.Decision) string { return clean(d.Proven) }, right: true, last: 3},
		{title: "GIVES BACK/H", text: func(d live.Decision) string { return unless(d.Saved == 0, priced(d.Saved)) }, order: by(func(d live.Decision) money.Micro { return d.Saved }), right: true, last: 2},
	}
}

func poolColumns(price func(pool string) (nodes int, price money.Micro)) []column[live.Pool] {
	count := func(p live.Pool) int { n, _ := price(p.Name); return n }
	cost := func(p live.Pool) money.Micro { _, m := price(p.Name); return m }
	return []column[live.Pool]{
		{title: "POOL", text: func(p live.Pool) string { return clean(p.Name) }},
		{title: "KIND", text: func(p live.Pool) string { return clean(p.Kind) }, last: 3},
		{title: "STATE", text: func(p live.Pool) string { return clean(p.State) }, most: 48, style: func(p live.Pool) ansi.Style {
			if p.State == live.Ready {
				return good
			}
			return poor
		}},
		{title: "NODES", text: func(p live.Pool) string { return fmt.Sprint(count(p)) }, order: by(count), right: true},
		{title: "PRICE/H", text: func(p live.Pool) string { return priced(cost(p)) }, order: by(cost), right: true},
		{title: "WEIGHT", text: func(p live.Pool) string { return unless(p.Weight == 0, fmt.Sprint(p.Weight)) }, order: by(func(p live.Pool) int32 { return p.Weight }), right: true, last: 4},
		{title: "BUDGETS", text: func(p live.Pool) string { return clean(p.Budgets) }, most: 60, last: 5},
		{title: "LIMITS", text: func(p live.Pool) string { return clean(p.Limits) }, last: 1},
		{title: "USED OF THEM", text: func(p live.Pool) string { return clean(p.Used) }, last: 2},
	}
}

func unless(not bool, text string) string {
	if not {
		return ""
	}
	return text
}
