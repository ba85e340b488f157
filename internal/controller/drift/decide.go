// Package drift says of claims that their machines are no longer what their pools ask for.
//
// It only says so, with what differs: internal/controller/disrupt has the machines replaced. What a machine that outlived
// its reservation is now, it writes to the labels, since others look there.
package drift

import (
	"maps"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
)

// settled is how old a claim is before its type is missed: catalogues may lag behind launches.
const settled = time.Hour

// Seen is all that drift depends on, but for what only the driver knows.
type Seen struct {
	Now     time.Time
	Claim   *v1.NodeClaim
	Pool    *v1.NodePool // nil: of another kind, or gone
	World   *world.Pool  // the same pool as the engine sees it; nil: gone
	Catalog *world.Catalog
	Labels  map[string]string // of the node, if there is one
}

// finding is one way in which a claim is not what its pool asks for, as far as objects show.
type finding struct {
	reason string              // of the condition
	so     func(Seen) bool     // whether it is so now: once it is not, the condition is taken back
	differ func(Seen) []string // what differs, for people
}

// findings are all there are. The first that is so is the reason of the condition.
var findings = []finding{
	{v1.ReasonNodePoolDrifted, rehashed, template},
	{v1.ReasonRequirementsDrifted, unmet, requirements},
	{v1.ReasonInstanceTypeNotFound, unsold, offer},
}

// find is the finding of that reason; false if it is not objects that say so.
func find(reason string) (finding, bool) {
	i := slices.IndexFunc(findings, func(f finding) bool { return f.reason == reason })
	if i < 0 {
		return finding{}, false
	}
	return findings[i], true
}

// Reason says how a claim has drifted as far as objects show; empty if it has not.
func Reason(s Seen) string {
	for _, f := range findings {
		if f.so(s) {
			return f.reason
		}
	}
	return ""
}

// Known is what is known of that which drift depends on.
type Known struct {
	Sold    bool // what the pool's templates sell
	Machine bool // what the driver says of the machine
}

// Over reports whether a claim that shows no drift now has it no longer. What
// cannot be known now may be as it was: to take the condition back would call
// off a replacement that has been bought.
func Over(was *metav1.Condition, known Known) bool {
	if was == nil || !known.Sold {
		return false
	}
	_, byObjects := find(was.Reason)
	return byObjects || known.Machine // objects said so, and say otherwise
}

// rehashed reports whether the pool's claims would be made otherwise today.
// Hashes of different versions say nothing.
func rehashed(s Seen) bool {
	made := s.Claim.Annotations[v1.AnnotationPoolHash]
	return s.Pool != nil && made != "" && s.Claim.Annotations[v1.AnnotationPoolHashVersion] == v1.HashVersion && made != s.Pool.Hash()
}

// unmet reports whether a machine's labels do not meet what the pool requires today.
// The claim's own labels win; what neither it nor its node says, because both
// are older than the label, its type does. As long as nothing is known of its
// type, what is not said meets everything.
func unmet(s Seen) bool { return s.World != nil && !s.required().Match(s.labels()) }

// labels are those of the claim, of its node, and of its type.
func (s Seen) labels() map[string]string {
	labels := maps.Clone(s.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	maps.Copy(labels, s.Claim.Labels)
	for _, q := range s.shape() {
		if _, said := labels[q.Key]; !said && !q.Not && len(q.Values) == 1 {
			labels[q.Key] = q.Values[0]
		}
	}
	return labels
}

// required is what the pool requires of what can be known.
func (s Seen) required() label.Set {
	required := s.World.Requirements
	if s.Catalog != nil {
		return required
	}
	labels := s.labels()
	for _, q := range s.World.Requirements {
		if _, said := labels[q.Key]; !said {
			required = required.Without(q.Key)
		}
	}
	return required
}

// shape is what the labels of a claim's type can be; nil if it is not in the catalogue.
func (s Seen) shape() label.Set {
	if s.Catalog == nil {
		return nil
	}
	name := s.Claim.Labels[label.InstanceType]
	i := slices.IndexFunc(s.Catalog.Shapes, func(shape world.Shape) bool { return shape.Name == name })
	if i < 0 {
		return nil
	}
	return s.Catalog.Shapes[i].Labels
}

// unsold reports whether the type of a claim, which is not a new one, is no longer in the catalogue of its class.
func unsold(s Seen) bool {
	return s.Catalog != nil && s.Now.Sub(s.Claim.CreationTimestamp.Time) >= settled && !sold(s.Catalog, s.Claim.Labels)
}

// sold reports whether the type of a machine is still on sale where it is, sold out at the moment or not.
func sold(c *world.Catalog, labels map[string]string) bool {
	return slices.ContainsFunc(c.Shapes, func(s world.Shape) bool {
		return s.Name == labels[label.InstanceType] && slices.ContainsFunc(s.Offers, func(o world.Offer) bool {
			same := o.CapacityType == labels[label.CapacityType] || labels[label.CapacityType] == label.Reserved && o.CapacityType == label.OnDemand
			return o.Zone == labels[label.Zone] && same
		})
	})
}
