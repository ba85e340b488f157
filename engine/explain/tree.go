package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/reason"
)

// textLines collects lines for a person.
type textLines struct{ strings.Builder }

// line writes one line.
func (p *textLines) line(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

// writeTree writes what everything has against a pod: which pool or node objects, and below
// it each objection with what would end it.
func writeTree(b *textLines, why *reason.Why) {
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
func writeObjection(b *textLines, w *reason.Why, indent, said string) {
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

// maxLineBytes is how many bytes the line of a refused pod has at most: the whole is shown for the pod alone.
const maxLineBytes = 160

// Briefly is what is against a pod, on one line of no more than maxLineBytes.
func Briefly(why *reason.Why) string { return brief(why, maxLineBytes) }

// Advice is what would help against that with which Briefly begins; of what is behind it, the first.
func Advice(why *reason.Why) string {
	if why == nil {
		return ""
	}
	if why.Hint != "" {
		return why.Hint
	}
	own, pools, rest := sorted(why)
	for _, c := range slices.Concat(own, pools, rest) {
		if a := Advice(c); a != "" {
			return a
		}
	}
	return ""
}

// sorted are the objections behind one: the pod's own fault, what pools have against it, the nearest first, and what else there is.
func sorted(why *reason.Why) (own, pools, rest []*reason.Why) {
	for _, c := range why.Causes {
		switch {
		case c.Code == reason.UnitMixUp:
			own = append(own, c)
		case strings.HasPrefix(c.Subject, "NodePool "), strings.HasPrefix(c.Subject, "Provisioner "):
			pools = append(pools, c)
		default:
			rest = append(rest, c)
		}
	}
	slices.SortStableFunc(pools, func(a, b *reason.Why) int { return reason.Nearer(reason.Objections(a), reason.Objections(b)) })
	return own, pools, rest
}

// brief is what is against a pod, on one line: its own fault, and what pools have against it, the nearest pool first. What nodes have against it
// is said only where there is nothing else.
func brief(why *reason.Why, most int) string {
	own, pools, rest := sorted(why)
	said := func(c *reason.Why) string {
		if c.Code == reason.UnitMixUp {
			return objection(c, "")
		}
		return c.Subject + ": " + strings.Join(ends(c), ", ")
	}
	pools = append(own, pools...)
	switch {
	case len(why.Causes) == 0:
		return objection(why, "")
	case len(pools) == 0:
		var all []string
		for _, c := range rest {
			all = append(all, ends(c)...)
		}
		return shortened(strings.Join(all, "; "), most)
	}
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

func are(pods int) string {
	if pods == 1 {
		return "1 pod keeps it"
	}
	return fmt.Sprintf("%d pods keep it", pods)
}
