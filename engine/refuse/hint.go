package refuse

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/market"
)

// useHint offers the values that would do.
func useHint(offered []string) string {
	const maxValuesOffered = 6
	switch more := len(offered) - maxValuesOffered; {
	case len(offered) == 1:
		return "use " + offered[0]
	case more > 1:
		return fmt.Sprintf("use one of %s and %d more", strings.Join(offered[:maxValuesOffered], ", "), more)
	default:
		return "use one of " + strings.Join(offered, ", ")
	}
}

// meantHint asks whether values that are asked for are slips; empty if they look like none.
func meantHint(r label.Requirement, offered []string) string {
	if r.Not {
		return ""
	}
	var meant []string
	for _, v := range r.Values {
		if m := label.Meant(v, offered); m != "" && m != v && !slices.Contains(meant, m) {
			meant = append(meant, m)
		}
	}
	if len(meant) == 0 {
		return ""
	}
	return "did you mean " + strings.Join(meant, ", ") + "?"
}

// near returns a label of the pool that looks like key; empty if none does.
func near(p *market.Pool, key string) string {
	known := slices.Collect(maps.Keys(p.Known))
	known = slices.AppendSeq(known, maps.Keys(p.Labels))
	for _, r := range p.Requirements {
		known = append(known, r.Key)
	}
	slices.Sort(known)
	known = slices.Compact(known)
	last := lastPart(key)
	for _, k := range known {
		if lastPart(k) == last {
			return k
		}
	}
	if meant := label.Meant(key, known); meant != "" {
		return meant
	}
	const minSharedLetters = 4 // letters that do not occur in another key by chance
	for _, k := range known {
		if len(last) >= minSharedLetters && strings.Contains(lastPart(k), last) {
			return k
		}
	}
	return ""
}

// lastPart is a label's key without its domain.
func lastPart(key string) string { return key[strings.LastIndexByte(key, '/')+1:] }
