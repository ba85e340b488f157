package initialize

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
)

// minSharePercent is the share of what was expected, in percent, that a node has to have.
const minSharePercent = 90

// Missing says of which requested resources a node has clearly less than its
// claim expected, in order.
func Missing(c *v1.NodeClaim, n *corev1.Node) []string {
	var out []string
	for name, requested := range c.Spec.Resources.Requests {
		expected, found := c.Status.Capacity[name], n.Status.Capacity[name]
		if requested.IsZero() || expected.IsZero() {
			continue
		}
		if share := 100 * found.AsApproximateFloat64() / expected.AsApproximateFloat64(); share < minSharePercent {
			out = append(out, fmt.Sprintf("expected %s of resource %s, but found %s (%.1f%% of expected)", expected.String(), name, found.String(), share))
		}
	}
	slices.Sort(out)
	return out
}

// compare writes to a claim whether its node has what was bought.
func compare(c *v1.NodeClaim, missing []string, now time.Time) {
	if len(missing) > 0 {
		c.Conditions().False(v1.ConditionConsistentStateFound, v1.ReasonConsistencyCheckFailed, strings.Join(missing, "; "), now)
		return
	}
	c.Conditions().True(v1.ConditionConsistentStateFound, "", "", now)
}
