// Package drift says of claims that their machines are no longer what their pools ask for.
//
// It only says so: nothing is given back because of it yet.
package drift

import (
	"maps"
	"slices"
	"time"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
)

// settled is how old a claim is before its type is missed: catalogues may lag behind launches.
const settled = time.Hour

// Seen is all that drift depends on, but for what only the driver can tell.
type Seen struct {
	Now     time.Time
	Claim   *v1.NodeClaim
	Pool    *v1.NodePool // nil: of another kind, or gone
	World   *world.Pool  // the same pool in the picture; nil: gone
	Catalog *world.Catalog
	Labels  map[string]string // of the node, if there is one
}

// Reason says how a claim has drifted as far as objects show; empty if it has not.
func Reason(s Seen) string {
	switch {
	case s.Pool != nil && rehashed(s.Pool, s.Claim):
		return v1.ReasonNodePoolDrifted
	case s.World != nil && !s.World.Requirements.Match(s.labels()):
		return v1.ReasonRequirementsDrifted
	case s.Catalog != nil && s.Now.Sub(s.Claim.CreationTimestamp.Time) >= settled && !sold(s.Catalog, s.Claim.Labels):
		return v1.ReasonInstanceTypeNotFound
	}
	return ""
}

// rehashed reports whether the pool's claims would be made otherwise today.
// Hashes of different versions say nothing.
func rehashed(p *v1.NodePool, c *v1.NodeClaim) bool {
	made := c.Annotations[v1.AnnotationPoolHash]
	return made != "" && c.Annotations[v1.AnnotationPoolHashVersion] == v1.HashVersion && made != p.Hash()
}

// labels are what is known of a machine. The claim's own labels win; what
// neither it nor its node says, because both are older than the label, its type does.
func (s Seen) labels() map[string]string {
	out := maps.Clone(s.Labels)
	if out == nil {
		out = map[string]string{}
	}
	maps.Copy(out, s.Claim.Labels)
	if s.Catalog == nil {
		return out
	}
	at := slices.IndexFunc(s.Catalog.Shapes, func(shape world.Shape) bool { return shape.Name == out[label.InstanceType] })
	if at < 0 {
		return out
	}
	for _, q := range s.Catalog.Shapes[at].Labels {
		if _, said := out[q.Key]; !said && !q.Not && len(q.Values) == 1 {
			out[q.Key] = q.Values[0]
		}
	}
	return out
}

// sold reports whether the type of a machine is still on sale where it is, to be had now or not.
func sold(c *world.Catalog, labels map[string]string) bool {
	return slices.ContainsFunc(c.Shapes, func(s world.Shape) bool {
		return s.Name == labels[label.InstanceType] && slices.ContainsFunc(s.Offers, func(o world.Offer) bool {
			same := o.CapacityType == labels[label.CapacityType] || labels[label.CapacityType] == label.Reserved && o.CapacityType == label.OnDemand
			return o.Zone == labels[label.Zone] && same
		})
	})
}
