package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/internal/metric"
)

// A panel is one plot of a dashboard. What it asks of Prometheus follows
// from the kind of its metric.
type panel struct {
	title, metric string
	by            []string // labels that make a line each
	unit          string
	more          []query // further lines
}

// A query is a line of a plot, or one for each value of its labels, that has another metric.
type query struct {
	legend, metric string
	by             []string
	is             string // what its values are compared with; others are not drawn
}

// count behind the name of a histogram asks how often something was observed, not how much it was.
const count = "_count"

// panels are the plots of the dashboard, row by row. Those of the first two rows are what the live page plots, for as
// long as Prometheus keeps it.
func panels() []panel {
	return []panel{
		{
			"Price an hour", metric.ClusterPrice,
			[]string{"of"},
			"short",
			[]query{{"bound of what can move", metric.ConsolidationBound, nil, "> 0"}},
		},
		{"Saved an hour by consolidation", metric.ConsolidationSavings, []string{"state"}, "short", nil},
		{"Nodes by state", metric.ClusterNodes, []string{"state"}, "short", nil},
		{"Asked for by pods, of what nodes have", metric.ClusterUtilization, []string{"resource_type"}, "percent", nil},

		{"Pending pods", metric.PendingPods, nil, "short", nil},
		{"Longest wait of a pending pod", metric.PendingLongest, nil, "s", nil},
		{"From pod to node (p90)", metric.PodsBoundDuration, nil, "s", nil},
		{"Pods that are moved, by reason", metric.PodsDisruptionInitiated, []string{"reason"}, "cps", nil},

		{"Decisions to buy", metric.SchedulingDuration + count, []string{"controller"}, "cps", nil},
		{"Decisions to give back", metric.DisruptionDecisions, []string{"decision", "reason"}, "cps", nil},
		{"Moves of consolidation", metric.ConsolidationMoves, []string{"decision", "policy"}, "cps", nil},
		{"Prices of pools an hour", metric.PoolsCost, []string{"nodepool"}, "short", nil},

		{"Pods refused", metric.SchedulerUnschedulable, nil, "short", nil},
		{"Time to decide (p90)", metric.SchedulingDuration, nil, "s", nil},
		{"Cluster state complete", metric.ClusterStateSynced, nil, "short", nil},
		{"Nodes in the cluster state", metric.ClusterStateNodes, nil, "short", nil},

		{"Claims created", metric.ClaimsCreated, []string{"nodepool", "reason"}, "cps", nil},
		{"Claims ended", metric.ClaimsTerminated, []string{"nodepool", "capacity_type"}, "cps", nil},
		{"Claims given back, by reason", metric.ClaimsDisrupted, []string{"reason"}, "cps", nil},
		{"Time from deletion to end (p90)", metric.ClaimsTerminationDuration, nil, "s", nil},

		{"Pools: in use", metric.PoolsUsage, []string{"nodepool", "resource_type"}, "short", nil},
		{"Pools: limit", metric.PoolsLimit, []string{"nodepool", "resource_type"}, "short", nil},
		{"Nodes created", metric.NodesCreated, []string{"nodepool", "zone"}, "cps", nil},
		{"Nodes drained", metric.NodesDrained, []string{"nodepool"}, "cps", nil},

		{"Calls to the cloud (p90)", metric.CloudDuration, []string{"method"}, "s", nil},
		{"Errors of the cloud", metric.CloudErrors, []string{"method", "error"}, "cps", nil},
		{"Notices of interruption", metric.InterruptionReceived, []string{"message_type"}, "cps", nil},
		{"Answers to evictions", metric.PodsEvictionRequests, []string{"code"}, "cps", nil},
	}
}

// An alert tells people that something lasts that should not.
type alert struct {
	name, metric string
	by           []string
	is           string // what the metric's value is compared with
	lasts        string
	severity     string
	summary, say string
}

func alerts() []alert {
	return []alert{
		{
			"KarpenterPodsRefused", metric.SchedulerUnschedulable, nil, "> 0", "15m", "warning",
			"Pods wait and no node that may be made would take them.",
			"{{ $value }} pods are refused. Each has an event that says why: kubectl describe pod.",
		},
		{
			"KarpenterCloudErrors", metric.CloudErrors,
			[]string{"method", "error"},
			"> 0.1", "15m", "warning",
			"The cloud keeps refusing {{ $labels.method }}.",
			"The error is {{ $labels.error }}. The log of the controller has its text.",
		},
		{
			"KarpenterEvictionsRefused", metric.PodsEvictionRequests + `{code="429"}`, nil, "> 0", "1h", "warning",
			"Nodes do not drain.",
			"Disruption budgets refuse evictions without end. kubectl get pdb -A shows which allow nothing.",
		},
		{
			"KarpenterBlind", metric.ClusterStateSynced, nil, "== 1", "10m", "critical",
			"No controller runs that has read the cluster.",
			"Pods that wait get no nodes. Look at the pods of the release and their log.",
		},
	}
}

