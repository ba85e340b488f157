package replay

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/suppose"
	"github.com/tenon-sh/tenon/internal/cli/estimate"
	"github.com/tenon-sh/tenon/internal/cli/page"
)

// verdict is what came of deciding again.
type verdict string

const (
	same      verdict = "same"
	different verdict = "different"
	broken    verdict = "broken"  // this program fails to decide
	unknown   verdict = "no plan" // a World was kept without the plan
	parted    verdict = "refused" // an earlier release kept it, in a form that cannot be made again
)

// decision is one decision, made again.
type decision struct {
	At         int64               `json:"at"`
	Kind       string              `json:"kind,omitempty"`
	World      string              `json:"world"`             // its digest
	Release    string              `json:"release,omitempty"` // that decided first
	Verdict    verdict             `json:"verdict"`
	Identical  bool                `json:"identical"`       // in every field, reasons and bounds among them
	Was        string              `json:"was,omitempty"`   // what went wrong the first time
	Panic      string              `json:"panic,omitempty"` // what goes wrong now
	Difference *suppose.Difference `json:"difference,omitempty"`

	plan plan.Plan
}

// report is all decisions and what they come to.
type report struct {
	Format string `json:"format"`

	With      map[string]string `json:"with,omitempty"` // settings that were tried, by their flags
	Same      int               `json:"same"`
	Different int               `json:"different"`
	Broken    int               `json:"broken"`
	NoPlan    int               `json:"noPlan"`
	Refused   int               `json:"refused,omitempty"` // kept by an earlier release, in a form that cannot be made again
	Day       estimate.Day      `json:"day"`
	Decisions []decision        `json:"decisions"`
}

func (r *report) add(d decision) {
	switch d.Verdict {
	case same:
		r.Same++
	case different:
		r.Different++
	case broken:
		r.Broken++
	case unknown:
		r.NoPlan++
	case parted:
		r.Refused++
	}
	d.plan = plan.Plan{} // those of a day would be too many to keep
	r.Decisions = append(r.Decisions, d)
}

// stay counts the machines that stay. One is there once for each reason that it does not go for.
func stay(p plan.Plan) int {
	names := map[string]bool{}
	for _, k := range p.Kept {
		names[cmp.Or(k.Claim, k.Node)] = true
	}
	return len(names)
}

// text writes a decision on a line with a note, and below it what is otherwise now.
func (d decision) text(note string, wide bool) string {
	var what []string
	p := d.plan
	if p.Waiting > 0 {
		what = append(what, waiting(p))
	}
	if n := len(p.New); n > 0 && len(p.Static) > 0 {
		what = append(what, fmt.Sprintf("%d asked for static pools", n))
	}
	if n := p.Missing(); n > 0 {
		what = append(what, fmt.Sprintf("%d cannot be asked for", n))
	}
	if n := len(p.Back()); n > 0 {
		what = append(what, fmt.Sprintf("%d given back", n))
	}
	if n := back(p); n > 0 {
		what = append(what, fmt.Sprintf("%d taken back", n))
	}
	if n := stay(p); n > 0 {
		what = append(what, fmt.Sprintf("%d stay", n))
	}
	if len(what) == 0 {
		what = append(what, "nothing to do")
	}
	line := fmt.Sprintf("%s  %-12s %-9s  %s%s\n", time.Unix(d.At, 0).UTC().Format("2006-01-02 15:04:05"), page.Printable(d.Kind), d.Verdict, strings.Join(what, "; "), note)
	switch d.Verdict {
	case different:
		line += indent(d.Difference.Text(wide))
	case broken:
		line += indent(d.Panic)
	case unknown:
		if wide {
			line += indent(p.Text(true))
		}
	case parted:
		line += indent("an earlier release kept it, which decided in parts about giving back: it cannot be made again. Its World can be asked about: tenon consolidate -f FILE")
	case same:
	}
	if d.Was != "" {
		first, _, _ := strings.Cut(d.Was, "\n")
		line += indent("the decision broke when it was made: " + first)
	}
	return line
}

// waiting is what was decided about pods that wait. What it costs is said where anything is bought: until prices are
// known, it is not known what they are in.
func waiting(p plan.Plan) string {
	text := fmt.Sprintf("%d waiting, %d new, %d refused", p.Waiting, len(p.New), len(p.Refused))
	if len(p.New) > 0 {
		text += ", " + p.Cost.PerHour(p.Currency)
	}
	return text
}

// back is how many commands a plan takes back.
func back(p plan.Plan) (n int) {
	for _, c := range p.Commands {
		if c.Verdict == plan.TakeBack {
			n++
		}
	}
	return n
}

func indent(text string) string {
	return "    " + strings.ReplaceAll(strings.TrimSuffix(page.Printable(text), "\n"), "\n", "\n    ") + "\n"
}

// text sums up.
func (r report) text() string {
	all := []string{fmt.Sprintf("%d the same", r.Same)}
	for _, c := range []struct {
		n    int
		what string
	}{{r.Different, "different"}, {r.Broken, "broken"}, {r.NoPlan, "without a plan to compare"}, {r.Refused, "of an earlier release that cannot be made again"}} {
		if c.n > 0 {
			all = append(all, fmt.Sprintf("%d %s", c.n, c.what))
		}
	}
	plural := "s"
	if len(r.Decisions) == 1 {
		plural = ""
	}
	with := ""
	if len(r.With) > 0 {
		with = " with " + settingsText(r.With)
	}
	return fmt.Sprintf("%d decision%s made again%s: %s.\n", len(r.Decisions), plural, with, strings.Join(all, ", ")) + r.sums()
}
