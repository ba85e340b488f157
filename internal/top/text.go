package top

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"

	"github.com/tenon-sh/tenon/engine/money"
)

// The base colours are those of the terminal's own theme, so that they can be read on dark and on light ground.
var (
	bold  = ansi.Style{}.Bold()
	faint = ansi.Style{}.Faint()
	good  = ansi.Style{}.ForegroundColor(ansi.Green)
	fair  = ansi.Style{}.ForegroundColor(ansi.Yellow)
	poor  = ansi.Style{}.ForegroundColor(ansi.Red)
	comes = ansi.Style{}.ForegroundColor(ansi.Cyan)
	alert = ansi.Style{}.Bold().Reverse(true)
)

// clean makes a text of the cluster's safe to write: the name of a pod must not move the cursor, colour
// the screen or turn the direction of what follows.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == unicode.ReplacementChar {
			return '\u00b7'
		}
		return r
	}, s)
}

// cleanLines is clean, but for line ends; tabs become spaces.
func cleanLines(s string) []string {
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	for i, l := range lines {
		lines[i] = clean(strings.ReplaceAll(l, "\t", "    "))
	}
	return lines
}

// fitTo makes a text exactly so wide.
func fitTo(s string, width int, right bool) string {
	if width <= 0 {
		return ""
	}
	w := ansi.StringWidth(s)
	if w > width {
		return ansi.Truncate(s, width, "…")
	}
	pad := strings.Repeat(" ", width-w)
	if right {
		return pad + s
	}
	return s + pad
}

// priced writes a price in as much room as a column has.
func priced(p money.Micro) string {
	if p < money.Hundred {
		return p.Fixed(3)
	}
	return p.Fixed(1)
}

// span writes how long something takes in its two largest units.
func span(seconds int64) string {
	s := max(0, seconds)
	switch {
	case s < 60:
		return fmt.Sprintf("%ds", s)
	case s < 3600:
		return fmt.Sprintf("%dm%02ds", s/60, s%60)
	case s < 86400:
		return fmt.Sprintf("%dh%02dm", s/3600, s%3600/60)
	}
	return fmt.Sprintf("%dd%02dh", s/86400, s%86400/3600)
}

// since is how long ago a moment was; empty if it is not known, as of a pod that only a manifest has.
func since(now, at int64) string {
	if at == 0 {
		return ""
	}
	return span(now - at)
}

// barWidth is how many characters a bar has, without its figure.
const barWidth = 10

// bar draws a share, with its figure.
func bar(share float64) string {
	full := min(barWidth, int(share*barWidth+0.5))
	return strings.Repeat("█", full) + strings.Repeat("░", barWidth-full) + fmt.Sprintf("%4.0f%%", 100*share)
}

// fill colours what shows a share: what is full is well used.
func fill(share float64) ansi.Style {
	switch {
	case share < 0.3:
		return poor
	case share < 0.6:
		return fair
	}
	return good
}

// wrap breaks lines that are too wide, at words where there are some.
func wrap(lines []string, width int) []string {
	var out []string
	for _, l := range lines {
		out = append(out, strings.Split(ansi.Wrap(l, max(width, 1), ""), "\n")...)
	}
	return out
}
