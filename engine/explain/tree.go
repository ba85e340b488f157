package explain

import (
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/reason"
)

// writeTree writes what everything has against a pod: which pool or node objects, and below
// it each objection with what would end it.
func writeTree(b *paper, why *reason.Why) {
	why = why.Brief()
	if why.Code == reason.NoPlace && why.Subject == "" && len(why.Causes) > 0 {
		last := ""
		for _, c := range why.Causes {
			if c.Subject != last && c.Subject != "" {
				b.line("  %s", c.Subject)
			}
			last = c.Subject
			writeObjection(b, c, "    ", c.Subject)
		}
		return
	}
	writeObjection(b, why, "  ", why.Subject)
}

// writeObjection writes one objection and what is behind it; said is the subject that stands above.
func writeObjection(b *paper, w *reason.Why, indent, said string) {
	if text := objection(w, said); text != "" {
		b.line("%s%s", indent, text)
		indent += "  "
	}
	if w.Hint != "" {
		b.line("%s→ %s", indent, w.Hint)
	}
	for _, c := range w.Causes {
		writeObjection(b, c, indent, w.Subject)
	}
}

// objection is one objection without those behind it; empty if it says nothing of its own.
func objection(w *reason.Why, said string) string {
	text := w.Detail
	if text == "" && (len(w.Causes) == 0 || w.Code != reason.NoPlace) {
		text = strings.ReplaceAll(string(w.Code), "-", " ")
	}
	if w.Subject != "" && w.Subject != said && text != "" {
		text = w.Subject + ": " + text
	}
	return text
}

// maxLineBytes is how many bytes the line of a refused pod has at most: the whole is told of the pod alone.
const maxLineBytes = 160

// brief is what pools have against a pod, on one line, the nearest pool first,
// and what its own fault is; what nodes have against it only where there is
// nothing else.
func brief(why *reason.Why, most int) string {
	var pools []*reason.Why
	var rest []string
	for _, c := range why.Causes {
		if strings.HasPrefix(c.Subject, "NodePool ") || strings.HasPrefix(c.Subject, "Provisioner ") {
			pools = append(pools, c)
			continue
		}
		rest = append(rest, ends(c)...)
	}
	switch {
	case len(why.Causes) == 0:
		return objection(why, "")
	case len(pools) == 0:
		return shortened(strings.Join(rest, "; "), most)
	}
	slices.SortStableFunc(pools, func(a, b *reason.Why) int { return reason.Nearer(reason.Objections(a), reason.Objections(b)) })
	said := func(c *reason.Why) string { return c.Subject + ": " + strings.Join(ends(c), ", ") }
	more := func(n int) string {
		if n == 0 {
			return ""
		}
		return "; and " + amount.Count(n, "more pool")
	}
	text := said(pools[0])
	for i, c := range pools[1:] {
		next := text + "; " + said(c)
		if others := len(pools) - 2 - i; len(next)+len(more(others)) > most {
			return shortened(text, most-len(more(others+1))) + more(others+1)
		}
		text = next
	}
	return shortened(text, most)
}

// shortened ends a text after so many bytes, between two words.
func shortened(text string, most int) string {
	if len(text) <= most {
		return text
	}
	end := most - len("…")
	if i := strings.LastIndex(text[:end], " "); i > end/2 {
		end = i
	}
	return strings.TrimRight(strings.ToValidUTF8(text[:end], ""), " ,;") + "…"
}

// ends are the objections that have no others behind them.
func ends(w *reason.Why) []string {
	if len(w.Causes) == 0 {
		return []string{objection(w, w.Subject)}
	}
	var out []string
	for _, c := range w.Causes {
		out = append(out, ends(c)...)
	}
	return out
}
