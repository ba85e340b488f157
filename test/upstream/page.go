package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"time"
)

// page writes what came of all specs. Of those that were not run here it keeps what the page said before.
func page(o options, specs []spec, kept results) error {
	if o.out == "" {
		return nil
	}
	before, err := os.ReadFile(o.out)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	kept.was = rowsOf(string(before))
	return os.WriteFile(o.out, []byte(render(specs, kept)), 0o644)
}

// The words of the page, which are read again when it is written again.
const (
	commitsAre     = "Commits: "
	saysPassed     = "pass"
	saysFailed     = "**fails**"
	saysSkipped    = "skipped by the suite"
	saysDiffers    = "differs on purpose: "
	saysNotRun     = "not run"
	withoutPassed  = "passes"
	withoutFailed  = "fails"
	withoutWaiting = "waits"
)

// rowsOf reads what a page says of specs, by keyOf.
func rowsOf(page string) map[string]result {
	was := map[string]result{}
	_, commits, _ := strings.Cut(page, commitsAre)
	commits, _, _ = strings.Cut(commits, ".\n")
	for line := range strings.Lines(page) {
		columns := strings.Split(strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(line), "| "), " |"), " | ")
		if len(columns) != 5 {
			continue
		}
		suite, text := columns[0], columns[1]
		took, _ := time.ParseDuration(columns[4])
		with := result{Suite: suite, Text: text, Seconds: took.Seconds(), Commit: commits}
		switch verdict := columns[2]; {
		case verdict == saysPassed:
			with.Result = passed
		case verdict == saysSkipped:
			with.Result = skipped
		case verdict == saysFailed, strings.HasPrefix(verdict, saysDiffers):
			with.Result, with.Why = failed, whyOf(page, suite, text)
		}
		if with.Result != "" {
			was[keyOf(suite, text, false)] = with
		}
		bare := map[string]string{withoutPassed: passed, withoutFailed: failed, withoutWaiting: waiting}[columns[3]]
		if bare != "" {
			was[keyOf(suite, text, true)] = result{Suite: suite, Text: text, Result: bare}
		}
	}
	return was
}

// whyOf is what a page says of why a spec failed.
func whyOf(page, suite, text string) string {
	_, why, _ := strings.Cut(page, "* "+suite+": "+text+": `")
	why, _, _ = strings.Cut(why, "`\n")
	return why
}

// keyOf names what came of a spec of a page.
func keyOf(suite, text string, without bool) string {
	return fmt.Sprintf("%s %t %s", suite, without, text)
}

// sum counts what came of a suite's specs.
type sum struct{ all, passed, differ, failed, unknown, nothing, tried, means, meant int }

// with counts what came of a spec, and says it.
func (n *sum) with(s spec, came result, tried bool) string {
	d := slices.IndexFunc(differences(), func(d difference) bool { return d.text == s.Text })
	switch {
	case !tried:
		n.unknown++
		return saysNotRun
	case came.Result == passed:
		n.passed++
		return saysPassed
	case came.Result == skipped:
		n.unknown++
		return saysSkipped
	case d >= 0:
		n.differ++
		return fmt.Sprintf("%s%s (%s)", saysDiffers, differences()[d].why, differences()[d].adr)
	}
	n.failed++
	return saysFailed
}

// without counts what came of a spec without any controller, and says it.
func (n *sum) without(came result, tried bool) string {
	if !tried {
		return ""
	}
	n.tried++
	switch came.Result {
	case passed:
		n.nothing++
		return withoutPassed
	case waiting:
		return withoutWaiting
	}
	return withoutFailed
}

func render(specs []spec, kept results) string {
	var rows, why strings.Builder
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
		took := ""
		if tried {
			for c := range strings.SplitSeq(with.Commit, ", ") {
				commits[c] = true
			}
			took = with.took().String()
		}
		verdict, alone := n.with(s, with, tried), n.without(without, bare)
		if verdict == saysFailed {
			fmt.Fprintf(&why, "* %s: %s: `%s`\n", s.Suite, cell(s.Text), cell(firstLine(with.Why)))
		}
		if alone != withoutPassed {
			if n.means++; with.Result == passed {
				n.meant++
			}
		}
		fmt.Fprintf(&rows, "| %s | %s | %s | %s | %s |\n", s.Suite, cell(s.Text), verdict, alone, took)
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
	b.WriteString("\n## Specs\n\n| suite | spec | Tenon | without a controller | took |\n|---|---|---|---|--:|\n")
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
Here they run against Tenon, installed by its chart on a playground. Written by the program in ` + "`test/upstream`" + ` (` + "`make test-upstream`" + `); do not edit. ` + commitsAre + `%s.

A spec that passes in a cluster without any controller says nothing about one; the last column counts the others.
Without one a spec has a minute and a half, or seven minutes where it looks on that there are not too many nodes; one that waits had not ended by then.
The suite dra tests upstream's own driver of devices, which runs beside the controller: most of its specs want a node for it, and none wants devices to be planned for.

| suite | specs | pass | differ | fail | not run | also pass without a controller | pass of those that mean something |
|---|--:|--:|--:|--:|--:|--:|--:|
`
