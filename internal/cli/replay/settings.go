package replay

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tenon-sh/tenon/engine/disrupt/consolidate"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/pack"
	"github.com/tenon-sh/tenon/internal/cli/verb"
	"github.com/tenon-sh/tenon/internal/journal"
)

// settings are those that are tried instead of what the controller had.
type settings struct {
	preferences, minValues string
	level, charge          string
	steps, spotPremium     int
	spotToSpot, movePods   bool

	nodeCharge money.Micro
	given      func(flag string) bool
}

func (s *settings) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&s.preferences, "preference-policy", "", "soft terms of pods: Respect or Ignore; default: what the controller had")
	f.StringVar(&s.minValues, "min-values-policy", "", "minValues that cannot be met: Strict or BestEffort; default: what the controller had")
	f.IntVar(&s.steps, "steps", 0, "bound on the counted work; 0: what the controller had")
	f.StringVar(&s.charge, "node-charge", "", "what a node counts beside its price, an hour in the catalogue's currency, such as 0.02; default: what the controller had")
	f.IntVar(&s.spotPremium, "spot-premium", 0, "percent of its price that spot counts as costing more; default: what the controller had")
	f.StringVar(&s.level, "consolidation-level", "", "how much has to be saved for a pod to be moved, where its pool does not say: cautious, normal or eager; default: what the controller had")
	f.BoolVar(&s.spotToSpot, "spot-to-spot", false, "spot nodes may be replaced by cheaper spot nodes; default: what the controller had")
	f.BoolVar(&s.movePods, "move-pods", true, "pods are moved where their pools say so; default: what the controller had")
	s.given = f.Changed
}

func (s *settings) check() error {
	switch pack.Policy(s.preferences) {
	case "", pack.Respect, pack.Ignore:
	default:
		return verb.BadInputf("--preference-policy is %q, want Respect or Ignore", s.preferences)
	}
	switch pack.Policy(s.minValues) {
	case "", pack.Strict, pack.BestEffort:
	default:
		return verb.BadInputf("--min-values-policy is %q, want Strict or BestEffort", s.minValues)
	}
	if levels := consolidate.Levels(); s.level != "" && !slices.Contains(levels, s.level) {
		return verb.BadInputf("--consolidation-level is %q, want one of %s", s.level, strings.Join(levels, ", "))
	}
	if s.steps < 0 {
		return verb.BadInputf("--steps is %d, want zero or more", s.steps)
	}
	if s.spotPremium < 0 || s.spotPremium > 1000 {
		return verb.BadInputf("--spot-premium is %d, want 0 to 1000", s.spotPremium)
	}
	var err error
	s.nodeCharge, err = verb.NodeCharge(s.charge)
	return err
}

// names of the flags, in the order in which they are given.
func names() []string {
	return []string{"preference-policy", "min-values-policy", "steps", "node-charge", "spot-premium", "consolidation-level", "spot-to-spot", "move-pods"}
}

// with says which settings are tried.
func (s *settings) with(cmd *cobra.Command) map[string]string {
	out := map[string]string{}
	for _, name := range names() {
		if s.given(name) {
			out[name] = cmd.Flags().Lookup(name).Value.String()
		}
	}
	return out
}

// text is what with says on one line.
func settingsText(with map[string]string) string {
	var parts []string
	for _, name := range names() {
		if v, ok := with[name]; ok {
			parts = append(parts, fmt.Sprintf("%s %s", name, v))
		}
	}
	return strings.Join(parts, ", ")
}

// apply puts them in the place of what the controller had.
func (s *settings) apply(o *journal.Options) {
	for _, with := range []*pack.Options{&o.Provision, &o.Static, &o.Disrupt.Pack} {
		if s.preferences != "" {
			with.PreferencePolicy = pack.Policy(s.preferences)
		}
		if s.minValues != "" {
			with.MinValuesPolicy = pack.Policy(s.minValues)
		}
		if s.charge != "" {
			with.Charge = s.nodeCharge
		}
		if s.given("spot-premium") {
			with.SpotPremium = s.spotPremium
		}
	}
	if s.steps > 0 { // what moves are looked for with is a bound of its own
		o.Provision.Steps, o.Static.Steps = s.steps, s.steps
	}
	if s.level != "" {
		o.Disrupt.Consolidate.Level = s.level
	}
	if s.given("spot-to-spot") {
		o.Disrupt.Consolidate.SpotToSpot = s.spotToSpot
	}
	if s.given("move-pods") {
		o.Disrupt.Stay = !s.movePods
	}
}
