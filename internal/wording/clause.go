package wording

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/fit"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
)

// rank is the order in which the kinds of objection are listed.
func rank() []reason.Code {
	return []reason.Code{
		reason.Limit, reason.Taint, reason.Port, reason.Label, reason.Volume, reason.Affinity, reason.AntiAffinity, reason.Spread, reason.NoShape,
	}
}

// phrasing has the words for what pools have against a pod, which is nil if the World no longer has it.
type phrasing struct {
	world *world.World
	pod   *world.Pod
	brief bool // what the pool itself requires of instance types is left out
}

// poolClause says what one pool has against the pod.
func (t phrasing) poolClause(p *world.Pool, why *reason.Why) string {
	causes := []*reason.Why{why}
	if why.Code == reason.NoPlace {
		causes = slices.Clone(why.Causes)
	}
	switch why.Code {
	case reason.NotReady:
		return fmt.Sprintf("%s is not ready, %s", Name(p.ID), why.Detail)
	case reason.Deleting:
		return Name(p.ID) + " is being deleted"
	case reason.BackOff:
		return fmt.Sprintf("%s waits before it asks for another node: %s", Name(p.ID), why.Detail)
	case reason.Limit:
		return fmt.Sprintf("all available instance types exceed limits for %s, %s", Name(p.ID), limit(p, why))
	}
	causes, order := t.oneDemand(p, causes), rank()
	slices.SortStableFunc(causes, func(a, b *reason.Why) int {
		return cmp.Compare(slices.Index(order, a.Code), slices.Index(order, b.Code))
	})
	var clauses []string
	for i, c := range causes {
		if c.Code == reason.Label && i > 0 && causes[i-1].Code == reason.Label {
			clauses = append(clauses, requirement(c)) // under the same head
			continue
		}
		clauses = append(clauses, t.clause(p, c))
	}
	if len(clauses) == 0 {
		clauses = []string{t.noType(p, nil)}
	}
	return fmt.Sprintf("incompatible with %s, %s", Name(p.ID), strings.Join(clauses, ", "))
}

// clause words one objection of a pool.
func (t phrasing) clause(p *world.Pool, why *reason.Why) string {
	switch why.Code {
	case reason.Taint:
		return fmt.Sprintf("did not tolerate %s=%s:%s", why.About.Key, why.About.Value, why.About.Effect)
	case reason.Label:
		return "incompatible requirements, " + requirement(why)
	case reason.NoShape, reason.NoOffer:
		if d := devices(why); d != nil {
			return "no instance type has the devices, " + d.Unnamed().Said()
		}
		return t.noType(p, nil)
	case reason.Limit:
		return "all available instance types exceed its limits, " + limit(p, why)
	case reason.Spread, reason.Affinity, reason.AntiAffinity:
		return fmt.Sprintf("unsatisfiable topology constraint, %s, %s", words(why.Code), why.Detail)
	case reason.Port:
		return "host port is in use, " + why.Detail
	}
	if why.Detail == "" {
		return string(why.Code)
	}
	return why.Detail
}

// devices is what a type of the pool lacks of devices, where that is why it will not do; nil if it is something else.
func devices(why *reason.Why) *reason.Why {
	switch why.Code {
	case reason.NoDevice, reason.DeviceTaken, reason.DeviceElsewhere, reason.DeviceCount:
		return why
	}
	for _, c := range why.Causes {
		if d := devices(c); d != nil {
			return d
		}
	}
	return nil
}

func words(c reason.Code) string { return strings.ReplaceAll(string(c), "-", " ") }

// requirement words a demand on a label that the pool's nodes cannot meet.
func requirement(why *reason.Why) string {
	if len(why.Causes) > 0 {
		parts := make([]string, len(why.Causes))
		for i, c := range why.Causes {
			parts[i] = requirement(c)
		}
		return why.Detail + ", " + strings.Join(parts, ", ")
	}
	clash := why.About.Clash
	switch {
	case clash == nil:
		return why.Detail
	case clash.Unknown:
		return fmt.Sprintf("key %[1]s, %[2]s not in %[1]s DoesNotExist", clash.Want.Key, clash.Want)
	}
	return fmt.Sprintf("key %s, %s not in %s", clash.Want.Key, clash.Want, clash.Offer)
}

// noType says that no instance type is on sale that would do, in zones if some
// zones only are left to the pod.
func (t phrasing) noType(p *world.Pool, zones []string) string {
	pod, demand := t.pod, p.Requirements.And(label.Is(fit.PoolLabel(p.ID), p.ID.Name)).Meet(label.Exactly(p.Labels))
	if t.brief {
		demand = nil
	}
	if pod == nil {
		return "no instance type satisfied requirements " + demand.String()
	}
	demand = demand.Meet(pod.NodeSelector)
	if len(pod.NodeTerms) == 1 {
		demand = demand.Meet(pod.NodeTerms[0].Labels)
	}
	if len(zones) > 0 {
		demand = demand.And(label.Is(label.Zone, zones...))
	}
	text := "no instance type satisfied resources " + Resources(pod.Requests)
	if t.brief {
		demand = demand.Without(fit.PoolLabel(p.ID))
	}
	if demand = demand.Without(label.Hostname); len(demand) > 0 {
		text += " and requirements " + demand.String()
	}
	return text
}

// oneDemand replaces objections to some zones by what is behind them: that
// nothing is on sale in the zones to which nothing objects.
func (t phrasing) oneDemand(p *world.Pool, causes []*reason.Why) []*reason.Why {
	zones := zonesOf(t.world, p)
	barred := 0
	var rest []*reason.Why
	for _, c := range causes {
		zone := c.About.Value
		if c.Code != reason.Spread || c.About.Key != label.Zone || !slices.Contains(zones, zone) {
			rest = append(rest, c)
			continue
		}
		barred++
		zones = slices.DeleteFunc(zones, func(z string) bool { return z == zone })
	}
	if barred == 0 || len(zones) == 0 || len(rest) > 0 {
		return causes
	}
	return []*reason.Why{{Code: reason.Volume, Detail: t.noType(p, zones)}}
}

// zonesOf are the zones in which the pool's machines may be, whether any is on sale there now or not.
func zonesOf(w *world.World, p *world.Pool) []string {
	var out []string
	if c := w.CatalogFor(p.ID, p.Template); c != nil {
		for _, s := range c.Shapes {
			for _, o := range s.Offers {
				out = append(out, o.Zone)
			}
		}
	}
	slices.Sort(out)
	out = slices.Compact(out)
	if r, ok := p.Requirements.Find(label.Zone); ok {
		out = slices.DeleteFunc(out, func(z string) bool { return !r.Has(z) })
	}
	return out
}

// limit names a limit without what is used of it: these words are written again
// whenever they change, and that changes with every machine.
func limit(p *world.Pool, why *reason.Why) string {
	return why.About.Key + ": limit " + amount.Text(why.About.Key, p.Limits.Value(why.About.Key))
}
