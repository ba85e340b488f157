// Command docs writes the pages of docs/reference that say what the code
// already knows: the verbs and their flags, the metrics, the settings of the chart,
// events, conditions, and labels; and the chart's dashboard and alerts, of the
// same table of metrics.
package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tenon-sh/tenon/charts"
	"github.com/tenon-sh/tenon/internal/cli"
	"github.com/tenon-sh/tenon/internal/cli/version"
	"github.com/tenon-sh/tenon/internal/metric"
	"github.com/tenon-sh/tenon/internal/playground"
)

//go:generate go run . ../../docs/reference

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "Usage: go run ./tools/docs <folder>")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "docs:", err)
		os.Exit(1)
	}
}

// run writes all pages to a folder of the tree, two below its root.
func run(dir string) error {
	pages, err := pagesOf(dir)
	if err != nil {
		return err
	}
	for name, text := range pages {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// pagesOf makes all pages, by their names from the folder.
func pagesOf(dir string) (map[string]string, error) {
	code, err := scan(filepath.Join(dir, "..", ".."), "api", "internal")
	if err != nil {
		return nil, err
	}
	pages := map[string]string{"cli.md": commands(), "metrics.md": metrics(written(code)), "settings.md": settings()}
	if pages["openapi.json"], err = openAPI(); err != nil {
		return nil, err
	}
	for name, page := range map[string]func(*source) (string, error){"events.md": events, "conditions.md": conditions, "labels.md": labels} {
		if pages[name], err = page(code); err != nil {
			return nil, err
		}
	}
	for name, made := range map[string]func(func(string) bool) (string, error){"dashboards/overview.json": dashboard, "alerts.yaml": rules} {
		if pages["../../charts/karpenter/"+name], err = made(written(code)); err != nil {
			return nil, err
		}
	}
	return pages, nil
}

const made = "<!-- Made by tools/docs from the code: `make docs`. -->\n\n"

// commands describes the whole tree of verbs.
func commands() string {
	var b strings.Builder
	b.WriteString("# The command line\n\n" + made)
	b.WriteString("Exit status: 0 when what was asked is done, 1 when it could not be done, 2 when what was given cannot be used.\n" +
		"Answers go to standard output, errors to standard error.\n")
	// The verbs of the playground are handed over to a program that knows their flags.
	handed := map[string]*cobra.Command{}
	for _, cmd := range playground.Command().Commands() {
		handed[cmd.Name()] = cmd
	}
	describe(&b, cli.Root(version.Build{}), handed)
	return b.String()
}

func describe(b *strings.Builder, cmd *cobra.Command, handed map[string]*cobra.Command) {
	if other := handed[cmd.Name()]; other != nil && cmd.DisableFlagParsing {
		cmd = other
	}
	if cmd.Hidden || cmd.Name() == "help" {
		return
	}
	about := cmd.Long
	if about == "" {
		about = cmd.Short + "."
	}
	fmt.Fprintf(b, "\n## %s\n\n%s\n\n    %s\n", cmd.CommandPath(), strings.TrimSpace(about), cmd.UseLine())
	if cmd.Example != "" {
		fmt.Fprintf(b, "\n```\n%s\n```\n", strings.Trim(cmd.Example, "\n"))
	}
	flags(b, cmd)
	for _, sub := range cmd.Commands() {
		describe(b, sub, handed)
	}
}

func flags(b *strings.Builder, cmd *cobra.Command) {
	var rows bytes.Buffer
	all := pflag.NewFlagSet(cmd.Name(), pflag.ContinueOnError)
	all.AddFlagSet(cmd.NonInheritedFlags())
	all.AddFlagSet(cmd.InheritedFlags())
	all.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		name, usage := pflag.UnquoteUsage(f)
		short := ""
		if f.Shorthand != "" {
			short = "-" + f.Shorthand + ", "
		}
		initial := ""
		if !slices.Contains([]string{"", "[]", "0", "0s", "false"}, f.DefValue) {
			initial = "`" + f.DefValue + "`"
		}
		fmt.Fprintf(&rows, "| `%s` | %s | %s |\n", strings.TrimSpace(short+"--"+f.Name+" "+name), cell(usage), initial)
	})
	if rows.Len() > 0 {
		fmt.Fprintf(b, "\n| flag | meaning | default |\n|---|---|---|\n%s", &rows)
	}
}

