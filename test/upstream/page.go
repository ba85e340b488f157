package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

// page writes what came of all specs.
func page(o options, specs []spec, kept results) error {
	if o.out == "" {
		return nil
	}
	return os.WriteFile(o.out, []byte(render(specs, kept)), 0o644)
}

func render(specs []spec, kept results) string {
	var rows, why strings.Builder
	type sum struct{ all, passed, differ, failed, unknown, nothing, tried, means, meant int }
	sums, commits := map[string]*sum{}, map[string]bool{}
	for _, s := range specs {
		n := sums[s.Suite]
		if n == nil {
			n = &sum{}
			sums[s.Suite] = n
		}
		n.all++
		with, tried := kept.of(s, false)
		without, bare := kept.of(s, true)
		empty := bare && without.Result == passed
		if bare {
			n.tried++
		}
		verdict, took := "not run", ""
		if tried {
			commits[with.Commit] = true
			took = with.took().String()
		}
		d := slices.IndexFunc(differences(), func(d difference) bool { return d.text == s.Text })
		switch {
		case !tried:
			n.unknown++
		case with.Result == passed:
			verdict = "pass"
			n.passed++
		case with.Result == skipped:
			verdict = "skipped by the suite"
			n.unknown++
		case d >= 0:
			verdict = fmt.Sprintf("differs on purpose: %s (%s)", differences()[d].why, differences()[d].adr)
			n.differ++
		default:
			verdict = "**fails**"
			n.failed++
			fmt.Fprintf(&why, "* %s: %s: `%s`\n", s.Suite, cell(s.Text), cell(firstLine(with.Why)))
		}
		if empty {
			verdict += ", also without a controller"
			n.nothing++
		} else if n.means++; with.Result == passed {
			n.meant++
		}
		fmt.Fprintf(&rows, "| %s | %s | %s | %s |\n", s.Suite, cell(s.Text), verdict, took)
	}
	var b strings.Builder
	fmt.Fprintf(&b, head, strings.Join(slices.Sorted(maps.Keys(commits)), ", "))
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		n := sums[name]
		nothing, meant := fmt.Sprint(n.nothing), fmt.Sprintf("%d of %d", n.meant, n.means)
		if n.tried < n.all {
			nothing, meant = fmt.Sprintf("%d of %d tried", n.nothing, n.tried), "–"
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %d | %s | %s |\n", name, n.all, n.passed, n.differ, n.failed, n.unknown, nothing, meant)
	}
	b.WriteString("\n## Specs\n\n| suite | spec | Tenon | took |\n|---|---|---|--:|\n")
	b.WriteString(rows.String())
	if why.Len() > 0 {
		b.WriteString("\n## What fails, and the first line of why\n\n")
		b.WriteString(why.String())
	}
	return b.String()
}

// cell is a text that a table can hold.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "`", "'", "\n", " ").Replace(text)
}

const head = `# Karpenter's own suites

Karpenter's module carries black-box suites (` + "`sigs.k8s.io/karpenter`" + ` v1.14.1, test/suites), which ask nothing of the code under test but its behaviour.
Here they run against Tenon, installed by its chart on a playground. Written by the program in ` + "`test/upstream`" + ` (` + "`make test-upstream`" + `); do not edit. Commits: %s.

A spec that passes in a cluster without any controller says nothing about one; the last column counts the others.
The suite dra tests upstream's own driver of devices, which runs beside the controller: most of its specs want a node for it, and none wants devices to be planned for.

| suite | specs | pass | differ | fail | not run | also pass without a controller | pass of those that mean something |
|---|--:|--:|--:|--:|--:|--:|--:|
`