// observed is the metric of which a name is, without what asks how often something was observed. Other names end so, too.
func observed(name string) string {
	if bare, ok := strings.CutSuffix(name, count); ok && slices.ContainsFunc(metric.Table(nil), func(m metric.Metric) bool { return m.Name == bare && m.Kind == metric.Histogram }) {
		return bare
	}
	return name
}

// ask is the expression for a metric, added up by labels; what a metric that
// is unknown, is not written or lacks a label would answer is an error.
func ask(name string, by []string, window string, written func(string) bool) (string, error) {
	bare, only, _ := strings.Cut(name, "{")
	if only != "" {
		only = "{" + only
	}
	all := metric.Table(nil)
	whole := bare
	bare = observed(bare)
	i := slices.IndexFunc(all, func(m metric.Metric) bool { return m.Name == bare })
	if i < 0 || !written(bare) {
		return "", fmt.Errorf("metric %s is not in the table, or no code writes it", bare)
	}
	for _, label := range by {
		if !slices.Contains(all[i].Labels, label) {
			return "", fmt.Errorf("metric %s has no label %s", bare, label)
		}
	}
	list := strings.Join(by, ", ")
	if whole != bare {
		return fmt.Sprintf("sum by (%s) (rate(%s%s[%s]))", list, whole, only, window), nil
	}
	switch all[i].Kind {
	case metric.Counter:
		return fmt.Sprintf("sum by (%s) (rate(%s%s[%s]))", list, bare, only, window), nil
	case metric.Histogram:
		return fmt.Sprintf("histogram_quantile(0.9, sum by (%s) (rate(%s_bucket%s[%s])))", strings.Join(slices.Concat([]string{"le"}, by), ", "), bare, only, window), nil
	case metric.Gauge:
		return fmt.Sprintf("max by (%s) (%s%s)", list, bare, only), nil
	case metric.Summary:
	}
	return "", fmt.Errorf("metric %s is a %s, which no panel shows", bare, all[i].Kind)
}

// dashboard is the dashboard in Grafana's JSON.
func dashboard(written func(string) bool) (string, error) {
	help := map[string]string{}
	for _, m := range metric.Table(nil) {
		help[m.Name] = m.Help
	}
	type object = map[string]any
	source := object{"type": "prometheus", "uid": "${datasource}"}
	var shown []object
	for i, p := range panels() {
		var targets []object
		for j, q := range append([]query{{metric: p.metric, by: p.by}}, p.more...) {
			expr, err := ask(q.metric, q.by, "$__rate_interval", written)
			if err != nil {
				return "", fmt.Errorf("panel %q: %w", p.title, err)
			}
			legend := []string{q.legend}
			for _, label := range q.by {
				legend = append(legend, "{{"+label+"}}")
			}
			targets = append(targets, object{
				"refId": string(rune('A' + j)), "datasource": source, "expr": strings.TrimSpace(expr + " " + q.is), "legendFormat": strings.TrimSpace(strings.Join(legend, " ")),
			})
		}
		shown = append(shown, object{
			"id": i + 1, "type": "timeseries", "title": p.title, "description": help[observed(p.metric)], "datasource": source,
			"gridPos":     object{"h": 8, "w": 6, "x": i % 4 * 6, "y": i / 4 * 8},
			"fieldConfig": object{"defaults": object{"unit": p.unit, "min": 0}, "overrides": []object{}},
			"targets":     targets,
		})
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	err := e.Encode(object{
		"title": "Karpenter (Tenon)", "uid": "tenon-overview", "schemaVersion": 39, "tags": []string{"karpenter"}, "refresh": "30s",
		"time":       object{"from": "now-6h", "to": "now"},
		"templating": object{"list": []object{{"name": "datasource", "type": "datasource", "query": "prometheus"}}},
		"panels":     shown,
	})
	return b.String(), err
}

// rules are the alert rules, as the groups of a PrometheusRule.
func rules(written func(string) bool) (string, error) {
	var b strings.Builder
	b.WriteString("# Made by tools/docs from the table of metrics: `make docs`.\n- name: karpenter\n  rules:\n")
	for _, a := range alerts() {
		expr, err := ask(a.metric, a.by, "10m", written)
		if err != nil {
			return "", fmt.Errorf("alert %s: %w", a.name, err)
		}
		expr += " " + a.is
		if a.is == "== 1" { // the alert is that no replica says so
			expr = "absent(" + expr + ")"
		}
		fmt.Fprintf(&b, "    - alert: %s\n      expr: '%s'\n      for: %s\n      labels:\n        severity: %s\n      annotations:\n        summary: '%s'\n        description: '%s'\n",
			a.name, expr, a.lasts, a.severity, a.summary, a.say)
	}
	return b.String(), nil
}