// metrics describes the table of metrics.
func metrics(written func(string) bool) string {
	var b strings.Builder
	b.WriteString("# Metrics\n\n" + made)
	b.WriteString("Names that begin with `karpenter_` and `operator_` are Karpenter's, with its labels, as are those of the AWS SDK and of client-go; those that begin with `tenon_` are ours.\n" +
		"What is in the cluster is reported by the replica that leads, so that sums over replicas are right.\n" +
		"Per-node metrics also have one label for each well-known label of nodes: its last part in snake case.\n" +
		"One that nothing has happened to has no series yet. Those marked † are known and no code writes them yet: they have no series, or stay at 0.\n" +
		"A metric has at most as many series as its line says; what would be more is left out and counted in\n" +
		"`" + metric.DroppedSeries + "`.\n\n")
	b.WriteString("| metric | kind | labels | stage | series | meaning |\n|---|---|---|---|---|---|\n")
	for _, m := range metric.Table(nil) {
		most := m.Max
		if most == 0 {
			most = metric.MaxSeries
		}
		mark := " †"
		if written(m.Name) {
			mark = ""
		}
		fmt.Fprintf(&b, "| `%s`%s | %s | %s | %s | %d | %s |\n", m.Name, mark, m.Kind, strings.Join(m.Labels, ", "), m.Stage, most, cell(m.Help))
	}
	b.WriteString("\n## Of controller-runtime and Go\n\n" +
		"What these say of themselves is served too, as by Karpenter: `controller_runtime_*` of each controller, `workqueue_*`, `leader_election_master_status`, `rest_client_*`, `go_*` and `process_*`.\n" +
		"Decisions count as reconciliations of the controllers `provisioner` and `disruption`, with what broke or could not be asked for among their errors; there are series for both from the start.\n")
	b.WriteString("\n## Karpenter's that are missing or not written\n\n" +
		"* `karpenter_voluntary_disruption_consolidation_timeouts_total` stays at 0: no search ends by time, each by counted steps.\n")
	return b.String()
}

// cell keeps text within one cell of a table.
func cell(s string) string {
	return strings.NewReplacer("|", "\\|", "\n", " ").Replace(s)
}

// settings describes what an operator can choose, by all its names.
func settings() string {
	var b strings.Builder
	b.WriteString("# Settings\n\n" + made)
	b.WriteString("Each setting of the controller is a value of the chart `karpenter`, which hands it to the pods as an environment variable; `tenon controller` also has a\n" +
		"flag for each, which wins over the variable ([cli.md](cli.md)). Values that older charts had under other names are accepted under those; two\n" +
		"names that say different things are refused (of the log's, those below `controller` count). Some also stand in the ConfigMap `karpenter-global-settings`; what is changed there counts when the pods start again.\n" +
		"How much is logged is also in the ConfigMap `config-logging`, under `loglevel.controller`, and what is changed there counts at once.\n\n")
	b.WriteString("| value | older names, newest first | variable | key in the ConfigMap | default | meaning |\n|---|---|---|---|---|---|\n")
	code := func(s string) string {
		if s == "" {
			return ""
		}
		return "`" + s + "`"
	}
	for _, s := range charts.Settings() {
		var older []string
		for _, o := range s.Older {
			older = append(older, code(o))
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", code(s.Value), strings.Join(older, ", "), code(s.Env), code(s.Key), code(s.Default), s.Meaning)
	}
	b.WriteString("\nThese values of Karpenter's charts are accepted, so that a values file can be kept, and change nothing:\n\n")
	for _, name := range charts.WithoutEffect() {
		fmt.Fprintf(&b, "* `%s`\n", name)
	}
	b.WriteString("\nWhat else the chart can do (images, placement, resources, what is opt-in) stands with comments in\n[charts/karpenter/values.yaml](../../charts/karpenter/values.yaml). A value that does not exist is refused by its name.\n")
	return b.String()
}
