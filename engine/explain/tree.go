package explain

import (
	"strings"

	"github.com/tenon-sh/tenon/engine/reason"
)

// writeTree writes what everything has against a pod: who objects, and below
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

// brief is what pools have against a pod, on one line, and what its own fault
// is; what nodes have against it only where there is nothing else.
func brief(why *reason.Why) string {
	var pools, rest []string
	for _, c := range why.Causes {
		if strings.HasPrefix(c.Subject, "NodePool ") || strings.HasPrefix(c.Subject, "Provisioner ") {
			pools = append(pools, c.Subject+": "+strings.Join(ends(c), ", "))
			continue
		}
		rest = append(rest, ends(c)...)
	}
	switch {
	case len(why.Causes) == 0:
		return objection(why, "")
	case len(pools) == 0:
		return strings.Join(rest, "; ")
	}
	return strings.Join(pools, "; ")
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
