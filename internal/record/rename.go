package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/tenon-sh/tenon/internal/journal"
	"github.com/tenon-sh/tenon/internal/scrub"
)

// Again says how a decision comes out that is made again.
type Again string

// How decisions come out.
const (
	Unmade    Again = "" // there was none, it broke, or an earlier release made it in parts
	Alike     Again = "same"
	Otherwise Again = "other"
)

// leftOut stands for what is not shown.
const leftOut = "(left out)"

// Renamed is a decision of the World with other names, made again: the words of the first may name anything. It says
// whether this program decides as the controller did while things have their own names.
func Renamed(e journal.Entry, names *scrub.Names) (out journal.Entry, again Again, err error) {
	defer func() {
		if r := recover(); r != nil { // what breaks a decision is what is looked for
			out.Panic, err = strings.Map(visible, fmt.Sprint(r)), nil
		}
	}()
	w, err := names.World(e.World)
	if err != nil {
		return e, Unmade, err
	}
	out = journal.Entry{Kind: e.Kind, World: w, Options: optionsOf(e.Options, names), Release: e.Release, Panic: plain(e.Panic), Parted: e.Parted, Shadow: e.Shadow}
	for claim, why := range e.Deleted {
		if out.Deleted == nil {
			out.Deleted = map[string]string{}
		}
		out.Deleted[names.Place(claim)] = why
	}
	if e.Panic != "" || e.Parted != "" || e.Kind == "" {
		return out, Unmade, nil
	}
	was, wasErr := json.Marshal(e.Plan)
	is, isErr := json.Marshal(e.Again())
	again = Otherwise
	if wasErr == nil && isErr == nil && bytes.Equal(was, is) {
		again = Alike
	}
	out.Plan = out.Again()
	return out, again, nil
}

// plain is what went wrong, where that names nothing.
func plain(broke string) string {
	if broke == "" || strings.HasPrefix(broke, "runtime error: ") {
		return broke
	}
	return leftOut
}

// visible replaces what moves a terminal's cursor.
func visible(r rune) rune {
	if unicode.IsControl(r) && r != '\n' || unicode.Is(unicode.Bidi_Control, r) {
		return unicode.ReplacementChar
	}
	return r
}

// optionsOf are options with other names of nodes and claims.
func optionsOf(o journal.Options, names *scrub.Names) journal.Options {
	all := func(in []string) []string {
		out := slices.Clone(in)
		for i, name := range out {
			out[i] = names.Place(name)
		}
		return out
	}
	d := &o.Disrupt
	d.Planned, d.Skip, d.Consolidate.Planned, d.Consolidate.Explain = all(d.Planned), all(d.Skip), all(d.Consolidate.Planned), all(d.Consolidate.Explain)
	if d.Marked != nil {
		marked := make(map[string]int64, len(d.Marked))
		for name, since := range d.Marked {
			marked[names.Place(name)] = since
		}
		d.Marked = marked
	}
	return o
}
